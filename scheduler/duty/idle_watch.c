/* SPDX-License-Identifier: Apache-2.0 */
/* idle_watch.c - one read of what machines have said, one judge, one statement for what follows of it.
 *
 * The job's state does not change here: a notice is its reason and message, with a version and a row of job_event of its own.
 * The statement checks each job once more. */
#include "scheduler/duty/idle_watch.h"
#include "core/base/clock.h"
#include "core/db/tx.h"
#include "core/table/schema.h"
#include "scheduler/engine/lease_move.h"
#include "scheduler/jobs/idle_policy.h"
#include "scheduler/plan/idle_rule.h"

static const int64_t MINUTE_S = 60, MINUTE_US = 60000000;

struct row {
    struct uuid tenant_id, attempt_id, job_id, project_id;
    int64_t fence, machines, idle_machines, told_us, idle_us, visited_us, noticed_us, now_us, after_minutes, notice_minutes;
    struct slice projects;
    bool is_visited;
};
SCHEMA_OF(row, "A running job of which machines spoke", FIELD(row, tenant_id, 0, .doc = "Tenant"),
    FIELD(row, attempt_id, 0, .doc = "Attempt"), FIELD(row, job_id, 0, .doc = "Job"), FIELD(row, project_id, 0, .doc = "Project"),
    FIELD(row, fence, 0, .doc = "Number of the attempt"), FIELD(row, machines, 0, .doc = "That it runs on"),
    FIELD(row, idle_machines, 0, .doc = "That say so"), FIELD(row, told_us, 0, .doc = "Their oldest word"),
    FIELD(row, idle_us, 0, .doc = "Since when"), FIELD(row, visited_us, 0, .doc = "Last time somebody was inside"),
    FIELD(row, noticed_us, 0, .doc = "When people were told"), FIELD(row, now_us, 0, .doc = "The database's clock"),
    FIELD(row, after_minutes, 0, .doc = "The rule"), FIELD(row, notice_minutes, 0, .doc = "The rule"),
    FIELD_STRS(row, projects, 0, .max = IDLE_PROJECTS_MAX, .doc = "The rule"),
    FIELD(row, is_visited, 0, .doc = "Somebody is inside"));

#define US(x) "coalesce((extract(epoch FROM " x ") * 1000000)::bigint, 0)"
static const struct stmt watch_tidy = { .name = "idle_watch_tidy", .params = "", .card = CARD_NONE, .sql =
    "DELETE FROM attempt_idle i WHERE NOT EXISTS (\n"
    "  SELECT FROM attempt a WHERE a.tenant_id = i.tenant_id AND a.attempt_id = i.attempt_id AND a.live)" };
static const struct stmt watch_visits = { .name = "idle_watch_visits", .params = "", .card = CARD_NONE, .sql =
    "UPDATE attempt_idle SET visited_at = clock_timestamp() WHERE EXISTS (\n"
    "  SELECT FROM job_session s WHERE s.tenant_id = attempt_idle.tenant_id AND s.attempt_id = attempt_idle.attempt_id\n"
    "     AND s.kind <> 'forward')" };
