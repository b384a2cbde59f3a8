/* SPDX-License-Identifier: Apache-2.0 */
/* grow.c - those that run below their most are read as a snapshot in which they are the jobs; plan/grow.h chooses. */
#include "scheduler/grow.h"
#include "core/base/log.h"
#include "core/db/run_tx.h"
#include "core/db/tx.h"
#include "core/table/config.h"
#include "core/table/schema.h"
#include "scheduler/evict.h"
#include "scheduler/mirror/snapshot.h"
#include "scheduler/plan/grow.h"
#include "scheduler/plan/sight.h"
#include "tenants/accounts/budget.h"

#include <stdlib.h>

enum { GROW_JOBS = 256, GROW_SEATS = GROW_JOBS * 64 };

/* Not those that would not come back from their queue: their budget is spent, or a time until which they must have started is
 * set. None of a tenant of which one leaves; those that leave are read too, since what they will have is theirs. Of each tenant
 * those that ran longest come first, and tenants take turns in what is read. */
static const struct stmt grow_jobs = { .name = "grow_jobs", .params = "ii", .row = &snap_job_schema, .card = CARD_MANY, .sql =
    "SELECT " ROW_COLUMNS " FROM (\n"
    "  SELECT c.t, c.i FROM (\n"
    "    SELECT a.tenant_id AS t, a.job_id AS i, a.evict_until IS NOT NULL AS leaves, a.started_at,\n"
    "           row_number() OVER (PARTITION BY a.tenant_id ORDER BY a.started_at) AS turn\n"
    "      FROM attempt a\n"
    "      JOIN job g ON g.tenant_id = a.tenant_id AND g.job_id = a.job_id\n"
    "           AND g.ended IS NULL AND NOT g.queued AND g.nodes_max > g.nodes\n"
    "     WHERE a.live AND (a.evict_until IS NOT NULL OR (a.state = 'RUNNING' AND g.nodes_max >= 2 * a.nodes\n"
    "           AND NOT g.cancel_requested AND NOT g.suspend_requested AND NOT job_stays(g.kind) AND g.deadline_at IS NULL\n"
    "           AND NOT " BUDGET_IS_SPENT("g") "\n"
    "           AND a.started_at <= clock_timestamp() - $1 * interval '1 millisecond'\n"
    "           AND NOT EXISTS (SELECT FROM attempt o JOIN job p ON p.tenant_id = o.tenant_id AND p.job_id = o.job_id\n"
    "                            WHERE o.tenant_id = a.tenant_id AND o.live AND o.evict_until IS NOT NULL\n"
    "                              AND p.ended IS NULL AND NOT p.queued AND p.nodes_max > p.nodes)))) c\n"
    "   ORDER BY c.leaves DESC, c.turn, c.started_at LIMIT $2) r\n"
    "  JOIN (SELECT job.*, 0::bigint AS depth FROM job) j ON j.tenant_id = r.t AND j.job_id = r.i\n"
    " ORDER BY tenant_id, job_id" };

struct seat_row { struct uuid tenant_id, job_id, attempt_id, node_id; int64_t fence, grace_s, devices; bool is_leaving; };
SCHEMA_OF(seat_row, "A machine of a job that may grow", FIELD(seat_row, tenant_id, 0, .doc = "Tenant"),
    FIELD(seat_row, job_id, 0, .doc = "Job"), FIELD(seat_row, attempt_id, 0, .doc = "Attempt"),
    FIELD(seat_row, node_id, 0, .doc = "Machine"), FIELD(seat_row, fence, 0, .doc = "Number of the attempt"),
    FIELD(seat_row, grace_s, 0, .doc = "Of its class, or a minute"), FIELD(seat_row, devices, 0, .doc = "Devices held"),
    FIELD(seat_row, is_leaving, 0, .doc = "It was told to go"));
/* It is in nobody's way: a class that gives no time for a checkpoint gives it here. */
static const struct stmt grow_seats = { .name = "grow_seats", .params = "UUi", .row = &seat_row_schema, .card = CARD_MANY, .sql =
    "SELECT a.tenant_id, a.job_id, a.attempt_id, h.node_id, a.fence, greatest(c.grace_s, 60) AS grace_s, h.devices,\n"
    "       a.evict_until IS NOT NULL AS is_leaving\n"
    "  FROM unnest($1, $2) AS i(tenant_id, job_id)\n"
    "  JOIN attempt a ON a.tenant_id = i.tenant_id AND a.job_id = i.job_id AND a.live\n"
    "  JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id\n"
    "  JOIN machine_hold h ON h.tenant_id = a.tenant_id AND h.attempt_id = a.attempt_id\n"
    "  LEFT JOIN priority_class c ON c.class = j.class\n"
    " ORDER BY a.started_at, a.tenant_id, a.job_id LIMIT $3" };
const struct stmt *const grow_stmts[] = { &grow_jobs, &grow_seats, NULL };

static bool may_wait_for_room(const struct waiting *x)
{
    return waits_for_room(x) || str_eq(x->reason, STR("Preempting")) || str_eq(x->reason, STR("Priority"));
}

struct busy { struct grow_wait *all; size_t n; };

