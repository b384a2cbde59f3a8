/* SPDX-License-Identifier: Apache-2.0 */
/* series.h - the metrics of a job as lines to draw: one list of steps, times and values for each name.
 *
 * A series of more than `points` is thinned: points / 2 buckets of nearly equally many values each, and of each bucket its least and its
 * greatest value, so that no peak is lost. All measurements are read, at most until the deadline of the work (DEADLINE). A value that is no number is left out. In the scope of one tenant; memory: w->arena.
 * The job itself is looked up first by the callers. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

enum { SERIES_NAMES = 16, SERIES_POINTS = 50000, SERIES_ALL = 200000 };

struct job_series {
    struct str name;
    struct slice steps, at_ms, values;  /* int64_t, int64_t, double; of the same length */
    int64_t total;                      /* before thinning */
};
extern const struct schema job_series_schema;

/* names: struct str; none: those of the first and the newest hundred measurements. Errors: INVALID, when names times points pass SERIES_ALL. */
enum errc job_series_read(struct work *w, struct uuid job_id, struct slice names, int64_t points, struct slice *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const series_stmts[];
