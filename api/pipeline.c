/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline.c - the phases of a request. The two arrays below are the security policy: nothing reaches a handler that did not pass
 * `front`, and nothing a handler did is kept that did not pass run_in_tx to its end. */
#include "api/access_log.h"
#include "api/api_int.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/fault.h"
#include "core/base/log.h"
#include "core/crypto/hash.h"
#include "core/db/pool.h"
#include "core/db/tx.h"
#include "core/http/url.h"
#include "core/json/decode.h"
#include "core/wire/infer_wire.h"
#include "core/table/config.h"
#include "core/table/metrics.h"
#include "tenants/access/actor.h"
#include "tenants/identity/authn.h"
#include "tenants/identity/session_authn.h"
#include "tenants/access/authz.h"
#include "tenants/identity/jwt_authn.h"

#include <stdlib.h>

typedef enum errc (*phase)(struct flight *f, struct err *e);

static struct str bearer(const struct http_request *r)
{
    struct str h = http_header_get(r, "Authorization");
    return str_starts(h, "Bearer ") ? str_trim(str_n(h.ptr + 7, h.len - 7)) : STR_NULL;
}

/* A worker is who its certificate says; which node that is, its handlers look up. */
static struct principal *worker_principal(const struct http_request *r, struct uuid node_id)
{
    struct principal *p = principal_new();
    p->is_worker = true;
    p->user_id = node_id;
    p->name = str_dup(p->arena, r->peer_identity);
    p->roles = UINT32_C(1) << ROLE_WORKER;
    p->permissions = role_permissions(ROLE_WORKER);
    p->expires_us = INT64_MAX;
    return p;
}

static enum errc phase_authn(struct flight *f, struct err *e)
{
    struct call *c = &f->call;
    if (c->route->flags & R_NODE) {
        if (!c->request->peer_identity.ptr)
            return FAIL(e, UNAUTHENTICATED, "Workers need a client certificate of their zone");
        struct uuid node_id = UUID_NIL;
        if (f->pipeline->gate)
            TRY(f->pipeline->gate(c, &node_id, e));
        c->principal = worker_principal(c->request, node_id);
    } else if (c->route->perm != PERM_PUBLIC && !c->principal) {
        TRY(browser_cookie(c->request, &c->session_cookie, e));
        if (c->session_cookie.ptr)
            TRY(browser_session(f, e));
    }
    if (c->route->perm == PERM_PUBLIC) {
        TRY(browser_public(c, e));
    } else if (!c->principal) {
        struct str token = bearer(c->request);
        if (!token.ptr)
            return FAIL(e, UNAUTHENTICATED, "Send an Authorization header with a bearer token");
        bool is_jwt = jwt_looks_like(token);
        TRY(credential_may_try(f, token, e));
        enum errc rc = is_jwt ? bearer_jwt(c, token, e) : authn_token(f->pipeline->authn, token, c->work.source_ip, c->work.arena, &c->principal, e);
        credential_judged(f, token, rc);
        metrics_inc(M_authn_total, is_jwt ? "jwt" : "token", rc == ERR_OK ? "ok" : err_row(rc)->wire);
        if (rc != ERR_OK)
            return rc;
    }
    c->work.principal = c->principal;
    c->work.tenant_id = c->principal ? c->principal->tenant_id : UUID_NIL;
    return ERR_OK;
}

/* Calls of a tenant that cost more than its share of a minute are paid for before others run. */
static enum errc phase_cost(struct flight *f, struct err *e)
{
    const struct principal *p = f->call.principal;
    if (!p || f->call.route->rate == RL_NONE || f->call.route->flags & R_NODE || lane_may_spend(f->pipeline, p->tenant_id,
        &f->rates[f->nrates].result))
        return ERR_OK;
    f->rates[f->nrates++].name = "cost";
    metrics_inc(M_rate_denied_total, "cost");
    return FAIL(e, RATE,
        "The calls of this organisation took more than the %ld s of server time that it has in a minute; wait %ld s",
                (long)(f->pipeline->app->config->rate_tenant_ms_per_minute / 1000), (long)f->rates[f->nrates - 1].result.reset_s);
}

static enum errc check_content_type(struct flight *f, const char *want, struct err *e)
{
    struct str type = http_header_get(f->call.request, "Content-Type"), head, rest;
    str_cut(type, ';', &head, &rest);
    head = str_trim(head);
    if (!str_eq_c(head, want))
        return FAIL(e, MEDIA_TYPE, "This call takes %s", want);
    return ERR_OK;
}

