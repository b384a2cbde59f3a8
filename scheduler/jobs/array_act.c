/* SPDX-License-Identifier: Apache-2.0 */
/* array_act.c - an act is a row: what it does to the array's row, to jobs that wait, and to those that a machine has. */
#include "scheduler/jobs/array_act.h"
#include "audit/event.h"
#include "core/db/tx.h"
#include "core/redis/wake.h"
#include "scheduler/jobs/booking.h"
#include "scheduler/jobs/job_apply.h"
#include "scheduler/jobs/job_stand.h"
#include "scheduler/jobs/job_suspend.h"
#include "tenants/access/actor.h"

struct locked { struct str paused; bool is_cancelled, is_ended; };
SCHEMA_OF(locked, "An array under lock", FIELD(locked, paused, 0, .doc = "What was told it"),
    FIELD(locked, is_cancelled, 0, .doc = "No task starts any more"), FIELD(locked, is_ended, 0, .doc = "All have ended"));
static const struct stmt act_lock = { .name = "array_act_lock", .params = "uu", .row = &locked_schema, .card = CARD_ONE, .sql =
    "SELECT paused, cancelled_at IS NOT NULL AS is_cancelled, ended_at IS NOT NULL AS is_ended FROM job_array\n"
    " WHERE tenant_id = $1 AND array_id = $2 FOR NO KEY UPDATE" };
static const struct stmt act_pause = { .name = "array_act_pause", .params = "uus", .card = CARD_ONE, .sql =
    "UPDATE job_array SET paused = $3, version = version + 1, turn_at = now() WHERE tenant_id = $1 AND array_id = $2" };
/* Tasks that were to run once more have failed after all. */
static const struct stmt act_cancel = { .name = "array_act_cancel", .params = "uu", .card = CARD_NONE, .sql =
    "WITH t AS (UPDATE array_task SET again = false WHERE tenant_id = $1 AND array_id = $2 AND again)\n"
    "UPDATE job_array SET cancelled_at = now(), paused = '', failed = failed + again, again = 0, version = version + 1,\n"
    "       ended_at = CASE WHEN started = completed + failed + again THEN now() END\n"
    " WHERE tenant_id = $1 AND array_id = $2" };
struct retried { int64_t n; };
SCHEMA_OF(retried, "Tasks to run once more", FIELD(retried, n, 0, .doc = "How many"));
static const struct stmt act_retry = { .name = "array_act_retry", .params = "uu", .row = &retried_schema, .card = CARD_MAYBE,
    .sql =
    "WITH t AS (UPDATE array_task t SET again = true FROM job j WHERE t.tenant_id = $1 AND t.array_id = $2 AND t.newest AND NOT "
    "t.live\n"
    "              AND NOT t.again AND j.tenant_id = t.tenant_id AND j.job_id = t.job_id AND j.ended <> 'COMPLETED'\n"
    "            RETURNING 1),\n"
    "n AS (SELECT count(*) AS n FROM t)\n"
    "UPDATE job_array a SET again = again + n.n, failed = failed - n.n, cancelled_at = NULL, ended_at = NULL, message = '',\n"
    "       version = version + 1, turn_at = now()\n"
    "  FROM n WHERE a.tenant_id = $1 AND a.array_id = $2 AND (n.n > 0 OR (a.cancelled_at IS NOT NULL AND a.started < a.total))\n"
    "RETURNING n.n" };
struct array_job { struct uuid job_id; int state; struct str reason; int64_t version; bool is_early, is_bound; };
SCHEMA_OF(array_job, "A live job of an array", FIELD(array_job, job_id, 0, .doc = "The job"),
    FIELD_ENUM(array_job, state, 0, job_state_names, .doc = "State"), FIELD(array_job, reason, 0, .doc = "Why it waits"),
    FIELD(array_job, version, 0, .doc = "Version"), FIELD(array_job, is_early, 0, .doc = "Its time has not come"),
    FIELD(array_job, is_bound, 0, .doc = "It waits for other jobs"));
static const struct stmt act_jobs = { .name = "array_act_jobs", .params = "uui", .row = &array_job_schema, .card = CARD_MANY,
    .sql =
    "SELECT j.job_id, j.state, j.reason, j.version, coalesce(j.not_before > clock_timestamp(), false) AS is_early,\n"
    "       coalesce(j.not_before = 'infinity', false) AS is_bound\n"
    "  FROM job j WHERE j.tenant_id = $1 AND j.ended IS NULL AND j.job_id = ANY (ARRAY(\n"
    "       SELECT t.job_id FROM array_task t WHERE t.tenant_id = $1 AND t.array_id = $2 AND t.live))\n"
    " ORDER BY j.job_id LIMIT $3 FOR NO KEY UPDATE" };
static const struct stmt act_ask_cancel = { .name = "array_act_ask_cancel", .params = "uU", .card = CARD_NONE, .sql =
    "UPDATE job SET cancel_requested = true WHERE tenant_id = $1 AND job_id = ANY ($2)" };
