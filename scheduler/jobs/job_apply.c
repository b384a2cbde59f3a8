/* SPDX-License-Identifier: Apache-2.0 */
/* job_apply.c - the statement. The rows of the batch are found one by one through the primary key; nothing is joined to the batch but the
 * job itself, so its cost grows with the batch and not with its square. */
#include "scheduler/jobs/job_apply.h"
#include "core/base/assert.h"
#include "core/db/tx.h"
#include "core/table/schema.h"
#include "scheduler/jobs/booking.h"

struct moved { int64_t ord; };
SCHEMA_OF(moved, "A move that was made", FIELD(moved, ord, 0, .doc = "Which, from 1"));

/* Functions of sets in the list of columns are asked value by value, all in step; in FROM each fills a store of its own first.
 * The places come as an array, too: generate_series would be taken for a thousand rows, and the jobs read as a whole.
 * $1 is the legal moves of the batch's events, FROM>TO: the from-states. */
static const struct stmt job_apply_stmt = { .name = "job_apply", .params = "SUUSBIIISSSIBBIBUYI", .row = &moved_schema,
                                            .card = CARD_MANY, .sql =
    "WITH j AS (\n"
    "  UPDATE job SET state = i.state, queued = i.state = 'PENDING', reason = i.reason, message = i.message,\n"
    "         version = job.version + 1 + i.passes,\n"
    "         fence = job.fence + i.fence_grows, requeue_count = job.requeue_count + i.is_back::int,\n"
    "         result = coalesce(i.result::jsonb, job.result),\n"
    "         not_before = CASE WHEN i.delay_ms > 0 THEN clock_timestamp() + i.delay_ms * interval '1 millisecond'\n"
    "                           WHEN ARRAY[i.state, job.state] && '{HELD,SUSPENDED}' THEN job.not_before END,\n"
    "         started_at = CASE WHEN i.state = 'RUNNING' OR i.starts_too THEN clock_timestamp() ELSE job.started_at END,\n"
    "         finished_at = CASE WHEN i.is_end THEN clock_timestamp() END\n"
    "    FROM (SELECT unnest($2) AS tenant_id, unnest($3) AS job_id, unnest($4) AS state, unnest($5) AS is_end,\n"
    "                 unnest($6) AS version, unnest($7) AS fence, unnest($8) AS fence_grows, unnest($9) AS reason, unnest($10) AS message,\n"
    "                 unnest($11) AS result, unnest($12) AS delay_ms, unnest($13) AS is_back, unnest($14) AS starts_too,\n"
    "                 unnest($15) AS passes, unnest($16) AS is_quiet, unnest($17) AS event_id, unnest($18) AS event,\n"
    "                 unnest($19) AS ord) i\n"
    "   WHERE job.tenant_id = i.tenant_id AND job.job_id = i.job_id AND job.state || '>' || i.state = ANY ($1)\n"
    "     AND (i.version = 0 OR job.version = i.version) AND (i.fence < 0 OR job.fence = i.fence)\n"
    "     AND (i.state <> 'ADMITTED' OR NOT job.cancel_requested)\n"
    "  RETURNING job.tenant_id, job.job_id, job.version, job.state, job.reason, job.message, job.fence, i.event_id, i.event, i.is_quiet,\n"
    "            i.ord),\n"
    "e AS (INSERT INTO job_event (tenant_id, job_id, version, state, reason, message, fence)\n"
    "      SELECT tenant_id, job_id, version, state, reason, message, fence FROM j WHERE NOT is_quiet),\n"
    "v AS (INSERT INTO audit_event (tenant_id, event_id, body) SELECT tenant_id, event_id, event FROM j WHERE event IS NOT NULL)\n"
    "SELECT ord FROM j ORDER BY ord" };

