/* SPDX-License-Identifier: Apache-2.0 */
/* timers.h - noop jobs that sleep: a heap of wake-up times, looked after by the reporter.
 *
 * Calling order: timers_new -> timers_add* (any thread) -> timers_run* -> timers_free. timers_run finishes what is due, cancelled or,
 * when stopping, given back; stale ones are dropped. */
#pragma once
#include "workers/agent/book.h"

struct timers;

struct timers *timers_new(const struct clock *clock);
/* Takes the reference. ok false: ends as failed with message. */
void timers_add(struct timers *t, struct held *h, int64_t sleep_ms, bool ok, struct str message);
/* Returns the next wake-up time; INT64_MAX: none. */
int64_t timers_run(struct timers *t, bool stopping);
void timers_free(struct timers *t);
