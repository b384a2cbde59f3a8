/* SPDX-License-Identifier: Apache-2.0 */
/* dependency.h - which jobs a job waits for, by Slurm's names (sbatch, --dependency), all of them together:
 *     after       the other one has started, or ended without
 *     afterany    it has ended, however
 *     afterok     it is COMPLETED
 *     afternotok  it has ended in any other way
 * The other one may be an array of jobs (job_array.h): it has started when its first task has, and is COMPLETED when all its
 * tasks are. Only a submission names arrays, so nothing can wait for itself by way of one.
 * A job that waits for others has the reason Dependency and is not placed. The leader's pass (duty/dependencies.h) closes what is
 * met and rejects a job of which one can never be met. Nobody waits for itself by any way: a change that would make that is
 * refused with the cycle. In the tenant's transaction; dependency_set locks the tenant's dependencies, then the job's row.
 * Memory: w->arena. Errors: INVALID with the place, CONFLICT, LIMIT, NOT_FOUND. */
#pragma once
#include "scheduler/jobs/job.h"

struct stmt;

enum { DEPENDENCIES_MAX = 64 };
enum dependency_type { DEP_AFTER, DEP_AFTERANY, DEP_AFTEROK, DEP_AFTERNOTOK, DEP_COUNT };
extern const char *const dependency_type_names[];

struct dependency {
    int type;                           /* enum dependency_type */
    struct uuid job_id, array_id;       /* the one that is waited for: either */
};
extern const struct schema dependency_schema;

/* As it is now. */
struct dependency_row {
    int type;
    struct uuid job_id, array_id;       /* one of them */
    struct str state;                   /* of that job or array */
    bool open;                          /* not met */
};
extern const struct schema dependency_row_schema;

/* Every one names a job or an array that the caller sees. */
enum errc dependency_check(struct work *w, const struct slice *list, struct err *e) MUST_CHECK;
/* ret: struct dependency_row. */
enum errc dependency_list(struct work *w, struct uuid job_id, struct slice *ret, struct err *e) MUST_CHECK;
/* These instead of those it has; none: it waits for nobody. CONFLICT where the job waits no more. */
enum errc dependency_set(struct work *w, struct uuid job_id, const struct slice *list, struct err *e) MUST_CHECK;
/* "afterok job_… (RUNNING); …" of those that are open; empty: none is. */
struct str dependency_words(const struct slice *rows, struct arena *a);

extern const struct stmt *const dependency_stmts[];
