/* SPDX-License-Identifier: Apache-2.0 */
/* gbdt_bins.c - sort a sample of each column (by digits of 11 bits), cut it, then look every number up. */
#include "workers/compute/train/gbdt_bins.h"
#include "core/base/cleanup.h"
#include "workers/compute/pool.h"
#include "workers/compute/rng.h"

#include <math.h>
#include <string.h>

enum { STREAM = 0x4742, DIGIT = 11, DIGITS = 3, ROWS_PER_TASK = 8192 };

struct making {
    const struct gbdt_table *t;
    struct gbdt_bins *b;
    size_t most, sample;
    const uint32_t *rows;       /* of the sample */
    float *cut;                 /* groups × GBDT_GROUP × most */
    float *room;                /* cols × 2 × sample, of the columns of a round */
    size_t first;               /* column of the round */
};

/* Floats as numbers whose order is theirs. -0 is 0. */
static uint32_t key_of(float v)
{
    uint32_t u;
    v = v == 0 ? 0 : v;
    memcpy(&u, &v, sizeof u);
    return u & 0x80000000u ? ~u : u | 0x80000000u;
}

static float of_key(uint32_t u)
{
    float v;
    u = u & 0x80000000u ? u & 0x7fffffffu : ~u;
    memcpy(&v, &u, sizeof v);
    return v;
}

static void sort_keys(uint32_t *k, uint32_t *room, size_t n)
{
    for (int d = 0; d < DIGITS; d++) {
        size_t at[1 << DIGIT] = { 0 }, sum = 0;
        for (size_t i = 0; i < n; i++)
            at[k[i] >> d * DIGIT & ((1 << DIGIT) - 1)]++;
        for (size_t i = 0; i < 1 << DIGIT; i++) {
            size_t c = at[i];
            at[i] = sum;
            sum += c;
        }
        for (size_t i = 0; i < n; i++)
            room[at[k[i] >> d * DIGIT & ((1 << DIGIT) - 1)]++] = k[i];
        uint32_t *swap = k;
        k = room;
        room = swap;
    }
    memcpy(room, k, n * sizeof *k);     /* three digits: what is sorted lies in the other one */
}

/* lo <= the result < hi. */
static float between(float lo, float hi)
{
    float m = (float)(((double)lo + (double)hi) / 2);
    return m < hi && m >= lo ? m : lo;
}

static size_t cut_all(const uint32_t *k, size_t n, float *cut)
{
    size_t cuts = 0;
    for (size_t i = 1; i < n; i++)
        if (k[i] != k[i - 1])
            cut[cuts++] = between(of_key(k[i - 1]), of_key(k[i]));
    return cuts;
}

/* One number that many rows have gets a bin of its own: its cut is the number itself. */
static size_t cut_shares(const uint32_t *k, size_t n, size_t most, float *cut)
{
    size_t cuts = 0;
    float top = of_key(k[n - 1]);
    for (size_t b = 1; b < most; b++) {
        size_t p = b * n / most;
        float lo = of_key(k[p - 1]), hi = of_key(k[p]), t = lo < hi ? between(lo, hi) : lo;
        if (t < top && (!cuts || t > cut[cuts - 1]))
            cut[cuts++] = t;
    }
    return cuts;
}

static void cut_task(void *arg, size_t task)
{
    const struct making *m = arg;
    size_t col = m->first + task, n = 0, distinct = 0;
    struct gbdt_column *c = &m->b->columns[col];
    uint32_t *k = (uint32_t *)(void *)(m->room + 2 * task * m->sample), *room = k + m->sample;
    float *cut = m->cut + col * m->most;
    c->cut = cut;
    c->bins = 1;
    if (m->t->categories && m->t->categories[col]) {
        c->is_category = true;
        c->bins = (uint32_t)m->t->categories[col];
        return;
    }
    for (size_t i = 0; i < m->sample; i++) {
        float v = m->t->x[m->rows[i] * m->t->cols + col];
        if (!isnan(v))
            k[n++] = key_of(v);
    }
    if (!n)
        return;
    sort_keys(k, room, n);
    for (size_t i = 1; i < n && distinct < m->most; i++)
        distinct += k[i] != k[i - 1];
    c->bins = 1 + (uint32_t)(distinct < m->most ? cut_all(k, n, cut) : cut_shares(k, n, m->most, cut));
}

