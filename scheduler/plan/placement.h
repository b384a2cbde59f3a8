/* SPDX-License-Identifier: Apache-2.0 */
/* placement.h - snapshot in, plan out. Pure: no I/O, no clock; all memory from the arena.
 *
 * The next tenant is the one with the least dominant share (fairshare.h), the next job its first one (order.h), the machine the one
 * with the best score (ground.h). What does not fit stays, with the reason and the numbers, and does not block others.
 * Invariants: no machine and no quota is ever overbooked; a job runs only in zones its tenant may use and, if pinned, only there. */
#pragma once
#include "scheduler/plan/snapshot.h"

/* The snapshot is used up: free room and used quota are counted down while planning. */
void placement_plan(struct snapshot *s, struct arena *a, struct plan *ret);