/* Behind the JSON of a call to a model binary tensors may stand; then the body is no JSON, whatever it is called. */
static enum errc check_upload_type(struct flight *f, const struct route *row, struct err *e)
{
    struct err not_binary;
    if (row->flags & R_OIP && http_header_get(f->call.request, INFER_JSON_LENGTH).ptr
        && check_content_type(f, "application/octet-stream", &not_binary) == ERR_OK)
        return ERR_OK;
    if (row->content_also && check_content_type(f, row->content_also, &not_binary) == ERR_OK)
        return ERR_OK;
    return check_content_type(f, row->content_type, e);
}

/* Both are SCIM's (RFC 7644, 8.1). */
static enum errc check_scim_type(struct flight *f, struct err *e)
{
    struct err not_json;
    return check_content_type(f, "application/json", &not_json) == ERR_OK ? ERR_OK : check_content_type(f, SCIM_TYPE, e);
}

static enum errc read_if_match(struct call *c, struct err *e)
{
    struct str tag = http_header_get(c->request, "If-Match");
    if (!tag.ptr)
        return FAIL(e, PRECONDITION_MISSING, "Send If-Match with the ETag that you read (or *)");
    if (str_eq_c(tag, "*"))
        return ERR_OK;
    if (tag.len < 4 || tag.ptr[0] != '"' || tag.ptr[1] != 'v' || tag.ptr[tag.len - 1] != '"' ||
        !str_to_i64(str_n(tag.ptr + 2, tag.len - 3), 0, INT64_MAX, &c->if_match))
        return FAIL(e, PRECONDITION, "If-Match is not an ETag of this object");
    return ERR_OK;
}

/* The pairs whose names the row's input has, as they stand. */
static struct str known_query(const struct call *c)
{
    struct str rest = c->request->query, pair, name, value;
    char *out = arena_alloc(c->work.arena, rest.len + 1);
    size_t n = 0;
    for (bool more = rest.len > 0; more;) {
        more = str_cut(rest, '&', &pair, &rest);
        str_cut(pair, '=', &name, &value);
        const struct field *known = schema_find(c->route->in, name);
        if (!known || !(known->flags & F_QUERY))
            continue;
        out[n] = '&';
        memcpy(out + n + !!n, pair.ptr, pair.len);
        n += pair.len + !!n;
    }
    return str_n(out, n);
}

static enum errc phase_decode(struct flight *f, struct err *e)
{
    struct call *c = &f->call;
    const struct route *row = c->route;
    struct arena *a = c->work.arena;
    c->in = row->in ? arena_alloc(a, row->in->size) : NULL;
    if (row->flags & R_UPLOAD && row->content_type)
        TRY(check_upload_type(f, row, e));
    if (row->flags & R_SCIM && c->body.len)
        TRY(check_scim_type(f, e));
    if (!(row->flags & (R_UPLOAD | R_SCIM)) && (f->match->has_body || c->body.len)) {
        if (c->body.len || f->match->has_body)
            TRY(check_content_type(f, "application/json", e));
        if (!row->in)
            return FAIL(e, MALFORMED, "This call takes no body");
        TRY(json_decode(row->in, c->body, a, c->in, e));
    }
    for (int i = 0; i < f->match->ncaptures; i++) {
        struct str text;
        /* A path that cannot be an id of ours is the path of nothing. */
        if (url_segment_decode(a, c->captures[i], &text, e) != ERR_OK || field_from_text(f->match->captures[i], text, c->in, a, e) != ERR_OK)
            return FAIL(e, NOT_FOUND, "There is no such object");
    }
    if (row->in)
        TRY(schema_from_query(row->in, row->flags & R_QUERY_EXTRA ? known_query(c) : c->request->query, c->in, a, e));
    else if (c->request->query.len)
        return FAIL(e, UNKNOWN_FIELD, "This call takes no query parameters");
    if (row->flags & R_IF_MATCH)
        TRY(read_if_match(c, e));
    if (row->flags & R_IDEMPOTENT) {
        TRY(idempotency_key_read(c, e));
        struct sha256 h;
        sha256_init(&h);
        sha256_add(&h, c->request->path.ptr, c->request->path.len);
        sha256_add(&h, "\n", 1);
        sha256_add(&h, c->body.ptr, c->body.len);
        sha256_final(&h, c->request_sha);
    }
    if (row->flags & R_TENANT_PATH && principal_is_platform(c->principal))
        for (int i = 0; i < f->match->ncaptures; i++)
            if (!strcmp(f->match->captures[i]->name, "tenant_id"))
                c->work.tenant_id = *(struct uuid *)field_at(f->match->captures[i], c->in);
    return row->flags & R_LIST && row->in && schema_find(row->in, STR("page_token")) ? page_open(f, e) : ERR_OK;
}

