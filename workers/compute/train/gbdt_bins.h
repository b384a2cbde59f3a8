/* SPDX-License-Identifier: Apache-2.0 */
/* gbdt_bins.h - a table of numbers as bins: each column cut at most 254 times, so that a number is one byte.
 *
 * A column with few distinct numbers is cut between each two, another one where equal shares of the rows lie (at most
 * GBDT_SAMPLE of them are looked at). A cut t is a number of the column's range with x <= t on its left and x > t on its right,
 * so a walk by numbers takes the way that the bins took. A column of categories has its codes as bins. NaN is the bin behind the
 * last. Bytes lie by groups of four columns, row after row: what one row adds to four histograms is one load.
 * Memory: the arena. Errors: LIMIT. The bits do not depend on the pool. */
#pragma once
#include "core/base/arena.h"
#include "core/base/err.h"
#include <stdbool.h>
#include <stdint.h>

struct pool;

enum { GBDT_GROUP = 4, GBDT_PADS = GBDT_GROUP - 1, GBDT_BINS_MAX = 255, GBDT_SAMPLE = 200000 };

struct gbdt_column {
    uint32_t bins;              /* of numbers; the bin of NaN is the next */
    bool is_category;
    size_t cell;                /* its first cell in a histogram; it has bins + 1 */
    const float *cut;           /* bins - 1: bin b holds cut[b - 1] < x <= cut[b] */
};

struct gbdt_bins {
    size_t rows, cols, groups, cells;   /* cells of a histogram; GBDT_PADS more for what fills a group */
    struct gbdt_column *columns;        /* groups × GBDT_GROUP */
    uint8_t *bin;                       /* [group][row][GBDT_GROUP] */
};

struct gbdt_table {
    const float *x;             /* rows × cols */
    size_t rows, cols;
    const uint32_t *train;      /* the rows that decide where to cut */
    size_t train_count;
    const int32_t *categories;  /* cols: codes of a column of categories, 0 of one of numbers; NULL: all are of numbers */
};

enum errc gbdt_bins_make(struct arena *a, struct pool *pool, const struct gbdt_table *t, size_t most, uint64_t seed,
                         struct gbdt_bins *ret, struct err *e);
static inline uint8_t gbdt_bin(const struct gbdt_bins *b, size_t row, size_t col)
{
    return b->bin[(col / GBDT_GROUP * b->rows + row) * GBDT_GROUP + col % GBDT_GROUP];
}
