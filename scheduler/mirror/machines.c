/* SPDX-License-Identifier: Apache-2.0 */
/* machines.c - an array in the order of ids, and texts each once in an arena that is thrown away as a whole. One statement brings
 * what changed and what is held, so both are of one moment. */
#include "scheduler/mirror/machines.h"
#include "core/base/assert.h"
#include "core/base/log.h"
#include "core/db/tx.h"
#include "core/table/metrics.h"
#include "core/table/schema.h"
#include "scheduler/engines/lent.h"
#include "scheduler/mirror/snapshot.h"
#include "scheduler/plan/askset.h"
#include "tenants/home/residency_facts.h"

#include <stdlib.h>

enum { TEXTS = 1 << 14, TEXTS_MAX = TEXTS / 2, FIRST = 64 };
static const size_t TEXT_BYTES_MAX = (size_t)64 << 20;

struct machines {
    struct machine_fact *items;
    size_t n, cap;
    int64_t horizon, revision;          /* horizon 0: nothing is known */
    char *epoch;                        /* of which database */
    struct uuid compared;               /* so far the machines were compared */
    struct machines_count count;
    struct arena *arena;
    struct str texts[TEXTS];            /* open addressing */
    size_t ntexts, bytes;
    struct reserved *windows;
    size_t nwindows;
    int64_t windows_no;
};

struct machines *machines_new(void)
{
    struct machines *m = calloc(1, sizeof *m);
    ASSERT(m);
    m->arena = arena_new(2 * TEXT_BYTES_MAX);
    return m;
}

void machines_free(struct machines *m)
{
    if (!m)
        return;
    arena_free(m->arena);
    free(m->items);
    free(m->windows);
    free(m->epoch);
    free(m);
}

void machines_forget(struct machines *m)
{
    if (!m)
        return;
    m->n = m->ntexts = m->bytes = m->nwindows = 0;
    m->horizon = m->windows_no = 0;
    m->compared = UUID_NIL;
    memset(m->texts, 0, sizeof m->texts);
    arena_reset(m->arena);
}

struct machines_count machines_counted(const struct machines *m)
{
    return m->count;
}

static struct str keep_text(struct machines *m, struct str s)
{
    size_t at = str_hash(s) % TEXTS;
    while (m->texts[at].ptr && !str_eq(m->texts[at], s))
        at = (at + 1) % TEXTS;
    if (m->texts[at].ptr)
        return m->texts[at];
    const struct str mine = str_dup(m->arena, s);
    m->bytes += s.len;
    if (m->ntexts < TEXTS_MAX) {
        m->texts[at] = mine;
        m->ntexts++;
    }
    return mine;
}