static uint8_t bin_of(const struct gbdt_column *c, float v)
{
    if (isnan(v))
        return (uint8_t)c->bins;
    if (c->is_category)
        return v >= 0 && v < (float)c->bins ? (uint8_t)v : (uint8_t)c->bins;
    const float *cut = c->cut;
    size_t n = c->bins - 1;
    while (n > 0) {             /* how many cuts are below v */
        size_t half = (n + 1) / 2;
        cut += cut[half - 1] < v ? half : 0;
        n -= half;
    }
    return (uint8_t)(cut - c->cut);
}

static void bin_task(void *arg, size_t task)
{
    const struct making *m = arg;
    size_t group = task % m->b->groups, from = task / m->b->groups * ROWS_PER_TASK;
    size_t end = from + ROWS_PER_TASK < m->b->rows ? from + ROWS_PER_TASK : m->b->rows;
    uint8_t *out = m->b->bin + (group * m->b->rows + from) * GBDT_GROUP;
    for (size_t r = from; r < end; r++)
        for (size_t j = 0; j < GBDT_GROUP; j++) {
            size_t col = group * GBDT_GROUP + j;
            *out++ = col < m->b->cols ? bin_of(&m->b->columns[col], m->t->x[r * m->b->cols + col]) : 0;
        }
}

static const uint32_t *take_sample(struct arena *a, const struct gbdt_table *t, uint64_t seed, size_t *ret_n)
{
    size_t n = t->train_count < GBDT_SAMPLE ? t->train_count : GBDT_SAMPLE;
    uint32_t *rows = arena_try(a, n * sizeof *rows);
    *ret_n = n;
    for (size_t i = 0; rows && i < n; i++) {
        size_t from = i * t->train_count / n, end = (i + 1) * t->train_count / n;
        rows[i] = t->train[from + philox(seed, STREAM, i).v[0] % (end - from)];
    }
    return rows;
}

enum errc gbdt_bins_make(struct arena *a, struct pool *pool, const struct gbdt_table *t, size_t most, uint64_t seed,
                         struct gbdt_bins *ret, struct err *e)
{
    enum { COLUMNS_PER_ROUND = 64 };
    struct gbdt_bins b = { .rows = t->rows, .cols = t->cols, .groups = (t->cols + GBDT_GROUP - 1) / GBDT_GROUP };
    struct making m = { .t = t, .b = &b, .most = most };
    size_t padded = b.groups * GBDT_GROUP, round = t->cols < COLUMNS_PER_ROUND ? t->cols : COLUMNS_PER_ROUND;
    b.columns = arena_try(a, padded * sizeof *b.columns);
    b.bin = arena_try(a, padded * t->rows);
    m.cut = arena_try(a, padded * most * sizeof *m.cut);
    m.rows = take_sample(a, t, seed, &m.sample);
    CLEANUP(arena_freep) struct arena *room = arena_new(2 * round * m.sample * sizeof *m.room + 65536);
    m.room = arena_try(room, 2 * round * m.sample * sizeof *m.room);
    if (!b.columns || !b.bin || !m.cut || !m.rows || !m.room)
        return FAIL(e, LIMIT, "the bins of %zu rows and %zu columns do not fit in the memory of this job", t->rows, t->cols);
    for (m.first = 0; m.first < t->cols; m.first += round)
        pool_run(pool, t->cols - m.first < round ? t->cols - m.first : round, cut_task, &m);
    for (size_t c = 0; c < padded; c++) {
        b.columns[c].cell = c < t->cols ? b.cells : SIZE_MAX;
        b.cells += c < t->cols ? b.columns[c].bins + 1 : 0;
    }
    for (size_t c = t->cols; c < padded; c++)
        b.columns[c].cell = b.cells + (c - t->cols);
    pool_run(pool, (t->rows + ROWS_PER_TASK - 1) / ROWS_PER_TASK * b.groups, bin_task, &m);
    *ret = b;
    return ERR_OK;
}
