/* SPDX-License-Identifier: Apache-2.0 */
/* job_wake.h - the channel by which whoever follows a job hears that it moved: "wake:job:" and the ids of up to WAKE_JOBS_MAX
 * jobs, 32 digits each, one after the other. Ids stand in the channel and not in the payload, because two publications of one
 * channel that are still unsent become one (core/redis/wake.h). A program of before knows channels of one job only. */
#pragma once
#include <stdbool.h>
#include "core/base/id.h"
#include "core/base/str.h"

#define WAKE_JOB_PREFIX "wake:job:"
enum { WAKE_JOBS_MAX = 14, WAKE_JOB_TEXT = sizeof WAKE_JOB_PREFIX + WAKE_JOBS_MAX * 32 };

/* The channel of the first WAKE_JOBS_MAX jobs of n at most, in out; *ret_named: of how many. */
struct str job_wake_channel(const struct uuid *jobs, size_t n, char out[WAKE_JOB_TEXT], size_t *ret_named);
/* The next job of a channel, *at from 0. False: no more, or it is no such channel. */
bool job_wake_next(struct str channel, size_t *at, struct uuid *ret);
