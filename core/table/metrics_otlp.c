/* SPDX-License-Identifier: Apache-2.0 */
/* metrics_otlp.c - the metrics as OTLP has them: cumulative sums, gauges, and histograms with explicit bounds.
 * Source: opentelemetry/proto/metrics/v1/metrics.proto, JSON mapping. */
#include "core/table/metrics_int.h"

#include <math.h>

enum { CUMULATIVE = 2 };

struct printer {
    struct buf *out;
    int64_t start_us, now_us;
    bool is_next;
};

static void add_double(struct buf *out, double v)
{
    buf_printf(out, "%.15g", isfinite(v) ? v : 0);
}

static void add_point(void *ctx, const struct metric_series *s)
{
    struct printer *p = ctx;
    struct str rest = str_c(s->row->labels), name;
    buf_printf(p->out, "%s{\"startTimeUnixNano\":\"%ld000\",\"timeUnixNano\":\"%ld000\",\"attributes\":[", p->is_next ? "," : "",
               (long)p->start_us, (long)p->now_us);
    p->is_next = true;
    for (int i = 0; rest.len; i++) {
        str_cut(rest, ',', &name, &rest);
        buf_printf(p->out, "%s{\"key\":\"%.*s\",\"value\":{\"stringValue\":", i ? "," : "", STR_ARG(name));
        buf_add_json(p->out, str_c(s->labels[i]));
        buf_add_c(p->out, "}}");
    }
    if (s->row->kind != METRIC_HISTOGRAM) {
        buf_add_c(p->out, "],\"asDouble\":");
        add_double(p->out, s->value);
    } else {
        buf_printf(p->out, "],\"count\":\"%lu\",\"sum\":", (unsigned long)s->count);
        add_double(p->out, s->value);
        buf_add_c(p->out, ",\"bucketCounts\":[");
        for (int b = 0; b <= METRIC_BUCKETS; b++)
            buf_printf(p->out, "%s\"%lu\"", b ? "," : "", (unsigned long)s->counts[b]);
        buf_add_c(p->out, "],\"explicitBounds\":[");
        for (int b = 0; b < METRIC_BUCKETS; b++)
            buf_printf(p->out, "%s%.15g", b ? "," : "", metric_bounds[b]);
        buf_add_char(p->out, ']');
    }
    buf_add_char(p->out, '}');
}

void metrics_print_otlp(struct buf *out, const char *program, int64_t start_us, int64_t now_us)
{
    const unsigned own = metrics_program(program);
    const char *sep = "";
    for (int id = 0; id < METRIC_COUNT; id++) {
        const struct metric_row *r = &metric_rows[id];
        struct printer p = { .out = out, .start_us = start_us, .now_us = now_us };
        if (!metrics_is_shown((enum metric)id, own))
            continue;
        buf_printf(out, "%s{\"name\":\"%s\",\"description\":", sep, r->name);
        sep = ",";
        buf_add_json(out, str_c(r->doc));
        buf_printf(out, ",\"unit\":\"%s\",\"%s\":{", r->kind == METRIC_HISTOGRAM ? "s" : "1",
                   r->kind == METRIC_COUNTER ? "sum" : r->kind == METRIC_GAUGE ? "gauge" : "histogram");
        if (r->kind != METRIC_GAUGE)
            buf_printf(out, "\"aggregationTemporality\":%d,", CUMULATIVE);
        buf_add_c(out, r->kind == METRIC_COUNTER ? "\"isMonotonic\":true,\"dataPoints\":[" : "\"dataPoints\":[");
        if (metrics_is_touched((enum metric)id))
            metrics_each((enum metric)id, add_point, &p);
        else
            add_point(&p, &(struct metric_series){ .row = r });
        buf_add_c(out, "]}}");
    }
}
