/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.c - two reads in one wait: what changed of machines and what live attempts hold of them and of tenants
 * (machines.h), and the front of every queue. Whose queues they are, their limits and where their data may be is kept from
 * plan to plan (policies.h).
 *
 * Queues are read by shape (migrations/0030): of each tenant and shape the first jobs, their equal part of the room. What does not
 * fit hides nothing that does, for every shape that waits is there; and none is read in vain but a few. A shape of which more may wait is
 * cut: the planner stops behind its last job, so that nothing of lower priority goes before those that were not read. */
#include "scheduler/mirror/snapshot.h"
#include "core/base/assert.h"
#include "core/db/tx.h"
#include "core/table/schema.h"
#include "core/wire/job_type.h"
#include "scheduler/mirror/machines.h"
#include "scheduler/mirror/policies.h"
#include "scheduler/mirror/rules.h"
#include "scheduler/mirror/waiting.h"
#include "scheduler/plan/bookings.h"
#include "scheduler/plan/turnover.h"
#include "tenants/accounts/quota.h"
#include "tenants/home/residency_facts.h"

#include <stdlib.h>

enum { CLASSES_MAX = 1000 };

SCHEMA_OF(snap_tenant, "A tenant with its quotas", FIELD(snap_tenant, tenant_id, 0, .doc = "Tenant"),
    FIELD(snap_tenant, zones, F_NOCOL, .doc = "Zones it may use"), FIELD(snap_tenant, residency, F_NOCOL, .doc = "Facts for the judge"),
    FIELD(snap_tenant, slots_used, F_NOCOL, .doc = "Held"), FIELD(snap_tenant, slots_limit, 0, .doc = "Limit"),
    FIELD(snap_tenant, gpus_used, F_NOCOL, .doc = "Held"), FIELD(snap_tenant, gpus_limit, 0, .doc = "Limit"),
    FIELD(snap_tenant, guarded, 0, .doc = "It has rules"));
SCHEMA_EXTERN(snap_job, "A waiting job", FIELD(snap_job, tenant_id, 0, .doc = "Tenant"), FIELD(snap_job, job_id, 0, .doc = "Job"),
    FIELD(snap_job, reason, 0, .doc = "Why it waits"), FIELD(snap_job, message, 0, .doc = "In words"), FIELD(snap_job, zone, 0, .doc = "Pinned zone"),
    FIELD(snap_job, pool, 0, .doc = "Pool"), FIELD(snap_job, kind, 0, .doc = "Kind"), FIELD(snap_job, data_class, 0, .doc = "Class of its data"), FIELD(snap_job, queue, 0, .doc = "Queue"), FIELD(snap_job, project_id, 0, .doc = "Project"), FIELD(snap_job, slots, 0, .doc = "Slots asked"), FIELD(snap_job, gpus, 0, .doc = "GPUs asked"),
    FIELD(snap_job, priority, 0, .doc = "Priority"), FIELD(snap_job, fence, 0, .doc = "Newest attempt"),
    FIELD(snap_job, cpu_milli, 0, .doc = "Processors asked"), FIELD(snap_job, memory_bytes, 0, .doc = "Memory asked"),
    FIELD(snap_job, nodes, 0, .doc = "Machines at once"), FIELD(snap_job, nodes_max, 0, .doc = "At most"),
    FIELD(snap_job, max_runtime_s, 0, .doc = "Limit"),
    FIELD(snap_job, gpu_milli, 0, .doc = "Of one GPU"), FIELD(snap_job, gpu_models, 0, .doc = "Models that will do"),
    FIELD_AS(snap_job, cls, "class", 0, .doc = "Priority class"), FIELD(snap_job, class_value, F_NOCOL, .doc = "Its value"),
    FIELD(snap_job, version, 0, .doc = "Version"), FIELD(snap_job, submitted_at, 0, .doc = "When"),
    FIELD(snap_job, shape, 0, .doc = "What it asks for"), FIELD(snap_job, depth, 0, .doc = "Most of that shape"),
    FIELD(snap_job, needs_programs, F_NOCOL, .doc = "By its kind"), FIELD(snap_job, engine, 0, .doc = "Of its model"),
    FIELD(snap_job, is_cut, F_NOCOL, .doc = "More may wait"), FIELD(snap_job, tenant, F_NOCOL, .doc = "Index"), FIELD(snap_job, has_lane, F_NOCOL, .doc = "Has a lane"));

/* What the index job_ready holds: jobs that wait for a time or for others are let in when that has come (duty/due_jobs.h), so that a
 * round costs what may start and nothing for them. */
