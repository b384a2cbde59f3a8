/* SPDX-License-Identifier: Apache-2.0 */
/* metrics_print.c - the metrics as Prometheus text (exposition format 0.0.4), and their rows as a page of the documents. */
#include "core/table/metrics_int.h"

#include <math.h>
#include <stdio.h>

static const struct { const char *name; unsigned bit; } programs_known[] = {
    { "falaj-api", METRIC_OF_API }, { "falaj-scheduler", METRIC_OF_SCHEDULER }, { "falaj-keyd", METRIC_OF_KEYD },
    { "falaj-worker", METRIC_OF_WORKER },
};
enum { PROGRAMS = sizeof programs_known / sizeof programs_known[0] };
static const char *const kinds[] = { "counter", "gauge", "histogram" };

unsigned metrics_program(const char *name)
{
    unsigned bits = 0;
    for (int i = 0; i < PROGRAMS; i++)
        bits |= strcmp(name, programs_known[i].name) == 0 ? programs_known[i].bit : 0;
    return bits;
}

static void add_label(struct buf *out, bool *first, struct str name, const char *value)
{
    buf_add_c(out, *first ? "{" : ",");
    *first = false;
    buf_add_str(out, name);
    buf_add_c(out, "=\"");
    for (; *value; value++) {
        if (*value == '\n')
            buf_add_c(out, "\\n");
        else if (*value == '"' || *value == '\\')
            buf_add(out, (char[]){ '\\', *value }, 2);
        else
            buf_add_char(out, *value);
    }
    buf_add_char(out, '"');
}

/* name suffix {labels,le="…"} and a space */
static void add_head(struct buf *out, const struct metric_series *s, const char *suffix, const char *le)
{
    bool first = true;
    struct str rest = str_c(s->row->labels), name;
    buf_add_c(out, s->row->name);
    buf_add_c(out, suffix);
    for (int i = 0; rest.len; i++) {
        str_cut(rest, ',', &name, &rest);
        add_label(out, &first, name, s->labels[i]);
    }
    if (le)
        add_label(out, &first, STR("le"), le);
    buf_add_c(out, first ? " " : "} ");
}

static void add_number(struct buf *out, double v)
{
    if (isnan(v) || isinf(v))
        buf_add_c(out, isnan(v) ? "NaN" : v > 0 ? "+Inf" : "-Inf");
    else if (v == floor(v) && fabs(v) < 1e15)
        buf_add_i64(out, (int64_t)v);
    else
        buf_printf(out, "%.15g", v);
    buf_add_char(out, '\n');
}

static void add_histogram(struct buf *out, const struct metric_series *s)
{
    uint64_t n = 0;
    for (int b = 0; b <= METRIC_BUCKETS; b++) {
        char le[32] = "+Inf";
        if (b < METRIC_BUCKETS)
            snprintf(le, sizeof le, "%.15g", metric_bounds[b]);
        n += s->counts[b];
        add_head(out, s, "_bucket", le);
        add_number(out, (double)n);
    }
    add_head(out, s, "_sum", NULL);
    add_number(out, s->value);
    add_head(out, s, "_count", NULL);
    add_number(out, (double)n);
}

static void add_series(void *ctx, const struct metric_series *s)
{
    struct buf *out = ctx;
    if (s->row->kind == METRIC_HISTOGRAM) {
        add_histogram(out, s);
        return;
    }
    add_head(out, s, "", NULL);
    add_number(out, s->value);
}

static void add_metric(struct buf *out, enum metric id, unsigned program)
{
    const struct metric_row *r = &metric_rows[id];
    if (!metrics_is_shown(id, program))
        return;
    buf_printf(out, "# HELP %s %s.\n# TYPE %s %s\n", r->name, r->doc, r->name, kinds[r->kind]);
    if (metrics_is_touched(id))
        metrics_each(id, add_series, out);
    else
        add_series(out, &(struct metric_series){ .row = r });
}

void metrics_print(struct buf *out, const char *program)
{
    bool first = true;
    unsigned own = metrics_program(program);
    buf_add_c(out, "# HELP falaj_build_info What is running.\n# TYPE falaj_build_info gauge\nfalaj_build_info");
    add_label(out, &first, STR("program"), program);
    add_label(out, &first, STR("version"), FALAJ_VERSION);
    buf_add_c(out, "} 1\n");
    for (int id = 0; id < METRIC_COUNT; id++)
        add_metric(out, (enum metric)id, own);
}

static void add_programs(struct buf *out, unsigned programs)
{
    bool first = true;
    for (int i = 0; i < PROGRAMS; i++) {
        if (!(programs & programs_known[i].bit))
            continue;
        buf_printf(out, "%s%s", first ? "" : ", ", programs_known[i].name);
        first = false;
    }
}

void metrics_print_markdown(struct buf *out)
{
    buf_add_c(out, "# Metrics\n\n"
                   "Prometheus text at `/metrics` of each daemon (docs/howto/monitoring.md). A daemon has its own rows,\n"
                   "and of them what it knows: counters and histograms without labels from its start on, others once moved.\n\n"
                   "| Metric | Of | Kind | Labels | Meaning |\n|---|---|---|---|---|\n"
                   "| `falaj_build_info` | all | gauge | program, version | What is running |\n");
    for (int id = 0; id < METRIC_COUNT; id++) {
        buf_printf(out, "| `%s` | ", metric_rows[id].name);
        add_programs(out, metric_rows[id].programs);
        buf_printf(out, " | %s | %s | %s |\n", kinds[metric_rows[id].kind], metric_rows[id].labels, metric_rows[id].doc);
    }
}
