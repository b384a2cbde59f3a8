/* SPDX-License-Identifier: Apache-2.0 */
/* gbdt_tree_int.h - what growing (gbdt_tree.c) and looking for splits (gbdt_split.c) share. */
#pragma once
#include "workers/compute/train/gbdt_tree.h"

/* A cell of a histogram, and the sum of a node: g, and h with the count of rows above it. Added as one vector. */
typedef int64_t gbdt_cell __attribute__((vector_size(16)));

struct gbdt_split {
    double gain;                /* 0: none */
    uint32_t col, bin;          /* bins up to this one go left */
    bool missing_left;
    uint64_t left[4];           /* of categories: the codes that go left */
    gbdt_cell sum;              /* of the left side */
};

struct gbdt_scan {              /* a node that is looked at */
    const struct gbdt_bins *bins;
    const struct gbdt_limits *limits;
    const struct gbdt_scale *scale;
    const gbdt_cell *cells;     /* its histogram */
    gbdt_cell sum;
};

static inline int64_t gbdt_count(const struct gbdt_scale *s, gbdt_cell c)
{
    return c[1] >> s->count_shift;
}
static inline double gbdt_hessian(const struct gbdt_scale *s, gbdt_cell c)
{
    return (double)(c[1] & (((int64_t)1 << s->count_shift) - 1)) * s->h;
}
static inline double gbdt_score(double g, double h, double l2)
{
    return g * g / (h + l2);
}

/* Adds the rows' gradients to the histograms of the four columns of a group. */
void gbdt_add_rows(const struct gbdt_bins *b, size_t group, const uint32_t *rows, const gbdt_cell *gradient, size_t n,
                   gbdt_cell *cells);
/* The best split of a column, if it is better than *best. */
void gbdt_look(const struct gbdt_scan *s, size_t col, struct gbdt_split *best);