/* Of each tenant first what its people were told of, then what is idle longest; tenants in turns. */
static const struct stmt watch_read = { .name = "idle_watch_read", .params = "i", .row = &row_schema, .card = CARD_MANY, .sql =
    "SELECT a.tenant_id, a.attempt_id, a.job_id, coalesce(j.project_id, '00000000-0000-0000-0000-000000000000') AS project_id,\n"
    "       a.fence, a.nodes AS machines, i.idle_machines, i.told_us, i.idle_us, i.visited_us, i.noticed_us,\n"
    "       " US("clock_timestamp()") " AS now_us, coalesce(p.after_minutes, 0) AS after_minutes,\n"
    "       coalesce(p.notice_minutes, 1) AS notice_minutes, coalesce(p.projects, '{}') AS projects,\n"
    "       EXISTS (SELECT FROM job_session s WHERE s.tenant_id = a.tenant_id AND s.attempt_id = a.attempt_id\n"
    "                  AND s.kind <> 'forward') AS is_visited\n"
    "  FROM (SELECT tenant_id, attempt_id, count(idle_since) AS idle_machines, " US("max(idle_since)") " AS idle_us,\n"
    "               " US("min(told_at)") " AS told_us, " US("max(visited_at)") " AS visited_us,\n"
    "               " US("max(noticed_at)") " AS noticed_us\n"
    "          FROM attempt_idle GROUP BY tenant_id, attempt_id) i\n"
    "  JOIN attempt a ON a.tenant_id = i.tenant_id AND a.attempt_id = i.attempt_id AND a.live AND a.state = 'RUNNING'\n"
    "       AND a.evict_until IS NULL\n"
    "  JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id AND j.state = 'RUNNING' AND NOT job_stays(j.kind)\n"
    "       AND NOT j.cancel_requested AND NOT j.suspend_requested\n"
    "  LEFT JOIN idle_policy p ON p.tenant_id = a.tenant_id\n"
    " WHERE (i.idle_machines >= a.nodes AND (p.after_minutes > 0 OR cardinality(p.projects) > 0)) OR i.noticed_us > 0\n"
    " ORDER BY row_number() OVER (PARTITION BY a.tenant_id ORDER BY i.noticed_us = 0, i.idle_us, a.job_id), a.tenant_id\n"
    " LIMIT $1" };
struct done { int64_t ord; };
SCHEMA_OF(done, "A job of which it was written", FIELD(done, ord, 0, .doc = "Which, from 1"));
/* $6: it is a notice; $7: it is put aside; neither: a notice is taken back. */
static const struct stmt watch_write = { .name = "idle_watch_write", .params = "UUUISBB", .row = &done_schema,
                                        .card = CARD_MANY, .sql =
    "WITH i AS MATERIALIZED (\n"
    "  SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7) WITH ORDINALITY\n"
    "    AS u(tenant_id, attempt_id, job_id, fence, message, is_notice, is_stop, ord)),\n"
    "j AS (\n"
    "  UPDATE job SET version = job.version + (NOT i.is_stop)::int,\n"
    "         reason = CASE WHEN i.is_stop THEN job.reason WHEN i.is_notice THEN 'Idle' ELSE '' END,\n"
    "         message = CASE WHEN i.is_stop THEN job.message ELSE i.message END,\n"
    "         suspend_requested = i.is_stop, suspend_why = CASE WHEN i.is_stop THEN 'Idle' ELSE '' END\n"
    "    FROM i WHERE job.tenant_id = i.tenant_id AND job.job_id = i.job_id AND job.state = 'RUNNING' AND job.fence = i.fence\n"
    "         AND NOT job.cancel_requested AND NOT job.suspend_requested\n"
    "  RETURNING job.tenant_id, job.job_id, job.version, job.state, job.reason, job.message, job.fence,\n"
    "            i.attempt_id, i.is_notice, i.is_stop, i.ord),\n"
    "e AS (INSERT INTO job_event (tenant_id, job_id, version, state, reason, message, fence)\n"
    "      SELECT tenant_id, job_id, version, state, reason, message, fence FROM j WHERE NOT is_stop),\n"
    "n AS (UPDATE attempt_idle SET noticed_at = CASE WHEN j.is_notice THEN clock_timestamp() END\n"
    "        FROM j WHERE attempt_idle.tenant_id = j.tenant_id AND attempt_idle.attempt_id = j.attempt_id AND NOT j.is_stop)\n"
    "SELECT ord FROM j ORDER BY ord" };
const struct stmt *const idle_watch_stmts[] = { &watch_tidy, &watch_visits, &watch_read, &watch_write, NULL };

struct line {
    struct uuid tenant_id, attempt_id, job_id;
    int64_t fence;
    struct str message;
    bool is_notice, is_stop;
};

static enum idle_verdict verdict_of(const struct row *r, int64_t after_minutes)
{
    const struct idle_facts f = { .after_s = after_minutes * MINUTE_S, .notice_s = r->notice_minutes * MINUTE_S,
                                  .machines = r->machines, .idle_machines = r->idle_machines, .told_us = r->told_us,
                                  .idle_us = r->idle_us, .visited_us = r->visited_us, .noticed_us = r->noticed_us,
                                  .is_visited = r->is_visited };
    return idle_judge(&f, r->now_us);
}

