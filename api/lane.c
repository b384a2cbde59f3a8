/* SPDX-License-Identifier: Apache-2.0 */
/* lane.c - a fair pool for each lane, whose turn it is, and what it costs.
 *
 * A lane's connections hang on a struct app of its own that a call gets when it enters the lane: what it calls finds its
 * database there without knowing of lanes. */
#include "api/api_int.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/fair_pool.h"
#include "core/base/log.h"
#include "core/base/thread.h"
#include "core/db/pool.h"
#include "core/db/tx.h"
#include "core/table/config.h"
#include "core/table/metrics.h"
#include "tenants/identity/outside.h"

enum { BACKGROUND_ARENA = 64 << 20, LANE_QUEUE = 8192, OWNER_QUEUE_MIN = 16, PACED_QUEUE = 64, PACED_OWNER_QUEUE = 32 };

struct lane_row { const char *name, *full, *doc; };
static const struct lane_row lane_rows[LANE_COUNT] = {
    [LANE_NONE] = { "none", "", "" },
#define LANE(NAME, name, threads, per_owner, connections, statement_ms, nice, full, doc) [LANE_##NAME] = { #name, full, doc },
#include "api/lane.def"
#undef LANE
};

const char *lane_name(enum lane l)
{
    return lane_rows[l].name;
}

struct lane_size lane_size(enum lane l, const struct config *cfg)
{
    struct lane_size s = { 0 };
    switch (l) {
#define LANE(NAME, name, threads_, per_owner_, connections_, statement_ms_, nice_, full, doc)                       \
    case LANE_##NAME:                                                                                               \
        s = (struct lane_size){ (int)(threads_), (int)(per_owner_), (int)(connections_), (nice_), (statement_ms_) }; \
        break;
#include "api/lane.def"
#undef LANE
    default:
        break;
    }
    if (s.per_owner <= 0)
        s.per_owner = s.threads > 1 ? s.threads - 1 : 1;
    return s;
}

/* --- whose turn --- */

/* Tenants are owners under their id; what is no tenant gets an id without a version (RFC 9562), which no tenant has. */
static struct uuid owner_by(char kind, struct str text)
{
    uint64_t h = str_hash(text);
    struct uuid id = { { (uint8_t)kind } };
    memcpy(&id.b[8], &h, sizeof h);
    return id;
}

static bool is_tenant(struct uuid owner)
{
    return owner.b[6] >> 4 != 0;
}

static struct uuid owner_of(const struct flight *f)
{
    const struct call *c = &f->call;
    if (c->route->flags & R_NODE)
        return owner_by('n', c->request->peer_identity);
    if (!c->principal)
        return owner_by('a', c->work.source_ip);
    if (uuid_is_nil(c->principal->tenant_id))
        return owner_by('p', str_n((const char *)c->principal->user_id.b, sizeof c->principal->user_id.b));
    return c->principal->tenant_id;
}

/* A name that is spelled in escapes is taken for the one that is looked for: it costs its sender a turn in another lane, no
 * more. */
static bool is_search(const struct route_match *m, struct str query)
{
    struct str rest = query, pair, key, value;
    for (bool more = m->nsearches && rest.len > 0; more;) {
        more = str_cut(rest, '&', &pair, &rest);
        str_cut(pair, '=', &key, &value);
        for (int i = 0; i < m->nsearches; i++)
            if (str_eq(key, m->searches[i]) || (key.len && memchr(key.ptr, '%', key.len)))
                return true;
    }
    return false;
}

static enum lane lane_of(const struct flight *f)
{
    const struct route *row = f->call.route;
    bool is_known = f->front_done || f->call.principal || row->perm == PERM_PUBLIC || row->flags & R_NODE;
    if (!is_known)
        return LANE_DOOR;
    return row->lane == LANE_CALLS && is_search(f->match, f->call.request->query) ? LANE_HEAVY : row->lane;
}

static void run_flight(struct lane_item *i)
{
    flight_run((struct flight *)(void *)((char *)i - offsetof(struct flight, item)));
}

bool lane_submit(struct flight *f)
{
    struct pipeline *p = f->pipeline;
    enum lane l = lane_of(f);
    f->lane = l;
    f->call.work.app = p->lanes[l].app;
    f->item.run = run_flight;
    return fair_pool_submit(p->lanes[l].pool, owner_of(f), &f->item);
}

void lane_full(const struct flight *f, struct err *e)
{
    FAIL(e, UNAVAILABLE, "%s", lane_rows[f->lane].full);
}

/* --- what it costs --- */

