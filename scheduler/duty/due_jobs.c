/* SPDX-License-Identifier: Apache-2.0 */
/* due_jobs.c - one look at an index of the times that are left for each, and one batch of moves for the deadlines.
 * now() and not clock_timestamp(), which is volatile and would have the whole index read. */
#include "scheduler/duty/due_jobs.h"
#include "audit/event.h"
#include "core/db/tx.h"
#include "core/table/schema.h"
#include "scheduler/jobs/booking.h"
#include "scheduler/jobs/job_apply.h"

struct due_job { struct uuid tenant_id, job_id; int64_t version; };
SCHEMA_OF(due_job, "A job that is too late", FIELD(due_job, tenant_id, 0, .doc = "Tenant"),
    FIELD(due_job, job_id, 0, .doc = "Job"),
    FIELD(due_job, version, 0, .doc = "Version"));
struct begun { struct uuid job_id; };
SCHEMA_OF(begun, "A job whose time has come", FIELD(begun, job_id, 0, .doc = "Job"));
static const struct stmt due_deadlines = { .name = "due_deadlines", .params = "i", .row = &due_job_schema,
    .card = CARD_MANY, .sql =
    "SELECT tenant_id, job_id, version FROM job\n"
    " WHERE deadline_at <= now() AND ended IS NULL\n"
    "   AND (state IN ('PENDING', 'HELD') OR (state = 'SUSPENDED' AND started_at IS NULL))\n"
    " ORDER BY tenant_id, job_id LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED" };
/* Locked rows belong to somebody who changes the job: the next look sees what came of it. */
static const struct stmt due_begin = { .name = "due_begin", .params = "i", .row = &begun_schema, .card = CARD_MANY, .sql =
    "UPDATE job SET not_before = NULL, reason = CASE reason WHEN 'BeginTime' THEN 'Resources' ELSE reason END\n"
    "  FROM (SELECT tenant_id, job_id FROM job WHERE queued AND not_before <= now()\n"
    "         ORDER BY not_before LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED) x\n"
    " WHERE job.tenant_id = x.tenant_id AND job.job_id = x.job_id RETURNING job.job_id" };
const struct stmt *const due_jobs_stmts[] = { &due_deadlines, &due_begin, NULL };

enum errc due_jobs_begin(struct work *w, int64_t limit, int64_t *ret_n, struct err *e)
{
    struct slice list = { 0 };
    TRY(db_many(w->tx, &due_begin, ARGS(A_I64(limit)), &list, (size_t)limit, e));
    *ret_n = (int64_t)list.n;
    return ERR_OK;
}

enum errc due_jobs_pass(struct work *w, int64_t limit, int64_t *ret_n, struct err *e)
{
    struct slice list = { 0 };
    struct audit_rows rows;
    TRY(db_many(w->tx, &due_deadlines, ARGS(A_I64(limit)), &list, (size_t)limit, e));
    const struct due_job *j = list.items;
    const size_t n = list.n;
    *ret_n = (int64_t)n;
    if (!n)
        return ERR_OK;
    struct audit_event *evs = ARENA_ARRAY(w->arena, struct audit_event, n);
    for (size_t i = 0; i < n; i++) {
        evs[i] = audit_event_of(w, AUDIT_JOB_FINISH);
        evs[i].tenant_id = j[i].tenant_id;
        evs[i].resource_kind = STR("job");
        evs[i].resource_prefix = "job";
        evs[i].resource_id = j[i].job_id;
        evs[i].rule = STR("deadline");
    }
    TRY(audit_encode_many(w->arena, evs, n, &rows, e));
    struct job_move *moves = ARENA_ARRAY(w->arena, struct job_move, n);
    struct booking *b = booking_new(w->arena, n);
    for (size_t i = 0; i < n; i++) {
        moves[i] = (struct job_move){ .tenant_id = j[i].tenant_id, .job_id = j[i].job_id, .event = JE_DEADLINE,
                                      .version = j[i].version, .fence = JOB_ANY_FENCE,
                                      .message = STR("It had not started by its deadline"), .audit_id = rows.event_ids[i],
                                      .audit_body = rows.bodies[i] };
        booking_add(b, j[i].tenant_id);
    }
    TRY(job_apply(w->tx, moves, n, NULL, e));
    booking_write(w->tx, b);
    return ERR_OK;
}
