/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.c - counters, gauges and histograms in two lock-free hash tables, one with a value per slot, one with buckets.
 *
 * A series is a 64-bit key: metric id + 1 in the top 16 bits, then four label value numbers of 12 bits. A label value's number is
 * its slot in the table of interned texts. Slots are taken once by compare-and-swap and never given back, so a reader needs no
 * lock: it probes until its key or an empty slot. Two threads that race for a key meet at the same slot.
 * Format: Prometheus text exposition 0.0.4. */
#include "core/table/metrics.h"
#include "core/base/assert.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>

enum { VALUE_SLOTS = 16384, HIST_SLOTS = 4096, TEXT_SLOTS = 4096, TEXT_FILL = 3072, TEXT_BYTES = 1 << 18, TEXT_MAX = 128 };
enum { BUCKETS = 16, LABEL_NONE = 0, LABEL_OTHER = 1, FIRST_TEXT = 2 };
enum kind { K_COUNTER, K_GAUGE, K_HISTOGRAM };
enum { API = 1, SCHEDULER = 2, KEYD = 4, WORKER = 8 };
static const struct { const char *name; unsigned bit; } programs_known[] = {
    { "falaj-api", API }, { "falaj-scheduler", SCHEDULER }, { "falaj-keyd", KEYD }, { "falaj-worker", WORKER },
};
enum { PROGRAMS = sizeof programs_known / sizeof programs_known[0] };

static const double bounds[BUCKETS] = { 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                        0.25,   0.5,   1,      2.5,   5,    10,    60,   300 };

static const struct metric_row {
    const char *name, *labels, *doc;
    unsigned programs;
    enum kind kind;
} rows[METRIC_COUNT] = {
#define COUNTER(name, programs, labels, doc) { "falaj_" #name, labels, doc, programs, K_COUNTER },
#define GAUGE(name, programs, labels, doc) { "falaj_" #name, labels, doc, programs, K_GAUGE },
#define HISTOGRAM(name, programs, labels, doc) { "falaj_" #name, labels, doc, programs, K_HISTOGRAM },
#include "core/table/metrics.def"
#undef COUNTER
#undef GAUGE
#undef HISTOGRAM
};

struct value_slot {
    _Atomic uint64_t key;
    _Atomic int64_t whole;          /* counters: whole steps, one fetch_add each */
    _Atomic uint64_t real;          /* bits of a double: gauges, and counters' fractions */
};

struct hist_slot {
    _Atomic uint64_t key;
    _Atomic uint64_t counts[BUCKETS + 1];
    _Atomic uint64_t sum_ns;
};

static struct value_slot values[VALUE_SLOTS];
static struct hist_slot hists[HIST_SLOTS];
static _Atomic(const char *) texts[TEXT_SLOTS];
static char text_bytes[TEXT_BYTES];
static _Atomic size_t text_used, text_count;
static _Atomic unsigned series_count[METRIC_COUNT];

static unsigned label_count(const char *labels)
{
    unsigned n = *labels != '\0';
    for (; *labels; labels++)
        n += *labels == ',';
    return n;
}

/* Number of a label value; LABEL_OTHER when the tables are full or the text is absurdly long. */
static uint64_t intern(const char *s)
{
    struct str t = str_c(s);
    if (t.len >= TEXT_MAX)
        return LABEL_OTHER;
    for (size_t i = str_hash(t), tried = 0; tried < TEXT_SLOTS; i++, tried++) {
        size_t at = i % (TEXT_SLOTS - FIRST_TEXT) + FIRST_TEXT;
        const char *have = atomic_load_explicit(&texts[at], memory_order_acquire);
        if (!have) {
            if (atomic_load(&text_count) >= TEXT_FILL)
                return LABEL_OTHER;
            size_t off = atomic_fetch_add(&text_used, t.len + 1);
            if (off + t.len + 1 > TEXT_BYTES)
                return LABEL_OTHER;
            memcpy(text_bytes + off, t.ptr, t.len);
            if (atomic_compare_exchange_strong(&texts[at], &have, text_bytes + off)) {
                atomic_fetch_add(&text_count, 1);
                return at;
            }
        }
        if (!strcmp(have, s))
            return at;
    }
    return LABEL_OTHER;
}

