/* SPDX-License-Identifier: Apache-2.0 */
/* ring.h - the last cycles of the planner as files of one folder, the oldest of which give way.
 *
 * The planner puts a cycle together while it plans (record.h); a thread of the ring's own takes checksums, writes and removes.
 * What it
 * cannot keep up with is dropped and counted (falaj_scheduler_cycles_total{result}), never waited for. A file appears whole or
 * not at all, and only its owner may read it: CYCLE_NAME with the number of the cycle and the time, so that names sort by
 * number. Files of other names in the folder are left alone. After a start it goes on behind the highest number there.
 * Calling order: cycle_ring_new -> (cycle_ring_inputs, cycle_ring_plan, [cycle_ring_holders, cycle_ring_choice],
 * cycle_ring_keep)*
 * -> cycle_ring_free, which finishes what is under way. A NULL ring keeps nothing. One thread. */
#pragma once
#include "core/base/work.h"
#include "scheduler/replay/record.h"

struct cycle_ring;
#define CYCLE_NAME "cycle-%012ld-%s.falaj"      /* number, time as 20261127T020304.005Z */

struct cycle_ring_opts {
    const char *dir;                    /* made, 0700, where it is not there */
    int64_t files_max;                  /* at least 1 */
    int64_t bytes_max;                  /* of all files; a cycle that alone needs more is dropped */
};
/* Errors: INVALID with the folder and what is wrong with it. */
MUST_CHECK enum errc cycle_ring_new(const struct cycle_ring_opts *o, struct cycle_ring **ret, struct err *e);
void cycle_ring_free(struct cycle_ring *r);

/* As the functions of record.h; made_at_us: wall clock. */
void cycle_ring_inputs(struct cycle_ring *r, enum cycle_kind kind, int64_t batch, int64_t made_at_us, const struct snapshot *s,
                       struct arena *a);
void cycle_ring_plan(struct cycle_ring *r, const struct snapshot *s, const struct plan *p, struct arena *a);
void cycle_ring_holders(struct cycle_ring *r, struct holders h, int64_t now_us);
void cycle_ring_choice(struct cycle_ring *r, const struct snapshot *s, const struct plan *p, struct holders h,
                       const struct preemption *x, const struct claims *claims, struct arena *a);
/* Hands the cycle over. */
void cycle_ring_keep(struct cycle_ring *r);
