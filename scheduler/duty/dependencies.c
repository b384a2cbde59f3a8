/* SPDX-License-Identifier: Apache-2.0 */
/* dependencies.c - rows are closed first; the jobs they belong to are locked before it is asked, by a statement of its own,
 * whether another row is open: who changes a job's dependencies (jobs/dependency.c) holds its row. */
#include "scheduler/duty/dependencies.h"
#include "audit/event.h"
#include "core/db/tx.h"
#include "core/table/schema.h"
#include "scheduler/jobs/booking.h"
#include "scheduler/jobs/job_apply.h"

struct waiter { struct uuid tenant_id, job_id; };
SCHEMA_OF(waiter, "A job that waited", FIELD(waiter, tenant_id, 0, .doc = "Tenant"), FIELD(waiter, job_id, 0, .doc = "Job"));
struct look { bool some_met, some_hopeless, some_wait_for_arrays; };
SCHEMA_OF(look, "What a look found", FIELD(look, some_met, 0, .doc = "Rows to close"),
    FIELD(look, some_hopeless, 0, .doc = "Jobs to reject"),
    FIELD(look, some_wait_for_arrays, 0, .doc = "Rows of arrays to look at"));
struct hopeless { struct uuid tenant_id, job_id, on_job_id; int64_t version; struct str type, ended; };
SCHEMA_OF(hopeless, "A job that waits for what never comes", FIELD(hopeless, tenant_id, 0, .doc = "Tenant"),
    FIELD(hopeless, job_id, 0, .doc = "Job"), FIELD(hopeless, on_job_id, 0, .doc = "What it waits for"),
    FIELD(hopeless, version, 0, .doc = "Version"), FIELD(hopeless, type, 0, .doc = "Until when"),
    FIELD(hopeless, ended, 0, .doc = "How that ended"));

/* m: the jobs that open rows wait for and that have moved: an index-only read of the rows, and one look-up for each such job
 * however many wait for it. met, never: of which names that is the moment, and the end of hope. */
#define MOVED "WITH o AS (SELECT DISTINCT tenant_id, on_job_id FROM job_dependency WHERE open),\n" \
    "m AS MATERIALIZED (\n" \
    "  SELECT o.tenant_id, o.on_job_id, a.ended, CASE WHEN a.ended = 'COMPLETED' THEN '{after,afterany,afterok}'::text[]\n" \
    "         WHEN a.ended IS NOT NULL THEN '{after,afterany,afternotok}' ELSE '{after}' END AS met,\n" \
    "         CASE a.ended WHEN 'COMPLETED' THEN 'afternotok' ELSE 'afterok' END AS never\n" \
    "    FROM o CROSS JOIN LATERAL (SELECT ended FROM job WHERE tenant_id = o.tenant_id AND job_id = o.on_job_id\n" \
    "      AND (started_at IS NOT NULL OR ended IS NOT NULL) LIMIT 1) a)\n"

#define IS_OF_M "d.tenant_id = m.tenant_id AND d.on_job_id = m.on_job_id AND d.open"
/* Most looks find nothing, and this is all they cost. */
static const struct stmt dependencies_look = { .name = "dependencies_look", .params = "", .row = &look_schema,
    .card = CARD_ONE, .sql =
    MOVED
    "SELECT EXISTS (SELECT FROM m CROSS JOIN LATERAL (SELECT FROM job_dependency d WHERE " IS_OF_M "\n"
    "          AND d.type = ANY (m.met) LIMIT 1) x) AS some_met,\n"
    "       EXISTS (SELECT FROM m CROSS JOIN LATERAL (SELECT FROM job_dependency d JOIN job j\n"
    "            ON j.tenant_id = d.tenant_id AND j.job_id = d.job_id WHERE " IS_OF_M "\n"
    "          AND d.type = m.never AND j.state = 'PENDING' LIMIT 1) x WHERE m.ended IS NOT NULL) AS some_hopeless,\n"
    "       EXISTS (SELECT FROM array_dependency WHERE open) AS some_wait_for_arrays" };
