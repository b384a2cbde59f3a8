/* SPDX-License-Identifier: Apache-2.0 */
/* plan_check.c - one statement for a plan, whose rows say what they are. Tenants whose facts are the same to the letter share a
 * judgement. */
#include "scheduler/plan_check.h"
#include "core/db/tx.h"
#include "scheduler/engines/lent.h"
#include "scheduler/mirror/machines.h"
#include "scheduler/mirror/snapshot.h"
#include "tenants/accounts/quota.h"
#include "tenants/home/residency_facts.h"

enum { CHECK_NODE, CHECK_TENANT, CHECK_JUDGE, CHECK_REVISION };
struct check_row {
    int64_t what, ord, slots, gpus, cpu_milli, memory_bytes, all_gpus;
    struct str held;
    bool ok, once;
};
SCHEMA_OF(check_row, "Room of a machine, what a tenant holds, a judgement, or the revision", FIELD(check_row, what, 0,
                                                                                                   .doc = "Which of them"),
    FIELD(check_row, ord, 0, .doc = "Which, from 1"), FIELD(check_row, slots, 0,
        .doc = "Slots free, or held; the revision of residency"),
    FIELD(check_row, cpu_milli, 0, .doc = "Free processors"), FIELD(check_row, memory_bytes, 0, .doc = "Free memory"),
    FIELD(check_row, all_gpus, 0, .doc = "GPUs of the machine"), FIELD(check_row, held, 0, .doc = "Its devices that are held"),
    FIELD(check_row, gpus, 0, .doc = "GPUs; the revision of reservations"),
    FIELD(check_row, ok, 0, .doc = "The data may be there"), FIELD(check_row, once, 0, .doc = "It is here for one lease"));
static const struct stmt plan_check_stmt = { .name = "plan_check", .params = "UUSSSU", .row = &check_row_schema,
                                             .card = CARD_MANY, .sql =
    "SELECT 0::bigint AS what, i.ord,\n"
    "       n.slots - CASE WHEN n.once AND a.slots > 0 THEN n.slots ELSE coalesce(a.slots, 0)::bigint END AS slots,\n"
    "       n.gpus - coalesce(a.gpus, 0)::bigint AS gpus, true AS ok,\n"
    "       greatest(n.cpu_milli, n.slots * 1000) - coalesce(a.cpu_milli, 0) AS cpu_milli,\n"
    "       greatest(n.memory_bytes, n.slots * 1073741824) - coalesce(a.memory_bytes, 0) AS memory_bytes,\n"
    "       n.gpus AS all_gpus, coalesce(a.held, '') AS held, n.once\n"
    "  FROM unnest($1) WITH ORDINALITY AS i(node_id, ord)\n"
    "  CROSS JOIN LATERAL (SELECT slots, gpus, cpu_milli, memory_bytes, " NODE_LENT("node") " AS once FROM node\n"
    "                       WHERE node.node_id = i.node_id AND state = 'READY' LIMIT 1) n\n"
    "  CROSS JOIN LATERAL (\n"
    "    SELECT " ATTEMPT_SUMS " FROM machine_hold h WHERE h.node_id = i.node_id) a\n"
    "UNION ALL\n"
    "SELECT 2, c.ord, 0, 0, residency_zone_ok(c.tenant_id, c.data_class, c.zone, job_purpose(c.kind)), 0, 0, 0, '', false\n"
    "  FROM unnest($2, $3, $4, $5) WITH ORDINALITY AS c(tenant_id, data_class, kind, zone, ord)\n"
    "UNION ALL\n"
    "SELECT 1, t.ord, a.slots, a.gpus, true, 0, 0, 0, '', false\n"
    "  FROM (SELECT tenant_id, sum(slots)::bigint AS slots, sum(gpus)::bigint AS gpus FROM attempt\n"
    "         WHERE live AND tenant_id = ANY ($6) GROUP BY tenant_id) a\n"
    "  JOIN unnest($6) WITH ORDINALITY AS t(tenant_id, ord) ON t.tenant_id = a.tenant_id\n"
    "UNION ALL SELECT 3, 0, " RESIDENCY_REVISION ", " RESERVATION_REVISION ", true, 0, 0, 0, '', false" };

