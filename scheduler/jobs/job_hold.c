/* SPDX-License-Identifier: Apache-2.0 */
/* job_hold.c - a person's hold. The row is locked before it is judged, so that what it shows is where it stands until the commit;
 * what holds it back beside the person, a time to begin at, stays with it (job_apply.c). */
#include "core/db/tx.h"
#include "core/table/schema.h"
#include "scheduler/jobs/job_apply.h"
#include "scheduler/jobs/job_hold.h"
#include "scheduler/jobs/job_stand.h"

SCHEMA_OF(stand, "Where a job stands", FIELD_ENUM(stand, state, 0, job_state_names, .doc = "State"),
    FIELD_ENUM(stand, kind, 0, job_kind_names, .doc = "Kind"), FIELD(stand, reason, 0, .doc = "Why it waits"),
    FIELD(stand, version, 0, .doc = "Version"), FIELD(stand, is_early, 0, .doc = "Its time has not come"),
    FIELD(stand, is_bound, 0, .doc = "It waits for other jobs"),
    FIELD(stand, cancel_requested, 0, .doc = "Somebody asked it to stop"),
    FIELD(stand, suspend_requested, 0, .doc = "Somebody asked it to be put aside"));
static const struct stmt stand_lock = { .name = "job_stand_lock", .params = "uu", .row = &stand_schema, .card = CARD_ONE, .sql =
    "SELECT state, kind, reason, version, coalesce(not_before > clock_timestamp(), false) AS is_early,\n"
    "       coalesce(not_before = 'infinity', false) AS is_bound, cancel_requested, suspend_requested FROM job\n"
    " WHERE tenant_id = $1 AND job_id = $2 FOR NO KEY UPDATE" };
const struct stmt *const job_hold_stmts[] = { &stand_lock, NULL };

enum errc job_stand(struct work *w, struct uuid job_id, struct stand *ret, struct err *e)
{
    return db_one(w->tx, &stand_lock, ARGS(A_UUID(w->tenant_id), A_UUID(job_id)), ret, e);
}

enum job_reason job_stand_reason(const struct stand *s)
{
    return s->is_bound ? JR_DEPENDENCY : s->is_early ? JR_BEGIN_TIME : JR_RESOURCES;
}

enum errc job_stand_move(struct work *w, struct uuid job_id, const struct stand *s, enum job_event_kind event,
                         enum job_reason why, struct str message, struct err *e)
{
    struct slice moved;
    const struct job_move m = { .tenant_id = w->tenant_id, .job_id = job_id, .event = event, .version = s->version,
                                .fence = JOB_ANY_FENCE, .reason = str_c(job_reason_names[why]), .message = message };
    TRY(job_apply(w->tx, &m, 1, &moved, e));
    return moved.n == 1 ? ERR_OK : FAIL(e, INTERNAL, "a job under lock was not moved");
}

static enum errc turn(struct work *w, struct uuid job_id, enum job_event_kind event, struct job *ret, struct err *e)
{
    const bool is_hold = event == JE_HOLD;
    struct stand s;
    TRY(job_stand(w, job_id, &s, e));
    const bool is_held = s.state == JOB_HELD;
    if (is_held && !str_eq_c(s.reason, job_reason_names[JR_HELD_BY_USER]))
        return FAIL(e, CONFLICT, "The job is held by its budget, and let go when the budget has room");
    if (!is_held && s.state != JOB_PENDING)
        return FAIL(e, CONFLICT, is_hold ? "The job waits no more (%s): only a waiting job is held back"
                                         : "The job is not held (%s)", job_state_names[s.state]);
    if (is_held != is_hold)
        TRY(job_stand_move(w, job_id, &s, event, is_hold ? JR_HELD_BY_USER : job_stand_reason(&s),
                           is_hold ? STR("Held back by a person until it is released") : STR(""), e));
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
