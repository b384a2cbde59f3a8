/* SPDX-License-Identifier: Apache-2.0 */
/* board.c - six reads, each of a function that says aliases, put together as a snapshot in which nothing is in use. */
#include "scheduler/mirror/board.h"
#include "scheduler/mirror/board_needs.h"
#include "scheduler/mirror/machines.h"
#include "scheduler/mirror/rules.h"
#include "core/db/tx.h"
#include "core/wire/job_type.h"
#include "core/table/schema.h"
#include "scheduler/plan/expect.h"

#include <stdlib.h>

enum { ROWS_MAX = 100000, RULES_MAX = 100000, TENANTS_MAX = 100000, SECOND_US = 1000000 };

struct machine_row {
    struct uuid machine;
    bool is_ready, gpu_shared, programs, gangs, gang_programs, once;
    struct str zone, pool, flavor, gpu_model, build, engines;
    int64_t slots, gpus, cpu_milli, memory_bytes;
};
SCHEMA_OF(machine_row, "A machine under its alias", FIELD(machine_row, machine, 0, .doc = "Alias"),
    FIELD(machine_row, is_ready, 0, .doc = "It takes jobs"), FIELD(machine_row, zone, 0, .doc = "Zone"),
    FIELD(machine_row, pool, 0, .doc = "Pool"), FIELD(machine_row, flavor, 0, .doc = "Flavor"),
    FIELD(machine_row, gpu_model, 0, .doc = "Of its GPUs"), FIELD(machine_row, gpu_shared, 0, .doc = "Shares are kept apart"),
    FIELD(machine_row, programs, 0, .doc = "It runs programs"),
    FIELD(machine_row, gangs, 0, .doc = "It runs parts of jobs on several"),
    FIELD(machine_row, gang_programs, 0, .doc = "And of programs"), FIELD(machine_row, build, 0, .doc = "Of its agent"),
    FIELD(machine_row, engines, 0, .doc = "Of models"),
    FIELD(machine_row, slots, 0, .doc = "Slots"), FIELD(machine_row, gpus, 0, .doc = "GPUs"),
    FIELD(machine_row, cpu_milli, 0, .doc = "Processors"), FIELD(machine_row, memory_bytes, 0, .doc = "Memory"),
    FIELD(machine_row, once, 0, .doc = "It is here for one lease"));
static const struct stmt queue_machines = { .name = "queue_machines", .params = "i", .row = &machine_row_schema,
                                            .card = CARD_MANY,
    .sql =
    "SELECT " ROW_COLUMNS " FROM queue_machines($1)" };

SCHEMA_OF(reserved, "A window of a machine, under aliases", FIELD_AS(reserved, node_id, "machine", 0, .doc = "Alias"),
    FIELD(reserved, tenant_id, 0, .doc = "Whom it is for"), FIELD(reserved, project_id, 0, .doc = "Of that project alone"),
    FIELD(reserved, from_us, 0, .doc = "From"), FIELD(reserved, until_us, 0, .doc = "Until"));
static const struct stmt queue_reserved = { .name = "queue_reserved", .params = "i", .row = &reserved_schema, .card = CARD_MANY,
    .sql = "SELECT " ROW_COLUMNS " FROM queue_reserved($1)" };

struct tenant_row {
    struct uuid tenant_id, owner;
    bool is_mine, guarded;
    struct str name;
    int64_t slots_limit, gpus_limit;
};
SCHEMA_OF(tenant_row, "A tenant under its alias", FIELD(tenant_row, tenant_id, 0, .doc = "Alias"),
    FIELD(tenant_row, is_mine, 0, .doc = "It is the transaction's"), FIELD(tenant_row, owner, 0,
                                                                           .doc = "Who it is, for the platform"),
    FIELD(tenant_row, name, 0, .doc = "Its name, for the platform"), FIELD(tenant_row, slots_limit, 0, .doc = "Limit"),
    FIELD(tenant_row, gpus_limit, 0, .doc = "Limit"), FIELD(tenant_row, guarded, 0, .doc = "It has rules"));
static const struct stmt queue_tenants = { .name = "queue_tenants", .params = "i", .row = &tenant_row_schema, .card = CARD_MANY,
    .sql = "SELECT tenant_id, is_mine, owner, name, slots_limit, gpus_limit, guarded FROM queue_tenants($1)" };