static uint64_t series_key(enum metric id, const char *const *labels)
{
    uint64_t key = (uint64_t)(id + 1) << 48;
    unsigned n = 0;
    for (; n < METRICS_LABELS && labels[n]; n++)
        key |= intern(labels[n]) << (12 * n);
    return key;
}

static uint64_t other_key(enum metric id)
{
    uint64_t key = (uint64_t)(id + 1) << 48;
    for (unsigned n = 0; n < label_count(rows[id].labels); n++)
        key |= (uint64_t)LABEL_OTHER << (12 * n);
    return key;
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 31) * 0x9E3779B97F4A7C15u;
    return x ^ x >> 29;
}

/* The slot of a key in a table whose slots begin with the key; NULL: not there (make false), or the table is full. */
static void *find_slot(void *table, size_t stride, size_t n, uint64_t key, bool make, bool *made)
{
    for (size_t i = mix(key), tried = 0; tried < n; i++, tried++) {
        _Atomic uint64_t *slot = (_Atomic uint64_t *)(void *)((char *)table + i % n * stride);
        uint64_t have = atomic_load_explicit(slot, memory_order_acquire);
        if (have == 0 && !make)
            return NULL;
        if (have == 0 && atomic_compare_exchange_strong(slot, &have, key)) {
            *made = true;
            return slot;
        }
        if (have == key)
            return slot;
    }
    return NULL;
}

static void *table_find(enum metric id, uint64_t key, bool make, bool *made)
{
    return rows[id].kind == K_HISTOGRAM ? find_slot(hists, sizeof hists[0], HIST_SLOTS, key, make, made)
                                        : find_slot(values, sizeof values[0], VALUE_SLOTS, key, make, made);
}

static void *series(enum metric id, const char *const *labels)
{
    bool made = false;
    uint64_t key = series_key(id, labels);
    void *slot = table_find(id, key, false, &made);
    if (slot)
        return slot;
    unsigned n = 0;
    while (labels[n])
        n++;
    ASSERT(n == label_count(rows[id].labels));
    if (n && atomic_load(&series_count[id]) >= METRICS_SERIES)
        key = other_key(id);
    slot = table_find(id, key, true, &made);
    if (made)
        atomic_fetch_add(&series_count[id], 1);
    return slot;
}

static void real_add(_Atomic uint64_t *real, double delta)
{
    uint64_t old = atomic_load_explicit(real, memory_order_relaxed), new;
    do {
        double d;
        memcpy(&d, &old, sizeof d);
        d += delta;
        memcpy(&new, &d, sizeof new);
    } while (!atomic_compare_exchange_weak_explicit(real, &old, new, memory_order_relaxed, memory_order_relaxed));
}

static double slot_value(const struct value_slot *v)
{
    uint64_t bits = atomic_load_explicit(&v->real, memory_order_relaxed);
    double d;
    memcpy(&d, &bits, sizeof d);
    return d + (double)atomic_load_explicit(&v->whole, memory_order_relaxed);
}

void metrics_add_(enum metric id, double n, const char *const *labels)
{
    ASSERT(rows[id].kind == K_COUNTER && n >= 0);
    struct value_slot *v = series(id, labels);
    if (!v)
        return;
    if (n == floor(n) && n < 1e15)
        atomic_fetch_add_explicit(&v->whole, (int64_t)n, memory_order_relaxed);
    else
        real_add(&v->real, n);
}

void metrics_set_(enum metric id, double value, const char *const *labels)
{
    ASSERT(rows[id].kind == K_GAUGE);
    struct value_slot *v = series(id, labels);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (v)
        atomic_store_explicit(&v->real, bits, memory_order_relaxed);
}

void metrics_gauge_add_(enum metric id, double delta, const char *const *labels)
{
    ASSERT(rows[id].kind == K_GAUGE);
    struct value_slot *v = series(id, labels);
    if (v)
        real_add(&v->real, delta);
}

void metrics_observe_(enum metric id, double seconds, const char *const *labels)
{
    ASSERT(rows[id].kind == K_HISTOGRAM);
    struct hist_slot *h = series(id, labels);
    if (!h || !(seconds >= 0))
        return;
    int b = 0;
    while (b < BUCKETS && seconds > bounds[b])
        b++;
    atomic_fetch_add_explicit(&h->counts[b], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&h->sum_ns, (uint64_t)(fmin(seconds, 1e9) * 1e9), memory_order_relaxed);
}

