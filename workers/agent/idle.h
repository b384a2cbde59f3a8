/* SPDX-License-Identifier: Apache-2.0 */
/* idle.h - since when what a lease has is not used, as its machine measures it (docs/howto/idle-jobs.md).
 *
 * A lease with cards is used while one of them computes, as NVML says; its processors do not count. A lease without cards is
 * used while it takes IDLE_CPU_PERCENT of one processor or more. What cannot be measured is said by nobody: no library, a card
 * that does not say, a program without a control group. Looked at every IDLE_LOOK_US; told every IDLE_TELL_US while it is idle,
 * and once when it is used again.
 * Calling order: idle_begin -> idle_look*, of one lease, on its thread. No memory of its own. */
#pragma once
#include "workers/agent/cards.h"

enum { IDLE_LOOK_US = 5000000, IDLE_TELL_US = 20000000, IDLE_CPU_PERCENT = 5, IDLE_UNKNOWN = -1 };

struct idle {
    uint64_t devices;
    int64_t next_us;                    /* when to look again */
    int64_t used_us, cpu_us, looked_us, told_us;
    bool is_told_idle;                  /* what was told last */
};

/* devices: those of the lease, bit by bit; 0: none. */
void idle_begin(struct idle *i, uint64_t devices, int64_t now_us);
/* cards NULL: settings say what there is. cpu_us: processor time of all the lease's processes since it began, or IDLE_UNKNOWN.
 * True: *ret_ms is to be told: so long it is idle, 0 where it is used again. */
bool idle_look(struct idle *i, const struct cards *cards, int64_t cpu_us, int64_t now_us, int64_t *ret_ms);
