/* SPDX-License-Identifier: Apache-2.0 */
/* lane.h - the lanes of lane.def: each has threads of its own that its tenants share fairly (core/base/fair_pool.h), and
 * connections to the database of its own, so that neither a tenant's flood nor a kind of work that takes long holds up the
 * others.
 *
 * Invariants: a route names its lane (`.lane`, refused at boot without); a call whose caller is not in memory passes LANE_DOOR
 * first, as its address, and then waits in its route's lane as its tenant; machines wait as themselves, and open calls as their
 * address. What a tenant's calls cost in thread time is charged to its account of rate.tenant_ms_per_minute.
 * Rows with .combine take what waits together, and tenants take turns there (combine.c).
 * Calling order: lanes_app* -> pipeline_new (makes the threads) -> pipeline_free -> lanes_app_free. */
#pragma once
#include "core/base/str.h"
#include "core/base/work.h"

struct pipeline;

enum lane {
    LANE_NONE,                              /* a row that names none is refused at boot */
#define LANE(NAME, name, threads, per_owner, connections, statement_ms, nice, full, doc) LANE_##NAME,
#include "api/lane.def"
#undef LANE
    LANE_COUNT
};

const char *lane_name(enum lane l);
/* Threads, what one owner may have of them, how far behind other threads they stand for a processor, and how long a statement
 * may take (0: as elsewhere). */
struct lane_size { int threads, per_owner, connections, nice; int64_t statement_ms; };
struct lane_size lane_size(enum lane l, const struct config *cfg);

/* Markdown: the lanes, and the routes of all but LANE_CALLS. */
void lanes_print_markdown(struct buf *b);
/* Gauges of threads, queues and connections. */
void lanes_metrics(struct pipeline *p);
