/* SPDX-License-Identifier: Apache-2.0 */
/* wait.h - a test waits for a condition, never for a time: WAIT_WHILE(not yet so); looks every millisecond.
 *
 * The bound is far above what the slowest machine needs. It is there so that a test that would wait for ever fails with the
 * condition's own words, before its whole program runs out of time. In a thread of its own a test looks without cmocka. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <cmocka.h>

enum { WAIT_MOST_S = 150 };

static inline time_t wait_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

static inline void wait_moment(time_t since, const char *condition)
{
    if (wait_now() - since > WAIT_MOST_S)
        fail_msg("after %d s still: %s", WAIT_MOST_S, condition);
    nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

#define WAIT_WHILE(...) \
    for (time_t wait_since = wait_now(); __VA_ARGS__; wait_moment(wait_since, #__VA_ARGS__)) \
        continue
