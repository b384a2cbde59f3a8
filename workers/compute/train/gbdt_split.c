/* SPDX-License-Identifier: Apache-2.0 */
/* gbdt_split.c - histograms, and the best cut of one. */
#include "workers/compute/train/gbdt_tree_int.h"

#include <stdlib.h>
#include <string.h>

static const double HESSIAN_LEAST = 1e-3, CATEGORY_SMOOTH = 10;

void gbdt_add_rows(const struct gbdt_bins *b, size_t group, const uint32_t *rows, const gbdt_cell *gradient, size_t n,
                   gbdt_cell *cells)
{
    const uint8_t *bin = b->bin + group * b->rows * GBDT_GROUP;
    const struct gbdt_column *c = &b->columns[group * GBDT_GROUP];
    gbdt_cell *h0 = cells + c[0].cell, *h1 = cells + c[1].cell, *h2 = cells + c[2].cell, *h3 = cells + c[3].cell;
    for (size_t i = 0; i < n; i++) {
        uint32_t four;
        gbdt_cell add = gradient[i];
        memcpy(&four, bin + (size_t)rows[i] * GBDT_GROUP, sizeof four);
        h0[four & 255] += add;
        h1[four >> 8 & 255] += add;
        h2[four >> 16 & 255] += add;
        h3[four >> 24] += add;
    }
}

/* Of a cut with this on its left; no more than 0: too little on a side. */
static double gain_of(const struct gbdt_scan *s, gbdt_cell left, bool *ret_has_few_left)
{
    gbdt_cell right = s->sum - left;
    int64_t least = (int64_t)s->limits->leaf_rows;
    double hl = gbdt_hessian(s->scale, left), hr = gbdt_hessian(s->scale, right), l2 = s->limits->l2;
    *ret_has_few_left = gbdt_count(s->scale, right) < least;
    if (gbdt_count(s->scale, left) < least || *ret_has_few_left || hl < HESSIAN_LEAST || hr < HESSIAN_LEAST)
        return 0;
    return gbdt_score((double)left[0] * s->scale->g, hl, l2) + gbdt_score((double)right[0] * s->scale->g, hr, l2);
}

/* Cuts from the left; what is missing lies on the left from the start, or on the right. */
static void look_numbers(const struct gbdt_scan *s, size_t col, bool missing_left, struct gbdt_split *best)
{
    const struct gbdt_column *c = &s->bins->columns[col];
    const gbdt_cell *cell = s->cells + c->cell;
    gbdt_cell missing = cell[c->bins], left = missing_left ? missing : (gbdt_cell){ 0, 0 };
    /* A cut behind all numbers parts them from what is missing. */
    uint32_t last = c->bins - (missing[1] && !missing_left ? 0 : 1);
    bool is_over = false;
    for (uint32_t b = 0; b < last && !is_over; b++) {
        if (!cell[b][1])
            continue;
        left += cell[b];
        double gain = gain_of(s, left, &is_over);
        if (gain > best->gain)
            *best = (struct gbdt_split){ gain, (uint32_t)col, b, missing_left, { 0 }, left };
    }
}

struct code {
    double key;
    uint32_t code;
};

static int by_key(const void *x, const void *y)
{
    const struct code *a = x, *b = y;
    return a->key != b->key ? (a->key < b->key ? -1 : 1) : (a->code > b->code) - (a->code < b->code);
}

/* What is missing is a code like the others: the one behind the last. */
static void look_categories(const struct gbdt_scan *s, size_t col, struct gbdt_split *best)
{
    const struct gbdt_column *c = &s->bins->columns[col];
    const gbdt_cell *cell = s->cells + c->cell;
    struct code codes[TREE_CODES];
    size_t n = 0;
    gbdt_cell left = { 0, 0 };
    uint64_t set[4] = { 0 };
    bool missing_left = false, is_over = false;
    for (uint32_t b = 0; b <= c->bins; b++)
        if (cell[b][1])
            codes[n++] = (struct code){
                (double)cell[b][0] * s->scale->g / (gbdt_hessian(s->scale, cell[b]) + CATEGORY_SMOOTH), b };
    qsort(codes, n, sizeof *codes, by_key);
    for (size_t i = 0; i + 1 < n && !is_over; i++) {
        uint32_t b = codes[i].code;
        left += cell[b];
        missing_left = missing_left || b == c->bins;
        if (b < c->bins)
            set[b / 64] |= (uint64_t)1 << b % 64;
        double gain = gain_of(s, left, &is_over);
        if (gain <= best->gain)
            continue;
        *best = (struct gbdt_split){ gain, (uint32_t)col, UINT32_MAX, missing_left, { 0 }, left };
        memcpy(best->left, set, sizeof set);
    }
}

void gbdt_look(const struct gbdt_scan *s, size_t col, struct gbdt_split *best)
{
    const struct gbdt_column *c = &s->bins->columns[col];
    double before = best->gain;
    bool has_missing = s->cells[c->cell + c->bins][1] != 0;
    if (c->is_category) {
        look_categories(s, col, best);
    } else {
        look_numbers(s, col, false, best);
        if (has_missing)
            look_numbers(s, col, true, best);
    }
    if (best->gain > before && !has_missing)         /* who comes later without a value goes with most */
        best->missing_left = 2 * gbdt_count(s->scale, best->sum) > gbdt_count(s->scale, s->sum);
}
