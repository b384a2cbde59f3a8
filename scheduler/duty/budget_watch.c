/* SPDX-License-Identifier: Apache-2.0 */
/* budget_watch.c - entries are counted once by the number of their transaction: all of those below the snapshot's xmin are visible and no
 * other will ever come, so a sum up to there is final (the rule by which the audit log is sequenced). What lies above is added by whoever
 * reads (budget_now); which charges count is one function's rule (budget_charged). A month's first pass begins its sum anew. */
#include "scheduler/duty/budget_watch.h"
#include "audit/event.h"
#include "core/db/tx.h"
#include "core/table/schema.h"
#include "scheduler/jobs/job_apply.h"

enum { BUDGETS_MAX = 10000 };

struct threshold {
    struct uuid tenant_id, budget_id;
    struct str state, new_state, measure;
    int64_t warned, passed, percent;
};
SCHEMA_OF(threshold, "A budget whose standing has changed", FIELD(threshold, tenant_id, 0, .doc = "Tenant"),
    FIELD(threshold, budget_id, 0, .doc = "Budget"), FIELD(threshold, state, 0, .doc = "Was"), FIELD(threshold, new_state, 0, .doc = "Is"),
    FIELD(threshold, measure, 0, .doc = "Of what"), FIELD(threshold, warned, 0, .doc = "Told of"), FIELD(threshold, passed, 0, .doc = "To tell of"),
    FIELD(threshold, percent, 0, .doc = "Used, in percent"));
struct mover { struct uuid tenant_id, job_id; int64_t version; };
SCHEMA_OF(mover, "A job to hold or to let go", FIELD(mover, tenant_id, 0, .doc = "Tenant"), FIELD(mover, job_id, 0, .doc = "Job"),
    FIELD(mover, version, 0, .doc = "Its version"));

/* Two that both believe to lead count one after the other: a pass begins with the fence's lock, so that what it sees has all that
 * the other counted. Without it the later would add to the other's sum what it saw before that was there, and move the fence twice. */
static const struct stmt watch_turn = { .name = "budget_turn", .params = "", .card = CARD_NONE, .sql =
    "SELECT FROM usage_fence FOR UPDATE" };
/* In the same statement, so for the same snapshot, the fence moves below which everything is summed up and nobody reads any more.
 * That takes three passes: one sees how far the sequence has given out; the next, whose snapshot is younger, sees which
 * transactions may have something up to there (below xmax: who begins later takes a later place, for a row's transaction has its
 * number before the row has its place); and once all of those have ended, this sum has what they wrote. */
static const struct stmt watch_count = { .name = "budget_count", .params = "", .card = CARD_NONE, .sql =
    "WITH c AS MATERIALIZED (\n"
    "    SELECT b.tenant_id, b.budget_id, p.starts, x.xmin, d.epoch, f.is_new,\n"
    "           budget_charged(b.tenant_id, b.project_id, b.measure, b.currency, p.starts, f.is_new, d.usage_ord,\n"
    "                          CASE WHEN u.epoch = d.epoch THEN u.closed_ord ELSE 0 END, b.counted_xid, x.xmin) AS amount\n"
    "      FROM budget b CROSS JOIN (SELECT pg_snapshot_xmin(pg_current_snapshot()) AS xmin) x CROSS JOIN database_epoch d\n"
    "      CROSS JOIN usage_fence u\n"
    "      CROSS JOIN LATERAL (SELECT CASE WHEN b.period = 'month' THEN greatest(b.period_start, date_trunc('month', now(), 'UTC'))\n"
    "                                      ELSE b.period_start END AS starts) p\n"
    "      CROSS JOIN LATERAL (SELECT p.starts <> b.period_start OR b.counted_epoch <> d.epoch AS is_new) f),\n"
    "s AS (\n"
    "    UPDATE budget SET settled = CASE WHEN c.is_new THEN 0 ELSE budget.settled END + c.amount, counted_xid = c.xmin,\n"
    "           counted_epoch = c.epoch, counted_at = now(), period_start = c.starts,\n"
    "           warned = CASE WHEN c.starts = budget.period_start THEN budget.warned ELSE 0 END\n"
    "      FROM c WHERE budget.tenant_id = c.tenant_id AND budget.budget_id = c.budget_id AND (c.amount > 0 OR c.is_new))\n"
    "UPDATE usage_fence SET epoch = n.epoch, seen_ord = n.given,\n"
    "       closed_ord = CASE WHEN NOT n.is_same THEN 0 WHEN n.is_over THEN next_ord ELSE closed_ord END,\n"
    "       next_ord = CASE WHEN NOT n.is_same THEN 0 WHEN n.is_over OR next_xid = '0' THEN seen_ord ELSE next_ord END,\n"
    "       next_xid = CASE WHEN NOT n.is_same THEN '0' WHEN n.is_over OR next_xid = '0' THEN n.xmax ELSE next_xid END\n"
    "  FROM (SELECT d.epoch, u.epoch = d.epoch AS is_same, coalesce(pg_sequence_last_value('usage_ord'::regclass), 0) AS given,\n"
    "               u.next_xid <> '0' AND u.next_xid <= pg_snapshot_xmin(t.now) AS is_over, pg_snapshot_xmax(t.now) AS xmax\n"
    "          FROM usage_fence u CROSS JOIN database_epoch d CROSS JOIN (SELECT pg_current_snapshot() AS now) t) n\n"
    " WHERE NOT n.is_same OR n.given > closed_ord" };