static const struct stmt queue_rules = { .name = "queue_rules", .params = "i", .row = &rule_schema, .card = CARD_MANY, .sql =
    "SELECT " ROW_COLUMNS " FROM queue_rules($1)" };

static const struct stmt queue_declared = { .name = "queue_declared", .params = "i", .row = &rule_queue_schema,
    .card = CARD_MANY, .sql = "SELECT " ROW_COLUMNS " FROM queue_declared($1)" };

struct job_row {
    bool is_live, is_own, stays;
    struct uuid tenant_id, job_id, machine, project_id;
    struct str name, zone, pool, kind, data_class, queue, gpu_models, engine, cls, runs, zones, needs;
    int64_t slots, gpus, cpu_milli, memory_bytes, gpu_milli, class_value, priority, shape, depth, devices, max_runtime_s;
    struct timestamp submitted_at, ready_at, begun_at, saved_at, leaves_at;
    bool may_leave;
    int64_t grace_s, min_runtime_s, preempted;
    struct uuid leaves_for;
    int64_t nodes, nodes_max;
};
SCHEMA_OF(job_row, "A job that runs or waits, under aliases where it is another's", FIELD(job_row, is_live, 0, .doc = "It runs"),
    FIELD(job_row, is_own, 0, .doc = "The caller may see it"), FIELD(job_row, stays, 0, .doc = "It has no end of its own"),
    FIELD(job_row, tenant_id, 0, .doc = "Alias"), FIELD(job_row, job_id, 0, .doc = "The job, or an alias"),
    FIELD(job_row, machine, 0, .doc = "Alias of where it runs"), FIELD(job_row, project_id, 0, .doc = "Alias"),
    FIELD(job_row, name, 0, .doc = "Of an own job"), FIELD(job_row, zone, 0, .doc = "Pinned zone"),
        FIELD(job_row, pool, 0, .doc = "Pool"),
    FIELD(job_row, kind, 0, .doc = "Kind"), FIELD(job_row, data_class, 0, .doc = "Class of its data"),
    FIELD(job_row, queue, 0, .doc = "Queue, or an alias"), FIELD(job_row, gpu_models, 0, .doc = "Models that will do"),
    FIELD_AS(job_row, cls, "class", 0, .doc = "Priority class"), FIELD(job_row, runs, 0, .doc = "How long its like took"),
    FIELD(job_row, zones, 0, .doc = "Where it may run"), FIELD(job_row, slots, 0, .doc = "Slots"),
        FIELD(job_row, gpus, 0, .doc = "GPUs"),
    FIELD(job_row, cpu_milli, 0, .doc = "Processors"), FIELD(job_row, memory_bytes, 0, .doc = "Memory"),
    FIELD(job_row, gpu_milli, 0, .doc = "Of one GPU"), FIELD(job_row, class_value, 0, .doc = "Value of its class"),
    FIELD(job_row, priority, 0, .doc = "Priority"), FIELD(job_row, shape, 0, .doc = "What it asks for"),
    FIELD(job_row, depth, 0, .doc = "So many of its shape were read at most"), FIELD(job_row, devices, 0, .doc = "Devices held"),
    FIELD(job_row, max_runtime_s, 0, .doc = "Limit"), FIELD(job_row, submitted_at, 0, .doc = "When"),
    FIELD(job_row, ready_at, 0, .doc = "Not before"), FIELD(job_row, begun_at, 0, .doc = "Since when it runs"),
    FIELD(job_row, needs, 0, .doc = "Which jobs it waits for"), FIELD(job_row, may_leave, 0, .doc = "It may be told to go"),
    FIELD(job_row, grace_s, 0, .doc = "Of its class"), FIELD(job_row, min_runtime_s, 0, .doc = "Of its class"),
    FIELD(job_row, preempted, 0, .doc = "How often it went"), FIELD(job_row, saved_at, 0, .doc = "Its last checkpoint"),
    FIELD(job_row, leaves_at, 0, .doc = "It has been told to go by then"),
    FIELD(job_row, leaves_for, 0, .doc = "For this job, or an alias"),
    FIELD(job_row, nodes, 0, .doc = "Machines at once"), FIELD(job_row, nodes_max, 0, .doc = "At most"),
    FIELD(job_row, engine, 0, .doc = "Of its model"));
