/* SPDX-License-Identifier: Apache-2.0 */
/* job_queue.c - rows of the table queue, each changed under the planners' lock. */
#include "scheduler/jobs/job_queue.h"
#include "core/base/nearest.h"
#include "core/db/tx.h"
#include "scheduler/plan/rulebook.h"
#include "tenants/access/principal.h"
#include "tenants/accounts/quota_rule.h"
#include "tenants/home/project.h"

SCHEMA_EXTERN(job_queue, "A queue as the tenant declared it",
    FIELD_ID(job_queue, queue_id, "que", F_ALWAYS, .doc = "The queue"),
    FIELD_ID(job_queue, project_id, "prj", 0, .doc = "Whose jobs; absent: those of no project"),
    FIELD(job_queue, name, F_ALWAYS, .doc = "Its name, as jobs say it"),
    FIELD_ENUM(job_queue, mode, F_ALWAYS, queue_mode_names,
               .doc = "StrictFIFO: a job that finds no place holds up those behind it; BestEffortFIFO: it does not"),
    FIELD_ENUM(job_queue, stop_policy, F_ALWAYS, queue_stop_names,
               .doc = "None: it goes; Hold: no job starts; HoldAndDrain: and those that run go back to the queue"),
    FIELD_ENUM(job_queue, within_cluster_queue, F_ALWAYS, queue_within_names, .doc = "Which of its own running jobs make room"),
    FIELD_ENUM(job_queue, reclaim_within_cohort, F_ALWAYS, queue_reclaim_names,
               .doc = "Which running jobs of those who borrow make room when it is owed its own"),
    FIELD(job_queue, slot_usage, F_ALWAYS, .doc = "Slot seconds used, halved every seven days"),
    FIELD(job_queue, gpu_usage, F_ALWAYS, .doc = "GPU seconds used, halved every seven days"),
    FIELD(job_queue, version, F_ALWAYS, .doc = "Grows with every change"),
    FIELD(job_queue, created_at, F_ALWAYS, .doc = "When it was declared"));

static const struct stmt queue_lock = { .name = "queue_lock", .params = "", .card = CARD_NONE, .sql =
    "SELECT pg_advisory_xact_lock(4630123712)" };       /* plan_apply's */
static const struct stmt queue_insert = { .name = "queue_insert", .params = "uuusssssui", .row = &job_queue_schema,
    .card = CARD_MAYBE,
    .sql =
    "INSERT INTO queue (tenant_id, queue_id, project_id, name, mode, stop_policy, within_cluster_queue, reclaim_within_cohort,\n"
    "                   created_by)\n"
    "SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9 WHERE (SELECT count(*) FROM queue WHERE tenant_id = $1) < $10\n"
    "RETURNING " ROW_COLUMNS };
static const struct stmt queue_update = { .name = "queue_update", .params = "uussssi", .row = &job_queue_schema,
    .card = CARD_MAYBE,
    .sql =
    "UPDATE queue SET mode = coalesce($3, mode), stop_policy = coalesce($4, stop_policy),\n"
    "       within_cluster_queue = coalesce($5, within_cluster_queue),\n"
    "       reclaim_within_cohort = coalesce($6, reclaim_within_cohort), version = version + 1\n"
    " WHERE tenant_id = $1 AND queue_id = $2 AND ($7 < 0 OR version = $7)\n"
    "RETURNING " ROW_COLUMNS };
static const struct stmt queue_delete = { .name = "queue_delete", .params = "uui", .card = CARD_NONE, .sql =
    "DELETE FROM queue WHERE tenant_id = $1 AND queue_id = $2 AND ($3 < 0 OR version = $3)" };
static const struct stmt queue_get = { .name = "queue_get", .params = "uu", .row = &job_queue_schema, .card = CARD_ONE, .sql =
    "SELECT " ROW_COLUMNS " FROM queue WHERE tenant_id = $1 AND queue_id = $2" };
static const struct stmt queue_list = { .name = "queue_list", .params = "uui", .row = &job_queue_schema, .card = CARD_MANY, .sql =
    "SELECT " ROW_COLUMNS " FROM queue WHERE tenant_id = $1 AND ($2::uuid IS NULL OR queue_id < $2)\n"
    " ORDER BY queue_id DESC LIMIT $3" };

struct queue_name { struct str name; };
SCHEMA_OF(queue_name, "A declared queue", FIELD(queue_name, name, 0, .doc = "Its name"));
static const struct stmt queue_names = { .name = "queue_names", .params = "ui", .row = &queue_name_schema, .card = CARD_MANY,
    .sql =
    "SELECT DISTINCT name FROM queue WHERE tenant_id = $1 ORDER BY 1 LIMIT $2" };

const struct stmt *const job_queue_stmts[] = { &queue_lock, &queue_insert, &queue_update, &queue_delete, &queue_get,
    &queue_list, &queue_names, NULL };