static const struct stmt watch_judge = { .name = "budget_judge", .params = "i", .row = &threshold_schema, .card = CARD_MANY, .sql =
    "SELECT b.tenant_id, b.budget_id, b.state, x.new_state, b.measure, b.warned, x.passed, x.percent\n"
    "  FROM budget_now(NULL) n JOIN budget b ON b.tenant_id = n.tenant_id AND b.budget_id = n.budget_id\n"
    "  CROSS JOIN LATERAL (\n"
    "    SELECT CASE WHEN n.settled + n.running >= n.stop_at THEN 'STOPPED' ELSE 'OPEN' END AS new_state,\n"
    "           trunc((n.settled + n.running) * 100 / n.whole)::bigint AS percent,\n"
    "           coalesce((SELECT max(t) FROM unnest(b.warn_percent) t WHERE (n.settled + n.running) * 100 >= n.whole * t), 0) AS passed) x\n"
    " WHERE x.new_state <> b.state OR x.passed > b.warned ORDER BY b.tenant_id, b.budget_id LIMIT $1" };
static const struct stmt watch_mark = { .name = "budget_mark", .params = "UUSI", .card = CARD_NONE, .sql =
    "UPDATE budget SET state = i.state, warned = greatest(warned, i.passed) FROM unnest($1, $2, $3, $4) AS i(tenant_id, budget_id, state, passed)\n"
    " WHERE budget.tenant_id = i.tenant_id AND budget.budget_id = i.budget_id" };
/* From the few that are stopped to their jobs: asked from the side of the jobs, once a second, the planner read all that wait. */
static const struct stmt watch_to_hold = { .name = "budget_to_hold", .params = "i", .row = &mover_schema, .card = CARD_MANY, .sql =
    "SELECT j.tenant_id, j.job_id, j.version\n"
    "  FROM (SELECT DISTINCT tenant_id FROM budget WHERE state = 'STOPPED') s CROSS JOIN LATERAL (\n"
    "    SELECT job.tenant_id, job.job_id, job.version FROM job\n"
    "     WHERE job.tenant_id = s.tenant_id AND job.queued AND NOT job.cancel_requested\n"
    "       AND EXISTS (SELECT FROM budget b WHERE b.tenant_id = job.tenant_id AND b.state = 'STOPPED'\n"
    "                    AND (b.project_id IS NULL OR b.project_id = job.project_id))\n"
    "     ORDER BY job.priority DESC, job.job_id LIMIT $1 FOR NO KEY UPDATE OF job SKIP LOCKED) j\n"
    " LIMIT $1" };
static const struct stmt watch_to_release = { .name = "budget_to_release", .params = "i", .row = &mover_schema, .card = CARD_MANY, .sql =
    "SELECT j.tenant_id, j.job_id, j.version FROM job j\n"
    " WHERE j.ended IS NULL AND NOT j.queued AND j.state = 'HELD' AND j.reason = 'BudgetExhausted'\n"
    "   AND NOT EXISTS (SELECT FROM budget b WHERE b.tenant_id = j.tenant_id AND b.state = 'STOPPED'\n"
    "                    AND (b.project_id IS NULL OR b.project_id = j.project_id))\n"
    " ORDER BY j.tenant_id, j.job_id LIMIT $1 FOR NO KEY UPDATE OF j SKIP LOCKED" };
