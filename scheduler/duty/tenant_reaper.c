/* SPDX-License-Identifier: Apache-2.0 */
/* tenant_reaper.c - a batch of jobs is ended through job_apply; one call wipes a batch of rows. */
#include "scheduler/duty/tenant_reaper.h"
#include "audit/event.h"
#include "core/db/tx.h"
#include "core/table/schema.h"
#include "scheduler/jobs/booking.h"
#include "scheduler/jobs/job_apply.h"

enum { DUE_MOST = 4 };

/* What no machine has: a job that a person holds back or has put aside would keep its tenant from being removed for ever. */
struct stopped_job { struct uuid tenant_id, job_id; int64_t version; };
SCHEMA_OF(stopped_job, "A job that ended with its tenant", FIELD(stopped_job, tenant_id, 0, .doc = "Tenant"),
    FIELD(stopped_job, job_id, 0, .doc = "Job"), FIELD(stopped_job, version, 0, .doc = "Its version"));
static const struct stmt reaper_stop_jobs = { .name = "reaper_stop_jobs", .params = "i", .row = &stopped_job_schema, .card = CARD_MANY, .sql =
    "SELECT j.tenant_id, j.job_id, j.version FROM tenant t CROSS JOIN LATERAL (\n"
    "    SELECT job.tenant_id, job.job_id, job.version FROM job WHERE job.tenant_id = t.tenant_id AND cancel_requested\n"
    "       AND (queued OR (ended IS NULL AND NOT queued AND state IN ('HELD', 'SUSPENDED')))\n"
    "     LIMIT $1 FOR UPDATE SKIP LOCKED) j\n"
    " WHERE t.state IN ('SUSPENDED', 'DELETING') LIMIT $1" };
struct due_tenant { struct uuid tenant_id; };
SCHEMA_OF(due_tenant, "A tenant to remove", FIELD(due_tenant, tenant_id, 0, .doc = "Tenant"));
static const struct stmt reaper_due = { .name = "reaper_due_tenants", .params = "i", .row = &due_tenant_schema, .card = CARD_MANY, .sql =
    "SELECT tenant_id FROM tenants_due($1)" };
struct removed_rows { int64_t n; };
SCHEMA_OF(removed_rows, "How much was removed", FIELD(removed_rows, n, 0, .doc = "Rows"));
static const struct stmt reaper_wipe = { .name = "reaper_wipe", .params = "ui", .row = &removed_rows_schema, .card = CARD_ONE, .sql =
    "SELECT tenant_wipe($1, $2) AS n" };
static const struct stmt reaper_wiped = { .name = "reaper_wiped", .params = "uUY", .row = &removed_rows_schema, .card = CARD_ONE, .sql =
    "SELECT tenant_wiped($1, $2, $3)::int::bigint AS n" };

const struct stmt *const tenant_reaper_stmts[] = { &reaper_stop_jobs, &reaper_due, &reaper_wipe,
                                                   &reaper_wiped, NULL };

static enum errc stop_jobs(struct work *w, int64_t limit, int64_t *ret_n, struct err *e)
{
    struct slice jobs = { 0 };
    struct audit_rows rows;
    TRY(db_many(w->tx, &reaper_stop_jobs, ARGS(A_I64(limit)), &jobs, (size_t)limit, e));
    *ret_n = (int64_t)jobs.n;
    if (!jobs.n)
        return ERR_OK;
    const struct stopped_job *j = jobs.items;
    struct audit_event *evs = ARENA_ARRAY(w->arena, struct audit_event, jobs.n);
    for (size_t i = 0; i < jobs.n; i++) {
        evs[i] = audit_event_of(w, AUDIT_JOB_CANCEL);
        evs[i].tenant_id = j[i].tenant_id;
        evs[i].resource_kind = STR("job");
        evs[i].resource_prefix = "job";
        evs[i].resource_id = j[i].job_id;
        evs[i].rule = STR("tenant:stopped");
    }
    TRY(audit_encode_many(w->arena, evs, jobs.n, &rows, e));
    struct job_move *moves = ARENA_ARRAY(w->arena, struct job_move, jobs.n);
    for (size_t i = 0; i < jobs.n; i++)
        moves[i] = (struct job_move){ .tenant_id = j[i].tenant_id, .job_id = j[i].job_id, .event = JE_CANCEL, .version = j[i].version,
                                      .fence = JOB_ANY_FENCE, .message = STR("Its tenant was stopped"), .audit_id = rows.event_ids[i],
                                      .audit_body = rows.bodies[i] };
    TRY(job_apply(w->tx, moves, jobs.n, NULL, e));
    struct booking *b = booking_new(w->arena, jobs.n);
    for (size_t i = 0; i < jobs.n; i++)
        booking_add(b, j[i].tenant_id);
    booking_write(w->tx, b);
    return ERR_OK;
}

static struct audit_event end_event(struct work *w, struct uuid tenant, struct uuid log)
{
    struct audit_event ev = audit_event_of(w, AUDIT_TENANT_DELETE);
    ev.tenant_id = log;
    ev.resource_kind = STR("tenant");
    ev.resource_prefix = "tnt";
    ev.resource_id = tenant;
    ev.rule = STR("approved");
    audit_event_detail(&ev, AUDIT_D_STR("step", STR("done")));
    return ev;
}

static enum errc remove_one(struct work *w, struct uuid tenant, int64_t limit, struct tenant_reaped *ret, struct err *e)
{
    struct removed_rows r;
    struct audit_rows rows;
    TRY(db_one(w->tx, &reaper_wipe, ARGS(A_UUID(tenant), A_I64(limit)), &r, e));
    ret->removed += r.n;
    if (r.n)
        return ERR_OK;
    struct audit_event evs[2] = { end_event(w, tenant, tenant), end_event(w, tenant, UUID_NIL) };
    TRY(audit_encode_many(w->arena, evs, 2, &rows, e));
    TRY(db_one(w->tx, &reaper_wiped, ARGS(A_UUID(tenant), A_UUIDS(rows.event_ids, 2), A_BYTESS(rows.bodies, 2)), &r, e));
    ret->ended += r.n;
    return ERR_OK;
}

enum errc tenant_reaper_pass(struct work *w, int64_t limit, struct tenant_reaped *ret, struct err *e)
{
    struct slice due = { 0 };
    *ret = (struct tenant_reaped){ 0 };
    TRY(stop_jobs(w, limit, &ret->cancelled, e));
    TRY(db_many(w->tx, &reaper_due, ARGS(A_I64(DUE_MOST)), &due, DUE_MOST, e));
    for (size_t i = 0; i < due.n; i++)
        TRY(remove_one(w, ((struct due_tenant *)due.items)[i].tenant_id, limit, ret, e));
    return ERR_OK;
}
