/* SPDX-License-Identifier: Apache-2.0 */
/* inference.c - the Open Inference Protocol (v2, REST): deployments answer under /v2/models/{name}.
 *
 * The hot path is: token in memory -> target in memory (serving/serving.h, at most a second old) -> one request on a kept
 * connection -> the worker's bytes handed on. No SQL, no JSON parsing here: the worker checks the request. A call under way holds
 * no thread: its handler ends when it has asked (serving_ask) and runs again with the answer (call_again), so a model that stalls
 * costs no other route anything. When a worker cannot be reached, its target is looked up once more, because the job may have
 * moved. Where the model stands is judged at each call, from facts in memory. Inference is not rate-limited by calls per minute:
 * what a deployment can take is bounded by its machine (429) and by the limits of serving/serving.h.
 * Source: https://github.com/open-inference/open-inference-protocol (REST). */
#include "api/api.h"
#include "api/route.h"
#include "core/base/cleanup.h"
#include "core/db/run_tx.h"
#include "core/table/metrics.h"
#include "core/wire/infer_wire.h"
#include "serving/infer_stats.h"
#include "serving/serving.h"
#include "tenants/home/residency_facts.h"

struct infer_ref { struct str name; };
SCHEMA_OF(infer_ref, "Which deployment", FIELD(infer_ref, name, F_PATH, .min = 1, .max = 63, .check = check_slug, .doc = "Name of the deployment"));
struct infer_version_ref { struct str name; int64_t version; };
SCHEMA_OF(infer_version_ref, "Which deployment and version",
    FIELD(infer_version_ref, name, F_PATH, .min = 1, .max = 63, .check = check_slug, .doc = "Name of the deployment"),
    FIELD(infer_version_ref, version, F_PATH, .min = 1, .max = INT64_MAX, .doc = "Version of the model that it serves"));
struct oip_server { struct str name, version; struct slice extensions; };
SCHEMA_OF(oip_server, "The server", FIELD(oip_server, name, 0, .doc = "falaj"), FIELD(oip_server, version, 0, .doc = "Version"),
    FIELD_STRS(oip_server, extensions, 0, .doc = "Of the protocol: binary_tensor_data"));
struct oip_live { bool live; };
SCHEMA_OF(oip_live, "Liveness", FIELD(oip_live, live, 0, .doc = "The server answers"));
struct oip_ready { bool ready; };
SCHEMA_OF(oip_ready, "Readiness", FIELD(oip_ready, ready, 0, .doc = "The server takes inference requests"));
struct oip_model_ready { struct str name; bool ready; };
SCHEMA_OF(oip_model_ready, "Readiness of a model", FIELD(oip_model_ready, name, 0, .doc = "The deployment"),
    FIELD(oip_model_ready, ready, 0, .doc = "It answers"));

static enum errc server(struct work *w, const void *in, void *out, struct err *e)
{
    (void)w, (void)in, (void)e;
    static struct str extensions[] = { STR("binary_tensor_data") };
    *(struct oip_server *)out = (struct oip_server){ STR("falaj"), STR(FALAJ_VERSION), { extensions, 1 } };
    return ERR_OK;
}

static enum errc live(struct work *w, const void *in, void *out, struct err *e)
{
    (void)w, (void)in, (void)e;
    ((struct oip_live *)out)->live = true;
    return ERR_OK;
}

static enum errc ready(struct work *w, const void *in, void *out, struct err *e)
{
    (void)in;
    const struct api *api = w->app->extra;
    if (api->draining)
        return FAIL(e, UNAVAILABLE, "The server is stopping");
    ((struct oip_ready *)out)->ready = true;
    return ERR_OK;
}

static struct serving *serving_of(struct work *w)
{
    return ((struct api *)w->app->extra)->serving;
}

static enum errc look_up(struct work *w, struct str name, struct deployment_target *t, struct err *e)
{
    enum errc rc = RUN_READ(w, deployment_target(w, name, t, e), e);
    return rc == ERR_NOT_FOUND ? FAIL(e, NOT_FOUND, "There is no such model") : rc;
}

