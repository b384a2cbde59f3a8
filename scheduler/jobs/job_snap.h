/* SPDX-License-Identifier: Apache-2.0 */
/* job_snap.h - a job as a plan sees it, for questions about one job: whether a machine could hold it, why it waits. */
#pragma once
#include "scheduler/jobs/job.h"
#include "scheduler/plan/snapshot.h"

/* What it asks for; where the judge of residency lets it be is not filled. Texts are borrowed. */
static inline struct snap_job job_snap(const struct job *j)
{
    return (struct snap_job){ .tenant_id = j->tenant_id, .job_id = j->job_id, .zone = j->zone, .pool = j->pool, .slots = j->slots,
                              .gpus = j->gpus, .priority = j->priority, .queue = j->queue, .project_id = j->project_id,
                              .cpu_milli = j->cpu_milli, .memory_bytes = j->memory_bytes, .gpu_milli = j->gpu_milli,
                              .gpu_models = j->gpu_models, .engine = j->engine, .nodes = j->nodes,
                              .nodes_max = j->nodes_max,
                              .max_runtime_s = job_stays(j->kind) ? 0 : j->max_runtime_s,
                              .needs_programs = (job_types[j->kind].traits & JT_PROGRAMS) != 0 };
}
