/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.c - three reads: machines with their room, the front of every queue, and those whose queues they are; where the data
 * of those may be is kept from plan to plan (policies.h).
 *
 * Queues are read by shape (migrations/0030): of each tenant and shape the first jobs, their equal part of the room. What does not
 * fit hides nothing that does, for every shape that waits is there; and none is read in vain but a few. A shape of which more may wait is
 * cut: the planner stops behind its last job, so that nothing of lower priority goes before those that were not read. */
#include "scheduler/mirror/snapshot.h"
#include "core/base/fault.h"
#include "core/db/tx.h"
#include "core/table/schema.h"
#include "core/wire/job_type.h"
#include "scheduler/mirror/policies.h"
#include "tenants/accounts/quota.h"
#include "tenants/home/residency_facts.h"

#include <stdlib.h>

enum { NODES_MAX = 20000, RULES_MAX = 100000, WAITING_MAX = 1000000 };

SCHEMA_OF(snap_node, "A machine with its room", FIELD(snap_node, node_id, 0, .doc = "Machine"), FIELD(snap_node, zone, 0, .doc = "Zone"),
    FIELD(snap_node, pool, 0, .doc = "Pool"), FIELD(snap_node, flavor, 0, .doc = "Flavor"), FIELD(snap_node, slots, 0, .doc = "Slots"), FIELD(snap_node, gpus, 0, .doc = "GPUs"),
    FIELD(snap_node, free_slots, 0, .doc = "Slots not booked"), FIELD(snap_node, free_gpus, 0, .doc = "GPUs not booked"));
SCHEMA_OF(snap_tenant, "A tenant with its quotas", FIELD(snap_tenant, tenant_id, 0, .doc = "Tenant"),
    FIELD(snap_tenant, zones, F_NOCOL, .doc = "Zones it may use"), FIELD(snap_tenant, residency, F_NOCOL, .doc = "Facts for the judge"),
    FIELD(snap_tenant, revision, 0, .doc = "Of the facts"), FIELD(snap_tenant, slots_used, 0, .doc = "Booked"),
    FIELD(snap_tenant, slots_limit, 0, .doc = "Limit"), FIELD(snap_tenant, gpus_used, 0, .doc = "Booked"),
    FIELD(snap_tenant, gpus_limit, 0, .doc = "Limit"), FIELD(snap_tenant, guarded, 0, .doc = "It has rules"));
SCHEMA_OF(snap_job, "A waiting job", FIELD(snap_job, tenant_id, 0, .doc = "Tenant"), FIELD(snap_job, job_id, 0, .doc = "Job"),
    FIELD(snap_job, reason, 0, .doc = "Why it waits"), FIELD(snap_job, message, 0, .doc = "In words"), FIELD(snap_job, zone, 0, .doc = "Pinned zone"),
    FIELD(snap_job, pool, 0, .doc = "Pool"), FIELD(snap_job, kind, 0, .doc = "Kind"), FIELD(snap_job, data_class, 0, .doc = "Class of its data"), FIELD(snap_job, queue, 0, .doc = "Queue"), FIELD(snap_job, project_id, 0, .doc = "Project"), FIELD(snap_job, slots, 0, .doc = "Slots asked"), FIELD(snap_job, gpus, 0, .doc = "GPUs asked"),
    FIELD(snap_job, priority, 0, .doc = "Priority"), FIELD(snap_job, fence, 0, .doc = "Newest attempt"),
    FIELD(snap_job, version, 0, .doc = "Version"), FIELD(snap_job, submitted_at, 0, .doc = "When"),
    FIELD(snap_job, shape, 0, .doc = "What it asks for"), FIELD(snap_job, depth, 0, .doc = "Most of that shape"),
    FIELD(snap_job, is_cut, F_NOCOL, .doc = "More may wait"), FIELD(snap_job, tenant, F_NOCOL, .doc = "Index"), FIELD(snap_job, has_lane, F_NOCOL, .doc = "Has a lane"));
