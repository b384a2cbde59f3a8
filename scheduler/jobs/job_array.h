/* SPDX-License-Identifier: Apache-2.0 */
/* job_array.h - arrays of jobs: up to 10,000 tasks of one submission, at most %MOST of them jobs at once.
 *
 * An array is one row. A task has no row until the leader makes a job of it (scheduler/duty/arrays.h), through the statement
 * that stores every submission: so quota, budgets, inputs, residency and the log treat it as any other job, and a task that
 * waits counts as no job. A task is in exactly one of: not started (total - started), live, completed, failed (ended in any
 * other way), again. Locks: the array's row before the rows of its jobs. In the tenant's transaction; what a whole array is told
 * to do: array_act.h. Memory: w->arena. Errors: NOT_FOUND, UNPROCESSABLE with the place, LIMIT, CONFLICT. */
#pragma once
#include "scheduler/jobs/array_tasks.h"
#include "scheduler/jobs/job.h"

enum { ARRAYS_MAX = 1000 };             /* of a tenant, that have not ended */

struct job_array {
    struct uuid array_id, project_id;   /* project nil: of the tenant as a whole */
    struct str name, tasks;
    struct str state;                   /* OPEN, HELD, SUSPENDED, CANCELLED (no further task starts), ENDED */
    int64_t total, most, waiting, live, completed, failed, again;   /* waiting: not started */
    struct str message;                 /* why no task started at the last look; empty: none was refused */
    int64_t version;
    struct uuid created_by;
    struct timestamp created_at, ended_at;
};
extern const struct schema job_array_schema;

struct array_task {
    int64_t index, tries;
    struct uuid job_id;                 /* of the newest try */
    int state;                          /* of that job: enum job_state */
    struct timestamp started_at, finished_at;
};
extern const struct schema array_task_schema;

/* tasks: as array_range_of reads them. s: filled by submit_prepare for the job that each task becomes; its job_id becomes the
 * array's. Refused at /array, /job/name and below /job/spec. */
enum errc job_array_create(struct work *w, struct str tasks, const struct job_submission *s, struct job_array *ret,
                           struct err *e) MUST_CHECK;
enum errc job_array_get(struct work *w, struct uuid array_id, struct job_array *ret, struct err *e) MUST_CHECK;
/* Newest first, behind `position`; nil: from the start. */
enum errc job_array_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;
/* Tasks that have become jobs, by index, behind `after` (-1: from the start); state -1: all. ret: struct array_task. */
enum errc job_array_tasks(struct work *w, struct uuid array_id, int state, int64_t after, int64_t limit, struct slice *ret,
                          struct err *e) MUST_CHECK;
/* How many of its newest tries stand in each state, for states with any. */
struct array_count { int state; int64_t count; };
extern const struct schema array_count_schema;
enum errc job_array_counts(struct work *w, struct uuid array_id, struct slice *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const job_array_stmts[];
