/* SPDX-License-Identifier: Apache-2.0 */
/* explain.h - how many machines each constraint of one job leaves, what the nearest one lacks, and which
 * quota stands before it.
 *
 * Constraints stand in one order and each counts the machines that it and all before it leave: zone and pool, what a machine
 * has at all (steps named as the job's fields: kind, engine, gpu_models, gpu_milli, gpus, slots, cpu_milli,
 * memory_bytes), what it has free now (free_…), that no window keeps it (reserved), that as many of one kind do (nodes; of a
 * job on several machines), the rules of quota_rule, the tenant's quota. What keeps a job back wherever it would go leaves none.
 * A constraint that the job has not is no step. The last step says how many machines could start it now. The same rules as
 * the planner's (sight.h, miss.h, rulebook.h), so a job whose last step leaves a machine is placed by a plan of that job
 * alone.
 * Pure; after snapshot_fill. Memory from the arena. */
#pragma once
#include "scheduler/plan/miss.h"

enum { EXPLAIN_GATES = 3, EXPLAIN_STEPS = 2 * MISS_COUNT + 6 + EXPLAIN_GATES };

struct explain_step {
    struct str constraint;
    int64_t machines;                   /* that are left */
    struct str detail;                  /* of the constraint behind which none is left, and of gates; where there are words */
};

struct explain {
    struct explain_step steps[EXPLAIN_STEPS];
    size_t n;
    bool has_nearest, is_never;         /* is_never: no machine could hold it when nothing runs there */
    struct miss nearest;                /* of the job's zones and pool; has_nearest: every one lacks something */
    struct str lacks;                   /* its words */
};

/* alike: how many machines each node of the snapshot stands for. */
void explain_job(const struct snapshot *s, const int64_t *alike, const struct snap_tenant *t, const struct snap_job *j,
                 struct arena *a, struct explain *ret);
/* What keeps the job back wherever it would go, as one more step; at most EXPLAIN_GATES of them. */
void explain_gate(struct explain *x, struct str constraint, struct str detail);
