/* SPDX-License-Identifier: Apache-2.0 */
/* array_act.h - what a person tells a whole array: its jobs hear it as if each had been told alone, and no further task starts.
 *
 *     cancel   no task starts any more; jobs that wait end at once, others are asked to stop
 *     hold     no task starts, and jobs that wait are held back; release takes it back
 *     suspend  no task starts, jobs that wait are put aside, those that run are asked to go; resume takes it back
 *     retry    tasks that ended and are not COMPLETED run once more, each as a new job, and a cancelled array goes on
 * Jobs that stand where the act cannot reach them stay as they are. All but retry are idempotent. In the tenant's transaction;
 * locks the array's row and then, by their ids, its live jobs, which are at most ARRAY_MOST_MAX. Each job that moves has its own
 * audit event. Memory: w->arena. Errors: NOT_FOUND, CONFLICT with the reason. */
#pragma once
#include "scheduler/jobs/job_array.h"

enum array_act { ARRAY_CANCEL, ARRAY_HOLD, ARRAY_RELEASE, ARRAY_SUSPEND, ARRAY_RESUME, ARRAY_RETRY, ARRAY_ACT_COUNT };

enum errc array_act(struct work *w, struct uuid array_id, enum array_act act, struct job_array *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const array_act_stmts[];