static struct audit_event event_of(struct work *w, const struct row *r, enum idle_verdict v, int64_t after_minutes)
{
    static const char *const steps[] = { [IDLE_NOTICE] = "notice", [IDLE_WITHDRAW] = "withdrawn", [IDLE_STOP] = "stop" };
    const struct attempt_step s = { .tenant_id = r->tenant_id, .job_id = r->job_id, .fence = r->fence };
    struct audit_event ev = lease_step_event(w, AUDIT_JOB_IDLE, &s);
    audit_event_detail(&ev, AUDIT_D_STR("step", str_c(steps[v])));
    if (v != IDLE_WITHDRAW) {
        audit_event_detail(&ev, AUDIT_D_INT("after_minutes", after_minutes));
        audit_event_detail(&ev, AUDIT_D_INT("notice_minutes", r->notice_minutes));
    }
    return ev;
}

static struct str message_of(struct work *w, const struct row *r, int64_t after_minutes)
{
    char at[TIME_TEXT];
    time_text(r->now_us + r->notice_minutes * MINUTE_US, at);
    return str_fmt(w->arena, "What it holds was not used for %ld minutes: it is put aside at %s unless it is used",
                   (long)after_minutes, at);
}

static enum errc write(struct work *w, const struct line *l, const struct audit_event *evs, size_t n, struct err *e)
{
    struct lease_wakes k = { .jobs = ARENA_ARRAY(w->arena, struct uuid, n) };
    struct slice rows = { 0 };
    TRY(db_many(w->tx, &watch_write, ARGS(A_UUIDS_OF(l, n, tenant_id), A_UUIDS_OF(l, n, attempt_id), A_UUIDS_OF(l, n, job_id),
                A_I64S_OF(l, n, fence), A_STRS_OF(l, n, message), A_BOOLS_OF(l, n, is_notice), A_BOOLS_OF(l, n, is_stop)),
                &rows, n, e));
    for (size_t i = 0; i < rows.n; i++) {
        const int64_t at = ((const struct done *)rows.items)[i].ord - 1;
        TRY(audit_append(w, &evs[at], e));
        k.jobs[k.njobs++] = l[at].job_id;
    }
    lease_wake_after_commit(w, &k);
    return ERR_OK;
}

enum errc idle_watch_pass(struct work *w, int64_t most, struct idle_watch_result *ret, struct err *e)
{
    struct slice rows = { 0 };
    size_t n = 0;
    *ret = (struct idle_watch_result){ 0 };
    db_queue(w->tx, &watch_tidy, NO_ARGS, false);
    db_queue(w->tx, &watch_visits, NO_ARGS, false);
    TRY(db_many(w->tx, &watch_read, ARGS(A_I64(most)), &rows, (size_t)most, e));
    const struct row *r = rows.items;
    struct line *l = ARENA_ARRAY(w->arena, struct line, rows.n + 1);
    struct audit_event *evs = ARENA_ARRAY(w->arena, struct audit_event, rows.n + 1);
    for (size_t i = 0; i < rows.n; i++) {
        const struct idle_policy p = { r[i].after_minutes, r[i].notice_minutes, r[i].projects };
        const int64_t after_minutes = idle_policy_after(&p, r[i].project_id);
        const enum idle_verdict v = verdict_of(&r[i], after_minutes);
        if (v == IDLE_NOTHING)
            continue;
        ret->noticed += v == IDLE_NOTICE;
        ret->withdrawn += v == IDLE_WITHDRAW;
        ret->stopped += v == IDLE_STOP;
        evs[n] = event_of(w, &r[i], v, after_minutes);
        l[n++] = (struct line){ .tenant_id = r[i].tenant_id, .attempt_id = r[i].attempt_id, .job_id = r[i].job_id,
                                .fence = r[i].fence, .message = v == IDLE_NOTICE ? message_of(w, &r[i], after_minutes) : STR(""),
                                .is_notice = v == IDLE_NOTICE, .is_stop = v == IDLE_STOP };
    }
    return n ? write(w, l, evs, n, e) : ERR_OK;
}