/* For the rare plan during which a revision passed. */
struct limit_row { int64_t ord, slots, gpus; };
SCHEMA_OF(limit_row, "Limits of a tenant", FIELD(limit_row, ord, 0, .doc = "Which, from 1"), FIELD(limit_row, slots, 0,
                                                                                                   .doc = "Slots"),
    FIELD(limit_row, gpus, 0, .doc = "GPUs"));
static const struct stmt plan_limits = { .name = "plan_limits", .params = "U", .row = &limit_row_schema, .card = CARD_MANY, .sql =
    "SELECT t.ord, coalesce(s.hard_limit, 0) AS slots, coalesce(g.hard_limit, 0) AS gpus\n"
    "  FROM unnest($1) WITH ORDINALITY AS t(tenant_id, ord)\n" QUOTA_LIMITS };

const struct stmt *const plan_check_stmts[] = { &plan_check_stmt, &plan_limits, NULL };

/* One question to the database's judge, for all lines that are alike in it. */
struct question {
    struct str policy;
    struct job_place place;             /* its tenant: one of those with that policy */
    bool ok;
};

/* What machines, or what quotas of tenants, have left. */
struct rooms {
    struct uuid *ids;
    size_t *of;                         /* of the snapshot: index into ids, from 1 */
    int64_t *slots, *gpus;              /* by index into ids; machines that are not ready have none */
    int64_t *cpu_milli, *memory_bytes;  /* of machines */
    struct devices *devices;
    bool *once;                         /* of machines: one lease takes all its slots */
    size_t n;
};

struct questions {
    struct question *items;
    size_t n;
};

struct plan_check {
    struct questions asked;
    struct rooms nodes, tenants;
    struct snapshot late;               /* has_late: the windows of machines, which changed after the snapshot was read */
    bool has_late;
};

static struct question *question_of(struct questions *qs, const struct snapshot *s, const struct plan_line *l)
{
    const struct snap_job *j = l->job;
    struct str policy = s->tenants.items[j->tenant].residency.text, zone = s->nodes.items[l->node].zone;
    for (size_t i = 0; i < qs->n; i++) {
        struct question *q = &qs->items[i];
        const struct job_place *p = &q->place;
        if (str_eq(p->data_class, j->data_class) && str_eq(p->kind, j->kind) && str_eq(p->zone, zone) &&
            str_eq(q->policy, policy))
            return q;
    }
    qs->items[qs->n] = (struct question){ policy, { j->tenant_id, j->data_class, j->kind, zone }, false };
    return &qs->items[qs->n++];
}

size_t plan_check_places(const struct snapshot *s, struct plan_line *lines, size_t n, struct arena *a, struct job_place *ret)
{
    struct questions qs = { ARENA_ARRAY(a, struct question, n + 1), 0 };
    for (size_t i = 0; i < n; i++)
        lines[i].place = question_of(&qs, s, &lines[i]) - qs.items + 1;
    for (size_t i = 0; i < qs.n; i++)
        ret[i] = qs.items[i].place;
    return qs.n;
}

static struct rooms rooms_new(struct arena *a, size_t all, size_t most)
{
    return (struct rooms){ .ids = ARENA_ARRAY(a, struct uuid, most), .of = ARENA_ARRAY(a, size_t, all),
                           .slots = ARENA_ARRAY(a, int64_t, most), .gpus = ARENA_ARRAY(a, int64_t, most),
                           .cpu_milli = ARENA_ARRAY(a, int64_t, most), .memory_bytes = ARENA_ARRAY(a, int64_t, most),
                           .devices = ARENA_ARRAY(a, struct devices, most), .once = ARENA_ARRAY(a, bool, most) };
}

static void rooms_name(struct rooms *r, size_t which, struct uuid id)
{
    if (!r->of[which]) {
        r->ids[r->n++] = id;
        r->of[which] = r->n;
    }
}

