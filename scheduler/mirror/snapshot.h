/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.h - fills a snapshot (scheduler/plan/snapshot.h) from the database.
 *
 * Memory: w->arena. Errors: those of the database alone. */
#pragma once
#include "core/base/work.h"
#include "scheduler/plan/snapshot.h"

struct stmt;

/* Reads, of every tenant and shape that waits, the first jobs: `limit` in all, and one of a shape at least. Not full: as many as
 * there are free slots, and none when there are none; enough to place, not to explain. */
enum errc snapshot_read(struct work *w, int64_t limit, bool is_full, struct snapshot *ret, struct err *e) MUST_CHECK;
/* The same around jobs that were read elsewhere (struct snap_job, by tenant), with all machines and what is held of them. */
enum errc snapshot_of(struct work *w, struct slice jobs, struct snapshot *ret, struct err *e) MUST_CHECK;
extern const struct schema snap_job_schema;
extern const struct stmt *const snapshot_stmts[];

/* What live attempts of one machine hold together; held: its devices, as devices_read (plan/devices.h) takes it. */
#define ATTEMPT_SUMS                                                                                                       \
    "sum(slots)::bigint AS slots, sum(gpus)::bigint AS gpus, sum(cpu_milli)::bigint AS cpu_milli,\n"                       \
    "  sum(memory_bytes)::bigint AS memory_bytes,\n"                                                                       \
    "  string_agg(devices || ':' || gpus || ':' || gpu_milli, ',') FILTER (WHERE gpus > 0) AS held"
