/* SPDX-License-Identifier: Apache-2.0 */
/* job_hold.h - a person holds a waiting job back, and lets it go again.
 *
 * HELD with the reason HeldByUser; a job that its budget holds (duty/budget_watch.h) is let go by the budget alone. What is
 * held keeps its place by age, its time to begin and its deadline. Both are idempotent. In the tenant's transaction; locks
 * the job's row. Errors: NOT_FOUND, CONFLICT. */
#pragma once
#include "scheduler/jobs/job.h"

/* CONFLICT where a machine has it, it has ended, or its budget holds it. */
enum errc job_hold(struct work *w, struct uuid job_id, struct job *ret, struct err *e) MUST_CHECK;
enum errc job_release(struct work *w, struct uuid job_id, struct job *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const job_hold_stmts[];
