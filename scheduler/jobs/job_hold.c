/* SPDX-License-Identifier: Apache-2.0 */
/* job_hold.c - a person's hold. The row is locked before it is judged, so that what it shows is where it stands until the commit;
 * what holds it back beside the person, a time to begin at, stays with it (job_apply.c). */
#include "core/db/tx.h"
#include "core/table/schema.h"
#include "scheduler/jobs/job.h"
#include "scheduler/jobs/job_apply.h"
#include "scheduler/jobs/job_hold.h"

struct stand { struct str state, reason; int64_t version; bool is_early, is_bound; };
SCHEMA_OF(stand, "Where a job stands", FIELD(stand, state, 0, .doc = "State"), FIELD(stand, reason, 0, .doc = "Why it waits"),
    FIELD(stand, version, 0, .doc = "Version"), FIELD(stand, is_early, 0, .doc = "Its time has not come"),
    FIELD(stand, is_bound, 0, .doc = "It waits for other jobs"));
static const struct stmt stand_lock = { .name = "job_stand_lock", .params = "uu", .row = &stand_schema, .card = CARD_ONE, .sql =
    "SELECT state, reason, version, coalesce(not_before > clock_timestamp(), false) AS is_early,\n"
    "       coalesce(not_before = 'infinity', false) AS is_bound FROM job\n"
    " WHERE tenant_id = $1 AND job_id = $2 FOR NO KEY UPDATE" };
const struct stmt *const job_hold_stmts[] = { &stand_lock, NULL };

static enum errc turn(struct work *w, struct uuid job_id, enum job_event_kind event, struct job *ret, struct err *e)
{
    const bool is_hold = event == JE_HOLD;
    struct stand s;
    struct slice moved;
    TRY(db_one(w->tx, &stand_lock, ARGS(A_UUID(w->tenant_id), A_UUID(job_id)), &s, e));
    const bool is_held = str_eq_c(s.state, job_state_names[JOB_HELD]);
    const bool is_waiting = str_eq_c(s.state, job_state_names[JOB_PENDING]);
    if (is_held && !str_eq_c(s.reason, job_reason_names[JR_HELD_BY_USER]))
        return FAIL(e, CONFLICT, "The job is held by its budget, and let go when the budget has room");
    if (!is_held && !is_waiting)
        return FAIL(e, CONFLICT, is_hold ? "The job waits no more (%.*s): only a waiting job is held back"
                                         : "The job is not held (%.*s)", STR_ARG(s.state));
    if (is_held == is_hold)
        return job_get(w, job_id, ret, e);
    const enum job_reason why = is_hold ? JR_HELD_BY_USER
                                : s.is_bound ? JR_DEPENDENCY : s.is_early ? JR_BEGIN_TIME : JR_RESOURCES;
    const struct job_move m = { .tenant_id = w->tenant_id, .job_id = job_id, .event = event, .version = s.version,
                                .fence = JOB_ANY_FENCE, .reason = str_c(job_reason_names[why]),
                                .message = is_hold ? STR("Held back by a person until it is released") : STR("") };
    TRY(job_apply(w->tx, &m, 1, &moved, e));
    if (moved.n != 1)
        return FAIL(e, INTERNAL, "a job under lock was not moved");
    return job_get(w, job_id, ret, e);
}

enum errc job_hold(struct work *w, struct uuid job_id, struct job *ret, struct err *e)
{
    return turn(w, job_id, JE_HOLD, ret, e);
}

enum errc job_release(struct work *w, struct uuid job_id, struct job *ret, struct err *e)
{
    return turn(w, job_id, JE_UNHOLD, ret, e);
}
