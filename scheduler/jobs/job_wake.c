/* SPDX-License-Identifier: Apache-2.0 */
/* job_wake.c - the text of the channel, both ways. */
#include "scheduler/jobs/job_wake.h"
#include <string.h>

enum { PREFIX = sizeof WAKE_JOB_PREFIX - 1, DIGITS = 32 };

struct str job_wake_channel(const struct uuid *jobs, size_t n, char out[WAKE_JOB_TEXT], size_t *ret_named)
{
    *ret_named = n < WAKE_JOBS_MAX ? n : WAKE_JOBS_MAX;
    memcpy(out, WAKE_JOB_PREFIX, PREFIX + 1);
    for (size_t i = 0; i < *ret_named; i++)
        hex_encode(jobs[i].b, sizeof jobs[i].b, out + PREFIX + i * DIGITS);
    return str_n(out, PREFIX + *ret_named * DIGITS);
}

bool job_wake_next(struct str channel, size_t *at, struct uuid *ret)
{
    const size_t from = PREFIX + *at * DIGITS;
    if (!str_starts(channel, WAKE_JOB_PREFIX) || channel.len < from + DIGITS)
        return false;
    (*at)++;
    return uuid_parse(str_n(channel.ptr + from, DIGITS), ret);
}