/* fresh: ask the database whatever is remembered. */
static enum errc find_target(struct call *c, bool fresh, struct deployment_target *t, struct err *e)
{
    struct work *w = &c->work;
    const struct infer_ref *ref = c->in;            /* the name is the first member of both inputs */
    struct serving *s = serving_of(w);
    bool has_version = c->route->in == &infer_version_ref_schema;
    /* Who acts in some projects only is looked up each time: what is in memory says nothing of projects. */
    if (fresh || w->projects.n || !serving_target_find(s, w->tenant_id, ref->name, w->arena, t)) {
        TRY(look_up(w, ref->name, t, e));
        if (!t->endpoint.len)
            return FAIL(e, UNAVAILABLE, "The model is not ready");
        serving_target_keep(s, w->tenant_id, ref->name, t);
    }
    if (has_version && ((const struct infer_version_ref *)c->in)->version != t->model_version)
        return FAIL(e, NOT_FOUND, "The model is served in another version");
    struct residency_question q = { .data_class = data_class_of(t->data_class), .zone = t->zone, .purpose = STR("serving") };
    return residency_check(w, RACT_SERVE, &q, false, NULL, e);
}

/* A call of this route while the model is asked. Lives in the request's arena. */
struct question {
    struct deployment_target t;
    const char *method, *path;
    struct str body;
    const char *headers[3];             /* INFER_CALLER, and INFER_JSON_LENGTH of the call or none */
    uint64_t caller;
    int tries;
    enum errc rc;                       /* of the last try, with result or err */
    struct http_result result;
    struct err err;
};

static bool is_unwanted(void *ctx)
{
    return http_exchange_gone(((const struct call *)ctx)->exchange);
}

static void answered(void *ctx, enum errc rc, const struct http_result *r, const struct err *e)
{
    struct call *c = ctx;
    struct question *q = c->own;
    q->rc = rc;
    if (rc == ERR_OK)
        q->result = *r;
    else
        q->err = *e;
    call_again(c);
}

/* From ERR_OK on the call is another thread's: it may be answered already, and q and c gone. */
static enum errc send_question(struct call *c, struct question *q, struct err *e)
{
    q->tries++;
    const struct serving_question sq = { .tenant_id = c->work.tenant_id, .attempt_id = q->t.attempt_id,
                                         .zone = q->t.zone, .endpoint = q->t.endpoint, .method = q->method,
                                         .path = q->path, .body = q->body,
                                         .headers = q->headers, .caller = q->caller, .arena = c->work.arena,
                                         .is_unwanted = is_unwanted,
                                         .done = answered, .ctx = c };
    return serving_ask(serving_of(&c->work), &sq, e);
}

/* The model was not reached where it was: where it is now. */
static enum errc find_again(struct call *c, struct question *q, struct err *e)
{
    struct work *w = &c->work;
    const struct infer_ref *ref = c->in;
    struct str before = q->t.endpoint;
    serving_target_forget(serving_of(w), w->tenant_id, ref->name);
    TRY(find_target(c, true, &q->t, e));
    if (str_eq(before, q->t.endpoint))
        serving_target_forget(serving_of(w), w->tenant_id, ref->name);
    return ERR_OK;
}

/* Checked here too: what is not a number goes into no header of another call. */
static enum errc read_json_length(struct call *c, struct question *q, struct err *e)
{
    struct str length = http_header_get(c->request, INFER_JSON_LENGTH);
    int64_t n;
    if (!length.ptr)
        return ERR_OK;
    if (!str_to_i64(length, 0, (int64_t)c->body.len, &n))
        return FAIL(e, INVALID, INFER_JSON_LENGTH " is no number of bytes within the body's %zu", c->body.len);
    q->headers[1] = arena_printf(c->work.arena, INFER_JSON_LENGTH ": %ld", (long)n);
    return ERR_OK;
}

/* The first run asks, the last one has the answer in c->own; *ret_waits: neither yet, and nothing of the call may be touched. */
static enum errc ask(struct call *c, const char *method, const char *path, struct str body, bool *ret_waits, struct err *e)
{
    struct question *q = c->own;
    *ret_waits = false;
    if (!q) {
        q = c->own = ARENA_NEW(c->work.arena, struct question);
        *q = (struct question){ .method = method, .path = path, .body = body,
                                .caller = str_hash(str_n((const char *)c->principal->user_id.b,
                                    sizeof c->principal->user_id.b)) };
        q->headers[0] = arena_printf(c->work.arena, INFER_CALLER ": %016lx", (unsigned long)q->caller);
        TRY(read_json_length(c, q, e));
        TRY(find_target(c, false, &q->t, e));
    } else if (q->rc == ERR_UNAVAILABLE && q->tries == 1 && !http_exchange_gone(c->exchange)) {
        TRY(find_again(c, q, e));
    } else if (q->rc == ERR_UNAVAILABLE) {
        FAIL(e, UNAVAILABLE, "The model cannot be reached now");
        return err_note(e, "%s", q->err.msg);
    } else {
        if (q->rc != ERR_OK)
            *e = q->err;
        return q->rc;
    }
    TRY(send_question(c, q, e));
    *ret_waits = true;
    return ERR_OK;
}

