/* SPDX-License-Identifier: Apache-2.0 */
/* gather.h - when the next round of planning may begin. Under load a round costs nearly as much for ten jobs as for fifty
 * (docs/performance.md), so the next one waits until there are many; leases in advance (scheduler/plan/turnover.h) keep
 * slots busy meanwhile. A round that at least GATHER_LEAST jobs are expected for begins GATHER_US after the last one began,
 * by what was placed in about RECENT_US; others begin at once, so where jobs come one by one nothing waits. Pure. */
#pragma once
#include <stdint.h>

enum { GATHER_US = 40000, GATHER_LEAST = 32, RECENT_US = 250000 };

struct gather {
    int64_t began_us;                   /* the last round */
    int64_t recent;                     /* jobs placed, a sum that decays */
    int64_t until_us;                   /* no round begins before */
};

/* A round that began then has placed so many. */
void gather_note(struct gather *g, int64_t began_us, int64_t placed);
