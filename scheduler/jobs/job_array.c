/* SPDX-License-Identifier: Apache-2.0 */
/* job_array.c - rows of job_array, and the tasks of one. Each count is of the row itself,
    so that a list of large arrays reads no tasks. */
#include "scheduler/jobs/job_array.h"
#include "core/db/tx.h"
#include "scheduler/jobs/array_template.h"

SCHEMA_EXTERN(job_array, "An array of jobs and how far it is",
    FIELD_ID(job_array, array_id, "arr", F_ALWAYS, .doc = "The array"),
    FIELD_ID(job_array, project_id, "prj", 0, .doc = "Project it belongs to; absent: the tenant as a whole"),
    FIELD(job_array, name, F_ALWAYS, .doc = "Its name; a task's is this with its index in brackets"),
    FIELD(job_array, tasks, F_ALWAYS, .doc = "Its indexes and how many run at once, as they were asked for"),
    FIELD(job_array, state, F_ALWAYS, .doc = "OPEN; HELD, SUSPENDED: no further task starts until it is released or resumed; "
                                             "CANCELLED: none "
          "starts any more; ENDED: all have ended"),
    FIELD(job_array, total, F_ALWAYS, .doc = "Tasks"), FIELD(job_array, most, F_ALWAYS,
                                                             .doc = "Tasks that are jobs at once, at most"),
    FIELD(job_array, waiting, F_ALWAYS, .doc = "Tasks that have not become a job"),
    FIELD(job_array, live, F_ALWAYS, .doc = "Tasks whose job waits or runs"),
    FIELD(job_array, completed, F_ALWAYS, .doc = "Tasks whose job is COMPLETED"),
    FIELD(job_array, failed, F_ALWAYS, .doc = "Tasks whose job ended in any other way"),
    FIELD(job_array, again, F_ALWAYS, .doc = "Failed tasks that are to run once more, and have not become a job again"),
    FIELD(job_array, message, 0, .doc = "Why no task started when last one could have"),
    FIELD(job_array, version, F_ALWAYS, .doc = "Grows with what a person does to it"),
    FIELD_ID(job_array, created_by, "usr", F_ALWAYS, .doc = "Who submitted it"),
    FIELD(job_array, created_at, F_ALWAYS, .doc = "When"), FIELD(job_array, ended_at, 0, .doc = "When its last job ended"));
SCHEMA_EXTERN(array_task, "A task that has become a job",
    FIELD(array_task, index, F_ALWAYS, .doc = "Its index"),
    FIELD(array_task, tries, F_ALWAYS, .doc = "How many jobs it has become: more than one where the array was told to try again"),
    FIELD_ID(array_task, job_id, "job", F_ALWAYS, .doc = "The newest of them"),
    FIELD_ENUM(array_task, state, F_ALWAYS, job_state_names, .doc = "Where that is in its life"),
    FIELD(array_task, started_at, 0, .doc = "When its newest attempt began to run"),
    FIELD(array_task, finished_at, 0, .doc = "When it ended"));
SCHEMA_EXTERN(array_count, "How many tasks stand in a state",
    FIELD_ENUM(array_count, state, F_ALWAYS, job_state_names, .doc = "The state of their jobs"),
    FIELD(array_count, count, F_ALWAYS, .doc = "Tasks"));

static const struct stmt array_insert = { .name = "job_array_insert", .params = "uuussiiiijui", .card = CARD_NONE, .sql =
    "INSERT INTO job_array (tenant_id, array_id, project_id, name, tasks, first_index, step, total, most, template, created_by)\n"
    "SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11\n"
    " WHERE (SELECT count(*) FROM job_array WHERE tenant_id = $1 AND ended_at IS NULL) < $12" };
#define SHOWN "(SELECT tenant_id, array_id, project_id, name, tasks, total, most, completed, failed, again, message, version, " \
              "created_by,\n" \
    "        created_at, ended_at, total - started AS waiting, started - completed - failed - again AS live,\n" \
    "        CASE WHEN cancelled_at IS NOT NULL THEN 'CANCELLED' WHEN ended_at IS NOT NULL THEN 'ENDED' WHEN paused <> '' THEN " \
    "paused\n" \
    "             ELSE 'OPEN' END AS state FROM job_array) a"
static const struct stmt array_get = { .name = "job_array_get", .params = "uu", .row = &job_array_schema, .card = CARD_ONE, .sql =
    "SELECT " ROW_COLUMNS " FROM " SHOWN " WHERE tenant_id = $1 AND array_id = $2" };