/* What a client may see as the worker said it: success, and faults of its own request. */
static bool may_pass(int status)
{
    return status == 200 || status == 400 || status == 413 || status == 422 || status == 429;
}

static enum errc judge(const struct http_result *r, struct err *e)
{
    if (r->status == 503 && r->body.len && memmem(r->body.ptr, r->body.len, INFER_TOO_LATE, sizeof INFER_TOO_LATE - 1))
        return FAIL(e, UNAVAILABLE, "The request waited longer for its turn than it may; try again");
    if (r->status == 503)
        return FAIL(e, UNAVAILABLE, "The model is not ready");
    bool is_binary = r->status == 200 && str_eq_c(r->content_type, "application/octet-stream");
    struct str length = is_binary ? http_result_header(r, INFER_JSON_LENGTH) : STR_NULL;
    int64_t n;
    if (!may_pass(r->status) || !(is_binary || str_starts(r->content_type, "application/json")) || !r->body.len
        || (is_binary && !str_to_i64(length, 1, (int64_t)r->body.len, &n)))
        return FAIL(e, UPSTREAM, "The serving machine gave no good answer (%d)", r->status);
    return ERR_OK;
}

static void pass_on(struct call *c, const struct http_result *r)
{
    struct http_header h[5] = { { STR("X-Request-Id"), c->work.request_id }, { STR("Cache-Control"), STR("no-store") },
                                { STR("X-Content-Type-Options"), STR("nosniff") } };
    size_t n = 3;
    bool is_binary = str_eq_c(r->content_type, "application/octet-stream");
    if (r->status == 429)
        h[n++] = (struct http_header){ STR("Retry-After"), STR("1") };
    if (is_binary)
        h[n++] = (struct http_header){ STR(INFER_JSON_LENGTH), http_result_header(r, INFER_JSON_LENGTH) };
    struct http_response reply = { r->status, is_binary ? STR("application/octet-stream") : STR("application/json"), r->body, h,
                                   n };
    principal_unref(TAKE(c->principal));
    http_reply(c->exchange, &reply);
}

static enum infer_end end_of(enum errc rc, int status, bool is_gone)
{
    if (rc != ERR_OK)
        return is_gone || err_row(rc)->http < 500 ? INFER_REFUSED : INFER_FAILED;
    return status == 200 ? INFER_OK : INFER_REFUSED;
}

/* What is counted of a call that is over. */
static void account(struct call *c, const struct question *q, enum errc rc)
{
    struct work *w = &c->work;
    int64_t took_us = clock_mono_us(w->app->clock) - c->started_mono_us;
    bool is_gone = http_exchange_gone(c->exchange);
    int status = rc == ERR_OK ? q->result.status : 0;
    metrics_observe(M_inference_request_seconds, (double)took_us / 1e6);
    metrics_inc(M_inference_requests_total,
                rc == ERR_OK ? status == 200 ? "ok" : "refused" : is_gone ? "gone" : err_row(rc)->wire);
    if (uuid_is_nil(q->t.deployment_id))
        return;
    struct infer_stats *s = ((struct api *)w->app->extra)->infer_stats;
    infer_stats_add(s, w->tenant_id, q->t.deployment_id, clock_wall_us(w->app->clock), took_us,
                    end_of(rc, status, is_gone));
    struct serving_caller who = { w->tenant_id, q->t.deployment_id, actor_of(c->principal) };
    serving_note(serving_of(w), &who, q->t.zone, rc == ERR_OK && status == 200);
}

static enum errc infer(struct call *c, struct err *e)
{
    bool waits;
    enum errc rc = ask(c, "POST", "/infer", c->body, &waits, e);
    if (waits)
        return ERR_OK;
    const struct question *q = c->own;
    if (rc == ERR_OK)
        rc = judge(&q->result, e);
    account(c, q, rc);
    if (rc == ERR_OK)
        pass_on(c, &q->result);
    return rc;
}

