/* SPDX-License-Identifier: Apache-2.0 */
/* evict.c - the jobs' rows first, in the order in which everybody locks them; then the attempts of those that moved. */
#include "scheduler/evict.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/db/run_tx.h"
#include "core/db/tx.h"
#include "core/table/metrics.h"
#include "core/table/schema.h"
#include "scheduler/engine/lease_move.h"
#include "scheduler/jobs/job_apply.h"
#include "scheduler/mirror/holders.h"
#include "scheduler/replay/ring.h"

#include <stdlib.h>

static const struct stmt evict_many = { .name = "evict_many", .params = "UUIUS", .card = CARD_NONE, .sql =
    "UPDATE attempt SET evict_until = clock_timestamp() + i.grace_s * interval '1 second', evict_for = i.evict_for,\n"
    "       evict_why = i.why\n"
    "  FROM unnest($1, $2, $3, $4, $5) AS i(tenant_id, attempt_id, grace_s, evict_for, why)\n"
    " WHERE attempt.tenant_id = i.tenant_id AND attempt.attempt_id = i.attempt_id AND attempt.live" };
struct line {
    struct uuid tenant_id, job_id, attempt_id, node_id;
    struct uuid evict_for;              /* nil: its queue is stopped, or it is put aside */
    int64_t fence, grace_s;
    struct str why;
    bool is_lent;                       /* it makes room for another tenant, which is not named */
};
SCHEMA_OF(line, "An attempt of a queue that is drained", FIELD(line, tenant_id, 0, .doc = "Tenant"), FIELD(line, job_id, 0,
    .doc = "Job"),
    FIELD(line, attempt_id, 0, .doc = "Attempt"), FIELD(line, node_id, 0, .doc = "Machine"), FIELD(line, evict_for, 0,
        .doc = "Nil"),
    FIELD(line, fence, 0, .doc = "Number of the attempt"), FIELD(line, grace_s, 0, .doc = "Of its class"),
    FIELD(line, why, 0, .doc = "In words"));
static const struct stmt evict_stopped = { .name = "evict_stopped", .params = "i", .row = &line_schema, .card = CARD_MANY, .sql =
    "SELECT a.tenant_id, a.job_id, a.attempt_id, a.node_id, '00000000-0000-0000-0000-000000000000'::uuid AS evict_for, a.fence,\n"
    "       coalesce(c.grace_s, 60) AS grace_s, 'its queue ' || q.name || ' is drained' AS why\n"
    "  FROM queue q JOIN attempt a ON a.tenant_id = q.tenant_id AND a.live AND a.state = 'RUNNING' AND a.evict_until IS NULL\n"
    "  JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id AND j.queue = q.name\n"
    "       AND j.project_id IS NOT DISTINCT FROM q.project_id AND NOT job_stays(j.kind) AND NOT j.cancel_requested\n"
    "  LEFT JOIN priority_class c ON c.class = j.class\n"
    " WHERE q.stop_policy = 'HoldAndDrain' ORDER BY a.tenant_id, a.job_id LIMIT $1" };
static const struct stmt evict_suspended = { .name = "evict_suspended", .params = "i", .row = &line_schema,
                                             .card = CARD_MANY, .sql =
    "SELECT a.tenant_id, a.job_id, a.attempt_id, a.node_id, '00000000-0000-0000-0000-000000000000'::uuid AS evict_for, a.fence,\n"
    "       coalesce(c.grace_s, 60) AS grace_s,\n"
    "       CASE j.suspend_why WHEN 'Idle' THEN 'is put aside: what it holds was not used'\n"
    "            ELSE 'is put aside by a person' END AS why\n"
    "  FROM job j JOIN attempt a ON a.tenant_id = j.tenant_id AND a.job_id = j.job_id AND a.live AND a.state = 'RUNNING'\n"
    "       AND a.evict_until IS NULL\n"
    "  LEFT JOIN priority_class c ON c.class = j.class\n"
    " WHERE j.suspend_requested AND j.ended IS NULL AND NOT j.cancel_requested ORDER BY a.tenant_id, a.job_id LIMIT $1" };