#define IS_READY "queued AND not_before IS NULL"
#define MAY_GO "NOT cancel_requested"
#define FIRST "SELECT " ROW_COLUMNS ", " MAY_GO " AS may_go FROM job CROSS JOIN (SELECT 1::bigint AS depth) o WHERE " IS_READY
#define IN_ORDER " ORDER BY tenant_id, shape, priority DESC, job_id "
/* The shapes by a walk over the index, one look-up each, which finds the first job of the shape too; where more than one of a shape is
 * wanted, or that one may not go yet, its first jobs in the order of the queue. */
static const struct stmt snapshot_jobs = { .name = "snapshot_jobs", .params = "ii", .row = &snap_job_schema, .card = CARD_MANY, .sql =
    "WITH RECURSIVE c AS (\n"
    "  (" FIRST IN_ORDER "LIMIT 1)\n"
    "  UNION ALL\n"
    "  SELECT " ROW_COLUMNS ", may_go FROM (SELECT tenant_id AS t, shape AS s FROM c) p CROSS JOIN LATERAL (\n"
    "    " FIRST " AND (job.tenant_id, job.shape) > (p.t, p.s)" IN_ORDER "LIMIT 1) n),\n"
    "k AS MATERIALIZED (SELECT " ROW_COLUMNS ", may_go FROM c),\n"
    "d AS MATERIALIZED (SELECT 1 + ($1 - 1) / greatest(1, count(*)) AS depth FROM k)\n"
    "SELECT " ROW_COLUMNS " FROM (\n"
    "  SELECT " ROW_COLUMNS " FROM k WHERE may_go AND (SELECT depth FROM d) = 1\n"
    "  UNION ALL\n"
    "  SELECT " ROW_COLUMNS " FROM (SELECT tenant_id AS t, shape AS s FROM k WHERE NOT may_go OR (SELECT depth FROM d) > 1) p\n"
    "   CROSS JOIN LATERAL (\n"
    "    SELECT " ROW_COLUMNS " FROM job CROSS JOIN d WHERE job.tenant_id = p.t AND job.shape = p.s AND " IS_READY " AND " MAY_GO "\n"
    "     ORDER BY priority DESC, job_id LIMIT (SELECT depth FROM d)) j) x" IN_ORDER "LIMIT $2" };

struct class_row { struct str cls; int64_t value; };
SCHEMA_OF(class_row, "A priority class", FIELD_AS(class_row, cls, "class", 0, .doc = "Name"),
    FIELD(class_row, value, 0, .doc = "Value"));
static const struct stmt snapshot_classes = { .name = "snapshot_classes", .params = "i", .row = &class_row_schema,
    .card = CARD_MANY, .sql = "SELECT class, value FROM priority_class LIMIT $1" };

static const struct stmt snapshot_tenants = { .name = "snapshot_tenants", .params = "U", .row = &snap_tenant_schema, .card = CARD_MANY, .sql =
    "SELECT t.tenant_id, coalesce(s.hard_limit, 0) AS slots_limit, coalesce(g.hard_limit, 0) AS gpus_limit,\n"
    "       coalesce(s.guarded, false) AS guarded\n"
    "  FROM tenant t\n" QUOTA_LIMITS
    " WHERE t.tenant_id = ANY ($1) AND t.state = 'ACTIVE' ORDER BY t.tenant_id" };

const struct stmt *const snapshot_stmts[] = { &snapshot_jobs, &snapshot_tenants, &snapshot_classes, NULL };

/* Most plans know no tenant with rules, and then none is looked for. */
static enum errc read_rules(struct work *w, struct snapshot *s, struct err *e)
{
    struct uuid *ids = ARENA_ARRAY(w->arena, struct uuid, s->tenants.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s->tenants.n; i++)
        if (s->tenants.items[i].guarded)
            ids[n++] = s->tenants.items[i].tenant_id;
    if (!n)
        return ERR_OK;
    TRY(rules_read(w, ids, n, &s->book, e));
    for (size_t i = 0; i < s->tenants.n; i++) {
        struct snap_tenant *t = &s->tenants.items[i];
        if (t->guarded) {
            t->slots_weight = rulebook_weight(&s->book, t->tenant_id, RULE_SLOTS);
            t->gpus_weight = rulebook_weight(&s->book, t->tenant_id, RULE_GPUS);
        }
    }
    return ERR_OK;
}

