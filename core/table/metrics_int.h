/* SPDX-License-Identifier: Apache-2.0 */
/* metrics_int.h - the rows of metrics.def and their series, as the printers read them (metrics_print.c, metrics_otlp.c). Series
 * may be counted while they are read: each number is one that stood there, no more. */
#pragma once
#include "core/table/metrics.h"

enum { METRIC_BUCKETS = 16 };
enum metric_kind { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };
enum { METRIC_OF_API = 1, METRIC_OF_SCHEDULER = 2, METRIC_OF_KEYD = 4, METRIC_OF_WORKER = 8 };

struct metric_row {
    const char *name, *labels, *doc;    /* labels: names, with commas */
    unsigned programs;
    enum metric_kind kind;
};
extern const struct metric_row metric_rows[METRIC_COUNT];
extern const double metric_bounds[METRIC_BUCKETS];      /* the greatest value of each bucket but the last */

struct metric_series {
    const struct metric_row *row;
    const char *labels[METRICS_LABELS];
    double value;                       /* of a histogram: the sum of what was observed */
    uint64_t count, counts[METRIC_BUCKETS + 1];     /* of each bucket alone */
};
typedef void (*metric_visit)(void *ctx, const struct metric_series *s);
void metrics_each(enum metric id, metric_visit visit, void *ctx);
/* Does the program show this metric, be it with nothing in it? Has it a series? */
bool metrics_is_shown(enum metric id, unsigned program);
bool metrics_is_touched(enum metric id);
unsigned metrics_program(const char *name);             /* METRIC_OF_…; 0: none of them */