/* Of windows that have begun, those who are not whom the machine is kept for, by the rules of room that is made: of a class that
 * may be sent away, after its least runtime, not too often. */
static const struct stmt evict_reserved = { .name = "evict_reserved", .params = "ii", .row = &line_schema, .card = CARD_MANY,
                                            .sql =
    "SELECT DISTINCT ON (a.tenant_id, a.job_id) a.tenant_id, a.job_id, a.attempt_id, a.node_id,\n"
    "       '00000000-0000-0000-0000-000000000000'::uuid AS evict_for, a.fence, c.grace_s,\n"
    "       CASE WHEN r.purpose = 'maintenance' THEN 'its machine is kept for maintenance'\n"
    "            ELSE 'its machine is kept for other jobs' END AS why\n"
    "  FROM reservation r JOIN reservation_machine m ON m.reservation_id = r.reservation_id\n"
    "  JOIN machine_hold h ON h.node_id = m.node_id\n"
    "  JOIN attempt a ON a.tenant_id = h.tenant_id AND a.attempt_id = h.attempt_id AND a.live AND a.state = 'RUNNING'\n"
    "       AND a.evict_until IS NULL\n"
    "  JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id AND NOT job_stays(j.kind) AND NOT j.cancel_requested\n"
    "  JOIN priority_class c ON c.class = j.class AND c.preemptible\n"
    "       AND a.started_at <= clock_timestamp() - c.min_runtime_s * interval '1 second'\n"
    " WHERE r.from_at <= now() AND r.until_at > now()\n"
    "   AND (r.for_tenant IS DISTINCT FROM a.tenant_id OR r.for_project <> coalesce(j.project_id, r.reservation_id))\n"
    "   AND (SELECT count(*) FROM attempt p WHERE p.tenant_id = a.tenant_id AND p.job_id = a.job_id\n"
    "           AND " ATTEMPT_MADE_ROOM("p") ") < $2\n"
    " ORDER BY a.tenant_id, a.job_id LIMIT $1" };
struct machine_row { struct uuid node_id; };
SCHEMA_OF(machine_row, "A machine of an attempt", FIELD(machine_row, node_id, 0, .doc = "Machine"));
/* All machines of what was told: each is to hear it at once. */
static const struct stmt evict_machines = { .name = "evict_machines", .params = "UUi", .row = &machine_row_schema,
                                              .card = CARD_MANY, .sql =
    "SELECT DISTINCT h.node_id FROM unnest($1, $2) AS i(tenant_id, attempt_id)\n"
    "  JOIN machine_hold h ON h.tenant_id = i.tenant_id AND h.attempt_id = i.attempt_id LIMIT $3" };
const struct stmt *const evict_stmts[] = { &evict_many, &evict_machines, &evict_stopped, &evict_suspended,
    &evict_reserved, NULL };

enum { MACHINES_MAX = 1 << 20 };

static int by_job(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    int c = uuid_cmp(x->tenant_id, y->tenant_id);
    return c ? c : uuid_cmp(x->job_id, y->job_id);
}

static struct audit_event event_of(struct work *w, const struct line *l)
{
    const struct attempt_step s = { .tenant_id = l->tenant_id, .job_id = l->job_id, .fence = l->fence,
                                    .job_state = str_c(job_state_names[JOB_PREEMPTING]) };
    struct audit_event ev = lease_step_event(w, AUDIT_JOB_PREEMPT, &s);
    if (uuid_is_nil(l->evict_for) || l->is_lent)
        audit_event_detail(&ev, AUDIT_D_STR("reason", l->why));
    else
        audit_event_detail(&ev, AUDIT_D_STR("for", id_text(w->arena, "job", l->evict_for)));
    audit_event_detail(&ev, AUDIT_D_INT("grace_s", l->grace_s));
    return ev;
}

