/* SPDX-License-Identifier: Apache-2.0 */
/* expect.h - how long a job will probably run: the median of how long its like took, as far as it has not outrun them already.
 *
 * Of `runs`, whole seconds between commas, those that took longer than the job has run so far count, for a job that still runs is
 * like those only. Fewer than EXPECT_LEAST in all, or none left: its own limit. Never more than that limit. Pure. */
#pragma once
#include <stdbool.h>
#include "core/base/str.h"

enum { EXPECT_LEAST = 3, EXPECT_RUNS_MAX = 64 };

/* Seconds from its begin; *is_measured: from its like. Values that are no whole seconds are passed over. */
int64_t expect_runtime_s(struct str runs, int64_t limit_s, int64_t so_far_s, bool *is_measured);