/* A token is a microsecond. */
static struct rate_rule cost_rule(int64_t ms_per_minute)
{
    return (struct rate_rule){ (double)ms_per_minute * 1000 / 60, ms_per_minute * 1000 };
}

static struct str cost_key(struct uuid tenant, char key[18])
{
    memcpy(key, "c:", 2);
    memcpy(key + 2, tenant.b, sizeof tenant.b);
    return str_n(key, 18);
}

void lane_charge(struct pipeline *p, struct uuid tenant, int64_t us)
{
    char key[18];
    int64_t limit_ms = p->app->config->rate_tenant_ms_per_minute;
    if (limit_ms > 0 && us > 0 && is_tenant(tenant))
        rate_charge(p->rate, cost_key(tenant, key), cost_rule(limit_ms), us);
}

bool lane_may_spend(struct pipeline *p, struct uuid tenant, struct rate_result *ret)
{
    char key[18];
    int64_t limit = p->app->config->rate_tenant_ms_per_minute;
    return limit <= 0 || !is_tenant(tenant) || rate_take(p->rate, cost_key(tenant, key), cost_rule(limit), 0, ret);
}

/* Each of them holds a connection: a tenant's calls that wait may not close the door to the others. */
size_t lane_owner_queue(const struct config *cfg)
{
    size_t n = (size_t)cfg->api_max_connections / 8;
    return n > OWNER_QUEUE_MIN ? n : OWNER_QUEUE_MIN;
}

static void charge(void *ctx, struct uuid owner, int64_t us)
{
    lane_charge(ctx, owner, us);
}

/* --- work that outlives its answer: an arena of its own, for the request's dies with its answer, and copies --- */

struct background {
    struct lane_item item;
    struct pipeline *pipeline;
    enum lane lane;
    struct arena *arena;
    struct principal *principal;
    struct work work;
    void (*act)(struct work *w, const void *in);
    const void *in;
};

/* In the request's arena: what is not handed over when that ends is undone with it. */
struct offer { struct background *b; };

static void background_end(struct background *b)
{
    principal_unref(b->principal);
    arena_free(b->arena);
}

static void offer_end(void *ctx)
{
    struct offer *o = ctx;
    if (o->b)
        background_end(TAKE(o->b));
}

static void run_background(struct lane_item *i)
{
    struct background *b = (struct background *)(void *)i;
    if (!b->pipeline->stopping) {
        b->work.now_us = clock_wall_us(b->work.app->clock);
        b->act(&b->work, b->in);
    }
    background_end(b);
}

static void hand_over(void *ctx)
{
    struct offer *o = ctx;
    struct background *b = TAKE(o->b);
    if (fair_pool_submit(b->pipeline->lanes[b->lane].pool, b->work.tenant_id, &b->item))
        return;
    log_event(LOG_WARN, "background.full", "lane", LOG_S(lane_name(b->lane)), "request_id", LOG_STR(b->work.request_id), NULL);
    background_end(b);
}

static void *copy(struct arena *a, const void *p, size_t n)
{
    void *to = arena_alloc(a, n);
    if (n)
        memcpy(to, p, n);
    return to;
}

void call_background(struct work *w, enum lane lane, void (*act)(struct work *w, const void *in), const void *in, size_t n)
{
    struct flight *f = flight_of(w);
    struct arena *a = arena_new(BACKGROUND_ARENA);
    struct background *b = ARENA_NEW(a, struct background);
    struct offer *o = ARENA_NEW(w->arena, struct offer);
    *b = (struct background){ { run_background }, f->pipeline, lane, a, principal_ref(f->call.principal), *w, act,
                              copy(a, in, n) };
    b->work.app = f->pipeline->lanes[lane].app;
    b->work.arena = a;
    b->work.tx = NULL;
    b->work.principal = b->principal;
    b->work.deadline_mono_us = 0;
    b->work.projects.items = copy(a, w->projects.items, w->projects.n * sizeof(struct uuid));
    b->work.request_id = str_dup(a, w->request_id);
    b->work.source_ip = str_dup(a, w->source_ip);
    o->b = b;
    arena_defer(w->arena, offer_end, o);
    db_after_commit(w->tx, hand_over, o);
}

/* --- life --- */

static void lane_task(void *ctx, void *item)
{
    (void)ctx;
    struct lane_item *i = item;
    i->run(i);
}