static void add_pool(struct busy *b, struct str pool)
{
    for (size_t k = 0; k < b->n; k++)
        if (str_eq(b->all[k].pool, pool))
            return;
    b->all[b->n++] = (struct grow_wait){ .pool = pool };
}

/* What a plan that was cut short did not look at may wait for room or quota: that is known of its pools and tenants alone. Who
 * waits for quota would have what his tenant gives back, in whatever pool; where that is all he waits for, no other tenant is in
 * his way. */
struct slice grow_busy(struct work *w, const struct snapshot *s, const struct plan *p)
{
    const size_t left = p->is_left ? s->jobs.n : 0;
    struct busy b = { ARENA_ARRAY(w->arena, struct grow_wait, 2 * (p->waits.n + left) + 1), 0 };
    bool *is_told = ARENA_ARRAY(w->arena, bool, s->tenants.n + 1);
    struct str words;
    for (size_t i = 0; i < p->waits.n; i++) {
        const struct waiting *x = &p->waits.items[i];
        const struct snap_job *j = &s->jobs.items[x->job];
        const struct snap_tenant *t = &s->tenants.items[j->tenant];
        if (may_wait_for_room(x) &&
            !(str_eq(x->reason, STR("QuotaExceeded")) && !sight_quota_allows(t, j, w->arena, &words)))
            add_pool(&b, j->pool);
        is_told[j->tenant] |= str_eq(x->reason, STR("QuotaExceeded"));
    }
    for (size_t i = 0; i < left; i++) {
        if (!p->is_left[i])
            continue;
        add_pool(&b, s->jobs.items[i].pool);
        is_told[s->jobs.items[i].tenant] = true;
    }
    for (size_t i = 0; i < s->tenants.n; i++)
        if (is_told[i])
            b.all[b.n++] = (struct grow_wait){ .tenant_id = s->tenants.items[i].tenant_id };
    return (struct slice){ b.all, b.n };
}

static int node_of(const void *key, const void *at)
{
    return uuid_cmp(*(const struct uuid *)key, ((const struct snap_node *)at)->node_id);
}

struct found { struct snapshot s; struct slice rows; };

static enum errc read(struct work *w, struct found *ret, struct err *e)
{
    struct slice jobs = { 0 };
    ret->s.jobs.n = 0;
    TRY(db_many(w->tx, &grow_jobs, ARGS(A_I64(w->app->config->scheduler_grow_after_ms), A_I64(GROW_JOBS)), &jobs, GROW_JOBS, e));
    if (!jobs.n)
        return ERR_OK;
    const struct snap_job *j = jobs.items;
    TRY(db_many(w->tx, &grow_seats, ARGS(A_UUIDS_OF(j, jobs.n, tenant_id), A_UUIDS_OF(j, jobs.n, job_id), A_I64(GROW_SEATS)),
                &ret->rows, GROW_SEATS, e));
    return snapshot_of(w, jobs, &ret->s, e);
}

static bool choose(struct work *w, struct found *f, struct slice busy, struct evict_one *ret)
{
    const struct seat_row *r = f->rows.items;
    struct grow_seat *seats = ARENA_ARRAY(w->arena, struct grow_seat, f->rows.n + 1);
    size_t job;
    int64_t has, gets;
    snapshot_fill(&f->s);
    for (size_t i = 0; i < f->rows.n; i++) {
        const struct snap_node *n = bsearch(&r[i].node_id, f->s.nodes.items, f->s.nodes.n, sizeof *n, node_of);
        seats[i] = (struct grow_seat){ r[i].tenant_id, r[i].job_id, n ? (size_t)(n - f->s.nodes.items) : SIZE_MAX,
                                       (uint64_t)r[i].devices, r[i].is_leaving };
    }
    const struct grow_in in = { seats, f->rows.n, busy.items, busy.n };
    if (!grow_choose(&f->s, &in, w->arena, &job, &has, &gets))
        return false;
    const struct snap_job *j = &f->s.jobs.items[job];
    size_t at = 0;
    while (!uuid_eq(r[at].job_id, j->job_id) || !uuid_eq(r[at].tenant_id, j->tenant_id))
        at++;
    *ret = (struct evict_one){ j->tenant_id, j->job_id, r[at].attempt_id, r[at].node_id, r[at].fence, r[at].grace_s,
                               str_fmt(w->arena, "goes on with %ld machines instead of %ld", (long)gets, (long)has) };
    return true;
}

enum errc grow_pass(struct work *w, struct slice busy, struct slice *ret_nodes, struct err *e)
{
    struct found f = { 0 };
    struct evict_one x;
    *ret_nodes = (struct slice){ 0 };
    if (!w->app->config->scheduler_grow_after_ms)
        return ERR_OK;
    TRY(RUN_SYSTEM(w, w->app->pool, TX_READ_ONLY, read(w, &f, e), e));
    if (!f.s.jobs.n || !choose(w, &f, busy, &x))
        return ERR_OK;
    TRY(RUN_SYSTEM(w, w->app->pool, 0, evict_one(w, &x, ret_nodes, e), e));
    log_event(LOG_INFO, "scheduler.grown", "job", LOG_ID("job", x.job_id), "why", LOG_S(x.why.ptr), NULL);
    return ERR_OK;
}
