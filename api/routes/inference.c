/* SPDX-License-Identifier: Apache-2.0 */
/* inference.c - the Open Inference Protocol (v2, REST): deployments answer under /v2/models/{name}.
 *
 * The hot path is: token in memory -> target in memory (serving/serving.h, at most a second old) -> one request on a kept connection ->
 * the worker's bytes handed on. No SQL, no JSON parsing here: the worker checks the request. When a worker cannot be reached, its target is
 * looked up once more, because the job may have moved. Where the model stands is judged at each call, from facts in memory. Inference is not rate-limited by calls per minute: what a deployment can take is
 * bounded by its machine (429) and by SERVING_BUSY_MAX.
 * Source: https://github.com/open-inference/open-inference-protocol (REST). */
#include "api/api.h"
#include "api/infer_stats.h"
#include "api/route.h"
#include "core/base/cleanup.h"
#include "core/db/tx.h"
#include "core/table/metrics.h"
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
    FIELD_STRS(oip_server, extensions, 0, .doc = "None"));
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
    *(struct oip_server *)out = (struct oip_server){ STR("falaj"), STR(FALAJ_VERSION), { NULL, 0 } };
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
    CLEANUP(db_rollbackp) struct db_tx *tx = NULL;
    TRY(db_begin(w->app->pool, scope_of(w), TX_READ_ONLY, w->arena, &tx, e));
    w->tx = tx;
    enum errc rc = deployment_target(w, name, t, e);
    w->tx = NULL;
    if (rc == ERR_NOT_FOUND)
        return FAIL(e, NOT_FOUND, "There is no such model");
    return rc == ERR_OK ? db_commit(tx, e) : rc;
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

/* One call to the worker; once more where the deployment is now, when it cannot be reached where it was. */
static enum errc ask(struct call *c, const char *method, const char *path, struct str body, struct deployment_target *t, struct http_result *r,
                     struct err *e)
{
    struct work *w = &c->work;
    struct serving *s = serving_of(w);
    const struct infer_ref *ref = c->in;
    TRY(find_target(c, false, t, e));
    enum errc rc = serving_call(s, t->endpoint, method, path, body, w->arena, r, e);
    if (rc == ERR_UNAVAILABLE) {
        serving_target_forget(s, w->tenant_id, ref->name);
        struct str before = t->endpoint;
        TRY(find_target(c, true, t, e));
        if (str_eq(before, t->endpoint))
            serving_target_forget(s, w->tenant_id, ref->name);
        rc = serving_call(s, t->endpoint, method, path, body, w->arena, r, e);
    }
    if (rc == ERR_UNAVAILABLE)
        return FAIL(e, UNAVAILABLE, "The model cannot be reached now");
    return rc;
}

/* What a client may see as the worker said it: success, and faults of its own request. */
static bool may_pass(int status)
{
    return status == 200 || status == 400 || status == 413 || status == 422 || status == 429;
}

static enum errc judge(const struct http_result *r, struct err *e)
{
    if (r->status == 503)
        return FAIL(e, UNAVAILABLE, "The model is not ready");
    if (!may_pass(r->status) || !str_starts(r->content_type, "application/json") || !r->body.len)
        return FAIL(e, UPSTREAM, "The serving machine gave no good answer (%d)", r->status);
    return ERR_OK;
}

static void pass_on(struct call *c, const struct http_result *r)
{
    struct http_header h[] = { { STR("X-Request-Id"), c->work.request_id }, { STR("Cache-Control"), STR("no-store") },
                               { STR("X-Content-Type-Options"), STR("nosniff") }, { STR("Retry-After"), STR("1") } };
    struct http_response reply = { r->status, STR("application/json"), r->body, h, r->status == 429 ? 4 : 3 };
    principal_unref(TAKE(c->principal));
    http_reply(c->exchange, &reply);
}

static enum infer_end end_of(enum errc rc, int status)
{
    if (rc != ERR_OK)
        return err_row(rc)->http < 500 ? INFER_REFUSED : INFER_FAILED;
    return status == 200 ? INFER_OK : INFER_REFUSED;
}