static const struct stmt act_ask_suspend = { .name = "array_act_ask_suspend", .params = "uUb", .card = CARD_NONE, .sql =
    "UPDATE job SET suspend_requested = $3, suspend_why = '' WHERE tenant_id = $1 AND job_id = ANY ($2)\n"
    "   AND suspend_requested <> $3 AND NOT cancel_requested" };
struct holder { struct uuid node_id; };
SCHEMA_OF(holder, "A machine that runs one", FIELD(holder, node_id, 0, .doc = "The machine"));
static const struct stmt act_holders = { .name = "array_act_holders", .params = "uUi", .row = &holder_schema, .card = CARD_MANY,
    .sql =
    "SELECT DISTINCT node_id FROM machine_hold WHERE tenant_id = $1 AND job_id = ANY ($2) LIMIT $3" };

const struct stmt *const array_act_stmts[] = { &act_lock, &act_pause, &act_cancel, &act_retry, &act_jobs, &act_ask_cancel,
                                               &act_ask_suspend, &act_holders, NULL };

static const struct act_row {
    const char *verb, *paused;          /* paused: what the array's row says afterwards; NULL: see act_on_row */
    int from;                           /* enum job_state of the jobs that move; -1: all that wait */
    enum job_event_kind event;
    enum job_reason held_by, why;       /* held_by: only jobs with this reason (NONE: any);
    why: their reason then (NONE: as they stand) */
    const char *says;
    enum audit_code audit;
    enum { ASK_NOTHING, ASK_CANCEL, ASK_SUSPEND, ASK_RESUME } ask;     /* of jobs that a machine has */
} acts[ARRAY_ACT_COUNT] = {
    [ARRAY_CANCEL] = { "cancelled", NULL, -1, JE_CANCEL, JR_NONE, JR_NONE, "Cancelled before it started", AUDIT_JOB_CANCEL,
        ASK_CANCEL },
    [ARRAY_HOLD] = { "held", "HELD", JOB_PENDING, JE_HOLD, JR_NONE, JR_HELD_BY_USER, "Held back by a person until it is released",
                     AUDIT_JOB_HOLD, ASK_NOTHING },
    [ARRAY_RELEASE] = { "released", "", JOB_HELD, JE_UNHOLD, JR_HELD_BY_USER, JR_NONE, "", AUDIT_JOB_HOLD, ASK_NOTHING },
    [ARRAY_SUSPEND] = { "suspended", "SUSPENDED", JOB_PENDING, JE_SUSPEND, JR_NONE, JR_SUSPENDED, JOB_SUSPENDED_SAYS,
        AUDIT_JOB_SUSPEND,
                        ASK_SUSPEND },
    [ARRAY_RESUME] = { "resumed", "", JOB_SUSPENDED, JE_RESUME, JR_SUSPENDED, JR_NONE, "", AUDIT_JOB_SUSPEND, ASK_RESUME },
};

static bool moves(const struct act_row *r, const struct array_job *j)
{
    return r->from < 0 ? job_state_waits((enum job_state)j->state)
                       : j->state == r->from && (r->held_by == JR_NONE || str_eq_c(j->reason, job_reason_names[r->held_by]));
}

static enum errc move(struct work *w, const struct act_row *r, const struct array_job *const *j, size_t n, struct err *e)
{
    struct audit_rows rows;
    struct slice moved = { 0 };
    struct audit_event *evs = ARENA_ARRAY(w->arena, struct audit_event, n);
    struct job_move *m = ARENA_ARRAY(w->arena, struct job_move, n);
    struct booking *b = booking_new(w->arena, n);
    for (size_t i = 0; i < n; i++) {
        evs[i] = audit_event_by(w, w->principal, r->audit);
        evs[i].tenant_id = w->tenant_id;
        evs[i].resource_kind = STR("job");
        evs[i].resource_prefix = "job";
        evs[i].resource_id = j[i]->job_id;
        evs[i].rule = STR("array");
    }
    TRY(audit_encode_many(w->arena, evs, n, &rows, e));
    for (size_t i = 0; i < n; i++) {
        const struct stand s = { .is_early = j[i]->is_early, .is_bound = j[i]->is_bound };
        const enum job_reason why = r->event == JE_CANCEL ? JR_NONE : r->why != JR_NONE ? r->why : job_stand_reason(&s);
        m[i] = (struct job_move){ .tenant_id = w->tenant_id, .job_id = j[i]->job_id, .event = r->event, .version = j[i]->version,
                                  .fence = JOB_ANY_FENCE, .reason = str_c(job_reason_names[why]), .message = str_c(r->says),
                                  .audit_id = rows.event_ids[i], .audit_body = rows.bodies[i] };
        if (r->event == JE_CANCEL)
            booking_add(b, w->tenant_id);
    }
    TRY(job_apply(w->tx, m, n, &moved, e));
    if (moved.n != n)
        return FAIL(e, INTERNAL, "of %zu jobs under lock %zu were moved", n, moved.n);
    booking_write(w->tx, b);
    return ERR_OK;
}

struct wakes { struct redis_client *redis; const struct holder *nodes; size_t n; };

