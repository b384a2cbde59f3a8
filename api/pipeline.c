/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline.c - the way of a request from its head to its answer. The array `front` is the security policy: nothing reaches a handler
 * that did not pass it, and what a handler does is kept by transact.c alone. */
#include "api/access_log.h"
#include "api/api_int.h"
#include "api/call_trace.h"
#include "api/inside.h"
#include "core/base/assert.h"
#include "core/crypto/hash.h"
#include "core/db/tx.h"
#include "core/table/config.h"
#include "core/table/metrics.h"
#include "tenants/access/authz.h"
#include "tenants/identity/authn.h"
#include "tenants/identity/session_authn.h"

#include <stdlib.h>

typedef enum errc (*phase)(struct flight *f, struct err *e);

static const phase front[] = { phase_authn, phase_open, phase_rate, phase_cost, phase_person, phase_authz, phase_decode, phase_zone };

static enum errc run_front(struct flight *f, struct err *e)
{
    for (size_t i = 0; i < sizeof front / sizeof *front; i++)
        TRY(front[i](f, e));
    f->front_done = true;
    return ERR_OK;
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
        rc = flight_transact(f, &e);
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

/* An answer from outside must not be lost because others wait: with a full queue the call goes on where it is. Answers that this
 * thread holds would wait for what may ask the database. */
void call_again(struct call *c)
{
    struct flight *f = flight_of(&c->work);
    if (lane_submit(f))
        return;
    http_answers_flush();
    flight_run(f);
}

/* A tenant pays for its calls on whatever thread they are. */
void call_here(struct call *c)
{
    struct flight *f = flight_of(&c->work);
    struct pipeline *p = f->pipeline;
    struct uuid tenant = c->work.tenant_id;
    int64_t began_us = clock_mono_us(&clock_system);
    flight_run(f);
    lane_charge(p, tenant, clock_mono_us(&clock_system) - began_us);
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
    flight_trace_begin(f);
    return f;
}

/* With a principal that is sure to be allowed nothing in front of the handler can block: only writing down a denial does. */
static bool is_sure(const struct flight *f)
{
    const struct call *c = &f->call;
    return c->principal && (c->route->combine || c->route->quick)
           && (c->principal->bindings.n ? c->principal->always : c->principal->permissions) & PERM_BIT(c->route->perm)
           && flight_has_person(f);
}

/* Without waiting for a thread. */
static void go_on_here(struct flight *f)
{
    struct pipeline *p = f->pipeline;
    struct err e = { 0 };
    struct uuid tenant = f->call.principal->tenant_id;
    int64_t began_us = clock_mono_us(&clock_system);
    if (run_front(f, &e) != ERR_OK) {
        flight_fail(f, &e);
    } else if (f->call.route->combine) {
        combiner_submit(p->combiners[f->match - p->router.rows], f);
    } else {
        if (!f->call.route->quick(&f->call))
            flight_submit(f);
        lane_charge(p, tenant, clock_mono_us(&clock_system) - began_us);
    }
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
        c->principal = authn_cached(l->pipeline->authn, bearer_token(c->request), c->work.source_ip);
    if (phase_open(f, &e) != ERR_OK) {
        flight_fail(f, &e);
        return;
    }
    if (is_sure(f)) {
        go_on_here(f);
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
    struct str captures[CAPTURES_MAX], allow;
    const struct route_match *match = router_find(&l->pipeline->router, m, path, l->is_node, captures, NULL, &allow);
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
    p->inside = inside_new(p);
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
    inside_stop(p->inside);         /* their ends are written by calls */
    p->stopping = true;
    park_stop(p->park);
    lanes_stop(p);
    for (size_t i = 0; i < p->router.n; i++)
        combiner_free(p->combiners[i]);
    park_free(p->park);
    inside_free(p->inside);
    open_calls_free(p->open_calls);
    access_log_free(p->access_log);
    arena_free(p->arena);
    free(p);
}

void pipeline_reopen_log(struct pipeline *p)
{
    access_log_reopen(p->access_log);
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

void call_seen(struct work *w, struct uuid wake_id, struct uuid cursor)
{
    struct flight *f = flight_of(w);
    park_see(f->pipeline->park, f, wake_id, cursor);
}

bool call_is_seen(struct work *w, struct uuid wake_id, struct uuid cursor)
{
    struct flight *f = flight_of(w);
    return park_is_seen(f->pipeline->park, f, wake_id, cursor);
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