SCHEMA_OF(rule, "A quota rule and its use", FIELD(rule, tenant_id, 0, .doc = "Tenant"), FIELD(rule, project_id, 0, .doc = "Project"),
    FIELD_ENUM(rule, place, 0, rule_place_names, .doc = "Whose"), FIELD_ENUM(rule, resource, 0, rule_resource_names, .doc = "Of what"),
    FIELD(rule, queue, 0, .doc = "Queue"), FIELD(rule, flavor, 0, .doc = "Flavor"), FIELD(rule, zone, 0, .doc = "Zone"),
    FIELD(rule, nominal, 0, .doc = "Its own"), FIELD(rule, borrowing_limit, 0, .doc = "Most from others"),
    FIELD(rule, lending_limit, 0, .doc = "Most to others"), FIELD(rule, weight, 0, .doc = "Weight"), FIELD(rule, used, 0, .doc = "Used"));

static const struct stmt snapshot_nodes = { .name = "snapshot_nodes", .params = "i", .row = &snap_node_schema, .card = CARD_MANY, .sql =
    "SELECT n.node_id, n.zone, n.pool, n.flavor, n.slots, n.gpus, n.slots - coalesce(a.slots, 0)::bigint AS free_slots,\n"
    "       n.gpus - coalesce(a.gpus, 0)::bigint AS free_gpus\n"
    "  FROM node n LEFT JOIN (SELECT node_id, sum(slots) AS slots, sum(gpus) AS gpus FROM attempt WHERE live GROUP BY node_id) a\n"
    "    ON a.node_id = n.node_id\n"
    " WHERE n.state = 'READY' ORDER BY n.node_id LIMIT $1" };

/* The shapes by a walk over the index, one look-up each; of each its first jobs, in the order of the queue. */
static const struct stmt snapshot_jobs = { .name = "snapshot_jobs", .params = "ii", .row = &snap_job_schema, .card = CARD_MANY, .sql =
    "WITH RECURSIVE c AS (\n"
    "  (SELECT tenant_id, shape FROM job WHERE queued ORDER BY tenant_id, shape LIMIT 1)\n"
    "  UNION ALL\n"
    "  SELECT n.tenant_id, n.shape FROM c CROSS JOIN LATERAL (\n"
    "    SELECT tenant_id, shape FROM job WHERE queued AND (job.tenant_id, job.shape) > (c.tenant_id, c.shape)\n"
    "     ORDER BY tenant_id, shape LIMIT 1) n),\n"
    "k AS MATERIALIZED (SELECT tenant_id, shape FROM c),\n"
    "d AS MATERIALIZED (SELECT 1 + ($1 - 1) / greatest(1, count(*)) AS depth FROM k)\n"
    "SELECT j.tenant_id, j.job_id, j.reason, j.message, j.zone, j.pool, j.kind, j.data_class, j.queue, j.project_id, j.slots, j.gpus, j.priority,\n"
    "       j.fence, j.version, j.submitted_at, j.shape, d.depth\n"
    "  FROM k CROSS JOIN d CROSS JOIN LATERAL (\n"
    "    SELECT tenant_id, job_id, reason, message, zone, pool, kind, data_class, queue, project_id, slots, gpus, priority, fence, version,\n"
    "           submitted_at, shape FROM job\n"
    "     WHERE job.tenant_id = k.tenant_id AND job.shape = k.shape AND queued AND NOT cancel_requested\n"
    "       AND (not_before IS NULL OR not_before <= clock_timestamp()) ORDER BY priority DESC, job_id LIMIT d.depth) j\n"
    " ORDER BY j.tenant_id, j.shape, j.priority DESC, j.job_id LIMIT $2" };

static const struct stmt snapshot_tenants = { .name = "snapshot_tenants", .params = "U", .row = &snap_tenant_schema, .card = CARD_MANY, .sql =
    "SELECT t.tenant_id, " RESIDENCY_REVISION " AS revision, coalesce(l.slots, 0) AS slots_used,\n"
    "       coalesce(s.hard_limit, 0) AS slots_limit,\n"
    "       coalesce(l.gpus, 0) AS gpus_used, coalesce(g.hard_limit, 0) AS gpus_limit, coalesce(s.guarded, false) AS guarded\n"
    "  FROM tenant t\n" QUOTA_LIMITS HELD_BY_TENANT
    " WHERE t.tenant_id = ANY ($1) AND t.state = 'ACTIVE' ORDER BY t.tenant_id" };