static const struct stmt array_list = { .name = "job_array_list", .params = "uui", .row = &job_array_schema, .card = CARD_MANY,
    .sql =
    "SELECT " ROW_COLUMNS " FROM " SHOWN " WHERE tenant_id = $1 AND ($2::uuid IS NULL OR array_id < $2)\n"
    " ORDER BY array_id DESC LIMIT $3" };
static const struct stmt array_tasks = { .name = "job_array_tasks", .params = "uusii", .row = &array_task_schema,
    .card = CARD_MANY, .sql =
    "SELECT t.task_index AS index, t.try AS tries, t.job_id, j.state, j.started_at, j.finished_at\n"
    "  FROM array_task t JOIN job j ON j.tenant_id = t.tenant_id AND j.job_id = t.job_id\n"
    " WHERE t.tenant_id = $1 AND t.array_id = $2 AND t.newest AND ($3::text IS NULL OR j.state = $3) AND t.task_index > $4\n"
    " ORDER BY t.task_index LIMIT $5" };
static const struct stmt array_counts = { .name = "job_array_counts", .params = "uui", .row = &array_count_schema,
    .card = CARD_MANY, .sql =
    "SELECT j.state, count(*) AS count FROM array_task t JOIN job j ON j.tenant_id = t.tenant_id AND j.job_id = t.job_id\n"
    " WHERE t.tenant_id = $1 AND t.array_id = $2 AND t.newest GROUP BY j.state ORDER BY j.state LIMIT $3" };

const struct stmt *const job_array_stmts[] = { &array_insert, &array_get, &array_list, &array_tasks, &array_counts, NULL };

/* The longest index stands for all: what it allows, all others do. */
static enum errc check(struct work *w, const struct array_range *r, const struct job *j, struct err *e)
{
    struct str spec;
    if (j->name.len > ARRAY_NAME_MAX)
        return FAIL_AT(e, UNPROCESSABLE, "/job/name", "The name of an array has at most %d bytes, to which each task adds its "
                                                      "index; "
                       "%zu came", ARRAY_NAME_MAX, j->name.len);
    if (array_task_spec(j->kind, j->spec.text, array_index(r, r->total - 1), w->arena, &spec, e) == ERR_OK)
        return ERR_OK;
    char below[sizeof e->field];
    memcpy(below, e->field, sizeof below);
    return err_field(e, "/job/spec%.80s", below);
}

enum errc job_array_create(struct work *w, struct str tasks, const struct job_submission *s, struct job_array *ret, struct err *e)
{
    const struct job *j = &s->job;
    struct array_range r;
    int64_t n = 0;
    if (array_range_of(tasks, &r, e) != ERR_OK)
        return err_field(e, "/array");
    TRY(check(w, &r, j, e));
    TRY(db_exec(w->tx, &array_insert, ARGS(A_UUID(w->tenant_id), A_UUID(j->job_id), A_UUID_OR_NULL(j->project_id), A_STR(j->name),
                A_STR(tasks), A_I64(r.first), A_I64(r.step), A_I64(r.total), A_I64(r.most), A_JSON(array_template_text(s,
                    w->arena)),
                A_UUID(j->created_by), A_I64(ARRAYS_MAX)), &n, e));
    if (!n)
        return FAIL(e, LIMIT, "The tenant has %d arrays already that have not ended", ARRAYS_MAX);
    return job_array_get(w, j->job_id, ret, e);
}

enum errc job_array_get(struct work *w, struct uuid array_id, struct job_array *ret, struct err *e)
{
    return db_one(w->tx, &array_get, ARGS(A_UUID(w->tenant_id), A_UUID(array_id)), ret, e);
}

enum errc job_array_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &array_list, ARGS(A_UUID(w->tenant_id), A_UUID_OR_NULL(position), A_I64(limit)), ret, (size_t)limit, e);
}

enum errc job_array_tasks(struct work *w, struct uuid array_id, int state, int64_t after, int64_t limit, struct slice *ret,
                          struct err *e)
{
    return db_many(w->tx, &array_tasks, ARGS(A_UUID(w->tenant_id), A_UUID(array_id), state < 0 ? A_NULL('s')
                                             : A_TEXT(job_state_names[state]),
                   A_I64(after), A_I64(limit)), ret, (size_t)limit, e);
}

enum errc job_array_counts(struct work *w, struct uuid array_id, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &array_counts, ARGS(A_UUID(w->tenant_id), A_UUID(array_id), A_I64(JOB_STATE_COUNT)), ret,
                   JOB_STATE_COUNT, e);
}
