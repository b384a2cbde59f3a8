/* SPDX-License-Identifier: Apache-2.0 */
/* demand.h - jobs that wait in an engine's pool get runs, as far as it has places (deal.h). In a transaction of the scheduler's.
 *
 * Tenants in turns, each by its jobs' age; one that has runs open already comes as much later. Every turn looks at the oldest
 * jobs of each tenant, DEMAND_LOOK in all; where none of these can be served, at the next as many of each too, further on turn by
 * turn. So a turn costs the same however many wait, and one behind many that cannot be served is come to after some turns.
 * Errors: those of the transaction. */
#pragma once
#include "core/base/work.h"
#include "scheduler/engines/record.h"

/* Jobs looked at in all; the least of one tenant; most runs begun in a turn. */
enum { DEMAND_LOOK = 2048, DEMAND_LEAST = 8, DEMAND_NEW_MAX = 32 };

/* after: how far was looked, kept between turns; nil at first. The engine is held by the transaction, so that no place is given
 * twice. */
enum errc engine_demand_serve(struct work *w, const struct engine *g, struct uuid *after, struct err *e) MUST_CHECK;

extern const struct stmt *const engine_demand_stmts[];