static const phase front[] = { phase_authn, phase_open, phase_rate, phase_cost, phase_person, phase_authz, phase_decode, phase_zone };

static enum errc run_front(struct flight *f, struct err *e)
{
    for (size_t i = 0; i < sizeof front / sizeof *front; i++)
        TRY(front[i](f, e));
    f->front_done = true;
    return ERR_OK;
}

struct audit_event flight_audit_event(struct flight *f, enum audit_code code)
{
    struct call *c = &f->call;
    struct audit_event ev = audit_event_by(&c->work, c->principal, code);
    ev.rule = c->audit.rule;
    ev.http_status = c->status ? c->status : c->route->status;
    for (int i = 0; i < c->audit.detail_count; i++)
        audit_event_detail(&ev, c->audit.details[i]);
    ev.resource_kind = str_c(c->route->resource ? c->route->resource : "");
    const struct field *id = f->match->id;
    const void *from = f->match->id_is_in ? c->in : c->out;
    if (id && from) {
        ev.resource_id = *(struct uuid *)field_at(id, from);
        ev.resource_prefix = id->prefix;
    }
    return ev;
}

static enum errc write_audit(struct flight *f, struct err *e)
{
    struct call *c = &f->call;
    struct audit_event ev = flight_audit_event(f, c->route->audit);
    if (FAULT("audit_lost"))
        return FAIL(e, INTERNAL, "The audit event could not be written, so nothing was changed");
    TRY(audit_append(&c->work, &ev, e));
    if (c->principal && !c->principal->is_worker && principal_is_platform(c->principal) && !uuid_is_nil(c->work.tenant_id)) {
        /* What the platform does in a tenant stands in both logs. */
        ev.event_id = uuid_v7(c->work.now_us);
        ev.tenant_id = UUID_NIL;
        TRY(audit_append(&c->work, &ev, e));
    }
    return ERR_OK;
}

static enum errc replay(struct flight *f)
{
    f->answer = BUF(RESPONSE_MAX);
    buf_add_str(&f->answer, f->call.replay_body);
    return ERR_OK;
}

/* begin -> idempotency -> handler -> encode -> audit -> commit */
static enum errc run_in_tx(struct flight *f, struct err *e)
{
    struct call *c = &f->call;
    const struct route *row = c->route;
    struct work *w = &c->work;
    bool read_only = row->method == HTTP_GET && !row->audited;
    c->out = arena_alloc(w->arena, row->flags & R_LIST ? sizeof(struct page_out) : row->flags & R_TEXT ? sizeof(struct buf) : row->out ? row->out->size : 16);
    if (row->flags & R_NO_TX) {
        TRY(row->handler(w, c->in, c->out, e));
        if (c->replayed)
            return replay(f);
        return f->is_parked ? ERR_OK : flight_encode(f, e);
    }
    TRY(row->flags & R_NODE ? db_begin(w->app->node_pool, SCOPE_SYSTEM, 0, w->arena, &w->tx, e)
                            : db_begin(w->app->pool, scope_of(w), read_only ? TX_READ_ONLY : 0, w->arena, &w->tx, e));
    if (row->flags & R_IDEMPOTENT)
        TRY(idempotency_begin(c, e));
    if (c->replayed) {
        TRY(replay(f));
        return db_commit(w->tx, e);
    }
    TRY(row->handler(w, c->in, c->out, e));
    if (f->is_parked) {
        db_rollback(TAKE(w->tx));
        return ERR_OK;
    }
    TRY(flight_encode(f, e));
    if (row->flags & R_IDEMPOTENT)
        idempotency_end(c, c->status ? c->status : row->status, buf_str(&f->answer));
    if (row->audited)
        TRY(write_audit(f, e));
    return db_commit(w->tx, e);
}

static enum errc run_back(struct flight *f, struct err *e)
{
    enum errc rc = ERR_OK;
    for (int i = 0; i < TRIES_MAX; i++) {
        park_note(f->pipeline->park, f);
        rc = run_in_tx(f, e);
        if (rc == ERR_OK)
            break;
        db_rollback(TAKE(f->call.work.tx));
        buf_release(&f->answer);
        f->call.audit.detail_count = 0;
        if (rc != ERR_RETRY)
            break;
        if (!f->outside) {
            metrics_inc(M_db_retries_total, "retry");
            continue;
        }
        rc = TAKE(f->outside)(&f->call.work, f->call.in, e);
        if (rc != ERR_OK)
            break;
        i--;                            /* no try was spent */
    }
    f->call.work.tx = NULL;
    return rc;
}