static const struct stmt queue_jobs = { .name = "queue_jobs", .params = "ii", .row = &job_row_schema, .card = CARD_MANY, .sql =
    "SELECT is_live, is_own, stays, tenant_id, job_id, machine, project_id, name, zone, pool, kind, data_class, queue, "
        "gpu_models,\n"
    "       class, runs, zones, slots, gpus, cpu_milli, memory_bytes, gpu_milli, class_value, priority, shape, depth, devices,\n"
    "       max_runtime_s, submitted_at, ready_at, begun_at, needs, may_leave, grace_s, min_runtime_s, preempted, saved_at,\n"
    "       leaves_at, leaves_for, nodes, nodes_max, engine\n"
    "  FROM queue_jobs($1, $2 * interval '1 second')" };
const struct stmt *const board_stmts[] = { &queue_machines, &queue_reserved, &queue_tenants, &queue_rules, &queue_declared,
    &queue_jobs, NULL };

/* Machines that take nothing new stand behind the others, and are no part of what is planned. */
struct seen { struct uuid machine; size_t index; const struct snap_node *node; };

static int by_machine(const void *a, const void *b)
{
    return uuid_cmp(((const struct seen *)a)->machine, ((const struct seen *)b)->machine);
}

static enum errc read_machines(struct work *w, struct board *b, struct seen **ret_seen, size_t *ret_n, struct err *e)
{
    struct slice rows = { 0 };
    TRY(db_many(w->tx, &queue_machines, ARGS(A_I64(BOARD_MACHINES)), &rows, BOARD_MACHINES, e));
    const struct machine_row *r = rows.items;
    struct snap_node *n = ARENA_ARRAY(w->arena, struct snap_node, rows.n + 1);
    struct seen *seen = ARENA_ARRAY(w->arena, struct seen, rows.n + 1);
    size_t ready = 0;
    for (size_t i = 0; i < rows.n; i++) {
        n[i] = (struct snap_node){ .node_id = r[i].machine, .zone = r[i].zone, .pool = r[i].pool, .flavor = r[i].flavor,
            .slots = r[i].slots, .gpus = r[i].gpus, .free_slots = r[i].slots, .free_gpus = r[i].gpus, .cpu_milli = r[i].cpu_milli,
            .memory_bytes = r[i].memory_bytes, .gpu_model = r[i].gpu_model, .gpu_shared = r[i].gpu_shared,
            .programs = r[i].programs, .gangs = r[i].gangs,
            .gang_programs = r[i].gang_programs, .engines = r[i].engines, .once = r[i].once,
            .build = r[i].build };
        seen[i] = (struct seen){ r[i].machine, r[i].is_ready ? i : AHEAD_NONE, &n[i] };
        ready += r[i].is_ready;
    }
    b->in.base.nodes.items = n;
    b->in.base.nodes.n = ready;
    struct slice windows = { 0 };
    TRY(db_many(w->tx, &queue_reserved, ARGS(A_I64(MACHINES_WINDOWS)), &windows, MACHINES_WINDOWS, e));
    b->in.base.reserved.items = windows.items;
    b->in.base.reserved.n = windows.n;
    b->is_cut |= rows.n == BOARD_MACHINES;
    qsort(seen, rows.n, sizeof *seen, by_machine);
    *ret_seen = seen;
    *ret_n = rows.n;
    return ERR_OK;
}

static enum errc read_tenants(struct work *w, struct board *b, struct err *e)
{
    struct slice rows = { 0 };
    struct snapshot *s = &b->in.base;
    TRY(db_many(w->tx, &queue_tenants, ARGS(A_I64(TENANTS_MAX)), &rows, TENANTS_MAX, e));
    const struct tenant_row *r = rows.items;
    s->tenants.items = ARENA_ARRAY(w->arena, struct snap_tenant, rows.n + 1);
    s->tenants.n = rows.n;
    b->tenants = ARENA_ARRAY(w->arena, struct board_tenant, rows.n + 1);
    TRY(db_many(w->tx, &queue_rules, ARGS(A_I64(RULES_MAX)), &s->book.rules, RULES_MAX, e));
    TRY(db_many(w->tx, &queue_declared, ARGS(A_I64(RULES_MAX)), &s->book.queues, RULES_MAX, e));
    rulebook_link(&s->book, w->arena);
    for (size_t i = 0; i < rows.n; i++) {
        s->tenants.items[i] = (struct snap_tenant){ .tenant_id = r[i].tenant_id, .slots_limit = r[i].slots_limit,
            .gpus_limit = r[i].gpus_limit, .guarded = r[i].guarded, .slots_weight = rulebook_weight(&s->book, r[i].tenant_id,
                RULE_SLOTS),
            .gpus_weight = rulebook_weight(&s->book, r[i].tenant_id, RULE_GPUS) };
        b->tenants[i] = (struct board_tenant){ r[i].is_mine, r[i].owner, r[i].name };
    }
    return ERR_OK;
}

