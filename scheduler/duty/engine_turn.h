/* SPDX-License-Identifier: Apache-2.0 */
/* engine_turn.h - one look at one engine: what waits gets runs, what became of each is asked, and what follows is done.
 *
 * Transactions hold nothing while the engine is asked. Any step may be the last one of this process: what was written down is
 * enough for the next turn, here or of another leader. An engine that does not answer changes nothing but what its jobs say. */
#pragma once
#include "core/base/work.h"
#include "scheduler/engines/record.h"

enum { ENGINE_REST_US = 1000000, ENGINE_PING_US = 10000000, ENGINE_STRAYS_US = 30000000, ENGINE_LOOKS = 32 };

/* Between turns, for each engine; zero at first. */
struct engine_memory {
    int64_t ping_us, strays_us;             /* when it is asked next though nothing waits */
    struct uuid after;                      /* engine_demand_serve's */
    size_t large;                           /* objects that the last list had and that were too large: told when it changes */
};

/* is_unwanted: ends calls when the program does. arena: reset by the caller. */
void engine_turn(const struct app *app, struct arena *a, const struct engine *g, struct engine_memory *m,
                 bool (*is_unwanted)(void *ctx), void *ctx);