const struct stmt *const budget_watch_stmts[] = { &watch_turn, &watch_count, &watch_judge, &watch_mark, &watch_to_hold, &watch_to_release, NULL };

static struct audit_event event_of(struct work *w, enum audit_code code, struct uuid tenant, const char *prefix, struct uuid id)
{
    struct audit_event ev = audit_event_of(w, code);
    ev.tenant_id = tenant;
    ev.resource_kind = str_c(code == AUDIT_BUDGET_STOP ? "budget" : "job");
    ev.resource_prefix = prefix;
    ev.resource_id = id;
    return ev;
}

static enum errc tell(struct work *w, struct budget_watch_result *ret, struct err *e)
{
    struct slice rows = { 0 };
    TRY(db_many(w->tx, &watch_judge, ARGS(A_I64(BUDGETS_MAX)), &rows, BUDGETS_MAX, e));
    const struct threshold *t = rows.items;
    for (size_t i = 0; i < rows.n; i++) {
        struct audit_event ev = event_of(w, AUDIT_BUDGET_STOP, t[i].tenant_id, "bdg", t[i].budget_id);
        audit_event_detail(&ev, AUDIT_D_STR("state", t[i].new_state));
        audit_event_detail(&ev, AUDIT_D_STR("measure", t[i].measure));
        audit_event_detail(&ev, AUDIT_D_INT("percent", t[i].percent));
        audit_event_detail(&ev, AUDIT_D_INT("threshold", t[i].passed));
        TRY(audit_append(w, &ev, e));
    }
    if (rows.n)
        db_queue(w->tx, &watch_mark, ARGS(A_UUIDS_OF(t, rows.n, tenant_id), A_UUIDS_OF(t, rows.n, budget_id), A_STRS_OF(t, rows.n, new_state),
                                          A_I64S_OF(t, rows.n, passed)), false);
    ret->told = (int64_t)rows.n;
    return ERR_OK;
}

static enum errc move(struct work *w, const struct stmt *which, bool is_hold, int64_t limit, int64_t *ret_n, struct err *e)
{
    struct slice list = { 0 };
    struct audit_rows rows;
    TRY(db_many(w->tx, which, ARGS(A_I64(limit)), &list, (size_t)limit, e));
    const struct mover *m = list.items;
    size_t n = list.n;
    *ret_n = (int64_t)n;
    if (!n)
        return ERR_OK;
    struct audit_event *evs = ARENA_ARRAY(w->arena, struct audit_event, n);
    for (size_t i = 0; i < n; i++) {
        evs[i] = event_of(w, AUDIT_JOB_HOLD, m[i].tenant_id, "job", m[i].job_id);
        audit_event_detail(&evs[i], AUDIT_D_STR("act", is_hold ? STR("hold") : STR("release")));
        audit_event_detail(&evs[i], AUDIT_D_STR("why", STR("budget")));
    }
    TRY(audit_encode_many(w->arena, evs, n, &rows, e));
    struct job_move *moves = ARENA_ARRAY(w->arena, struct job_move, n);
    for (size_t i = 0; i < n; i++)
        moves[i] = (struct job_move){ .tenant_id = m[i].tenant_id, .job_id = m[i].job_id, .event = is_hold ? JE_HOLD : JE_UNHOLD,
                                      .version = m[i].version, .fence = JOB_ANY_FENCE,
                                      .reason = str_c(job_reason_names[is_hold ? JR_BUDGET_EXHAUSTED : JR_RESOURCES]),
                                      .message = is_hold ? STR("Its budget has reached the threshold that stops") : STR(""),
                                      .audit_id = rows.event_ids[i], .audit_body = rows.bodies[i] };
    return job_apply(w->tx, moves, n, NULL, e);
}

enum errc budget_watch_pass(struct work *w, int64_t limit, struct budget_watch_result *ret, struct err *e)
{
    *ret = (struct budget_watch_result){ 0 };
    db_queue(w->tx, &watch_turn, NO_ARGS, false);
    db_queue(w->tx, &watch_count, NO_ARGS, false);
    TRY(tell(w, ret, e));
    TRY(move(w, &watch_to_hold, true, limit, &ret->held, e));
    return move(w, &watch_to_release, false, limit, &ret->released, e);
}
