/* SPDX-License-Identifier: Apache-2.0 */
/* levels.h - how full the platform is, as gauges: jobs that wait, attempts that run, machines by state, slots.
 *
 * The leader's, so that the sum over all schedulers is the platform's: levels_measure now and then while it leads, levels_clear
 * when it does no longer. Threads: one. Memory: w->arena. Errors: those of the transaction. */
#pragma once
#include "core/base/work.h"

/* In a transaction of its own on the scheduler's pool. */
enum errc levels_measure(struct work *w, struct err *e) MUST_CHECK;
void levels_clear(void);
