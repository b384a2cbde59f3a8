/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.h - counters, gauges and histograms by compile-time id, printed in Prometheus text format 0.0.4.
 *
 *     metrics_inc(M_http_requests_total, "/v1/jobs", "POST", "201");
 *     metrics_observe(M_http_request_seconds, seconds, "/v1/jobs");
 *     metrics_set(M_leader, 1);
 *
 * A metric is one row of metrics.def; its id is M_<name>, its printed name falaj_<name>. Label values are C strings, as many as
 * the row has labels (checked: a mismatch is a bug), from small closed sets: routes, states, error codes; never ids or user
 * text. A metric has at most METRICS_SERIES series; later label combinations are counted in one whose labels are "other".
 * Threads: any; the hot path is lock-free (hash lookup and relaxed atomic adds). Memory: static tables, nothing is freed. */
#pragma once
#include <stdint.h>
#include "core/base/str.h"

enum metric {
#define COUNTER(name, programs, labels, doc) M_##name,
#define GAUGE(name, programs, labels, doc) M_##name,
#define HISTOGRAM(name, programs, labels, doc) M_##name,
#include "core/table/metrics.def"
#undef COUNTER
#undef GAUGE
#undef HISTOGRAM
    METRIC_COUNT
};

enum { METRICS_SERIES = 1024, METRICS_LABELS = 4 };

#define METRICS_LIST_(...) ((const char *const[METRICS_LABELS + 1]){ __VA_ARGS__ })
/* COUNTER */
#define metrics_inc(id, ...) metrics_add_((id), 1, METRICS_LIST_(__VA_ARGS__))
#define metrics_add(id, n, ...) metrics_add_((id), (n), METRICS_LIST_(__VA_ARGS__))
/* GAUGE */
#define metrics_set(id, value, ...) metrics_set_((id), (value), METRICS_LIST_(__VA_ARGS__))
#define metrics_gauge_add(id, delta, ...) metrics_gauge_add_((id), (delta), METRICS_LIST_(__VA_ARGS__))
/* HISTOGRAM of seconds */
#define metrics_observe(id, seconds, ...) metrics_observe_((id), (seconds), METRICS_LIST_(__VA_ARGS__))

void metrics_add_(enum metric id, double n, const char *const *labels);
void metrics_set_(enum metric id, double value, const char *const *labels);
void metrics_gauge_add_(enum metric id, double delta, const char *const *labels);
void metrics_observe_(enum metric id, double seconds, const char *const *labels);

/* All series that were touched, and of the program's own rows the counters and histograms without labels; build_info with its
 * name. */
void metrics_print(struct buf *out, const char *program);
/* The same as OTLP's list of metrics, without brackets: sums since start_us, as of now_us (core/http/otlp.h). */
void metrics_print_otlp(struct buf *out, const char *program, int64_t start_us, int64_t now_us);
void metrics_print_markdown(struct buf *out);
/* Present value of a counter or gauge, count of a histogram; 0 for a series never touched. For tests. */
double metrics_value_(enum metric id, const char *const *labels);
#define metrics_value(id, ...) metrics_value_((id), METRICS_LIST_(__VA_ARGS__))
