/* SPDX-License-Identifier: Apache-2.0 */
/* array_tasks.h - the tasks of an array: which indexes there are, and what the spec of one becomes.
 *
 * Syntax (after Slurm's sbatch --array): FIRST-LAST[:STEP][%MOST], or INDEX[%MOST]. "0-9999%64": ten thousand tasks, at most 64
 * of them jobs at once. At most ARRAY_TASKS_MAX tasks; indexes from 0 to ARRAY_INDEX_MAX; without %MOST at most ARRAY_MOST_MAX
 * at once. In every text of the spec "{{index}}" stands for the task's index; a spec with variables (`env`) gets
 * FALAJ_ARRAY_INDEX besides. Pure; texts live in the arena. Errors: UNPROCESSABLE (range), those of the spec's schema with their
 * pointers below the spec. */
#pragma once
#include "core/table/schema.h"

enum { ARRAY_TASKS_MAX = 10000, ARRAY_INDEX_MAX = 999999, ARRAY_MOST_MAX = 1000, ARRAY_NAME_MAX = 118 };

struct array_range {
    int64_t first, step, total, most;
};
/* Errors name no field: the caller adds it. */
enum errc array_range_of(struct str text, struct array_range *ret, struct err *e) MUST_CHECK;
static inline int64_t array_index(const struct array_range *r, int64_t nth) { return r->first + nth * r->step; }

/* spec: as it is stored, by the schema of its kind. */
enum errc array_task_spec(int kind, struct str spec, int64_t index, struct arena *a, struct str *ret, struct err *e) MUST_CHECK;
/* "sweep[17]" */
struct str array_task_name(struct str name, int64_t index, struct arena *a);
/* Holds for every name of a task, and for what a person may call a job: only who has such a name need be looked up. */
bool array_task_name_fits(struct str name);