/* The same for ADMIT alone, with the attempts. $1: the states that it leads from; p: the places that the judge allows. */
static const struct stmt job_admit_stmt = { .name = "job_admit", .params = "SUUUUIIIIUYiIIIIIUSSSiI", .row = &moved_schema,
                                            .card = CARD_MANY, .sql =
    "WITH p AS MATERIALIZED (\n"
    "  SELECT ord FROM unnest($18, $19, $20, $21) WITH ORDINALITY AS c(tenant_id, data_class, kind, zone, ord)\n"
    "   WHERE residency_zone_ok(c.tenant_id, c.data_class, c.zone, job_purpose(c.kind))),\n"
    "j AS (\n"
    "  UPDATE job SET state = 'ADMITTED', queued = false, reason = '', message = '', version = job.version + 1,\n"
    "         fence = job.fence + 1, not_before = NULL\n"
    "    FROM (SELECT unnest($2) AS tenant_id, unnest($3) AS job_id, unnest($4) AS attempt_id, unnest($5) AS node_id,\n"
    "                 unnest($6) AS version, unnest($7) AS fence, unnest($8) AS slots, unnest($9) AS gpus, unnest($10) AS event_id,\n"
    "                 unnest($11) AS event, unnest($13) AS cpu_milli, unnest($14) AS memory_bytes, unnest($15) AS gpu_milli,\n"
    "                 unnest($16) AS devices, unnest($17) AS place, unnest($23) AS ord) i\n"
    "   WHERE job.tenant_id = i.tenant_id AND job.job_id = i.job_id AND job.state = ANY ($1)\n"
    "     AND job.version = i.version AND job.fence = i.fence AND NOT job.cancel_requested\n"
    "     AND (job.not_before IS NULL OR job.not_before <= clock_timestamp())\n"
    "     AND (i.place = 0 OR i.place IN (SELECT ord FROM p))\n"
    "  RETURNING job.tenant_id, job.job_id, job.version, job.fence, i.attempt_id, i.node_id, i.slots, i.gpus, i.event_id,\n"
    "            i.event, i.ord, i.cpu_milli, i.memory_bytes, i.gpu_milli, i.devices),\n"
    "a AS (\n"
    "  INSERT INTO attempt (tenant_id, attempt_id, job_id, node_id, fence, slots, gpus, admitted_version, admitted_xid,\n"
    "                       lease_until, cpu_milli, memory_bytes, gpu_milli, devices)\n"
    "  SELECT tenant_id, attempt_id, job_id, node_id, fence, slots, gpus, version, pg_current_xact_id(),\n"
    "         clock_timestamp() + $12 * interval '1 millisecond', cpu_milli, memory_bytes, gpu_milli, devices FROM j),\n"
    "v AS (INSERT INTO audit_event (tenant_id, event_id, body) SELECT tenant_id, event_id, event FROM j),\n"
    "n AS (INSERT INTO plan_change (changed_xid, writer, tenants, jobs, versions)\n"
    "      SELECT pg_current_xact_id(), $22, array_agg(tenant_id), array_agg(job_id), array_agg(version) FROM j\n"
    "      HAVING count(*) > 0)\n"
    "SELECT ord FROM j ORDER BY ord" };

const struct stmt *const job_apply_stmts[] = { &job_apply_stmt, &job_admit_stmt, &booking_write_stmt, NULL };

/* What the statement is given for a move. */
struct line {
    struct uuid tenant_id, job_id, audit_id;
    struct str to, reason, message, result, audit_body;
    bool is_end, is_back, starts_too, is_quiet;
    int64_t ord, version, fence, fence_grows, delay_ms, passes;
};

static struct line line_of(const struct job_move *m, size_t place)
{
    enum job_state to = job_event_goal(m->event);
    bool is_back = to == JOB_PENDING && m->event != JE_UNHOLD && m->event != JE_RESUME;
    return (struct line){ .ord = (int64_t)place + 1, .tenant_id = m->tenant_id, .job_id = m->job_id, .audit_id = m->audit_id,
                          .to = str_c(job_state_names[to]),
                          .reason = m->reason.ptr ? m->reason : STR(""), .message = m->message.ptr ? m->message : STR(""), .result = m->result,
                          .audit_body = m->audit_body, .is_end = job_state_is_terminal(to), .is_back = is_back, .starts_too = m->starts_too,
                          .is_quiet = m->is_quiet, .version = m->version, .passes = m->takes_too + m->starts_too,
                          .fence = m->fence, .fence_grows = m->event == JE_ADMIT, .delay_ms = m->delay_ms };
}

enum { LEGAL_MAX = 4 * JE_COUNT * JOB_STATE_COUNT };

/* FROM>TO for every event of the batch; with TAKE or START on the way, from where the first of them leads from. */
static size_t legal_moves(struct arena *a, const struct job_move *moves, size_t n, struct str out[LEGAL_MAX])
{
    bool seen[2][2][JE_COUNT] = { { { false } } };
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        struct str from[JOB_STATE_COUNT];
        bool takes = moves[i].takes_too, starts = moves[i].starts_too;
        if (seen[takes][starts][moves[i].event])
            continue;
        seen[takes][starts][moves[i].event] = true;
        ASSERT(!(takes || starts) || job_state_next(starts ? JOB_RUNNING : JOB_STARTING, moves[i].event) >= 0);
        size_t m = job_states_before(takes ? JE_TAKE : starts ? JE_START : moves[i].event, from);
        for (size_t f = 0; f < m; f++)
            out[k++] = str_fmt(a, "%.*s>%s", STR_ARG(from[f]), job_state_names[job_event_goal(moves[i].event)]);
    }
    return k;
}