void flight_run(struct flight *f)
{
    struct err e = { 0 };
    struct call *c = &f->call;
    enum errc rc = f->front_done ? ERR_OK : run_front(f, &e);
    if (rc == ERR_OK && c->route->combine) {
        c->work.app = f->pipeline->app;
        combiner_submit(f->pipeline->combiners[f->match - f->pipeline->router.rows], f);
        return;
    }
    if (rc == ERR_OK && f->lane == LANE_DOOR) {     /* now it is known who calls: the route's lane, in its tenant's turn */
        flight_submit(f);
        return;
    }
    if (rc == ERR_OK && c->route->raw) {
        rc = c->route->raw(c, &e);
        if (rc == ERR_OK)
            return;
    } else if (rc == ERR_OK) {
        rc = run_back(f, &e);
    }
    if (rc != ERR_OK)
        flight_fail(f, &e);
    else if (f->is_parked)
        park_add(f->pipeline->park, f);
    else
        flight_send(f);
}

void flight_submit(struct flight *f)
{
    struct err e;
    if (lane_submit(f))
        return;
    lane_full(f, &e);
    flight_fail(f, &e);
}

/* An answer from outside must not be lost because others wait: with a full queue the call goes on where it is. */
void call_again(struct call *c)
{
    struct flight *f = flight_of(&c->work);
    if (!lane_submit(f))
        flight_run(f);
}

static struct str request_id_of(struct call *c)
{
    struct str given = http_header_get(c->request, "X-Request-Id");
    bool ok = given.len >= 1 && given.len <= 128;
    for (size_t i = 0; ok && i < given.len; i++) {
        char ch = given.ptr[i];
        ok = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') || ch == '-' || ch == '_' || ch == '.' || ch == ':';
    }
    return ok ? given : id_text(c->work.arena, "req", c->work.request_uuid);
}

static struct flight *flight_new(struct pipeline *p, struct http_exchange *x)
{
    const struct http_request *r = http_exchange_request(x);
    struct flight *f = ARENA_NEW(r->arena, struct flight);
    struct call *c = &f->call;
    f->pipeline = p;
    c->exchange = x;
    c->request = r;
    c->body = r->body;
    c->if_match = -1;
    c->started_mono_us = r->received_mono_us;
    c->work = (struct work){ .app = p->app, .arena = r->arena, .now_us = clock_wall_us(p->app->clock), .source_ip = client_address(&p->proxies, r) };
    c->work.request_uuid = uuid_v7(c->work.now_us);
    c->work.request_id = request_id_of(c);
    struct str trace = http_header_get(r, "Traceparent");
    c->work.traceparent = trace.len == 55 ? trace : STR_NULL;
    return f;
}

void pipeline_request(void *ctx, struct http_exchange *x)
{
    struct listener *l = ctx;
    struct flight *f = flight_new(l->pipeline, x);
    struct call *c = &f->call;
    struct err e = { 0 };
    f->match = router_find(&l->pipeline->router, c->request->method, c->request->path, l->is_node, c->captures, c->work.arena, &f->allow);
    if (!f->match) {
        if (!l->is_node && flight_console(f))
            return;
        if (f->allow.ptr && c->request->method == HTTP_OPTIONS) {
            flight_options(f);
            return;
        }
        if (f->allow.ptr)
            FAIL(&e, METHOD, "%.*s is not a method of this resource; it has %.*s", STR_ARG(c->request->method_text), STR_ARG(f->allow));
        else
            FAIL(&e, NOT_FOUND, "There is no such resource");
        flight_fail(f, &e);
        return;
    }
    c->route = f->match->row;
    if (!(c->route->flags & R_NODE) && c->route->perm != PERM_PUBLIC && !http_header_get(c->request, "Cookie").ptr)
        c->principal = authn_cached(l->pipeline->authn, bearer(c->request), c->work.source_ip);
    if (phase_open(f, &e) != ERR_OK) {
        flight_fail(f, &e);
        return;
    }
    /* With a principal that is sure to be allowed nothing in front of the handler can block: only writing down a denial does. */
    if (c->principal && c->route->combine && (c->principal->bindings.n ? c->principal->always : c->principal->permissions) & PERM_BIT(c->route->perm) &&
        flight_has_person(f)) {
        if (run_front(f, &e) != ERR_OK)
            flight_fail(f, &e);
        else
            combiner_submit(l->pipeline->combiners[f->match - l->pipeline->router.rows], f);
        return;
    }
    flight_submit(f);
}