/* The text stands in the job's own message, its machine's log and its events, for everybody who may see the job: of a job of
 * another project, whom some of them may not see (project_visible), it says the class alone. Who may read the audit log is told
 * its id there. */
static struct line line_of(struct work *w, const struct snapshot *s, const struct eviction *v, const struct snap_holder *h)
{
    const struct snap_job *j = &s->jobs.items[v->job];
    const struct str id = id_text(w->arena, "job", j->job_id);
    const bool is_lent = !uuid_eq(j->tenant_id, h->tenant_id), is_seen = uuid_eq(j->project_id, h->project_id);
    const struct str why = is_lent ? STR("gives back quota that was lent to its organisation")
                         : is_seen ? str_fmt(w->arena, "makes room for %.*s of class %.*s", STR_ARG(id), STR_ARG(j->cls))
                                   : str_fmt(w->arena, "makes room for a job of class %.*s in another project", STR_ARG(j->cls));
    return (struct line){ h->tenant_id, h->job_id, h->attempt_id, h->node_id, j->job_id, h->fence, h->grace_s, why, is_lent };
}

/* Sorts the lines. */
static enum errc tell(struct work *w, struct line *l, size_t n, struct slice *ret_nodes, struct err *e)
{
    struct job_move *m = ARENA_ARRAY(w->arena, struct job_move, n + 1);
    struct audit_event *evs = ARENA_ARRAY(w->arena, struct audit_event, n + 1);
    struct lease_wakes k = { .jobs = ARENA_ARRAY(w->arena, struct uuid, n + 1) };
    struct audit_rows rows;
    struct slice moved;
    *ret_nodes = (struct slice){ 0 };
    if (!n)
        return ERR_OK;
    qsort(l, n, sizeof *l, by_job);
    for (size_t i = 0; i < n; i++)
        evs[i] = event_of(w, &l[i]);
    TRY(audit_encode_many(w->arena, evs, n, &rows, e));
    for (size_t i = 0; i < n; i++)
        m[i] = (struct job_move){ .tenant_id = l[i].tenant_id, .job_id = l[i].job_id, .event = JE_EVICT, .fence = l[i].fence,
                                  .message = l[i].why, .audit_id = rows.event_ids[i], .audit_body = rows.bodies[i] };
    TRY(job_apply(w->tx, m, n, &moved, e));
    for (size_t i = 0; i < moved.n; i++) {
        l[i] = l[((const int64_t *)moved.items)[i]];
        k.jobs[k.njobs++] = l[i].job_id;
    }
    if (moved.n)
        db_queue(w->tx, &evict_many, ARGS(A_UUIDS_OF(l, moved.n, tenant_id), A_UUIDS_OF(l, moved.n, attempt_id),
                                          A_I64S_OF(l, moved.n, grace_s), A_UUIDS_OF(l, moved.n, evict_for),
                                          A_STRS_OF(l, moved.n, why)), false);
    lease_wake_after_commit(w, &k);
    metrics_add(M_preemptions_total, (double)moved.n);
    return moved.n ? db_many(w->tx, &evict_machines, ARGS(A_UUIDS_OF(l, moved.n, tenant_id), A_UUIDS_OF(l, moved.n, attempt_id),
                                                          A_I64(MACHINES_MAX)), ret_nodes, MACHINES_MAX, e)
                   : ERR_OK;
}

enum errc evict_apply(struct work *w, const struct snapshot *s, const struct preemption *p, struct holders h,
                      struct slice *ret_nodes, struct err *e)
{
    const size_t n = p->evictions.n;
    struct line *l = ARENA_ARRAY(w->arena, struct line, n + 1);
    for (size_t i = 0; i < n; i++)
        l[i] = line_of(w, s, &p->evictions.items[i], &h.items[p->evictions.items[i].holder]);
    return tell(w, l, n, ret_nodes, e);
}

