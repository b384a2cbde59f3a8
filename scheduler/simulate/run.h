/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - a trace placed by a policy: the fleet, the scores and the workload are those of the live planner (scheduler/plan).
 *
 * As the published procedure has it: tasks come one by one in a given order, each is placed at once or has failed, none leaves.
 * Timed: a task comes at
 * its creation_time, waits until it fits (whoever came first is tried first, and what does not fit holds nobody up), runs as
 * long as it
 * ran in the trace (deletion minus scheduled time, minus creation time where it never was scheduled) and leaves; without a
 * deletion_time it stays.
 * A policy that does not learn knows the whole file beforehand, as the published simulator does.
 * The same trace, order, policy and seed give the same seats. Pure but for the clock of wall_us. */
#pragma once
#include "core/base/clock.h"
#include "scheduler/plan/fleet.h"
#include "scheduler/simulate/trace.h"

struct run_seat { uint32_t task; struct seat seat; };   /* task: index into the trace's tasks */

struct run_result {
    struct { struct run_seat *items; size_t n; } seats; /* in order of placement */
    int64_t tasks, placed, failed, wall_us;
    int64_t gpu_ppm, cpu_ppm;           /* allocated at the end, in millionths of all; timed: on average while tasks came */
    int64_t wait_s_sum, wait_s_p50, wait_s_p99, wait_s_max;         /* timed only, of those placed */
    int64_t fairness_ppm;               /* timed only: Jain's index of the mean waits, plus a minute, of the QoS classes */
};

/* Order of the tasks: those of the file shuffled by the seed, then drawn again until their GPUs are inflate_milli thousandths of
 * the
 * machines' (0: not drawn). NULL in `ret` when it would be more than TRACE_TASKS_MAX. */
uint32_t *run_shuffled(struct arena *a, const struct trace *t, uint64_t seed, int64_t inflate_milli, size_t *ret_n);

/* order NULL: as in the file. */
void run_untimed(struct arena *a, const struct trace *t, enum score_policy p, uint64_t seed, const uint32_t *order, size_t n,
                 struct run_result *ret);
/* The trace has_times. */
void run_timed(struct arena *a, const struct trace *t, enum score_policy p, uint64_t seed, struct run_result *ret);
