/* SPDX-License-Identifier: Apache-2.0 */
/* gather.c - one sum that decays by the time between two rounds. */
#include "scheduler/gather.h"

void gather_note(struct gather *g, int64_t began_us, int64_t placed)
{
    const int64_t us = began_us - g->began_us;
    g->recent = us < RECENT_US ? g->recent - g->recent * us / RECENT_US + placed : placed;
    g->began_us = began_us;
    g->until_us = g->recent * GATHER_US / RECENT_US >= GATHER_LEAST ? began_us + GATHER_US : 0;
}