static const struct stmt dependencies_close = { .name = "dependencies_close", .params = "i", .row = &waiter_schema,
    .card = CARD_MANY, .sql =
    "UPDATE job_dependency u SET open = false FROM (\n"
    MOVED
    "  SELECT m.tenant_id, d.job_id, m.on_job_id, d.type FROM m CROSS JOIN LATERAL (\n"
    "    SELECT d.job_id, d.type FROM job_dependency d WHERE " IS_OF_M "\n"
    "       AND d.type = ANY (m.met) LIMIT $1) d LIMIT $1) x\n"
    " WHERE u.tenant_id = x.tenant_id AND u.job_id = x.job_id AND u.on_job_id = x.on_job_id AND u.type = x.type AND u.open\n"
    "RETURNING u.tenant_id, u.job_id" };
/* Of jobs that have ended themselves, so that nobody looks at them again. */
static const struct stmt dependencies_end = { .name = "dependencies_end", .params = "i", .row = &waiter_schema,
    .card = CARD_MANY, .sql =
    "UPDATE job_dependency u SET open = false FROM (\n"
    "  SELECT d.tenant_id, d.job_id, d.on_job_id, d.type FROM job_dependency d\n"
    "    JOIN job j ON j.tenant_id = d.tenant_id AND j.job_id = d.job_id WHERE d.open AND j.ended IS NOT NULL LIMIT $1) x\n"
    " WHERE u.tenant_id = x.tenant_id AND u.job_id = x.job_id AND u.on_job_id = x.on_job_id AND u.type = x.type AND u.open\n"
    "RETURNING u.tenant_id, u.job_id" };
static const struct stmt dependencies_lock = { .name = "dependencies_lock", .params = "UU", .row = &waiter_schema,
    .card = CARD_MANY, .sql =
    "SELECT tenant_id, job_id FROM job WHERE (tenant_id, job_id) IN (SELECT * FROM unnest($1, $2)) AND ended IS NULL\n"
    " ORDER BY tenant_id, job_id FOR NO KEY UPDATE" };
static const struct stmt dependencies_free = { .name = "dependencies_free", .params = "UU", .card = CARD_NONE, .sql =
    "UPDATE job SET not_before = CASE WHEN begin_at > clock_timestamp() THEN begin_at END,\n"
    "       message = CASE WHEN queued THEN '' ELSE message END,\n"
    "       reason = CASE WHEN NOT queued THEN reason WHEN begin_at > clock_timestamp() THEN 'BeginTime' ELSE 'Resources' END\n"
    "  FROM unnest($1, $2) AS i(tenant_id, job_id)\n"
    " WHERE job.tenant_id = i.tenant_id AND job.job_id = i.job_id AND job.not_before = 'infinity'\n"
    "   AND NOT EXISTS (SELECT FROM job_dependency d WHERE d.tenant_id = i.tenant_id AND d.job_id = i.job_id AND d.open)\n"
    "   AND NOT EXISTS (SELECT FROM array_dependency d WHERE d.tenant_id = i.tenant_id AND d.job_id = i.job_id AND d.open)" };
static const struct stmt dependencies_hopeless = { .name = "dependencies_hopeless", .params = "i", .row = &hopeless_schema,
    .card = CARD_MANY, .sql =
    MOVED
    "SELECT m.tenant_id, d.job_id, m.on_job_id, j.version, d.type, m.ended FROM m CROSS JOIN LATERAL (\n"
    "  SELECT d.job_id, d.type FROM job_dependency d WHERE " IS_OF_M " AND d.type = m.never OFFSET 0) d\n"
    "  JOIN job j ON j.tenant_id = m.tenant_id AND j.job_id = d.job_id\n"
    " WHERE m.ended IS NOT NULL AND j.state = 'PENDING'\n"
    " ORDER BY m.tenant_id, d.job_id, m.on_job_id LIMIT $1 FOR NO KEY UPDATE OF j SKIP LOCKED" };