double metrics_value_(enum metric id, const char *const *labels)
{
    bool made;
    void *slot = table_find(id, series_key(id, labels), false, &made);
    if (!slot)
        return 0;
    if (rows[id].kind != K_HISTOGRAM)
        return slot_value(slot);
    double n = 0;
    for (int b = 0; b <= BUCKETS; b++)
        n += (double)atomic_load(&((struct hist_slot *)slot)->counts[b]);
    return n;
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
static void add_head(struct buf *out, enum metric id, uint64_t key, const char *suffix, const char *le)
{
    bool first = true;
    struct str rest = str_c(rows[id].labels), name;
    buf_add_c(out, rows[id].name);
    buf_add_c(out, suffix);
    for (int i = 0; rest.len; i++) {
        unsigned text = key >> (12 * i) & 0xFFF;
        str_cut(rest, ',', &name, &rest);
        add_label(out, &first, name, text >= FIRST_TEXT ? atomic_load(&texts[text]) : text == LABEL_OTHER ? "other" : "");
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

static void add_histogram(struct buf *out, enum metric id, uint64_t key, const struct hist_slot *h)
{
    uint64_t n = 0;
    for (int b = 0; b <= BUCKETS; b++) {
        char le[32] = "+Inf";
        if (b < BUCKETS)
            snprintf(le, sizeof le, "%.15g", bounds[b]);
        n += h ? atomic_load_explicit(&h->counts[b], memory_order_relaxed) : 0;
        add_head(out, id, key, "_bucket", le);
        add_number(out, (double)n);
    }
    add_head(out, id, key, "_sum", NULL);
    add_number(out, h ? (double)atomic_load(&h->sum_ns) / 1e9 : 0);
    add_head(out, id, key, "_count", NULL);
    add_number(out, (double)n);
}

static void add_metric(struct buf *out, enum metric id, unsigned program)
{
    static const char *const kinds[] = { "counter", "gauge", "histogram" };
    const struct metric_row *r = &rows[id];
    bool is_hist = r->kind == K_HISTOGRAM;
    unsigned left = atomic_load(&series_count[id]);
    if (!left && (*r->labels || r->kind == K_GAUGE || !(r->programs & program)))
        return;
    buf_printf(out, "# HELP %s %s.\n# TYPE %s %s\n", r->name, r->doc, r->name, kinds[r->kind]);
    if (!left && is_hist)
        add_histogram(out, id, 0, NULL);
    else if (!left)
        buf_printf(out, "%s 0\n", r->name);
    for (size_t i = 0; left && i < (is_hist ? (size_t)HIST_SLOTS : (size_t)VALUE_SLOTS); i++) {
        uint64_t key = atomic_load_explicit(is_hist ? &hists[i].key : &values[i].key, memory_order_acquire);
        if (key >> 48 != (uint64_t)id + 1)
            continue;
        left--;
        if (is_hist) {
            add_histogram(out, id, key, &hists[i]);
        } else {
            add_head(out, id, key, "", NULL);
            add_number(out, slot_value(&values[i]));
        }
    }
}

void metrics_print(struct buf *out, const char *program)
{
    bool first = true;
    unsigned own = 0;
    for (int i = 0; i < PROGRAMS; i++)
        own |= strcmp(program, programs_known[i].name) == 0 ? programs_known[i].bit : 0;
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
    static const char *const kinds[] = { "counter", "gauge", "histogram" };
    buf_add_c(out, "# Metrics\n\nPrometheus text at `/metrics` of each daemon (docs/howto/monitoring.md). A daemon has its own rows,\n"
                   "and of them what it knows: counters and histograms without labels from its start on, others once moved.\n\n"
                   "| Metric | Of | Kind | Labels | Meaning |\n|---|---|---|---|---|\n"
                   "| `falaj_build_info` | all | gauge | program, version | What is running |\n");
    for (int id = 0; id < METRIC_COUNT; id++) {
        buf_printf(out, "| `%s` | ", rows[id].name);
        add_programs(out, rows[id].programs);
        buf_printf(out, " | %s | %s | %s |\n", kinds[rows[id].kind], rows[id].labels, rows[id].doc);
    }
}