/* A limit of running jobs is one more rule, of whole jobs. Cohorts of tenants reach beyond the tenants asked for. */
static const struct stmt snapshot_rules_stmt = { .name = "snapshot_rules", .params = "Ui", .row = &rule_schema, .card = CARD_MANY, .sql =
    "WITH r AS MATERIALIZED (\n"
    "  SELECT tenant_id, project_id, place, resource, queue, flavor, zone, nominal, coalesce(borrowing_limit, -1) AS borrowing_limit,\n"
    "         coalesce(lending_limit, -1) AS lending_limit, weight FROM quota_rule q\n"
    "   WHERE tenant_id = ANY ($1) OR (place = 'tenant' AND EXISTS (\n"
    "     SELECT FROM quota_rule o WHERE o.tenant_id = ANY ($1) AND o.place = 'tenant' AND o.resource = q.resource AND o.flavor = q.flavor\n"
    "        AND o.zone = q.zone))\n"
    "  UNION ALL\n"
    "  SELECT tenant_id, NULL, 'tenant', 'jobs', '', '', '', hard_limit, 0, 0, 1000 FROM quota\n"
    "   WHERE tenant_id = ANY ($1) AND resource = 'running_jobs'),\n"
    "u AS MATERIALIZED (\n"
    "  SELECT a.tenant_id, j.project_id, j.queue, n.flavor, n.zone, sum(a.slots) AS slots, sum(a.gpus) AS gpus, count(*) AS jobs\n"
    "    FROM attempt a JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id JOIN node n ON n.node_id = a.node_id\n"
    "   WHERE a.live AND a.tenant_id IN (SELECT r.tenant_id FROM r) GROUP BY 1, 2, 3, 4, 5)\n"
    "SELECT r.tenant_id, r.project_id, r.place, r.resource, r.queue, r.flavor, r.zone, r.nominal, r.borrowing_limit, r.lending_limit, r.weight,\n"
    "       coalesce(x.used, 0) AS used\n"
    "  FROM r CROSS JOIN LATERAL (\n"
    "    SELECT sum(CASE r.resource WHEN 'slots' THEN u.slots WHEN 'gpus' THEN u.gpus ELSE u.jobs END)::bigint AS used FROM u\n"
    "     WHERE u.tenant_id = r.tenant_id AND (r.flavor = '' OR r.flavor = u.flavor) AND (r.zone = '' OR r.zone = u.zone)\n"
    "       AND (r.place = 'tenant' OR (r.project_id IS NOT DISTINCT FROM u.project_id AND (r.place = 'project' OR r.queue = u.queue)))) x\n"
    " ORDER BY r.tenant_id LIMIT $2" };

const struct stmt *const snapshot_stmts[] = { &snapshot_nodes, &snapshot_jobs, &snapshot_tenants, &snapshot_rules_stmt, NULL };

enum errc snapshot_rules(struct work *w, const struct uuid *tenants, size_t n, struct rulebook *ret, struct err *e)
{
    *ret = (struct rulebook){ 0 };
    TRY(db_many(w->tx, &snapshot_rules_stmt, ARGS(A_UUIDS(tenants, n), A_I64(RULES_MAX)), &ret->rules, RULES_MAX, e));
    rulebook_link(ret, w->arena);
    return ERR_OK;
}

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
    TRY(snapshot_rules(w, ids, n, &s->book, e));
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

/* One answer of the judge, for all jobs of a policy that are alike in class and purpose. */
struct judged {
    struct str data_class, kind;
    struct slice zones;
    struct str denied;
    struct judged *next;
};

static struct judged *judge_all(const struct residency_facts *f, const struct snap_job *j, int64_t now_us, struct arena *a)
{
    struct judged *r = ARENA_NEW(a, struct judged);
    struct str *ok = ARENA_ARRAY(a, struct str, f->zones.n);
    const struct residency_zone *z = f->zones.items;
    struct residency_question q = { .data_class = data_class_of(j->data_class), .purpose = job_purpose(j->kind), .now_us = now_us };
    *r = (struct judged){ j->data_class, j->kind, { ok, 0 }, STR_NULL, NULL };
    for (size_t i = 0; i < f->zones.n; i++) {
        q.zone = z[i].code;
        struct residency_verdict v = residency_allows(f, &q);
        if (v.allowed || FAULT("residency_plan"))
            ok[r->zones.n++] = z[i].code;
        else if (!r->denied.ptr || str_eq(z[i].code, f->home))
            r->denied = str_dup(a, str_c(v.text));
    }
    if (r->zones.n)
        r->denied = STR_NULL;
    return r;
}

