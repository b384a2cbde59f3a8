/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.c - counters, gauges and histograms in two lock-free hash tables, one with a value per slot, one with buckets.
 *
 * A series is a 64-bit key: metric id + 1 in the top 16 bits, then four label value numbers of 12 bits. A label value's number is
 * its slot in the table of interned texts. Slots are taken once by compare-and-swap and never given back, so a reader needs no
 * lock: it probes until its key or an empty slot. Two threads that race for a key meet at the same slot.
 * Format: Prometheus text exposition 0.0.4. */
#include "core/table/metrics_int.h"
#include "core/base/assert.h"

#include <math.h>
#include <stdatomic.h>

enum { VALUE_SLOTS = 16384, HIST_SLOTS = 4096, TEXT_SLOTS = 4096, TEXT_FILL = 3072, TEXT_BYTES = 1 << 18, TEXT_MAX = 128 };
enum { BUCKETS = METRIC_BUCKETS, LABEL_NONE = 0, LABEL_OTHER = 1, FIRST_TEXT = 2 };
enum { API = METRIC_OF_API, SCHEDULER = METRIC_OF_SCHEDULER, KEYD = METRIC_OF_KEYD, WORKER = METRIC_OF_WORKER };

const double metric_bounds[BUCKETS] = { 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                        0.25,   0.5,   1,      2.5,   5,    10,    60,   300 };

const struct metric_row metric_rows[METRIC_COUNT] = {
#define COUNTER(name, programs, labels, doc) { "falaj_" #name, labels, doc, programs, METRIC_COUNTER },
#define GAUGE(name, programs, labels, doc) { "falaj_" #name, labels, doc, programs, METRIC_GAUGE },
#define HISTOGRAM(name, programs, labels, doc) { "falaj_" #name, labels, doc, programs, METRIC_HISTOGRAM },
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
    for (unsigned n = 0; n < label_count(metric_rows[id].labels); n++)
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
    return metric_rows[id].kind == METRIC_HISTOGRAM ? find_slot(hists, sizeof hists[0], HIST_SLOTS, key, make, made)
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
    ASSERT(n == label_count(metric_rows[id].labels));
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
    ASSERT(metric_rows[id].kind == METRIC_COUNTER && n >= 0);
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
    ASSERT(metric_rows[id].kind == METRIC_GAUGE);
    struct value_slot *v = series(id, labels);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (v)
        atomic_store_explicit(&v->real, bits, memory_order_relaxed);
}

void metrics_gauge_add_(enum metric id, double delta, const char *const *labels)
{
    ASSERT(metric_rows[id].kind == METRIC_GAUGE);
    struct value_slot *v = series(id, labels);
    if (v)
        real_add(&v->real, delta);
}

void metrics_observe_(enum metric id, double seconds, const char *const *labels)
{
    ASSERT(metric_rows[id].kind == METRIC_HISTOGRAM);
    struct hist_slot *h = series(id, labels);
    if (!h || !(seconds >= 0))
        return;
    int b = 0;
    while (b < BUCKETS && seconds > metric_bounds[b])
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
    if (metric_rows[id].kind != METRIC_HISTOGRAM)
        return slot_value(slot);
    double n = 0;
    for (int b = 0; b <= BUCKETS; b++)
        n += (double)atomic_load(&((struct hist_slot *)slot)->counts[b]);
    return n;
}

/* Names of values, in the order of the row's labels. */
static void read_labels(uint64_t key, unsigned n, const char *out[METRICS_LABELS])
{
    for (unsigned i = 0; i < n; i++) {
        unsigned text = key >> (12 * i) & 0xFFF;
        out[i] = text >= FIRST_TEXT ? atomic_load(&texts[text]) : text == LABEL_OTHER ? "other" : "";
    }
}

static void read_histogram(const struct hist_slot *h, struct metric_series *s)
{
    for (int b = 0; b <= BUCKETS; b++)
        s->count += s->counts[b] = atomic_load_explicit(&h->counts[b], memory_order_relaxed);
    s->value = (double)atomic_load(&h->sum_ns) / 1e9;
}

void metrics_each(enum metric id, metric_visit visit, void *ctx)
{
    const struct metric_row *r = &metric_rows[id];
    bool is_hist = r->kind == METRIC_HISTOGRAM;
    unsigned n = label_count(r->labels), left = atomic_load(&series_count[id]);
    for (size_t i = 0; left && i < (is_hist ? (size_t)HIST_SLOTS : (size_t)VALUE_SLOTS); i++) {
        uint64_t key = atomic_load_explicit(is_hist ? &hists[i].key : &values[i].key, memory_order_acquire);
        if (key >> 48 != (uint64_t)id + 1)
            continue;
        struct metric_series s = { .row = r };
        left--;
        read_labels(key, n, s.labels);
        if (is_hist)
            read_histogram(&hists[i], &s);
        else
            s.value = slot_value(&values[i]);
        visit(ctx, &s);
    }
}

bool metrics_is_shown(enum metric id, unsigned program)
{
    const struct metric_row *r = &metric_rows[id];
    return atomic_load(&series_count[id]) || (!*r->labels && r->kind != METRIC_GAUGE && r->programs & program);
}

bool metrics_is_touched(enum metric id)
{
    return atomic_load(&series_count[id]);
}