static enum errc infer(struct call *c, struct err *e)
{
    struct work *w = &c->work;
    struct deployment_target t = { 0 };
    struct http_result r = { 0 };
    metrics_gauge_add(M_inference_pending_requests, 1);
    enum errc rc = ask(c, "POST", "/infer", c->body, &t, &r, e);
    if (rc == ERR_OK)
        rc = judge(&r, e);
    metrics_gauge_add(M_inference_pending_requests, -1);
    metrics_observe(M_inference_request_seconds, (double)(clock_mono_us(w->app->clock) - c->started_mono_us) / 1e6);
    metrics_inc(M_inference_requests_total, rc != ERR_OK ? err_row(rc)->wire : r.status == 200 ? "ok" : "refused");
    if (!uuid_is_nil(t.deployment_id)) {
        infer_stats_add(((struct api *)w->app->extra)->infer_stats, t.deployment_id, clock_wall_us(w->app->clock),
                        clock_mono_us(w->app->clock) - c->started_mono_us, end_of(rc, r.status));
        struct serving_caller who = { w->tenant_id, t.deployment_id, actor_of(c->principal) };
        serving_note(serving_of(w), &who, t.zone, rc == ERR_OK && r.status == 200);
    }
    if (rc == ERR_OK)
        pass_on(c, &r);
    return rc;
}

static enum errc metadata(struct call *c, struct err *e)
{
    struct deployment_target t;
    struct http_result r;
    TRY(ask(c, "GET", "/metadata", STR_NULL, &t, &r, e));
    TRY(judge(&r, e));
    pass_on(c, &r);
    return ERR_OK;
}

static enum errc model_ready(struct work *w, const void *in, void *out, struct err *e)
{
    struct deployment_target t;
    struct http_result r;
    struct oip_model_ready *ret = out;
    TRY(ask(call_of(w), "GET", "/ready", STR_NULL, &t, &r, e));
    if (r.status != 200)
        return FAIL(e, UNAVAILABLE, "The model is not ready");
    *ret = (struct oip_model_ready){ ((const struct infer_ref *)in)->name, true };
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v2", .op = "oip_server", .perm = PERM_SIGNED_IN, .handler = server, .status = 200, .out = &oip_server_schema,
      .flags = R_NO_TX | R_OIP, .doc = "The inference server" },
    { .method = HTTP_GET, .path = "/v2/health/live", .op = "oip_live", .perm = PERM_PUBLIC, .handler = live, .status = 200, .out = &oip_live_schema,
      .flags = R_NO_TX | R_OIP, .rate = RL_NONE, .doc = "The inference server answers" },
    { .method = HTTP_GET, .path = "/v2/health/ready", .op = "oip_ready", .perm = PERM_PUBLIC, .handler = ready, .status = 200,
      .out = &oip_ready_schema, .flags = R_NO_TX | R_OIP, .rate = RL_NONE, .doc = "The inference server takes requests" },
    { .method = HTTP_GET, .path = "/v2/models/{name}", .op = "oip_model", .perm = PERM_INFER, .raw = metadata, .in = &infer_ref_schema, .status = 200,
      .content_type = "application/json", .flags = R_OIP, .doc = "Inputs and outputs of a served model" },
    { .method = HTTP_GET, .path = "/v2/models/{name}/versions/{version}", .op = "oip_model_version", .perm = PERM_INFER, .raw = metadata,
      .in = &infer_version_ref_schema, .status = 200, .content_type = "application/json", .flags = R_OIP,
      .doc = "Inputs and outputs of a served model, if it is that version" },
    { .method = HTTP_GET, .path = "/v2/models/{name}/ready", .op = "oip_model_ready", .perm = PERM_INFER, .handler = model_ready,
      .in = &infer_ref_schema, .status = 200, .out = &oip_model_ready_schema, .flags = R_NO_TX | R_OIP, .doc = "A served model answers" },
    { .method = HTTP_POST, .path = "/v2/models/{name}/infer", .op = "oip_infer", .perm = PERM_INFER, .raw = infer, .in = &infer_ref_schema,
      .status = 200, .content_type = "application/json", .flags = R_UPLOAD | R_OIP, .rate = RL_NONE, .audit = AUDIT_INFERENCE,
      .doc = "Inference. Audited as one summary per deployment, principal and minute" },
    { .method = HTTP_POST, .path = "/v2/models/{name}/versions/{version}/infer", .op = "oip_infer_version", .perm = PERM_INFER, .raw = infer,
      .in = &infer_version_ref_schema, .status = 200, .content_type = "application/json", .flags = R_UPLOAD | R_OIP, .rate = RL_NONE,
      .audit = AUDIT_INFERENCE, .doc = "Inference, if the deployment serves that version" },
};
extern const struct route_table inference_routes;
ROUTE_TABLE(inference_routes, rows);