/* The first that does not stand before the id. */
static size_t place_of(const struct machines *m, struct uuid id)
{
    size_t low = 0, high = m->n;
    if (m->n && uuid_cmp(m->items[m->n - 1].node_id, id) < 0)
        return m->n;
    while (low < high) {
        const size_t mid = (low + high) / 2;
        if (uuid_cmp(m->items[mid].node_id, id) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void apply_one(struct machines *m, const struct machine_fact *f)
{
    const size_t at = place_of(m, f->node_id);
    const bool is_known = at < m->n && uuid_eq(m->items[at].node_id, f->node_id);
    if (is_known && m->items[at].version >= f->version)
        return;
    if (!is_known && m->n == m->cap)
        m->items = list_alloc(m->items, m->cap = m->cap ? 2 * m->cap : FIRST, sizeof *m->items);
    struct machine_fact *k = &m->items[at];
    if (!is_known) {
        memmove(k + 1, k, (m->n - at) * sizeof *k);
        m->n++;
    }
    *k = *f;
    k->zone = keep_text(m, f->zone);
    k->pool = keep_text(m, f->pool);
    k->flavor = keep_text(m, f->flavor);
    k->gpu_model = keep_text(m, f->gpu_model);
    k->build = keep_text(m, f->build);
    k->engines = keep_text(m, f->engines);
}

void machines_apply(struct machines *m, const struct machine_fact *f, size_t n)
{
    for (size_t i = 0; i < n; i++)
        apply_one(m, &f[i]);
}

static bool same_fact(const struct machine_fact *x, const struct machine_fact *y)
{
    return uuid_eq(x->node_id, y->node_id) && str_eq(x->zone, y->zone) && str_eq(x->pool, y->pool) &&
           str_eq(x->flavor, y->flavor) && str_eq(x->gpu_model, y->gpu_model) && str_eq(x->build, y->build) &&
           str_eq(x->engines, y->engines) && x->slots == y->slots && x->gpus == y->gpus && x->cpu_milli == y->cpu_milli &&
           x->memory_bytes == y->memory_bytes && x->version == y->version && x->gpu_shared == y->gpu_shared &&
           x->programs == y->programs && x->gangs == y->gangs && x->gang_programs == y->gang_programs &&
           x->once == y->once && x->is_ready == y->is_ready;
}

bool machines_same(const struct machines *m, const struct machine_fact *f, size_t n, struct uuid after, bool is_last)
{
    size_t at = place_of(m, after);
    at += at < m->n && uuid_eq(m->items[at].node_id, after);
    for (size_t i = 0; i < n; i++, at++)
        if (at == m->n || !same_fact(&m->items[at], &f[i]))
            return false;
    return !is_last || at == m->n;
}

/* One row of four kinds. */
enum kind { K_HEAD, K_TENANT, K_HELD, K_MACHINE };
struct room_row {
    int64_t kind, slots, gpus, cpu_milli, memory_bytes, version, revision, horizon;
    struct uuid id;
    struct str zone, pool, flavor, gpu_model, build, engines, held, epoch;
    bool gpu_shared, programs, gangs, gang_programs, once, is_ready, outsized;
};
SCHEMA_OF(room_row, "A machine that changed, or what live attempts hold of a machine or for a tenant",
    FIELD(room_row, kind, 0, .doc = "Which"), FIELD(room_row, id, 0, .doc = "Machine or tenant"),
    FIELD(room_row, zone, 0, .doc = "Zone"), FIELD(room_row, pool, 0, .doc = "Pool"), FIELD(room_row, flavor, 0, .doc = "Flavor"),
    FIELD(room_row, slots, 0, .doc = "Slots, had or held"), FIELD(room_row, gpus, 0, .doc = "GPUs, had or held"),
    FIELD(room_row, cpu_milli, 0, .doc = "Processors, had or held"), FIELD(room_row, memory_bytes, 0, .doc = "Memory, too"),
    FIELD(room_row, gpu_model, 0, .doc = "Of its GPUs"), FIELD(room_row, gpu_shared, 0, .doc = "They keep shares apart"),
    FIELD(room_row, programs, 0, .doc = "It runs programs"), FIELD(room_row, gangs, 0, .doc = "It runs parts of gangs"),
    FIELD(room_row, gang_programs, 0, .doc = "And of programs"), FIELD(room_row, engines, 0, .doc = "Of models"),
    FIELD(room_row, once, 0, .doc = "For one lease"), FIELD(room_row, outsized, 0, .doc = "More is held than slots stand for"),
    FIELD(room_row, is_ready, 0, .doc = "It takes jobs"), FIELD(room_row, build, 0, .doc = "Of its agent"),
    FIELD(room_row, held, 0, .doc = "Devices held"), FIELD(room_row, version, 0, .doc = "Of its facts"),
    FIELD(room_row, revision, 0, .doc = "Of what is known of zones and tenants"),
    FIELD(room_row, horizon, 0, .doc = "Oldest transaction under way"), FIELD(room_row, epoch, 0, .doc = "Of which database"));

SCHEMA_OF(reserved, "A window of a machine", FIELD(reserved, node_id, 0, .doc = "Machine"),
    FIELD(reserved, tenant_id, 0, .doc = "Whose jobs it is for; nil: nobody's"),
    FIELD(reserved, project_id, 0, .doc = "Of this project alone; nil: of the tenant"),
    FIELD(reserved, from_us, 0, .doc = "From, microseconds since 1970"), FIELD(reserved, until_us, 0, .doc = "Until"));
#define NIL "'00000000-0000-0000-0000-000000000000'::uuid"
static const struct stmt machines_reserved = { .name = "machines_reserved", .params = "i", .row = &reserved_schema,
    .card = CARD_MANY, .sql =
    "SELECT m.node_id, coalesce(r.for_tenant, " NIL ") AS tenant_id, coalesce(r.for_project, " NIL ") AS project_id,\n"
    "       (extract(epoch FROM r.from_at) * 1000000)::bigint AS from_us,\n"
    "       (extract(epoch FROM r.until_at) * 1000000)::bigint AS until_us\n"
    "  FROM reservation r JOIN reservation_machine m ON m.reservation_id = r.reservation_id\n"
    " WHERE r.until_at > now() ORDER BY m.node_id, from_us LIMIT $1" };

#define FACTS(n)                                                                                                             \
    n ".zone, " n ".pool, " n ".flavor, " n ".slots, " n ".gpus, " n ".cpu_milli, " n ".memory_bytes, " n ".gpu_model,\n"    \
    "       " n ".gpu_shared, " n ".programs, " n ".gangs, " n ".gang_programs, " n ".engines,\n"                        \
    "       " NODE_LENT(n) " AS once, " n ".state = 'READY' AS is_ready,\n"                                            \
    "       " n ".version || ' ' || " n ".backend AS build"
/* Live attempts are read once for both sums, where $3 asks for them; of machines only those that changed since $1. */
static const struct stmt machines_rooms = { .name = "machines_rooms", .params = "iib", .row = &room_row_schema,
    .card = CARD_MANY, .sql =
    "WITH a AS MATERIALIZED (\n"
    "  SELECT node_id, tenant_id, " ATTEMPT_SUMS ",\n"
    "         bool_or(cpu_milli > slots * 1000 OR memory_bytes > slots << 30) AS outsized FROM machine_hold WHERE $3\n"
    "   GROUP BY GROUPING SETS ((node_id), (tenant_id)))\n"
    "SELECT 0::bigint AS kind, '00000000-0000-0000-0000-000000000000'::uuid AS id, '' AS zone, '' AS pool, '' AS flavor,\n"
    "       " RESERVATION_REVISION " AS slots, 0::bigint AS gpus,\n"
    "       0::bigint AS cpu_milli, 0::bigint AS memory_bytes, '' AS gpu_model,\n"
    "       false AS gpu_shared, false AS programs, false AS gangs, false AS gang_programs, '' AS engines, false AS once,\n"
    "       false AS is_ready, '' AS build, '' AS held, false AS outsized,\n"
    "       0::bigint AS version, " RESIDENCY_REVISION " AS revision,\n"
    "       pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS horizon, " MIRROR_EPOCH " AS epoch\n"
    "UNION ALL\n"
    "SELECT CASE WHEN a.node_id IS NULL THEN 1 ELSE 2 END, coalesce(a.node_id, a.tenant_id), '', '', '', a.slots, a.gpus,\n"
    "       a.cpu_milli, a.memory_bytes, '', false, false, false, false, '', false, false, '', coalesce(a.held, ''),\n"
    "       a.outsized, 0, 0, 0, '' FROM a\n"
    "UNION ALL\n"
    "SELECT 3, n.node_id, " FACTS("n") ", '', false, n.change_no, 0, 0, ''\n"
    "  FROM node n WHERE n.changed_xid >= $1::text::xid8\n"
    " ORDER BY kind, id LIMIT $2" };

SCHEMA_OF(machine_fact, "A machine", FIELD(machine_fact, node_id, 0, .doc = "Which"), FIELD(machine_fact, zone, 0, .doc = "Zone"),
    FIELD(machine_fact, pool, 0, .doc = "Pool"), FIELD(machine_fact, flavor, 0, .doc = "Flavor"),
    FIELD(machine_fact, slots, 0, .doc = "Slots"), FIELD(machine_fact, gpus, 0, .doc = "GPUs"),
    FIELD(machine_fact, cpu_milli, 0, .doc = "Processors"), FIELD(machine_fact, memory_bytes, 0, .doc = "Memory"),
    FIELD(machine_fact, gpu_model, 0, .doc = "Of its GPUs"), FIELD(machine_fact, gpu_shared, 0, .doc = "They keep shares apart"),
    FIELD(machine_fact, programs, 0, .doc = "It runs programs"), FIELD(machine_fact, gangs, 0, .doc = "It runs parts of gangs"),
    FIELD(machine_fact, gang_programs, 0, .doc = "And of programs"), FIELD(machine_fact, engines, 0, .doc = "Of models"),
    FIELD(machine_fact, once, 0, .doc = "For one lease"), FIELD(machine_fact, is_ready, 0, .doc = "It takes jobs"),
    FIELD(machine_fact, build, 0, .doc = "Of its agent"), FIELD_AS(machine_fact, version, "change_no", 0, .doc = "Of its facts"));
static const struct stmt machines_slice = { .name = "machines_slice", .params = "ui", .row = &machine_fact_schema,
    .card = CARD_MANY, .sql =
    "SELECT n.node_id, " FACTS("n") ", n.change_no FROM node n WHERE n.node_id > $1 ORDER BY n.node_id LIMIT $2" };

const struct stmt *const machines_stmts[] = { &machines_rooms, &machines_slice, &machines_reserved, NULL };

/* Rows of one kind: [*from, the returned) */
static size_t end_of(const struct room_row *r, size_t n, size_t from, enum kind k)
{
    while (from < n && r[from].kind == (int64_t)k)
        from++;
    return from;
}

static void apply_rows(struct machines *m, const struct room_row *r, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct machine_fact f = {
            .node_id = r[i].id, .zone = r[i].zone, .pool = r[i].pool, .flavor = r[i].flavor, .gpu_model = r[i].gpu_model,
            .build = r[i].build, .engines = r[i].engines, .slots = r[i].slots, .gpus = r[i].gpus, .cpu_milli = r[i].cpu_milli,
            .memory_bytes = r[i].memory_bytes, .version = r[i].version, .gpu_shared = r[i].gpu_shared,
            .programs = r[i].programs, .gangs = r[i].gangs, .gang_programs = r[i].gang_programs, .once = r[i].once,
            .is_ready = r[i].is_ready };
        apply_one(m, &f);
    }
}

/* held: of machines, in the order of their ids. */
static void fill(const struct machines *m, const struct room_row *held, size_t nheld, struct snapshot *s, struct arena *a)
{
    size_t at = 0;
    s->nodes.items = ARENA_ARRAY(a, struct snap_node, m->n + 1);
    s->nodes.n = 0;
    for (size_t i = 0; i < m->n; i++) {
        const struct machine_fact *f = &m->items[i];
        if (!f->is_ready)
            continue;
        while (at < nheld && uuid_cmp(held[at].id, f->node_id) < 0)
            at++;
        struct snap_node *n = &s->nodes.items[s->nodes.n++];
        *n = (struct snap_node){ .node_id = f->node_id, .zone = f->zone, .pool = f->pool, .flavor = f->flavor, .slots = f->slots,
                                 .gpus = f->gpus, .free_slots = f->slots, .free_gpus = f->gpus, .cpu_milli = f->cpu_milli,
                                 .memory_bytes = f->memory_bytes, .gpu_model = f->gpu_model, .gpu_shared = f->gpu_shared,
                                 .programs = f->programs, .gangs = f->gangs, .gang_programs = f->gang_programs,
                                 .engines = f->engines, .once = f->once, .build = f->build, .held = STR("") };
        if (at == nheld || !uuid_eq(held[at].id, f->node_id))
            continue;
        n->free_slots -= lease_slots(f->once, f->slots, held[at].slots);
        n->free_gpus -= held[at].gpus;
        n->used_cpu_milli = held[at].cpu_milli;
        n->used_memory_bytes = held[at].memory_bytes;
        n->held = held[at].held;
        n->outsized = held[at].outsized;
    }
}

enum errc machines_windows(struct work *w, int64_t revision, struct snapshot *s, struct err *e)
{
    struct slice rows = { 0 };
    TRY(db_many(w->tx, &machines_reserved, ARGS(A_I64(MACHINES_WINDOWS)), &rows, MACHINES_WINDOWS, e));
    s->reserved.items = rows.items;
    s->reserved.n = rows.n;
    s->reserved_no = revision;
    return ERR_OK;
}

/* They are read again when any reservation has changed, and kept by the mirror. Those that have passed meanwhile do no harm. */
static enum errc read_windows(struct work *w, struct machines *m, int64_t revision, struct snapshot *s, struct err *e)
{
    if (revision != m->windows_no) {
        TRY(machines_windows(w, revision, s, e));
        m->windows = list_alloc(m->windows, s->reserved.n + 1, sizeof *m->windows);
        if (s->reserved.n)
            memcpy(m->windows, s->reserved.items, s->reserved.n * sizeof *m->windows);
        m->nwindows = s->reserved.n;
        m->windows_no = revision;
    }
    s->reserved.items = m->windows;
    s->reserved.n = m->nwindows;
    s->reserved_no = revision;
    return ERR_OK;
}

struct machines_ask { struct machines *m; struct db_ask *ask; bool holds; };

static struct db_ask *ask(struct work *w, const struct machines *m, bool holds)
{
    return db_ask(w->tx, &machines_rooms, ARGS(A_I64(m->horizon), A_I64(2 * MACHINES_MAX), A_BOOL(holds)));
}

/* What changed since the ask's horizon, and all of it where another revision or another database says so. */
static enum errc read_changes(struct work *w, const struct machines_ask *a, struct db_ask *asked, struct slice *ret,
                              struct err *e)
{
    struct machines *m = a->m;
    TRY(db_told_many(w->tx, asked ? asked : ask(w, m, a->holds), ret, 2 * MACHINES_MAX, e));
    const struct room_row *head = ret->items;
    ASSERT(ret->n && head->kind == K_HEAD);
    if (!m->horizon || (m->revision == head->revision && m->horizon <= head->horizon && str_eq_c(head->epoch, m->epoch)))
        return ERR_OK;
    machines_forget(m);
    return db_told_many(w->tx, ask(w, m, a->holds), ret, 2 * MACHINES_MAX, e);
}

/* A slice behind the last one. False: something differs, and all is forgotten. */
static enum errc compare(struct work *w, struct machines *m, bool *ret_same, struct err *e)
{
    struct slice rows = { 0 };
    TRY(db_many(w->tx, &machines_slice, ARGS(A_UUID(m->compared), A_I64(MACHINES_SLICE)), &rows, MACHINES_SLICE, e));
    const struct machine_fact *f = rows.items;
    const bool is_last = rows.n < MACHINES_SLICE;
    machines_apply(m, f, rows.n);               /* what changed since the statement before */
    *ret_same = machines_same(m, f, rows.n, m->compared, is_last);
    m->compared = is_last ? UUID_NIL : f[rows.n - 1].node_id;
    m->count.compared += (int64_t)rows.n;
    if (*ret_same)
        return ERR_OK;
    m->count.differing++;
    metrics_inc(M_scheduler_mirror_total, "differed");
    log_event(LOG_WARN, "scheduler.mirror_differs", "what", LOG_S("machines"), NULL);
    machines_forget(m);
    return ERR_OK;
}

static void free_machines(void *m)
{
    machines_free(m);
}

struct machines_ask *machines_asked(struct work *w, bool holds)
{
    struct machines *m = w->app->machines;
    struct machines_ask *a = ARENA_NEW(w->arena, struct machines_ask);
    if (!m) {
        m = machines_new();
        arena_defer(w->arena, free_machines, m);
    }
    if (m->bytes > TEXT_BYTES_MAX || m->ntexts == TEXTS_MAX)
        machines_forget(m);
    *a = (struct machines_ask){ m, ask(w, m, holds), holds };
    return a;
}

enum errc machines_read(struct work *w, struct machines_ask *a, bool compares, struct snapshot *s, struct slice *ret_held,
                        struct err *e)
{
    struct machines *m = a->m;
    struct db_ask *asked = a->ask;
    struct slice rows = { 0 };
    for (bool is_same = false; !is_same; asked = NULL) {
        TRY(read_changes(w, a, asked, &rows, e));
        const bool is_load = !m->horizon;
        const struct room_row *r = rows.items;
        const size_t tenants = end_of(r, rows.n, 1, K_TENANT), held = end_of(r, rows.n, tenants, K_HELD);
        apply_rows(m, r + held, rows.n - held);
        m->horizon = r->horizon;
        m->revision = r->revision;
        free(m->epoch);
        m->epoch = str_dup_heap(r->epoch);
        if (a->holds)
            TRY(read_windows(w, m, r->slots, s, e));
        m->count.loads += is_load;
        if (is_load)
            metrics_inc(M_scheduler_mirror_total, "loaded");
        m->count.changed += (int64_t)(rows.n - held);
        is_same = true;
        if (compares && !is_load)
            TRY(compare(w, m, &is_same, e));
        if (!is_same || !a->holds)
            continue;
        s->revision = m->revision;
        struct tenant_hold *t = ARENA_ARRAY(w->arena, struct tenant_hold, tenants);
        for (size_t i = 1; i < tenants; i++)
            t[i - 1] = (struct tenant_hold){ r[i].id, r[i].slots, r[i].gpus };
        *ret_held = (struct slice){ t, tenants - 1 };
        fill(m, r + tenants, held - tenants, s, w->arena);
    }
    return ERR_OK;
}