static enum errc metadata(struct call *c, struct err *e)
{
    bool waits;
    TRY(ask(c, "GET", "/metadata", STR_NULL, &waits, e));
    if (waits)
        return ERR_OK;
    const struct question *q = c->own;
    TRY(judge(&q->result, e));
    pass_on(c, &q->result);
    return ERR_OK;
}

static enum errc model_ready(struct call *c, struct err *e)
{
    bool waits;
    TRY(ask(c, "GET", "/ready", STR_NULL, &waits, e));
    if (waits)
        return ERR_OK;
    if (((const struct question *)c->own)->result.status != 200)
        return FAIL(e, UNAVAILABLE, "The model is not ready");
    struct str name = ((const struct infer_ref *)c->in)->name;
    struct http_result r = { .status = 200, .body = str_fmt(c->work.arena, "{\"name\":\"%.*s\",\"ready\":true}", STR_ARG(name)) };
    pass_on(c, &r);
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v2", .lane = LANE_CALLS,
      .op = "oip_server", .perm = PERM_SIGNED_IN, .handler = server, .status = 200, .out = &oip_server_schema,
      .flags = R_NO_TX | R_OIP, .doc = "The inference server" },
    { .method = HTTP_GET, .path = "/v2/health/live", .lane = LANE_CALLS,
      .op = "oip_live", .perm = PERM_PUBLIC, .handler = live, .status = 200, .out = &oip_live_schema,
      .flags = R_NO_TX | R_OIP, .rate = RL_NONE, .doc = "The inference server answers" },
    { .method = HTTP_GET, .path = "/v2/health/ready", .lane = LANE_CALLS,
      .op = "oip_ready", .perm = PERM_PUBLIC, .handler = ready, .status = 200,
      .out = &oip_ready_schema, .flags = R_NO_TX | R_OIP, .rate = RL_NONE, .doc = "The inference server takes requests" },
    { .method = HTTP_GET, .path = "/v2/models/{name}", .lane = LANE_CALLS,
      .op = "oip_model", .perm = PERM_INFER, .raw = metadata, .in = &infer_ref_schema, .status = 200,
      .out = &infer_metadata_schema, .content_type = "application/json", .flags = R_OIP,
          .doc = "Inputs and outputs of a served model" },
    { .method = HTTP_GET, .path = "/v2/models/{name}/versions/{version}", .lane = LANE_CALLS,
      .op = "oip_model_version", .perm = PERM_INFER, .raw = metadata,
      .in = &infer_version_ref_schema, .status = 200, .out = &infer_metadata_schema, .content_type = "application/json",
          .flags = R_OIP,
      .doc = "Inputs and outputs of a served model, if it is that version" },
    { .method = HTTP_GET, .path = "/v2/models/{name}/ready", .lane = LANE_CALLS,
      .op = "oip_model_ready", .perm = PERM_INFER, .raw = model_ready,
      .in = &infer_ref_schema, .status = 200, .out = &oip_model_ready_schema, .flags = R_OIP, .doc = "A served model answers" },
    { .method = HTTP_GET, .path = "/v2/models/{name}/versions/{version}/ready", .lane = LANE_CALLS,
      .op = "oip_model_version_ready",
        .perm = PERM_INFER,
      .raw = model_ready, .in = &infer_version_ref_schema, .status = 200, .out = &oip_model_ready_schema, .flags = R_OIP,
      .doc = "A served model answers, and is that version" },
    { .method = HTTP_POST, .path = "/v2/models/{name}/infer", .lane = LANE_CALLS,
      .op = "oip_infer", .perm = PERM_INFER, .raw = infer, .in = &infer_ref_schema,
      .body = &infer_ask_schema, .status = 200, .out = &infer_reply_schema, .content_type = "application/json",
          .flags = R_UPLOAD | R_OIP,
      .rate = RL_NONE, .audit = AUDIT_INFERENCE,
          .doc = "Inference. Audited as one summary per deployment, principal and minute" },
    { .method = HTTP_POST, .path = "/v2/models/{name}/versions/{version}/infer", .lane = LANE_CALLS,
      .op = "oip_infer_version", .perm = PERM_INFER, .raw = infer,
      .in = &infer_version_ref_schema, .body = &infer_ask_schema, .status = 200, .out = &infer_reply_schema,
      .content_type = "application/json", .flags = R_UPLOAD | R_OIP, .rate = RL_NONE, .audit = AUDIT_INFERENCE,
          .doc = "Inference, if the deployment serves that version" },
};
extern const struct route_table inference_routes;
ROUTE_TABLE(inference_routes, rows);
