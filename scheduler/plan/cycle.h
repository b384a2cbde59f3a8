/* SPDX-License-Identifier: Apache-2.0 */
/* cycle.h - which way round a job would wait for itself. Pure; memory from the arena. */
#pragma once
#include "core/base/arena.h"
#include "core/base/id.h"

struct wait_edge { struct uuid job_id, on_job_id; };

/* The shortest way from `job` along the edges back to it, as the ids that it passes, `job` first and not again last.
 * Returns their number; 0: there is none. */
size_t cycle_find(const struct wait_edge *edges, size_t n, struct uuid job, struct arena *a, struct uuid **ret);