void lanes_start(struct pipeline *p, const struct app *const apps[LANE_COUNT])
{
    for (int l = LANE_NONE + 1; l < LANE_COUNT; l++) {
        struct lane_size s = lane_size(l, p->app->config);
        bool is_paced = l == LANE_PACED;
        /* A search computes in PostgreSQL, where nothing stands back by its nice value. */
        if (l == LANE_HEAVY)
            s.per_owner = thread_computing_max(s.per_owner, thread_processors());
        p->lanes[l].app = apps && apps[l] ? apps[l] : p->app;
        p->lanes[l].pool = fair_pool_new(&(struct fair_pool_opts){
            .name = lane_rows[l].name, .threads = s.threads, .nice = s.nice, .owner_running = s.per_owner,
                .queue_max = is_paced ? PACED_QUEUE : LANE_QUEUE,
            .owner_queue_max = is_paced ? PACED_OWNER_QUEUE : lane_owner_queue(p->app->config), .task = lane_task,
            /* A slow reader's time is not the tenant's work. Who is at the door is not known yet. */
            .cost = is_paced || l == LANE_DOOR ? NULL : charge, .ctx = p });
    }
}

void lanes_stop(struct pipeline *p)
{
    fair_pool_free(p->lanes[LANE_DOOR].pool);       /* first: what passes it goes on in another */
    p->lanes[LANE_DOOR].pool = NULL;
    for (int l = LANE_NONE + 1; l < LANE_COUNT; l++)
        fair_pool_free(p->lanes[l].pool);
}

void lanes_metrics(struct pipeline *p)
{
    for (int l = LANE_NONE + 1; l < LANE_COUNT; l++) {
        struct fair_pool_stats s;
        struct db_pool_stats d;
        const char *name = lane_rows[l].name;
        fair_pool_stats(p->lanes[l].pool, &s);
        metrics_set(M_lane_calls, (double)s.waiting, name, "waiting");
        metrics_set(M_lane_calls, (double)s.running, name, "running");
        metrics_set(M_lane_busy_seconds, (double)s.busy_us / 1e6, name);
        if (p->lanes[l].app->pool == p->app->pool)
            continue;
        db_pool_stats(p->lanes[l].app->pool, &d);
        metrics_set(M_db_connections, d.open, name, "open");
        metrics_set(M_db_connections, d.busy, name, "busy");
    }
    metrics_set(M_open_calls, (double)open_calls_all(p->open_calls));
    struct db_pool_stats d;
    db_pool_stats(p->app->pool, &d);
    metrics_set(M_db_connections, d.open, "app", "open");
    metrics_set(M_db_connections, d.busy, "app", "busy");
}

static void print_route(struct buf *b, int l, const struct route *r, const char *search, bool *any)
{
    if (!*any)
        buf_printf(b, "\n## `%s`\n\n", lane_rows[l].name);
    *any = true;
    buf_printf(b, "- %s `%s%s%s`\n", http_method_name(r->method), r->path, *search ? "?" : "", search);
}

void lanes_print_markdown(struct buf *b)
{
    struct config *cfg = config_new_default();
    buf_add_c(b, "<!-- Printed by falaj-api --print-lanes; tests/lint/gen.sh --write -->\n# Lanes\n\n"
                 "Each lane has threads of its own, which its tenants share by deficit round robin over what their calls\n"
                 "cost, and connections to the database of its own. Sizes are those of the default settings (`api/lane.def`).\n\n"
                 "| lane | threads | of one tenant | connections | a statement may take | nice | what runs there |\n"
                 "|---|---|---|---|---|---|---|\n");
    for (int l = LANE_NONE + 1; l < LANE_COUNT; l++) {
        struct lane_size s = lane_size(l, cfg);
        int64_t ms = s.statement_ms ? s.statement_ms : cfg->db_statement_timeout_ms;
        buf_printf(b, "| `%s` | %d | %d | %d | %ld ms | %d | %s |\n", lane_rows[l].name, s.threads, s.per_owner,
                   s.connections ? s.connections : (int)cfg->db_pool_size, (long)ms, s.nice, lane_rows[l].doc);
    }
    for (int l = LANE_NONE + 1; l < LANE_COUNT; l++) {
        bool any = false;
        for (const struct route_table *const *t = all_routes; *t && l != LANE_CALLS; t++)
            for (size_t i = 0; i < (*t)->n; i++) {
                const struct route *r = &(*t)->rows[i];
                if ((int)r->lane != l && (l != LANE_HEAVY || r->lane != LANE_CALLS))
                    continue;
                if ((int)r->lane == l)
                    print_route(b, l, r, "", &any);
                for (size_t k = 0; (int)r->lane != l && r->in && k < r->in->nfields; k++)
                    if (field_is_search(&r->in->fields[k]))
                        print_route(b, l, r, r->in->fields[k].name, &any);
            }
    }
    config_free(cfg);
}