/* Of jobs that wait for an array as a whole. */
#define ARRAY_MOVED "array_dependency d JOIN job_array a ON a.tenant_id = d.tenant_id AND a.array_id = d.array_id"
#define ARRAY_MET \
    "CASE d.type WHEN 'after' THEN a.started > 0 OR a.ended_at IS NOT NULL WHEN 'afterany' THEN a.ended_at IS NOT NULL\n" \
    "   WHEN 'afterok' THEN a.completed = a.total ELSE a.ended_at IS NOT NULL AND a.completed < a.total END"
static const struct stmt dependencies_close_arrays = { .name = "dependencies_close_arrays", .params = "i", .row = &waiter_schema,
    .card = CARD_MANY, .sql =
    "UPDATE array_dependency u SET open = false FROM (\n"
    "  SELECT d.tenant_id, d.job_id, d.array_id, d.type FROM " ARRAY_MOVED " WHERE d.open AND " ARRAY_MET " LIMIT $1) x\n"
    " WHERE u.tenant_id = x.tenant_id AND u.job_id = x.job_id AND u.array_id = x.array_id AND u.type = x.type AND u.open\n"
    "RETURNING u.tenant_id, u.job_id" };
static const struct stmt dependencies_hopeless_arrays = { .name = "dependencies_hopeless_arrays", .params = "i",
    .row = &hopeless_schema, .card = CARD_MANY, .sql =
    "SELECT d.tenant_id, d.job_id, d.array_id AS on_job_id, j.version, d.type,\n"
    "       format('%s of %s completed', a.completed, a.total) AS ended FROM " ARRAY_MOVED "\n"
    "  JOIN job j ON j.tenant_id = d.tenant_id AND j.job_id = d.job_id\n"
    " WHERE d.open AND a.ended_at IS NOT NULL AND NOT " ARRAY_MET " AND j.state = 'PENDING'\n"
    " ORDER BY d.tenant_id, d.job_id, d.array_id LIMIT $1 FOR NO KEY UPDATE OF j SKIP LOCKED" };
static const struct stmt dependencies_end_arrays = { .name = "dependencies_end_arrays", .params = "i", .card = CARD_NONE, .sql =
    "UPDATE array_dependency u SET open = false FROM (\n"
    "  SELECT d.tenant_id, d.job_id, d.array_id, d.type FROM array_dependency d\n"
    "    JOIN job j ON j.tenant_id = d.tenant_id AND j.job_id = d.job_id WHERE d.open AND j.ended IS NOT NULL LIMIT $1) x\n"
    " WHERE u.tenant_id = x.tenant_id AND u.job_id = x.job_id AND u.array_id = x.array_id AND u.type = x.type" };

const struct stmt *const dependencies_stmts[] = { &dependencies_look, &dependencies_close, &dependencies_end,
                                                  &dependencies_lock, &dependencies_free, &dependencies_hopeless,
                                                  &dependencies_close_arrays, &dependencies_hopeless_arrays,
                                                  &dependencies_end_arrays, NULL };

/* close: of either kind. */
static enum errc close_met(struct work *w, const struct stmt *close, int64_t limit, int64_t *ret, struct err *e)
{
    struct slice rows = { 0 }, locked = { 0 };
    TRY(db_many(w->tx, close, ARGS(A_I64(limit)), &rows, (size_t)limit, e));
    *ret += (int64_t)rows.n;
    if (!rows.n)
        return ERR_OK;
    const struct waiter *r = rows.items;
    TRY(db_many(w->tx, &dependencies_lock, ARGS(A_UUIDS_OF(r, rows.n, tenant_id), A_UUIDS_OF(r, rows.n, job_id)), &locked,
                rows.n, e));
    const struct waiter *l = locked.items;
    if (!locked.n)
        return ERR_OK;
    return db_exec(w->tx, &dependencies_free, ARGS(A_UUIDS_OF(l, locked.n, tenant_id), A_UUIDS_OF(l, locked.n, job_id)), NULL,
                   e);
}