void pipeline_reject(void *ctx, struct http_exchange *x, enum errc code, const char *why)
{
    struct listener *l = ctx;
    struct flight *f = flight_new(l->pipeline, x);
    struct err e;
    err_set(&e, code, __FILE__, __LINE__, "%s", why);
    metrics_inc(M_http_rejected_total, err_row(code)->wire);
    flight_fail(f, &e);
}

size_t pipeline_body_limit(void *ctx, enum http_method m, struct str path)
{
    struct listener *l = ctx;
    struct arena *a = arena_new(4096);
    struct str captures[CAPTURES_MAX], allow;
    const struct route_match *match = router_find(&l->pipeline->router, m, path, l->is_node, captures, a, &allow);
    arena_free(a);
    const struct config *cfg = l->pipeline->app->config;
    return (size_t)(match && match->row->flags & R_UPLOAD ? cfg->api_upload_max : cfg->api_max_body);
}

struct pipeline *pipeline_new(const struct pipeline_opts *o, struct err *e)
{
    struct pipeline *p = calloc(1, sizeof *p);
    ASSERT(p);
    const struct config *cfg = o->app->config;
    p->app = o->app;
    p->authn = o->authn;
    p->gate = o->gate;
    p->sessions = o->sessions;
    p->rate = o->rate;
    p->console = o->console;
    p->arena = arena_new(4 << 20);
    if (router_init(&p->router, p->arena, e) != ERR_OK || proxies_parse(str_c(cfg->api_trusted_proxies), &p->proxies,
        e) != ERR_OK) {
        arena_free(p->arena);
        free(p);
        return NULL;
    }
    hmac_sha256("falaj-page-v1", 13, cfg->db_url, strlen(cfg->db_url), p->page_key);
    p->access_log = access_log_new(cfg->api_access_log);
    p->open_calls = open_calls_new();
    p->park = park_new(p);
    lanes_start(p, o->lane_apps);
    p->combiners = ARENA_ARRAY(p->arena, struct combiner *, p->router.n);
    for (size_t i = 0; i < p->router.n; i++)
        if (p->router.rows[i].row->combine)
            p->combiners[i] = combiner_new(p, &p->router.rows[i]);
    return p;
}

void pipeline_free(struct pipeline *p)
{
    if (!p)
        return;
    p->stopping = true;
    park_stop(p->park);
    lanes_stop(p);
    for (size_t i = 0; i < p->router.n; i++)
        combiner_free(p->combiners[i]);
    park_free(p->park);
    open_calls_free(p->open_calls);
    access_log_free(p->access_log);
    arena_free(p->arena);
    free(p);
}

void pipeline_reopen_log(struct pipeline *p)
{
    access_log_reopen(p->access_log);
}

enum errc call_outside(struct work *w, enum errc (*act)(struct work *w, const void *in, struct err *e), struct err *e)
{
    struct flight *f = flight_of(w);
    ASSERT(!f->was_outside);
    f->was_outside = true;
    f->outside = act;
    return FAIL(e, RETRY, "The call goes on outside of its transaction");
}

enum errc call_park(struct work *w, struct uuid wake_id, int64_t wait_ms)
{
    struct flight *f = flight_of(w);
    if (!w->deadline_mono_us)
        w->deadline_mono_us = clock_mono_us(w->app->clock) + wait_ms * 1000;
    f->wake_id = wake_id;
    f->is_parked = true;
    return ERR_OK;
}

void pipeline_wake(struct pipeline *p, struct uuid wake_id)
{
    park_wake(p->park, wake_id);
}

struct pipeline *pipeline_of(struct work *w)
{
    return flight_of(w)->pipeline;
}

struct authn *pipeline_authn(struct pipeline *p)
{
    return p->authn;
}

struct session_authn *pipeline_sessions(struct pipeline *p)
{
    return p->sessions;
}

struct forget {
    struct pipeline *pipeline;
    struct uuid tenant_id, user_id;
};

static void forget_user(void *ctx)
{
    const struct forget *f = ctx;
    authn_forget_user(f->pipeline->authn, f->tenant_id, f->user_id);
    if (f->pipeline->sessions)
        session_forget_user(f->pipeline->sessions, f->tenant_id, f->user_id);
}

void pipeline_forget_user(struct work *w, struct uuid tenant_id, struct uuid user_id)
{
    struct forget *f = ARENA_NEW(w->arena, struct forget);
    *f = (struct forget){ pipeline_of(w), tenant_id, user_id };
    db_after_commit(w->tx, forget_user, f);
}