static struct slice split(struct str text, struct arena *a)
{
    size_t n = text.len > 0, k = 0;
    struct str zone, rest = text;
    for (size_t i = 0; i < text.len; i++)
        n += text.ptr[i] == ',';
    struct str *zones = ARENA_ARRAY(a, struct str, n + 1);
    while (k < n) {
        (void)str_cut(rest, ',', &zone, &rest);
        zones[k++] = zone;
    }
    return (struct slice){ zones, n };
}

static struct snap_job snap_of(const struct job_row *r, int64_t tenant)
{
    return (struct snap_job){ .tenant_id = r->tenant_id, .job_id = r->job_id, .zone = r->zone, .pool = r->pool, .queue = r->queue,
        .project_id = r->project_id, .kind = r->kind, .needs_programs = job_needs_programs(r->kind),
        .engine = r->engine, .data_class = r->data_class, .slots = r->slots, .gpus = r->gpus,
        .priority = r->priority, .cpu_milli = r->cpu_milli, .memory_bytes = r->memory_bytes, .gpu_milli = r->gpu_milli,
        .cls = r->cls, .class_value = r->class_value, .gpu_models = r->gpu_models, .shape = r->shape, .depth = r->depth,
        .submitted_at = r->submitted_at, .tenant = tenant, .nodes = r->nodes, .nodes_max = r->nodes_max,
        .max_runtime_s = job_bound_s(r->kind, r->max_runtime_s) };
}

static struct ahead_leave leave_of(const struct job_row *r)
{
    return (struct ahead_leave){ r->may_leave, r->grace_s, r->min_runtime_s, r->preempted };
}

static void add_live(struct work *w, const struct job_row *r, const struct seen *seen, size_t nseen, int64_t tenant,
                     struct board *b, struct ahead_live *live, struct seat_of *seats, size_t *nseats)
{
    struct ahead_live *last = b->in.nlive ? &live[b->in.nlive - 1] : NULL;
    const struct seen key = { .machine = r->machine };
    const struct seen *at = bsearch(&key, seen, nseen, sizeof *seen, by_machine);
    const int64_t so_far_us = w->now_us > r->begun_at.us ? w->now_us - r->begun_at.us : 0;
    struct board_tag *tag = &b->runs[b->in.nlive];
    if (!at)                            /* it came after the machines were read */
        return;
    if (last && uuid_eq(last->job.job_id, r->job_id) && uuid_eq(last->job.tenant_id, r->tenant_id)) {
        seats[*nseats] = (struct seat_of){ at->index, (uint64_t)r->devices };   /* its rows stand together */
        last->more = last->nmore ? last->more : &seats[*nseats];
        last->nmore++;
        ++*nseats;
        return;
    }
    *tag = (struct board_tag){ .is_own = r->is_own, .job_id = r->job_id, .name = r->name, .begun_at = r->begun_at };
    const int64_t runs_s = expect_runtime_s(r->runs, r->max_runtime_s, so_far_us / SECOND_US, &tag->is_measured);
    const int64_t ends_us = r->stays ? AHEAD_NEVER : r->begun_at.us + runs_s * SECOND_US;
    live[b->in.nlive++] = (struct ahead_live){ .machine = at->index, .where = at->node, .job = snap_of(r, tenant),
        .devices = (uint64_t)r->devices, .ends_us = r->leaves_at.us ? r->leaves_at.us : ends_us, .began_us = r->begun_at.us,
        .saved_us = r->saved_at.us, .leave = leave_of(r), .is_leaving = r->leaves_at.us != 0, .leaves_for = r->leaves_for };
}