static void split_zones(struct snap_tenant *t, struct arena *a)
{
    size_t n = 1, k = 0;
    struct str rest = t->zones, zone;
    for (size_t i = 0; i < rest.len; i++)
        n += rest.ptr[i] == ',';
    struct str *zones = ARENA_ARRAY(a, struct str, n);
    while (rest.len) {
        bool more = str_cut(rest, ',', &zone, &rest);
        zones[k++] = zone;
        if (!more)
            break;
    }
    t->allowed_zones = (struct slice){ zones, k };
}

static int by_id(const void *a, const void *b)
{
    return uuid_cmp(*(const struct uuid *)a, *(const struct uuid *)b);
}

static size_t tenants_of(const struct snapshot *s, struct uuid *out)
{
    size_t n = 0;
    for (size_t i = 0; i < s->jobs.n; i++)
        out[i] = s->jobs.items[i].tenant_id;
    qsort(out, s->jobs.n, sizeof *out, by_id);
    for (size_t i = 0; i < s->jobs.n; i++)
        if (!i || !uuid_eq(out[i], out[n - 1]))
            out[n++] = out[i];
    return n;
}

/* Limits and places of those that are not known, which are remembered. The tenants stand in the order of their ids, as what is
 * read. */
static enum errc read_unknown(struct work *w, struct snap_tenant *t, bool *is_known, size_t n, size_t unknown, struct err *e)
{
    struct uuid *ids = ARENA_ARRAY(w->arena, struct uuid, unknown);
    struct slice limits = { 0 }, places = { 0 };
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (!is_known[i])
            ids[k++] = t[i].tenant_id;
    TRY(db_many(w->tx, &snapshot_tenants, ARGS(A_UUIDS(ids, k)), &limits, k, e));
    TRY(residency_places_read(w, ids, k, &places, e));
    const struct snap_tenant *l = limits.items;
    const struct residency_places *p = places.items;
    for (size_t i = 0, at = 0, had = 0; i < n && had < limits.n; i++) {
        if (is_known[i] || !uuid_eq(t[i].tenant_id, l[had].tenant_id))
            continue;
        while (at < places.n && !uuid_eq(p[at].tenant_id, l[had].tenant_id))
            at++;
        ASSERT(at < places.n);
        t[i] = l[had++];
        t[i].zones = p[at].zones;
        t[i].residency = p[at].tenant;
        is_known[i] = true;
        policies_keep(w->app->policies, &t[i]);
    }
    return ERR_OK;
}

/* Those whose jobs were read and who are ACTIVE, with what they hold. */
static enum errc read_tenants(struct work *w, struct snapshot *s, const struct tenant_hold *held, size_t nheld, struct err *e)
{
    struct uuid *ids = ARENA_ARRAY(w->arena, struct uuid, s->jobs.n);
    size_t n = tenants_of(s, ids), kept = 0, at = 0;
    struct snap_tenant *t = ARENA_ARRAY(w->arena, struct snap_tenant, n);
    bool *is_known = ARENA_ARRAY(w->arena, bool, n);
    for (size_t i = 0; i < n; i++)
        t[i] = (struct snap_tenant){ .tenant_id = ids[i] };
    size_t unknown = policies_recall(w->app->policies, s->revision, t, is_known, n);
    if (unknown)
        TRY(read_unknown(w, t, is_known, n, unknown, e));
    for (size_t i = 0; i < n; i++) {
        if (!is_known[i])
            continue;
        while (at < nheld && uuid_cmp(held[at].tenant_id, t[i].tenant_id) < 0)
            at++;
        if (at < nheld && uuid_eq(held[at].tenant_id, t[i].tenant_id)) {
            t[i].slots_used = held[at].slots;
            t[i].gpus_used = held[at].gpus;
        }
        split_zones(&t[i], w->arena);
        t[kept++] = t[i];
    }
    s->tenants.items = t;
    s->tenants.n = kept;
    return read_rules(w, s, e);
}

/* Only jobs of a class other than the usual one, whose value is 0, cost a read. */
static enum errc read_classes(struct work *w, struct snapshot *s, struct err *e)
{
    struct slice rows = { 0 };
    for (size_t i = 0; i < s->jobs.n; i++) {
        struct snap_job *j = &s->jobs.items[i];
        if (str_eq(j->cls, STR("default")))
            continue;
        if (!rows.n)
            TRY(db_many(w->tx, &snapshot_classes, ARGS(A_I64(CLASSES_MAX)), &rows, CLASSES_MAX, e));
        const struct class_row *c = rows.items;
        for (size_t k = 0; k < rows.n; k++)
            if (str_eq(c[k].cls, j->cls))
                j->class_value = c[k].value;
    }
    return ERR_OK;
}