/* Runs it; ret_moved: indexes, from its ordinals. */
static enum errc run_moves(struct db_tx *tx, const struct stmt *st, const struct arg *args, int nargs, size_t n,
                           struct slice *ret_moved, struct err *e)
{
    struct slice rows = { 0 };
    TRY(db_many(tx, st, args, nargs, &rows, n, e));
    int64_t *which = ARENA_ARRAY(db_arena(tx), int64_t, rows.n + 1);
    for (size_t i = 0; i < rows.n; i++)
        which[i] = ((const struct moved *)rows.items)[i].ord - 1;
    *ret_moved = (struct slice){ which, rows.n };
    return ERR_OK;
}

enum errc job_apply(struct db_tx *tx, const struct job_move *moves, size_t n, struct slice *ret_moved, struct err *e)
{
    struct arena *a = db_arena(tx);
    struct str legal[LEGAL_MAX];
    if (ret_moved)
        *ret_moved = (struct slice){ 0 };
    if (!n)
        return ERR_OK;
    struct line *l = ARENA_ARRAY(a, struct line, n);
    for (size_t i = 0; i < n; i++)
        l[i] = line_of(&moves[i], i);
    struct arg args[] = {
        A_STRS(legal, legal_moves(a, moves, n, legal)), A_UUIDS_OF(l, n, tenant_id), A_UUIDS_OF(l, n, job_id), A_STRS_OF(l, n, to),
        A_BOOLS_OF(l, n, is_end), A_I64S_OF(l, n, version), A_I64S_OF(l, n, fence), A_I64S_OF(l, n, fence_grows), A_STRS_OF(l, n, reason),
        A_STRS_OF(l, n, message), A_STRS_OF(l, n, result), A_I64S_OF(l, n, delay_ms), A_BOOLS_OF(l, n, is_back), A_BOOLS_OF(l, n, starts_too),
        A_I64S_OF(l, n, passes), A_BOOLS_OF(l, n, is_quiet), A_UUIDS_OF(l, n, audit_id), A_BYTESS_OF(l, n, audit_body),
        A_I64S_OF(l, n, ord) };
    int nargs = (int)(sizeof args / sizeof *args);
    if (!ret_moved) {
        db_queue(tx, &job_apply_stmt, args, nargs, false);
        return ERR_OK;
    }
    return run_moves(tx, &job_apply_stmt, args, nargs, n, ret_moved, e);
}

enum errc job_admit(struct db_tx *tx, const struct job_admission *l, size_t n, const struct job_place *places, size_t nplaces,
                    int64_t lease_ms, int64_t writer, struct slice *ret_moved, struct err *e)
{
    struct str from[JOB_STATE_COUNT];
    *ret_moved = (struct slice){ 0 };
    if (!n)
        return ERR_OK;
    int64_t *ords = ARENA_ARRAY(db_arena(tx), int64_t, n);
    for (size_t i = 0; i < n; i++)
        ords[i] = (int64_t)i + 1;
    struct arg args[] = {
        A_STRS(from, job_states_before(JE_ADMIT, from)), A_UUIDS_OF(l, n, tenant_id), A_UUIDS_OF(l, n, job_id),
        A_UUIDS_OF(l, n, attempt_id), A_UUIDS_OF(l, n, node_id), A_I64S_OF(l, n, version), A_I64S_OF(l, n, fence),
        A_I64S_OF(l, n, slots), A_I64S_OF(l, n, gpus), A_UUIDS_OF(l, n, audit_id), A_BYTESS_OF(l, n, audit_body),
        A_I64(lease_ms), A_I64S_OF(l, n, cpu_milli), A_I64S_OF(l, n, memory_bytes), A_I64S_OF(l, n, gpu_milli),
        A_I64S_OF(l, n, devices), A_I64S_OF(l, n, place), A_UUIDS_OF(places, nplaces, tenant_id),
        A_STRS_OF(places, nplaces, data_class), A_STRS_OF(places, nplaces, kind), A_STRS_OF(places, nplaces, zone),
        A_I64(writer), A_I64S(ords, n) };
    return run_moves(tx, &job_admit_stmt, args, (int)(sizeof args / sizeof *args), n, ret_moved, e);
}
