/* SPDX-License-Identifier: Apache-2.0 */
/* model_call.c - from a call to the serving child and back: target, residency, question, verdict, counts.
 *
 * The hot path is: token in memory -> target in memory (serving/serving.h, at most a second old) -> one request on a kept
 * connection -> the worker's bytes handed on. No SQL, no JSON parsing here: the worker checks the request. When a worker cannot
 * be reached, its target is looked up once more, because the job may have moved. Where the model stands is judged at each call,
 * from facts in memory. */
#include "api/model_call.h"
#include "api/api.h"
#include "api/model_trace.h"
#include "core/base/cleanup.h"
#include "core/db/run_tx.h"
#include "core/table/metrics.h"
#include "core/wire/infer_wire.h"
#include "serving/infer_stats.h"
#include "serving/serving.h"
#include "tenants/home/residency_facts.h"

SCHEMA_EXTERN(infer_ref, "Which deployment",
    FIELD(infer_ref, name, F_PATH, .min = 1, .max = 63, .check = check_slug, .doc = "Name of the deployment"));
SCHEMA_EXTERN(infer_version_ref, "Which deployment and version",
    FIELD(infer_version_ref, name, F_PATH, .min = 1, .max = 63, .check = check_slug, .doc = "Name of the deployment"),
    FIELD(infer_version_ref, version, F_PATH, .min = 1, .max = INT64_MAX, .doc = "Version of the model that it serves"));

static const size_t SHORT_BYTES = 64 << 10;

static struct serving *serving_of(struct work *w)
{
    return ((struct api *)w->app->extra)->serving;
}

static enum errc look_up(struct work *w, struct str name, struct deployment_target *t, struct err *e)
{
    enum errc rc = RUN_READ(w, deployment_target(w, name, t, e), e);
    return rc == ERR_NOT_FOUND ? FAIL(e, NOT_FOUND, "There is no such model") : rc;
}

static bool is_its_version(const struct call *c, const struct deployment_target *t)
{
    return c->route->in != &infer_version_ref_schema || ((const struct infer_version_ref *)c->in)->version == t->model_version;
}

static struct residency_question question_of(const struct deployment_target *t)
{
    return (struct residency_question){ .data_class = data_class_of(t->data_class), .zone = t->zone, .purpose = STR("serving") };
}

/* Whether memory alone says where, and that it may. */
static bool knows_target(struct call *c, struct deployment_target *t)
{
    struct work *w = &c->work;
    const struct infer_ref *ref = c->in;
    if (w->projects.n || !serving_target_find(serving_of(w), w->tenant_id, ref->name, false, w->arena, t)
        || !is_its_version(c, t))
        return false;
    struct residency_question q = question_of(t);
    return residency_is_sure(w, &q);
}

/* fresh: ask the database whatever is remembered. */
static enum errc find_target(struct call *c, bool fresh, struct deployment_target *t, struct err *e)
{
    struct work *w = &c->work;
    const struct infer_ref *ref = c->in;            /* the name is the first member of both inputs */
    struct serving *s = serving_of(w);
    /* Who acts in some projects only is looked up each time: what is in memory says nothing of projects. */
    if (fresh || w->projects.n || !serving_target_find(s, w->tenant_id, ref->name, true, w->arena, t)) {
        TRY(look_up(w, ref->name, t, e));
        if (!t->endpoint.len)
            return FAIL(e, UNAVAILABLE, "The model is not ready");
        serving_target_keep(s, w->tenant_id, ref->name, t);
    }
    if (!is_its_version(c, t))
        return FAIL(e, NOT_FOUND, "The model is served in another version");
    struct residency_question q = question_of(t);
    return residency_check(w, RACT_SERVE, &q, false, NULL, e);
}

static bool is_unwanted(void *ctx)
{
    const struct call *c = ctx;
    const struct model_call *q = c->own;
    return q->has_begun ? http_stream_gone(c->exchange) : http_exchange_gone(c->exchange);
}

/* The first piece begins the caller's stream; a caller who is gone or too slow ends the call, and with it the model's work. */
static bool on_data(void *ctx, const char *p, size_t n)
{
    struct call *c = ctx;
    struct model_call *q = c->own;
    if (!q->has_begun) {
        const struct http_header h[] = { { STR("X-Request-Id"), c->work.request_id }, { STR("Cache-Control"), STR("no-store") },
                                         { STR("X-Accel-Buffering"), STR("no") },
                                         { STR("X-Content-Type-Options"), STR("nosniff") } };
        q->has_begun = true;
        if (http_stream_begin(c->exchange, 200, STR("text/event-stream"), h, sizeof h / sizeof *h, MODEL_STREAM_BUFFER) != ERR_OK)
            return false;
    }
    if (q->on_piece)
        q->on_piece(c, p, n);
    return http_stream_write(c->exchange, p, n);
}

/* Counting it must not have to write counts down. */
static bool is_passed_on_here(const struct call *c, const struct model_call *q)
{
    return q->is_short && q->rc == ERR_OK && q->result.status == 200 && q->result.body.len <= SHORT_BYTES
           && serving_has_room(((const struct api *)c->work.app->extra)->serving);
}