static bool rooms_have(const struct rooms *r, size_t which, const struct attempt_step *s)
{
    return s->slots <= r->slots[r->of[which] - 1] && s->gpus <= r->gpus[r->of[which] - 1];
}

static void rooms_take(struct rooms *r, size_t which, const struct attempt_step *s)
{
    r->slots[r->of[which] - 1] -= s->slots;
    r->gpus[r->of[which] - 1] -= s->gpus;
}

/* What the tenants of the lines may hold: as the snapshot has it, while the revision stands that it was read with. */
static enum errc limits_of(struct work *w, const struct snapshot *s, const struct plan_line *lines, size_t n, int64_t revision,
                           struct rooms *t,
                           struct err *e)
{
    struct slice rows = { 0 };
    for (size_t i = 0; i < n; i++) {
        const struct snap_tenant *tenant = &s->tenants.items[lines[i].job->tenant];
        t->slots[t->of[lines[i].job->tenant] - 1] = tenant->slots_limit;
        t->gpus[t->of[lines[i].job->tenant] - 1] = tenant->gpus_limit;
    }
    if (revision == s->revision)
        return ERR_OK;
    TRY(db_many(w->tx, &plan_limits, ARGS(A_UUIDS(t->ids, t->n)), &rows, t->n, e));
    const struct limit_row *r = rows.items;
    for (size_t i = 0; i < rows.n; i++) {
        t->slots[r[i].ord - 1] = r[i].slots;
        t->gpus[r[i].ord - 1] = r[i].gpus;
    }
    return ERR_OK;
}

enum errc plan_check_read(struct work *w, const struct snapshot *s, const struct plan_line *lines, size_t n,
                          struct plan_check **ret,
                          struct err *e)
{
    struct slice rows = { 0 };
    int64_t revision = 0, windows = 0;
    struct plan_check *c = ARENA_NEW(w->arena, struct plan_check);
    size_t seats = n;
    for (size_t i = 0; i < n; i++)
        seats += lines[i].nmore;
    *ret = c;
    *c = (struct plan_check){ .asked = { ARENA_ARRAY(w->arena, struct question, n), 0 },
                              .nodes = rooms_new(w->arena, s->nodes.n, seats),
                              .tenants = rooms_new(w->arena, s->tenants.n, n) };
    for (size_t i = 0; i < n; i++) {
        (void)question_of(&c->asked, s, &lines[i]);
        rooms_name(&c->nodes, lines[i].node, s->nodes.items[lines[i].node].node_id);
        for (size_t k = 0; k < lines[i].nmore; k++)
            rooms_name(&c->nodes, lines[i].more[k].node, s->nodes.items[lines[i].more[k].node].node_id);
        rooms_name(&c->tenants, (size_t)lines[i].job->tenant, lines[i].job->tenant_id);
    }
    const struct question *q = c->asked.items;
    const size_t asked = c->asked.n;
    TRY(db_many(w->tx, &plan_check_stmt, ARGS(A_UUIDS(c->nodes.ids, c->nodes.n), A_UUIDS_OF(q, asked, place.tenant_id),
                A_STRS_OF(q, asked, place.data_class), A_STRS_OF(q, asked, place.kind), A_STRS_OF(q, asked, place.zone),
                A_UUIDS(c->tenants.ids, c->tenants.n)), &rows, seats + 2 * n + 1, e));
    const struct check_row *r = rows.items;
    for (size_t i = 0; i < rows.n; i++)
        if (r[i].what == CHECK_REVISION) {
            revision = r[i].slots;
            windows = r[i].gpus;
        }
    c->has_late = windows != s->reserved_no;
    c->late.now_us = w->now_us;
    if (c->has_late)
        TRY(machines_windows(w, windows, &c->late, e));
    TRY(limits_of(w, s, lines, n, revision, &c->tenants, e));
    for (size_t i = 0; i < rows.n; i++) {
        size_t at = (size_t)(r[i].ord - 1);
        if (r[i].what == CHECK_JUDGE) {
            c->asked.items[at].ok = r[i].ok;
        } else if (r[i].what == CHECK_NODE) {
            c->nodes.slots[at] = r[i].slots;
            c->nodes.once[at] = r[i].once;
            c->nodes.gpus[at] = r[i].gpus;
            c->nodes.cpu_milli[at] = r[i].cpu_milli;
            c->nodes.memory_bytes[at] = r[i].memory_bytes;
            (void)devices_read(&c->nodes.devices[at], r[i].all_gpus, r[i].held);    /* written by the statement above */
        } else if (r[i].what == CHECK_TENANT) {
            c->tenants.slots[at] -= r[i].slots;
            c->tenants.gpus[at] -= r[i].gpus;
        }
    }
    return ERR_OK;
}

