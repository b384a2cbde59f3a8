/* SPDX-License-Identifier: Apache-2.0 */
/* job_suspend.c - what a machine has is only asked to go: the row says so under its lock, and whoever ends the attempt reads it
 * under the same lock (engine/lease_wish.h), so that a suspension and an end that come together are in one order or the other. */
#include "scheduler/jobs/job_suspend.h"
#include "core/db/tx.h"
#include "scheduler/jobs/job_stand.h"

static const struct stmt suspend_ask = { .name = "job_suspend_ask", .params = "uub", .card = CARD_NONE, .sql =
    "UPDATE job SET suspend_requested = $3, suspend_why = '' WHERE tenant_id = $1 AND job_id = $2" };
const struct stmt *const job_suspend_stmts[] = { &suspend_ask, NULL };

static enum errc ask(struct work *w, struct uuid job_id, bool is_wanted, struct err *e)
{
    return db_exec(w->tx, &suspend_ask, ARGS(A_UUID(w->tenant_id), A_UUID(job_id), A_BOOL(is_wanted)), NULL, e);
}

enum errc job_suspend(struct work *w, struct uuid job_id, struct job *ret, struct err *e)
{
    struct stand s;
    TRY(job_stand(w, job_id, &s, e));
    if (job_types[s.kind].traits & JT_STAYS)
        return FAIL(e, CONFLICT, "The job is made by %s, which ends it: it is not put aside", job_types[s.kind].made_by);
    if (s.state == JOB_HELD)
        return FAIL(e, CONFLICT, "The job is held back already (%.*s): it does not start until it is let go", STR_ARG(s.reason));
    if (job_state_is_terminal((enum job_state)s.state))
        return FAIL(e, CONFLICT, "The job has ended already (%s)", job_state_names[s.state]);
    if (s.cancel_requested)
        return FAIL(e, CONFLICT, "The job is being cancelled");
    if (s.state == JOB_PENDING)
        TRY(job_stand_move(w, job_id, &s, JE_SUSPEND, JR_SUSPENDED, STR(JOB_SUSPENDED_SAYS), e));
    else if (s.state != JOB_SUSPENDED && !s.suspend_requested)
        TRY(ask(w, job_id, true, e));
    return job_get(w, job_id, ret, e);
}

enum errc job_resume(struct work *w, struct uuid job_id, struct job *ret, struct err *e)
{
    struct stand s;
    TRY(job_stand(w, job_id, &s, e));
    if (job_state_is_terminal((enum job_state)s.state))
        return FAIL(e, CONFLICT, "The job has ended already (%s)", job_state_names[s.state]);
    /* Of one that is SUSPENDED, too: the release before brings a job back without looking at what was asked. */
    if (s.suspend_requested)
        TRY(ask(w, job_id, false, e));
    if (s.state == JOB_SUSPENDED)
        TRY(job_stand_move(w, job_id, &s, JE_RESUME, job_stand_reason(&s), STR(""), e));
    return job_get(w, job_id, ret, e);
}