static void answered(void *ctx, enum errc rc, const struct http_result *r, const struct err *e)
{
    struct call *c = ctx;
    struct model_call *q = c->own;
    model_trace_answered(c, q);
    q->rc = rc;
    if (rc == ERR_OK)
        q->result = *r;
    else
        q->err = *e;
    if (is_passed_on_here(c, q))
        call_here(c);
    else
        call_again(c);
}

/* From ERR_OK on the call is another thread's: it may be answered already, and q and c gone. */
static enum errc send_question(struct call *c, struct model_call *q, struct err *e)
{
    q->tries++;
    q->headers[q->trace_at] = model_trace_ask(c, q);
    const struct serving_question sq = { .tenant_id = c->work.tenant_id, .attempt_id = q->t.attempt_id,
                                         .zone = q->t.zone, .endpoint = q->t.endpoint, .method = q->method,
                                         .path = q->path, .body = q->body,
                                         .headers = q->headers, .caller = q->caller, .arena = c->work.arena,
                                         .timeout_ms = q->timeout_ms, .on_data = q->is_stream ? on_data : NULL,
                                         .is_unwanted = is_unwanted,
                                         .done = answered, .ctx = c };
    return serving_ask(serving_of(&c->work), &sq, e);
}

/* The model was not reached where it was: where it is now. */
static enum errc find_again(struct call *c, struct model_call *q, struct err *e)
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
static enum errc read_json_length(struct call *c, struct model_call *q, struct err *e)
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

static enum errc begin(struct call *c, const struct model_call *how, struct model_call **ret, struct err *e)
{
    struct model_call *q = *ret = c->own = ARENA_NEW(c->work.arena, struct model_call);
    *q = *how;
    q->caller = str_hash(str_n((const char *)c->principal->user_id.b, sizeof c->principal->user_id.b));
    q->headers[0] = arena_printf(c->work.arena, INFER_CALLER ": %016lx", (unsigned long)q->caller);
    TRY(read_json_length(c, q, e));
    q->trace_at = q->headers[1] ? 2 : 1;
    return ERR_OK;
}

bool model_call_ask_now(struct call *c, const struct model_call *how)
{
    struct deployment_target t;
    struct model_call *q;
    struct err e;
    if (!knows_target(c, &t))
        return false;
    enum errc rc = begin(c, how, &q, &e);
    q->t = t;
    if (rc == ERR_OK && send_question(c, q, &e) == ERR_OK)
        return true;
    c->own = NULL;          /* it is asked again, and refused with a reason */
    return false;
}

enum errc model_call_ask(struct call *c, const struct model_call *how, bool *ret_waits, struct err *e)
{
    struct model_call *q = c->own;
    *ret_waits = false;
    if (!q) {
        TRY(begin(c, how, &q, e));
        TRY(find_target(c, false, &q->t, e));
    } else if (q->rc == ERR_UNAVAILABLE && q->tries == 1 && !q->has_begun && !http_exchange_gone(c->exchange)) {
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

enum errc model_call_judge(const struct http_result *r, struct err *e)
{
    if (r->status == 503 && r->body.len && memmem(r->body.ptr, r->body.len, INFER_TOO_LATE, sizeof INFER_TOO_LATE - 1))
        return FAIL(e, UNAVAILABLE, "The request waited longer for its turn than it may; try again");
    if (r->status == 503)
        return FAIL(e, UNAVAILABLE, "The model is not ready");
    if (r->status == 504)
        return FAIL(e, DEADLINE, "The model was still computing these inputs when the request's time was over, and was stopped");
    bool is_binary = r->status == 200 && str_eq_c(r->content_type, "application/octet-stream");
    struct str length = is_binary ? http_result_header(r, INFER_JSON_LENGTH) : STR_NULL;
    int64_t n;
    if (!may_pass(r->status) || !(is_binary || str_starts(r->content_type, "application/json")) || !r->body.len
        || (is_binary && !str_to_i64(length, 1, (int64_t)r->body.len, &n)))
        return FAIL(e, UPSTREAM, "The serving machine gave no good answer (%d)", r->status);
    return ERR_OK;
}

void model_call_pass_on(struct call *c, const struct http_result *r)
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

void model_call_account(struct call *c, enum errc rc)
{
    const struct model_call *q = c->own;
    struct work *w = &c->work;
    int64_t took_us = clock_mono_us(w->app->clock) - c->started_mono_us;
    bool is_gone = q->has_begun ? http_stream_gone(c->exchange) : http_exchange_gone(c->exchange);
    int status = rc == ERR_OK ? q->result.status : 0;
    metrics_observe(M_inference_request_seconds, (double)took_us / 1e6);
    metrics_inc(M_inference_requests_total,
                rc == ERR_OK ? status == 200 ? "ok" : "refused" : is_gone ? "gone" : err_row(rc)->wire);
    model_trace_end(c, status);
    if (uuid_is_nil(q->t.deployment_id))
        return;
    struct infer_stats *s = ((struct api *)w->app->extra)->infer_stats;
    infer_stats_add(s, w->tenant_id, q->t.deployment_id, clock_wall_us(w->app->clock), took_us,
                    end_of(rc, status, is_gone), q->text);
    struct serving_caller who = { w->tenant_id, q->t.deployment_id, actor_of(c->principal) };
    serving_note(serving_of(w), &who, q->t.zone, rc == ERR_OK && status == 200);
}