/* look: of either kind, of which prefix and word say what is waited for. */
static enum errc reject_hopeless(struct work *w, const struct stmt *look, const char *prefix, const char *ended, int64_t limit,
                                 int64_t *ret, struct err *e)
{
    struct slice rows = { 0 };
    struct audit_rows encoded;
    size_t n = 0;
    TRY(db_many(w->tx, look, ARGS(A_I64(limit)), &rows, (size_t)limit, e));
    const struct hopeless *h = rows.items;
    struct job_move *moves = ARENA_ARRAY(w->arena, struct job_move, rows.n + 1);
    struct audit_event *evs = ARENA_ARRAY(w->arena, struct audit_event, rows.n + 1);
    struct booking *b = booking_new(w->arena, rows.n + 1);
    for (size_t i = 0; i < rows.n; i++) {
        if (i && uuid_eq(h[i].job_id, h[i - 1].job_id))
            continue;                   /* the first that fails says enough */
        evs[n] = audit_event_of(w, AUDIT_JOB_REJECT);
        evs[n].tenant_id = h[i].tenant_id;
        evs[n].resource_kind = STR("job");
        evs[n].resource_prefix = "job";
        evs[n].resource_id = h[i].job_id;
        evs[n].rule = STR("dependency");
        moves[n++] = (struct job_move){ .tenant_id = h[i].tenant_id, .job_id = h[i].job_id, .event = JE_REJECT,
            .version = h[i].version, .fence = JOB_ANY_FENCE,
            .message = str_fmt(w->arena, "%.*s %.*s can never be met: %s %.*s", STR_ARG(h[i].type),
                               STR_ARG(id_text(w->arena, prefix, h[i].on_job_id)), ended, STR_ARG(h[i].ended)) };
        booking_add(b, h[i].tenant_id);
    }
    *ret += (int64_t)n;
    if (!n)
        return ERR_OK;
    TRY(audit_encode_many(w->arena, evs, n, &encoded, e));
    for (size_t i = 0; i < n; i++) {
        moves[i].audit_id = encoded.event_ids[i];
        moves[i].audit_body = encoded.bodies[i];
    }
    TRY(job_apply(w->tx, moves, n, NULL, e));
    booking_write(w->tx, b);
    return ERR_OK;
}

enum errc dependencies_pass(struct work *w, int64_t limit, struct dependencies_result *ret, struct err *e)
{
    struct look found;
    *ret = (struct dependencies_result){ 0 };
    TRY(db_one(w->tx, &dependencies_look, NULL, 0, &found, e));
    if (found.some_met)
        TRY(close_met(w, &dependencies_close, limit, &ret->closed, e));
    if (found.some_hopeless)
        TRY(reject_hopeless(w, &dependencies_hopeless, "job", "that job ended as", limit, &ret->rejected, e));
    if (!found.some_wait_for_arrays)
        return ERR_OK;
    TRY(close_met(w, &dependencies_close_arrays, limit, &ret->closed, e));
    return reject_hopeless(w, &dependencies_hopeless_arrays, "arr", "that array ended with", limit, &ret->rejected, e);
}

enum errc dependencies_tidy(struct work *w, int64_t limit, int64_t *ret_n, struct err *e)
{
    struct slice rows = { 0 };
    TRY(db_many(w->tx, &dependencies_end, ARGS(A_I64(limit)), &rows, (size_t)limit, e));
    *ret_n = (int64_t)rows.n;
    return db_exec(w->tx, &dependencies_end_arrays, ARGS(A_I64(limit)), NULL, e);
}
