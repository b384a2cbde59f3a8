/* SPDX-License-Identifier: Apache-2.0 */
/* demand.h - jobs that wait in an engine's pool get runs, as far as it has places (deal.h). In a transaction of the scheduler's.
 *
 * Tenants in turns, each by its jobs' age; one that has runs open already comes as much later. Every turn looks at the oldest
 * jobs of each tenant, DEMAND_LOOK in all; where none of these can be served, at the next as many of each too, further on turn by
 * turn. So a turn costs the same however many wait, and one behind many that cannot be served is come to after some turns.
 * Fair: jobs that do not fit into what is free are counted by themselves and hide none that does; of those that fit each tenant's
 * first comes before anybody's second, and who got a run comes later by it, so of any number of tenants each comes
 * to its turn. Jobs that places are kept from say so while they are, and no longer: those told are noted with the engine.
 * Errors: those of the transaction. */
#pragma once
#include "core/base/work.h"
#include "scheduler/engines/record.h"

/* Jobs looked at in all; the least of one tenant; most runs begun in a turn, of those that fit into what is free; those that do
 * not fit, of which one may have places kept. */
enum { DEMAND_LOOK = 2048, DEMAND_LEAST = 8, DEMAND_NEW_MAX = 32, DEMAND_LARGE_MAX = 256,
       DEMAND_MAX = DEMAND_NEW_MAX + DEMAND_LARGE_MAX };

/* after: how far was looked, kept between turns; nil at first. The engine is held by the transaction, so that no place is given
 * twice. */
enum errc engine_demand_serve(struct work *w, const struct engine *g, struct uuid *after, struct err *e) MUST_CHECK;

extern const struct stmt *const engine_demand_stmts[];