static void wake_all(void *ctx)
{
    const struct wakes *k = ctx;
    char channel[sizeof WAKE_NODE_PREFIX + UUID_HEX] = WAKE_NODE_PREFIX;
    for (size_t i = 0; i < k->n; i++) {
        hex_encode(k->nodes[i].node_id.b, 16, channel + sizeof WAKE_NODE_PREFIX - 1);
        wake_publish(k->redis, str_c(channel), STR("1"));
    }
    wake_publish(k->redis, STR(WAKE_SCHEDULER), STR("1"));
}

/* Jobs that a machine has; the machines look at once instead of with their next report. */
static enum errc ask(struct work *w, const struct act_row *r, const struct uuid *ids, size_t n, struct err *e)
{
    struct wakes *k = ARENA_NEW(w->arena, struct wakes);
    struct slice nodes = { 0 };
    k->redis = w->app->redis;
    if (n && r->ask == ASK_CANCEL) {
        TRY(db_exec(w->tx, &act_ask_cancel, ARGS(A_UUID(w->tenant_id), A_UUIDS(ids, n)), NULL, e));
        TRY(db_many(w->tx, &act_holders, ARGS(A_UUID(w->tenant_id), A_UUIDS(ids, n), A_I64(ARRAY_MOST_MAX)), &nodes,
                    ARRAY_MOST_MAX, e));
        k->nodes = nodes.items;
        k->n = nodes.n;
    } else if (n && r->ask != ASK_NOTHING) {
        TRY(db_exec(w->tx, &act_ask_suspend, ARGS(A_UUID(w->tenant_id), A_UUIDS(ids, n), A_BOOL(r->ask == ASK_SUSPEND)), NULL,
                    e));
    }
    db_after_commit(w->tx, wake_all, k);
    return ERR_OK;
}

static enum errc tell_jobs(struct work *w, struct uuid array_id, const struct act_row *r, struct err *e)
{
    struct slice jobs = { 0 };
    size_t n = 0, k = 0;
    TRY(db_many(w->tx, &act_jobs, ARGS(A_UUID(w->tenant_id), A_UUID(array_id), A_I64(ARRAY_MOST_MAX)), &jobs, ARRAY_MOST_MAX, e));
    const struct array_job *j = jobs.items, **some = ARENA_ARRAY(w->arena, const struct array_job *, jobs.n + 1);
    struct uuid *away = ARENA_ARRAY(w->arena, struct uuid, jobs.n + 1);
    for (size_t i = 0; i < jobs.n; i++)
        if (moves(r, &j[i]))
            some[n++] = &j[i];
        else if (!job_state_waits((enum job_state)j[i].state))
            away[k++] = j[i].job_id;
    if (n)
        TRY(move(w, r, some, n, e));
    return ask(w, r, away, k, e);
}

/* The array's own row, under lock. *ret_done: it stands so already. */
static enum errc act_on_row(struct work *w, struct uuid array_id, enum array_act act, const struct locked *l, bool *ret_done,
                            struct err *e)
{
    const struct act_row *r = &acts[act];
    struct retried again;
    *ret_done = false;
    if (act == ARRAY_RETRY) {
        bool found;
        TRY(db_maybe(w->tx, &act_retry, ARGS(A_UUID(w->tenant_id), A_UUID(array_id)), &again, &found, e));
        return found ? ERR_OK : FAIL(e, CONFLICT, "No task of the array has ended in another way than COMPLETED");
    }
    if (act == ARRAY_CANCEL && l->is_cancelled) {
        *ret_done = true;
        return ERR_OK;
    }
    if (l->is_ended || l->is_cancelled)
        return FAIL(e, CONFLICT, l->is_cancelled ? "The array was cancelled" : "All tasks of the array have ended");
    if (act == ARRAY_CANCEL)
        return db_exec(w->tx, &act_cancel, ARGS(A_UUID(w->tenant_id), A_UUID(array_id)), NULL, e);
    const char *other = act == ARRAY_HOLD || act == ARRAY_RELEASE ? "SUSPENDED" : "HELD";
    if (str_eq_c(l->paused, other))
        return FAIL(e, CONFLICT, "The array is %s: %s it first", other, *other == 'H' ? "release" : "resume");
    *ret_done = str_eq_c(l->paused, r->paused);
    return *ret_done ? ERR_OK : db_exec(w->tx, &act_pause, ARGS(A_UUID(w->tenant_id), A_UUID(array_id), A_TEXT(r->paused)), NULL,
                                        e);
}

enum errc array_act(struct work *w, struct uuid array_id, enum array_act act, struct job_array *ret, struct err *e)
{
    struct locked l;
    bool is_done;
    TRY(db_one(w->tx, &act_lock, ARGS(A_UUID(w->tenant_id), A_UUID(array_id)), &l, e));
    TRY(act_on_row(w, array_id, act, &l, &is_done, e));
    if (!is_done && act != ARRAY_RETRY)
        TRY(tell_jobs(w, array_id, &acts[act], e));
    return job_array_get(w, array_id, ret, e);
}