enum errc job_queue_create(struct work *w, const struct job_queue *in, struct job_queue *ret, struct err *e)
{
    bool found = false;
    struct uuid project;
    TRY(project_for_new(w, w->tx, in->project_id, &project, e));
    db_queue(w->tx, &queue_lock, NO_ARGS, false);
    enum errc rc = db_maybe(w->tx, &queue_insert, ARGS(A_UUID(w->tenant_id), A_UUID(uuid_v7(w->now_us)), A_UUID_OR_NULL(project),
                 A_STR(in->name), A_STR(str_c(queue_mode_names[in->mode])), A_STR(str_c(queue_stop_names[in->stop_policy])),
                 A_STR(str_c(queue_within_names[in->within_cluster_queue])),
                 A_STR(str_c(queue_reclaim_names[in->reclaim_within_cohort])), A_UUID(w->principal->user_id), A_I64(QUEUES_MAX)),
                 ret, &found, e);
    if (rc == ERR_EXISTS)
        return FAIL_AT(e, EXISTS, "/name", "Queue %.*s is declared already", STR_ARG(in->name));
    TRY(rc);
    return found ? ERR_OK : FAIL(e, LIMIT, "The tenant has %d queues already; remove one first", QUEUES_MAX);
}

/* Why a change touched no row. */
static enum errc not_changed(struct work *w, struct uuid queue_id, struct err *e)
{
    struct job_queue q;
    TRY(job_queue_get(w, queue_id, &q, e));
    return FAIL(e, PRECONDITION, "The queue has changed since it was read (version %ld)", (long)q.version);
}

static struct arg word(bool has, const char *const *names, int n)
{
    return has ? A_STR(str_c(names[n])) : A_NULL('s');
}

enum errc job_queue_set(struct work *w, struct uuid queue_id, const struct job_queue_change *c, int64_t expected_version,
                        struct job_queue *ret, struct err *e)
{
    bool found = false;
    db_queue(w->tx, &queue_lock, NO_ARGS, false);
    TRY(db_maybe(w->tx, &queue_update, ARGS(A_UUID(w->tenant_id), A_UUID(queue_id), word(c->has_mode, queue_mode_names, c->mode),
                 word(c->has_stop_policy, queue_stop_names, c->stop_policy),
                 word(c->has_within_cluster_queue, queue_within_names, c->within_cluster_queue),
                 word(c->has_reclaim_within_cohort, queue_reclaim_names, c->reclaim_within_cohort), A_I64(expected_version)),
                 ret, &found, e));
    return found ? ERR_OK : not_changed(w, queue_id, e);
}

enum errc job_queue_delete(struct work *w, struct uuid queue_id, int64_t expected_version, struct err *e)
{
    int64_t n = 0;
    db_queue(w->tx, &queue_lock, NO_ARGS, false);
    TRY(db_exec(w->tx, &queue_delete, ARGS(A_UUID(w->tenant_id), A_UUID(queue_id), A_I64(expected_version)), &n, e));
    return n ? ERR_OK : not_changed(w, queue_id, e);
}

enum errc job_queue_get(struct work *w, struct uuid queue_id, struct job_queue *ret, struct err *e)
{
    return db_one(w->tx, &queue_get, ARGS(A_UUID(w->tenant_id), A_UUID(queue_id)), ret, e);
}

enum errc job_queue_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &queue_list, ARGS(A_UUID(w->tenant_id), A_UUID_OR_NULL(position), A_I64(limit)), ret, (size_t)limit, e);
}

/* ret: struct str, those that the caller may see. */
static enum errc seen_queues(struct work *w, struct slice *ret, struct err *e)
{
    struct slice declared = { 0 }, ruled;
    TRY(db_many(w->tx, &queue_names, ARGS(A_UUID(w->tenant_id), A_I64(QUEUES_MAX)), &declared, QUEUES_MAX, e));
    TRY(quota_rule_queues(w, QUEUES_MAX, &ruled, e));
    struct str *all = ARENA_ARRAY(w->arena, struct str, declared.n + ruled.n + 1);
    for (size_t i = 0; i < declared.n; i++)
        all[i] = ((const struct queue_name *)declared.items)[i].name;
    for (size_t i = 0; i < ruled.n; i++)
        all[declared.n + i] = ((const struct rule_queue_name *)ruled.items)[i].name;
    *ret = (struct slice){ all, declared.n + ruled.n };
    return ERR_OK;
}

enum errc job_queue_refusal(struct work *w, struct str name, struct err *e)
{
    struct slice seen;
    TRY(seen_queues(w, &seen, e));
    struct str near = nearest_of(name, seen.items, seen.n);
    if (!near.ptr)
        near = nearest_of(name, &(const struct str){ "default", 7 }, 1);
    if (near.ptr)
        return FAIL_AT(e, UNPROCESSABLE, "/queue", "There is no queue %.*s; did you mean %.*s?", STR_ARG(name), STR_ARG(near));
    return FAIL_AT(e, UNPROCESSABLE, "/queue",
                   "There is no queue %.*s: declare it, give it a quota rule, or leave it out for default", STR_ARG(name));
}