static void add_wait(const struct job_row *r, struct slice zones, int64_t tenant, struct board *b, struct ahead_wait *waits)
{
    const size_t i = b->in.base.jobs.n++;
    struct snap_job *j = &b->in.base.jobs.items[i];
    bool is_measured;
    const int64_t runs_s = expect_runtime_s(r->runs, r->max_runtime_s, 0, &is_measured);
    *j = snap_of(r, tenant);
    j->zones = zones;
    if (!zones.n)
        j->denied = STR("no zone may hold its data");
    waits[i] = (struct ahead_wait){ .ready_us = r->ready_at.us, .runs_us = r->stays ? AHEAD_NEVER : runs_s * SECOND_US,
                                    .is_told = r->is_own, .leave = leave_of(r) };
    b->waits[i] = (struct board_tag){ .is_own = r->is_own, .is_measured = is_measured, .job_id = r->job_id, .name = r->name };
}

static bool same_shape(const struct job_row *a, const struct job_row *b)
{
    return a->is_live == b->is_live && a->depth == b->depth && a->shape == b->shape && uuid_eq(a->tenant_id, b->tenant_id);
}

/* The last of a shape that was read as deep as was asked: more may wait, and go before others (snapshot_link marks the same). */
static bool ends_shape(const struct job_row *r, size_t i, size_t n, size_t first)
{
    return (i + 1 == n || !same_shape(&r[i], &r[i + 1])) && r[i].depth && (int64_t)(i - first + 1) >= r[i].depth;
}

static enum errc read_jobs(struct work *w, int64_t until_us, const struct seen *seen, size_t nseen, struct board *b,
                           struct err *e)
{
    struct slice rows = { 0 };
    TRY(db_many(w->tx, &queue_jobs, ARGS(A_I64(BOARD_WAITING), A_I64((until_us - w->now_us) / SECOND_US)), &rows, ROWS_MAX, e));
    const struct job_row *r = rows.items;
    struct ahead_live *live = ARENA_ARRAY(w->arena, struct ahead_live, rows.n + 1);
    struct ahead_wait *waits = ARENA_ARRAY(w->arena, struct ahead_wait, rows.n + 1);
    struct str *needs = ARENA_ARRAY(w->arena, struct str, rows.n + 1);
    struct seat_of *seats = ARENA_ARRAY(w->arena, struct seat_of, rows.n + 1);
    struct slice zones = { 0 };
    struct str zones_of = STR_NULL;
    b->in.base.jobs.items = ARENA_ARRAY(w->arena, struct snap_job, rows.n + 1);
    b->waits = ARENA_ARRAY(w->arena, struct board_tag, rows.n + 1);
    b->runs = ARENA_ARRAY(w->arena, struct board_tag, rows.n + 1);
    b->in.live = live;
    b->in.waits = waits;
    size_t running = 0, timed = 0, depending = 0, nseats = 0;
    for (size_t i = 0, first = 0; i < rows.n; i++) {
        const int64_t tenant = snap_tenant_find(&b->in.base, r[i].tenant_id);
        running += r[i].is_live;
        timed += !r[i].is_live && !r[i].depth && !r[i].needs.len;
        depending += r[i].needs.len > 0;
        if (!same_shape(&r[first], &r[i]))
            first = i;
        if (tenant < 0)                 /* not ACTIVE: its jobs are not planned */
            continue;
        if (r[i].is_live) {
            add_live(w, &r[i], seen, nseen, tenant, b, live, seats, &nseats);
            continue;
        }
        if (!zones_of.ptr || !str_eq(zones_of, r[i].zones)) {
            zones_of = r[i].zones;
            zones = split(zones_of, w->arena);
        }
        needs[b->in.base.jobs.n] = r[i].needs;
        add_wait(&r[i], zones, tenant, b, waits);
        if (ends_shape(r, i, rows.n, first)) {
            b->in.base.jobs.items[b->in.base.jobs.n - 1].is_cut = true;
            b->is_cut = true;
        }
    }
    b->is_cut |= running >= BOARD_RUNNING || timed >= BOARD_TIMED || depending >= BOARD_NEEDS;
    b->is_cut |= board_needs_link(b, waits, needs, w->arena);
    return ERR_OK;
}

enum errc board_read(struct work *w, int64_t until_us, struct board *ret, struct err *e)
{
    struct seen *seen;
    size_t nseen;
    *ret = (struct board){ .in = { .now_us = w->now_us, .until_us = until_us } };
    TRY(read_machines(w, ret, &seen, &nseen, e));
    TRY(read_tenants(w, ret, e));
    return read_jobs(w, until_us, seen, nseen, ret, e);
}