bool plan_check_allows(struct plan_check *c, const struct snapshot *s, const struct plan_line *l)
{
    return question_of(&c->asked, s, l)->ok;
}

static bool lets(struct plan_check *c, const struct snapshot *s, size_t node, const struct snap_job *j)
{
    struct snap_node n = s->nodes.items[node];
    c->late.nodes.items = &n;
    c->late.nodes.n = 1;
    reserved_fill(&c->late);
    return reserved_lets(&n, j);
}

bool plan_check_lets(struct plan_check *c, const struct snapshot *s, const struct plan_line *l)
{
    bool ok = !c->has_late || lets(c, s, l->node, l->job);
    for (size_t i = 0; ok && c->has_late && i < l->nmore; i++)
        ok = lets(c, s, l->more[i].node, l->job);
    return ok;
}

enum { ONCE_SLOTS = 1 << 20 };          /* more than any machine has */

/* A share counts by its thousandths, so devices say whether GPUs are free, and not their number. */
static bool machine_takes(struct rooms *r, size_t node, const struct ask *a, uint64_t *devices)
{
    const size_t at = r->of[node] - 1;
    if (a->slots > r->slots[at] || a->cpu_milli > r->cpu_milli[at] || a->memory_bytes > r->memory_bytes[at])
        return false;
    if (a->gpus && !devices_take(&r->devices[at], *devices, a->gpus, a->gpu_milli)) {
        *devices = devices_pick(&r->devices[at], a->gpus, a->gpu_milli);
        if (!devices_take(&r->devices[at], *devices, a->gpus, a->gpu_milli))
            return false;
    }
    r->slots[at] -= lease_slots(r->once[at], ONCE_SLOTS, a->slots);
    r->cpu_milli[at] -= a->cpu_milli;
    r->memory_bytes[at] -= a->memory_bytes;
    return true;
}

static void machine_gives(struct rooms *r, size_t node, const struct ask *a, uint64_t devices)
{
    const size_t at = r->of[node] - 1;
    devices_give(&r->devices[at], devices, a->gpu_milli);
    r->slots[at] += lease_slots(r->once[at], ONCE_SLOTS, a->slots);
    r->cpu_milli[at] += a->cpu_milli;
    r->memory_bytes[at] += a->memory_bytes;
}

/* All of its machines, or none. */
static bool machines_take(struct rooms *r, struct plan_line *l)
{
    size_t k = 0;
    if (!machine_takes(r, l->node, &l->ask, &l->devices))
        return false;
    while (k < l->nmore && machine_takes(r, l->more[k].node, &l->ask, &l->more[k].devices))
        k++;
    if (k == l->nmore)
        return true;
    while (k-- > 0)
        machine_gives(r, l->more[k].node, &l->ask, l->more[k].devices);
    machine_gives(r, l->node, &l->ask, l->devices);
    return false;
}

bool plan_check_takes(struct plan_check *c, struct plan_line *l)
{
    if (!rooms_have(&c->tenants, (size_t)l->job->tenant, &l->step) || !machines_take(&c->nodes, l))
        return false;
    rooms_take(&c->tenants, (size_t)l->job->tenant, &l->step);
    return true;
}
