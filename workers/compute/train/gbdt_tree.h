/* SPDX-License-Identifier: Apache-2.0 */
/* gbdt_tree.h - one regression tree on gradients, grown leaf by leaf: the leaf whose split gains most is split next.
 *
 * Gain and leaf values are those of XGBoost (Chen & Guestrin 2016, equations 5 and 7): G²/(H + l2) of the sides less that of the
 * node, -rate·G/(H + l2). Growth, histograms of the smaller child alone and the other's by subtraction are LightGBM's (Ke et al.
 * 2017). Sums are whole numbers: gradients are rounded once to 30 bits, so every order of adding gives the same sums, the
 * subtraction is exact, and the tree does not depend on the number of threads. Between equal gains the first column and the
 * first bin win.
 * Categories: codes with rows are sorted by G/(H + 10) and cut once (Fisher 1958), as scikit-learn does.
 * Missing values go to the side where they gain more; where a node has none, to the larger child.
 *
 * Calling order: gbdt_grower_new -> (gbdt_grow)*. A grower is one tree's memory at a time; several may run beside each other over
 * the same bins. Errors: LIMIT. */
#pragma once
#include "workers/compute/kernels/trees.h"
#include "workers/compute/train/gbdt_bins.h"

struct gbdt_gradient {          /* of one row */
    int32_t g;
    uint32_t h;
};

struct gbdt_limits {
    size_t leaves, depth, leaf_rows;    /* depth 0: any */
    double l2, rate;
};

struct gbdt_scale {             /* what the whole numbers of gradients mean */
    double g, h;                /* g·scale.g is the gradient */
    unsigned count_shift;       /* a sum of h holds the rows from this bit on */
};

struct gbdt_sample {            /* what the tree sees */
    const uint32_t *rows;       /* ascending */
    size_t row_count;
    const unsigned char *columns;       /* 1: it may split by this column; NULL: by all */
};

struct gbdt_tree {              /* as kernels/trees.h has it; nodes and sets have room for the limits' leaves */
    float *nodes, *sets;
    size_t node_count, set_count, leaf_count;
};

struct gbdt_grower;
/* most_rows: of any tree. pool: for inside a tree; NULL where trees run beside each other. */
enum errc gbdt_grower_new(struct arena *a, struct pool *pool, const struct gbdt_bins *b, const struct gbdt_limits *l,
                          size_t most_rows, struct gbdt_grower **ret, struct err *e);
size_t gbdt_grower_bytes(const struct gbdt_bins *b, const struct gbdt_limits *l, size_t most_rows);
/* gradient: by row of the table. Adds each leaf's value to score[row] of its rows. unit: what a leaf's value is multiplied by. */
void gbdt_grow(struct gbdt_grower *w, const struct gbdt_sample *s, const struct gbdt_gradient *gradient,
               const struct gbdt_scale *scale, double unit, struct gbdt_tree *ret, float *score);
/* Bits of h that leave room for the count of n rows, so that neither overflows 63 bits. */
unsigned gbdt_hessian_bits(size_t n, unsigned *ret_count_shift);
