/* SPDX-License-Identifier: Apache-2.0 */
/* mono_cond.h - a condition that is waited for until a moment of the monotonic clock: a step of the wall clock moves no timeout.
 *
 * Calling order: mono_cond_init -> (pthread_cond_signal | mono_cond_wait)* -> pthread_cond_destroy.
 * Times are clock_mono_us. A wait that returns true may have been woken for nothing, as with every condition: look again. */
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

static inline void mono_cond_init(pthread_cond_t *c)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(c, &attr);
    pthread_condattr_destroy(&attr);
}

/* false: until_us has come. lock is held before and after. */
static inline bool mono_cond_wait(pthread_cond_t *c, pthread_mutex_t *lock, int64_t until_us)
{
    struct timespec t = { until_us / 1000000, until_us % 1000000 * 1000 };
    return pthread_cond_timedwait(c, lock, &t) == 0;
}
