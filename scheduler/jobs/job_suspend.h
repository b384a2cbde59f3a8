/* SPDX-License-Identifier: Apache-2.0 */
/* job_suspend.h - a person puts a job aside, and lets it go on.
 *
 * SUSPENDED with the reason Suspended: no machine has it, it holds no slot, and counts as a job of the tenant. One that waits
 * is put aside at once. One that a machine has is asked to (suspend_requested): the leader sends it away as preemption does
 * (scheduler/evict.h), with the grace of its class for a checkpoint, and it is SUSPENDED when its attempt has ended, in
 * whatever way would have brought it back to the queue; an end that is one ends it. Resumed, it waits for its turn in its old
 * place by age, and goes on from its newest checkpoint; what was only asked for is taken back. Both are idempotent. In the
 * tenant's transaction; locks the job's row. Errors: NOT_FOUND, CONFLICT. */
#pragma once
#include "scheduler/jobs/job.h"

#define JOB_SUSPENDED_SAYS "Put aside by a person until it is resumed"
#define JOB_IDLE_SAYS "Put aside by the organisation's idle rule until it is resumed"

/* CONFLICT where it has ended, is held back, is being cancelled, or is a deployment's. */
enum errc job_suspend(struct work *w, struct uuid job_id, struct job *ret, struct err *e) MUST_CHECK;
/* CONFLICT where it has ended. A job that nobody put aside stays as it is. */
enum errc job_resume(struct work *w, struct uuid job_id, struct job *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const job_suspend_stmts[];