/* A job that names its zone is told what is wrong with that one. */
static struct str why_not(const struct residency_facts *f, const struct snap_job *j, int64_t now_us, struct arena *a)
{
    struct residency_question q = { .data_class = data_class_of(j->data_class), .zone = j->zone, .purpose = job_purpose(j->kind), .now_us = now_us };
    struct residency_verdict v = residency_allows(f, &q);
    return v.allowed || FAULT("residency_plan") ? STR_NULL : str_dup(a, str_c(v.text));
}

/* For each tenant the first one whose facts are the same to the letter: what the judge says of one it says of all. */
static size_t *same_policy(const struct snapshot *s, struct arena *a)
{
    size_t mask = 15, *first = ARENA_ARRAY(a, size_t, s->tenants.n + 1);
    while (mask < 2 * s->tenants.n)
        mask = mask * 2 + 1;
    size_t *table = ARENA_ARRAY(a, size_t, mask + 1);       /* index + 1 */
    for (size_t i = 0; i < s->tenants.n; i++) {
        struct str facts = s->tenants.items[i].residency.text;
        size_t at = str_hash(facts) & mask;
        while (table[at] && !str_eq(s->tenants.items[table[at] - 1].residency.text, facts))
            at = (at + 1) & mask;
        if (!table[at])
            table[at] = i + 1;
        first[i] = table[at] - 1;
    }
    return first;
}

enum errc snapshot_judge(struct snapshot *s, struct slice zones, int64_t now_us, struct arena *a, struct err *e)
{
    struct judged **known = ARENA_ARRAY(a, struct judged *, s->tenants.n + 1);
    struct residency_facts *facts = ARENA_ARRAY(a, struct residency_facts, s->tenants.n + 1);
    const size_t *policy = same_policy(s, a);
    for (size_t i = 0; i < s->jobs.n; i++) {
        struct snap_job *j = &s->jobs.items[i];
        size_t who = policy[j->tenant];
        struct judged *r = known[who];
        if (!r)
            TRY(residency_facts_make(a, zones, s->tenants.items[who].residency.text, &facts[who], e));
        while (r && !(str_eq(r->data_class, j->data_class) && str_eq(r->kind, j->kind)))
            r = r->next;
        if (!r) {
            r = judge_all(&facts[who], j, now_us, a);
            r->next = known[who];
            known[who] = r;
        }
        j->zones = r->zones;
        j->denied = j->zone.ptr ? why_not(&facts[who], j, now_us, a) : r->denied;
    }
    return ERR_OK;
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

enum errc snapshot_read(struct work *w, int64_t limit, bool is_full, struct snapshot *ret, struct err *e)
{
    struct snapshot s = { 0 };
    int64_t room = 0;
    TRY(db_many(w->tx, &snapshot_nodes, ARGS(A_I64(NODES_MAX)), &s.nodes, NODES_MAX, e));
    for (size_t i = 0; i < s.nodes.n; i++)
        room += s.nodes.items[i].free_slots > 0 ? s.nodes.items[i].free_slots : 0;
    if (!is_full && room < limit)
        limit = room;
    if (limit > 0)
        TRY(db_many(w->tx, &snapshot_jobs, ARGS(A_I64(limit), A_I64(WAITING_MAX)), &s.jobs, WAITING_MAX, e));
    if (s.jobs.n) {
        struct uuid *ids = ARENA_ARRAY(w->arena, struct uuid, s.jobs.n);
        size_t n = tenants_of(&s, ids);
        TRY(db_many(w->tx, &snapshot_tenants, ARGS(A_UUIDS(ids, n)), &s.tenants, n, e));
        if (s.tenants.n)
            TRY(policies_fill(w, s.tenants.items[0].revision, s.tenants.items, s.tenants.n, e));
        for (size_t i = 0; i < s.tenants.n; i++)
            split_zones(&s.tenants.items[i], w->arena);
        TRY(read_rules(w, &s, e));
    }
    snapshot_link(&s);
    if (s.jobs.n) {
        struct slice law;
        TRY(residency_law_read(w, &law, e));
        TRY(snapshot_judge(&s, law, w->now_us, w->arena, e));
    }
    *ret = s;
    return ERR_OK;
}