/* Leases in advance are for jobs that start wherever a slot gets free, and only while nothing else waits, which those would keep
 * from a slot that is free now. One that came back once goes to a free slot next. */
static bool may_wait(const struct snapshot *s)
{
    for (size_t i = 0; i < s->jobs.n; i++) {
        const struct snap_job *j = &s->jobs.items[i];
        const struct job_type *type = job_type_find(j->kind);
        if (!snap_job_is_plain(j) || j->fence || (type && type->traits & JT_STAYS))
            return false;
    }
    return true;
}

/* From what is kept of waiting jobs, once that is all of them. */
static enum errc read_jobs(struct work *w, int64_t limit, struct snapshot *s, struct err *e)
{
    struct waiters *m = w->app->waiting;
    struct slice jobs = { 0 };
    if (m && waiting_is_whole(m)) {
        waiting_front(m, limit, w->arena, &jobs);
        s->jobs.items = jobs.items;
        s->jobs.n = jobs.n;
        return ERR_OK;
    }
    TRY(db_many(w->tx, &snapshot_jobs, ARGS(A_I64(limit), A_I64(WAITING_MAX)), &s->jobs, WAITING_MAX, e));
    for (size_t i = 0; i < s->jobs.n; i++)
        s->jobs.items[i].said = waiting_said(s->jobs.items[i].reason, s->jobs.items[i].message);
    return ERR_OK;
}

/* What changed of machines and of waiting jobs, by two statements in one wait. Jobs are read where nothing has room, too: the
 * next plan would have to read them. */
static enum errc read_changes(struct work *w, bool compares, struct snapshot *s, struct slice *ret_held, struct err *e)
{
    const bool is_whole = w->app->waiting && waiting_is_whole(w->app->waiting);
    struct machines_ask *machines = machines_asked(w, true);
    struct waiting_ask *waiting = is_whole ? waiting_asked(w, compares) : NULL;
    TRY(machines_read(w, machines, compares, s, ret_held, e));
    return waiting ? waiting_read(w, waiting, e) : ERR_OK;
}

/* With the machines and jobs of *s: their tenants, classes and where they may run. */
static enum errc complete(struct work *w, struct snapshot *s, struct slice held, struct err *e)
{
    struct slice law;
    if (s->jobs.n)
        TRY(read_tenants(w, s, held.items, held.n, e));
    TRY(read_classes(w, s, e));
    snapshot_link(s);
    if (!s->jobs.n)
        return ERR_OK;
    TRY(policies_law(w, &law, e));
    return snapshot_judge(s, law, w->now_us, w->arena, e);
}

static void bound(struct snapshot *s)
{
    for (size_t i = 0; i < s->jobs.n; i++) {
        struct snap_job *j = &s->jobs.items[i];
        j->needs_programs = job_needs_programs(j->kind);
        j->max_runtime_s = job_bound_s(j->kind, j->max_runtime_s);
    }
}

enum errc snapshot_of(struct work *w, struct slice jobs, struct snapshot *ret, struct err *e)
{
    struct slice held = { 0 };
    *ret = (struct snapshot){ .jobs = { jobs.items, jobs.n }, .now_us = w->now_us };
    TRY(machines_read(w, machines_asked(w, true), false, ret, &held, e));
    bound(ret);
    return complete(w, ret, held, e);
}

enum errc snapshot_read(struct work *w, int64_t limit, bool is_full, struct snapshot *ret, struct err *e)
{
    struct snapshot s = { 0 };
    struct slice held = { 0 };
    int64_t room = 0;
    TRY(read_changes(w, is_full, &s, &held, e));
    s.claims = w->app->claims;
    turnover_see(w->app->turnover, &s, clock_mono_us(w->app->clock));
    if (!is_full)
        turnover_lend(w->app->turnover, &s);
    for (size_t i = 0; i < s.nodes.n; i++)
        room += s.nodes.items[i].free_slots > 0 ? s.nodes.items[i].free_slots : 0;
    if (!is_full && room < limit)
        limit = room;
    if (limit > 0)
        TRY(read_jobs(w, limit, &s, e));
    bound(&s);
    if (!may_wait(&s) || (w->app->bookings && w->app->bookings->n))
        turnover_unlend(&s);
    TRY(complete(w, &s, held, e));
    *ret = s;
    return ERR_OK;
}