enum errc evict_one(struct work *w, const struct evict_one *x, struct slice *ret_nodes, struct err *e)
{
    struct line l = { .tenant_id = x->tenant_id, .job_id = x->job_id, .attempt_id = x->attempt_id, .node_id = x->node_id,
                      .fence = x->fence, .grace_s = x->grace_s, .why = x->why };
    return tell(w, &l, 1, ret_nodes, e);
}

enum errc evict_drain(struct work *w, struct slice *ret_nodes, struct err *e)
{
    struct slice rows = { 0 };
    TRY(db_many(w->tx, &evict_stopped, ARGS(A_I64(EVICT_DRAIN_MAX)), &rows, EVICT_DRAIN_MAX, e));
    return tell(w, rows.items, rows.n, ret_nodes, e);
}

enum errc evict_windows(struct work *w, struct slice *ret_nodes, struct err *e)
{
    struct slice rows = { 0 };
    TRY(db_many(w->tx, &evict_reserved, ARGS(A_I64(EVICT_DRAIN_MAX), A_I64(PREEMPTIONS_MAX)), &rows, EVICT_DRAIN_MAX, e));
    return tell(w, rows.items, rows.n, ret_nodes, e);
}

enum errc evict_suspend(struct work *w, struct slice *ret_nodes, struct err *e)
{
    struct slice rows = { 0 };
    TRY(db_many(w->tx, &evict_suspended, ARGS(A_I64(EVICT_DRAIN_MAX)), &rows, EVICT_DRAIN_MAX, e));
    return tell(w, rows.items, rows.n, ret_nodes, e);
}

static bool wants_room(const struct plan *p)
{
    for (size_t i = 0; i < p->waits.n; i++)
        if (waits_for_room(&p->waits.items[i]))
            return true;
    return false;
}

/* Jobs that find no room may send others away. What is chosen is told before the plan is written, so that the waiting jobs say
 * what they wait for. */
enum errc evict_pass(struct work *w, struct snapshot *s, struct plan *p, struct slice *ret_nodes, struct err *e)
{
    struct holders h;
    struct preemption r;
    const struct app *app = w->app;
    *ret_nodes = (struct slice){ 0 };
    if (!app->claims || !wants_room(p))
        return ERR_OK;
    TRY(RUN_SYSTEM(w, app->pool, TX_READ_ONLY, holders_read(w, &h, e), e));
    if (!h.n)
        return ERR_OK;
    const int64_t now_us = clock_mono_us(app->clock);
    cycle_ring_holders(app->cycles, h, now_us);
    preempt_plan(s, p, h, app->claims, now_us, w->arena, &r);
    cycle_ring_choice(app->cycles, s, p, h, &r, app->claims, w->arena);
    for (size_t i = 0; i < r.waits.n; i++) {
        struct waiting *x = &p->waits.items[r.waits.items[i]];
        x->reason = str_c(job_reason_names[JR_PREEMPTING]);
        x->message = STR("Other jobs are making room for it");
    }
    if (!r.evictions.n)
        return ERR_OK;
    TRY(RUN_SYSTEM(w, app->pool, 0, evict_apply(w, s, &r, h, ret_nodes, e), e));
    log_event(LOG_INFO, "scheduler.preempted", "chosen", LOG_I(r.evictions.n), "machines", LOG_I(ret_nodes->n), NULL);
    return ERR_OK;
}

void evict_settle(struct claims *c, const struct snapshot *s, const struct plan *p)
{
    for (size_t i = 0; c && c->n && i < p->places.n; i++) {
        const struct snap_job *j = &s->jobs.items[p->places.items[i].job];
        struct claim *k = claims_find(c, j->tenant_id, j->job_id);
        if (k)
            claims_drop(c, k);
    }
}
