/* SPDX-License-Identifier: Apache-2.0 */
/* jobs_int.h - what the route files of jobs share. */
#pragma once
#include "core/base/work.h"
#include "scheduler/job.h"

/* Wakes whoever watches the job, and the scheduler, once the transaction has committed. */
void jobs_wake_after_commit(struct work *w, struct uuid job_id);
/* Copies the texts of a job into another arena. */
void jobs_copy(struct job *j, struct arena *a);
