/* SPDX-License-Identifier: Apache-2.0 */
/* lease_back.c - leases given in advance (scheduler/plan/turnover.h) that found no slot in time go back to the queue, whence
 * another machine may take them.
 *
 * By the machine's own call for work: what is greater than the last attempt that it has was never given to it, nor is it in
 * this answer, so nobody can have begun it. The attempt ends as LEASE_RETURNED without a time at which it was taken, which
 * costs its job none of its tries, nor any pause, and its tenant nothing. */
#include "scheduler/engine/lease.h"
#include "core/db/tx.h"
#include "core/table/metrics.h"
#include "core/table/schema.h"
#include "scheduler/engine/lease_move.h"
#include "scheduler/engine/lease_wish.h"
#include "scheduler/engine/node.h"
#include "scheduler/jobs/job_suspend.h"
#include "tenants/access/actor.h"

enum { BACK_MAX = 1000 };

struct unstarted {
    struct uuid tenant_id, attempt_id, job_id;
    int64_t fence, slots;
    struct str zone;
};
SCHEMA_OF(unstarted, "A lease that waits for a slot",
    FIELD(unstarted, tenant_id, 0), FIELD(unstarted, attempt_id, 0), FIELD(unstarted, job_id, 0), FIELD(unstarted, fence, 0),
    FIELD(unstarted, slots, 0), FIELD(unstarted, zone, 0));

/* Jobs are locked in the order in which everybody locks them. */
static const struct stmt lease_unstarted = { .name = "lease_unstarted", .params = "uuii", .row = &unstarted_schema,
                                             .card = CARD_MANY, .sql =
    "SELECT a.tenant_id, a.attempt_id, a.job_id, a.fence, a.slots, n.zone\n"
    "  FROM attempt a JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id JOIN node n ON n.node_id = a.node_id\n"
    " WHERE a.node_id = $1 AND a.attempt_id > $2 AND a.live AND a.state = 'LEASED' AND j.state = 'ADMITTED'\n"
    "   AND NOT j.cancel_requested AND a.nodes = 1\n"
    "   AND a.leased_at < clock_timestamp() - $3 * interval '1 millisecond'\n"
    " ORDER BY j.tenant_id, j.job_id LIMIT $4 FOR NO KEY UPDATE OF j, a SKIP LOCKED" };

const struct stmt *const lease_back_stmts[] = { &lease_unstarted, NULL };

static struct attempt_step step_of(const struct unstarted *u, struct uuid node_id, const struct wish *own)
{
    const bool is_parked = own && own->suspend_requested;
    return (struct attempt_step){
        .tenant_id = u->tenant_id, .attempt_id = u->attempt_id, .job_id = u->job_id, .node_id = node_id, .fence = u->fence,
        .slots = u->slots, .event = is_parked ? JE_SUSPEND : JE_RETURN, .attempt_state = STR("LEASE_RETURNED"),
        .job_state = str_c(job_state_names[is_parked ? JOB_SUSPENDED : JOB_PENDING]),
        .reason = is_parked ? lease_wish_reason(own) : str_c(job_reason_names[JR_RESOURCES]),
        .message = is_parked ? lease_wish_says(own) : STR("No slot of its machine got free in time"), .cause = STR(""),
        .is_requeue = true };
}

enum errc lease_back(struct work *w, const struct node *node, struct uuid after, struct err *e)
{
    struct slice rows = { 0 }, wishes = { 0 };
    TRY(db_many(w->tx, &lease_unstarted, ARGS(A_UUID(node->node_id), A_UUID(after), A_I64(LEASE_WAIT_MS), A_I64(BACK_MAX)), &rows,
                BACK_MAX, e));
    const struct unstarted *u = rows.items;
    if (!rows.n)
        return ERR_OK;
    struct attempt_step *steps = ARENA_ARRAY(w->arena, struct attempt_step, rows.n);
    struct audit_event *evs = ARENA_ARRAY(w->arena, struct audit_event, rows.n);
    struct uuid *tenants = ARENA_ARRAY(w->arena, struct uuid, rows.n), *jobs = ARENA_ARRAY(w->arena, struct uuid, rows.n);
    for (size_t i = 0; i < rows.n; i++) {
        tenants[i] = u[i].tenant_id;
        jobs[i] = u[i].job_id;
    }
    TRY(lease_wishes(w->tx, tenants, jobs, rows.n, &wishes, e));
    for (size_t i = 0; i < rows.n; i++) {
        steps[i] = step_of(&u[i], node->node_id, lease_wish_find(&wishes, u[i].tenant_id, u[i].job_id));
        evs[i] = lease_step_event(w, steps[i].event == JE_SUSPEND ? AUDIT_JOB_SUSPEND : AUDIT_JOB_REQUEUE, &steps[i]);
        audit_event_by_node(&evs[i], node->node_id, u[i].zone);
    }
    TRY(lease_steps_encode(w, steps, evs, rows.n, e));
    TRY(lease_repo_end(w->tx, steps, rows.n, e));
    lease_wake_after_commit(w, &(struct lease_wakes){ .jobs = jobs, .njobs = rows.n, .scheduler = true });
    metrics_add(M_leases_unstarted_total, (double)rows.n);
    return ERR_OK;
}
