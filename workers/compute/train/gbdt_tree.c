/* SPDX-License-Identifier: Apache-2.0 */
/* gbdt_tree.c - the rows of a tree as one list that each split parts in place, a histogram for each leaf that may still split.
 *
 * Work is cut by rows or by groups of columns; each piece writes apart from the others and sums are whole numbers. What is too
 * small to wake a thread for runs where it is. Parting a list keeps the order of rows: pieces part themselves, the lefts of a
 * piece from its start and the rights from its end, then all are copied to where they belong. */
#include "workers/compute/train/gbdt_tree_int.h"
#include "workers/compute/pool.h"

#include <string.h>

enum { ROWS_PER_TASK = 16384, WORK_LEAST = 32768 };
static const double HESSIAN_TINY = 1e-15;

struct leaf {
    size_t begin, end;          /* of the list of rows */
    size_t depth, node;
    gbdt_cell sum;
    gbdt_cell *cells;           /* NULL: it will not split */
    struct gbdt_split split;
};

struct gbdt_grower {
    struct pool *pool;
    const struct gbdt_bins *bins;
    struct gbdt_limits limits;
    struct gbdt_scale scale;
    const struct gbdt_sample *sample;
    const struct gbdt_gradient *gradient;
    uint32_t *rows, *parted;
    gbdt_cell *ordered;         /* gradients of the rows of one node, in the order of the list */
    gbdt_cell **slots;          /* histograms that nobody has */
    size_t free_slots, cell_count;
    struct leaf *leaves;
    size_t leaf_count;
    struct gbdt_split *found;   /* by group: of the smaller child, then of the larger */
    size_t *lefts;              /* by piece: rows that go left, then where they go */
};

size_t gbdt_grower_bytes(const struct gbdt_bins *b, const struct gbdt_limits *l, size_t most_rows)
{
    return (l->leaves + 1) * (b->cells + GBDT_PADS) * sizeof(gbdt_cell) + most_rows * (2 * sizeof(uint32_t) + sizeof(gbdt_cell));
}

enum errc gbdt_grower_new(struct arena *a, struct pool *pool, const struct gbdt_bins *b, const struct gbdt_limits *l,
                          size_t most_rows, struct gbdt_grower **ret, struct err *e)
{
    struct gbdt_grower *w = ARENA_NEW(a, struct gbdt_grower);
    *w = (struct gbdt_grower){ .pool = pool, .bins = b, .limits = *l, .cell_count = b->cells + GBDT_PADS };
    size_t pieces = most_rows / ROWS_PER_TASK + 1, slots = l->leaves + 1;
    gbdt_cell *cells = arena_try(a, slots * w->cell_count * sizeof *cells);
    w->rows = arena_try(a, most_rows * sizeof *w->rows);
    w->parted = arena_try(a, most_rows * sizeof *w->parted);
    w->ordered = arena_try(a, most_rows * sizeof *w->ordered);
    w->slots = arena_try(a, slots * sizeof *w->slots);
    w->leaves = arena_try(a, l->leaves * sizeof *w->leaves);
    w->found = arena_try(a, 2 * b->groups * sizeof *w->found);
    w->lefts = arena_try(a, pieces * sizeof *w->lefts);
    if (!cells || !w->rows || !w->parted || !w->ordered || !w->slots || !w->leaves || !w->found || !w->lefts)
        return FAIL(e, LIMIT, "a tree of %zu leaves over %zu rows needs %zu bytes, which the memory of this job does not hold; "
                    "fewer leaves or bins need less", l->leaves, most_rows, gbdt_grower_bytes(b, l, most_rows));
    for (size_t i = 0; i < slots; i++)
        w->slots[w->free_slots++] = cells + i * w->cell_count;
    *ret = w;
    return ERR_OK;
}

unsigned gbdt_hessian_bits(size_t n, unsigned *ret_count_shift)
{
    enum { HESSIAN_BITS = 30, ALL = 63 };
    unsigned count = 1, h;
    while (n >> count)
        count++;
    h = ALL - 2 * count < HESSIAN_BITS ? ALL - 2 * count : HESSIAN_BITS;
    *ret_count_shift = h + count;
    return h;
}

static void split_work(const struct gbdt_grower *w, size_t work, size_t tasks, void (*fn)(void *arg, size_t task), void *arg)
{
    pool_run(work < WORK_LEAST ? NULL : w->pool, tasks, fn, arg);
}

static gbdt_cell cell_of(const struct gbdt_grower *w, uint32_t row)
{
    const struct gbdt_gradient *g = &w->gradient[row];
    return (gbdt_cell){ g->g, ((int64_t)1 << w->scale.count_shift) + g->h };
}

/* --- histograms and splits of one node, or of two children --- */

struct pair {
    struct gbdt_grower *w;
    struct leaf *small, *large;         /* large NULL: the first node */
};

static void look_at(const struct gbdt_grower *w, const struct leaf *leaf, size_t group, struct gbdt_split *ret)
{
    const struct gbdt_scan s = { w->bins, &w->limits, &w->scale, leaf->cells, leaf->sum };
    *ret = (struct gbdt_split){
        .gain = gbdt_score((double)leaf->sum[0] * w->scale.g, gbdt_hessian(&w->scale, leaf->sum), w->limits.l2) + 1e-12 };
    ret->col = UINT32_MAX;
    for (size_t col = group * GBDT_GROUP; col < (group + 1) * GBDT_GROUP && col < w->bins->cols; col++)
        if (!w->sample->columns || w->sample->columns[col])
            gbdt_look(&s, col, ret);
}

static void group_task(void *arg, size_t group)
{
    const struct pair *p = arg;
    const struct gbdt_bins *b = p->w->bins;
    const struct gbdt_column *first = &b->columns[group * GBDT_GROUP];
    size_t from = first->cell, end = (group + 1) * GBDT_GROUP < b->cols ? first[GBDT_GROUP].cell : b->cells + GBDT_PADS;
    gbdt_cell *small = p->small->cells;
    memset(small + from, 0, (end - from) * sizeof *small);
    gbdt_add_rows(b, group, p->w->rows + p->small->begin, p->w->ordered, p->small->end - p->small->begin, small);
    look_at(p->w, p->small, group, &p->w->found[group]);
    if (!p->large)
        return;
    for (size_t i = from; i < end; i++)
        p->large->cells[i] -= small[i];
    look_at(p->w, p->large, group, &p->w->found[b->groups + group]);
}

static void free_cells(struct gbdt_grower *w, struct leaf *leaf)
{
    if (leaf->cells)
        w->slots[w->free_slots++] = leaf->cells;
    leaf->cells = NULL;
}

static bool may_split(const struct gbdt_grower *w, const struct leaf *leaf)
{
    return leaf->end - leaf->begin >= 2 * w->limits.leaf_rows && (!w->limits.depth || leaf->depth < w->limits.depth);
}

/* The best of all groups, the first of equals; a leaf that gains nothing gives its histogram back. */
static void settle(struct gbdt_grower *w, struct leaf *leaf, const struct gbdt_split *found)
{
    double before = gbdt_score((double)leaf->sum[0] * w->scale.g, gbdt_hessian(&w->scale, leaf->sum), w->limits.l2);
    leaf->split = (struct gbdt_split){ 0 };
    for (size_t i = 0; i < w->bins->groups; i++)
        if (found[i].col != UINT32_MAX && found[i].gain > leaf->split.gain)
            leaf->split = found[i];
    leaf->split.gain = leaf->split.gain > before ? leaf->split.gain - before : 0;
    if (!may_split(w, leaf) || leaf->split.gain <= 0) {
        leaf->split.gain = 0;
        free_cells(w, leaf);
    }
}

static void look(struct gbdt_grower *w, struct leaf *small, struct leaf *large)
{
    struct pair p = { w, small, large };
    size_t rows = small->end - small->begin;
    split_work(w, w->bins->groups * (rows * GBDT_GROUP + 256), w->bins->groups, group_task, &p);
    settle(w, small, w->found);
    if (large)
        settle(w, large, w->found + w->bins->groups);
}

/* --- parting the rows of a node --- */

struct part {
    struct gbdt_grower *w;
    size_t begin, count, small_at;      /* small_at: of the list, where the gradients of the smaller child are wanted from */
    const uint8_t *bin;
    unsigned char goes_left[256];
    size_t left_total, small_count;
};

static void part_task(void *arg, size_t task)
{
    struct part *p = arg;
    size_t from = p->begin + task * ROWS_PER_TASK, end = p->begin + p->count;
    end = end - from < ROWS_PER_TASK ? end : from + ROWS_PER_TASK;
    uint32_t *left = p->w->parted + from, *right = p->w->parted + end - 1;
    for (size_t i = from; i < end; i++) {
        uint32_t row = p->w->rows[i];
        unsigned is_left = p->goes_left[p->bin[(size_t)row * GBDT_GROUP]];
        *left = row;
        left += is_left;
        if (!is_left)
            *right-- = row;
    }
    p->w->lefts[task] = (size_t)(left - (p->w->parted + from));
}

/* To its place, and the gradient beside it where the smaller child is. */
static void put(const struct part *p, size_t at, uint32_t row)
{
    p->w->rows[at] = row;
    if (at - p->small_at < p->small_count)
        p->w->ordered[at - p->small_at] = cell_of(p->w, row);
}

static void place_task(void *arg, size_t task)
{
    const struct part *p = arg;
    size_t from = p->begin + task * ROWS_PER_TASK, end = p->begin + p->count, left_before = p->w->lefts[task];
    end = end - from < ROWS_PER_TASK ? end : from + ROWS_PER_TASK;
    size_t right_before = task * ROWS_PER_TASK - left_before;
    size_t lefts = (task + 1) * ROWS_PER_TASK < p->count ? p->w->lefts[task + 1] - left_before : p->left_total - left_before;
    for (size_t i = 0; i < lefts; i++)
        put(p, p->begin + left_before + i, p->w->parted[from + i]);
    for (size_t i = 0; i < end - from - lefts; i++)
        put(p, p->begin + p->left_total + right_before + i, p->w->parted[end - 1 - i]);
}

static void say_sides(struct part *p, const struct gbdt_split *s, const struct gbdt_column *c)
{
    for (uint32_t b = 0; b < c->bins; b++)
        p->goes_left[b] = c->is_category ? s->left[b / 64] >> b % 64 & 1 : b <= s->bin;
    p->goes_left[c->bins] = s->missing_left;
}

/* The list of `leaf` into that of its two sides; ordered: gradients of the smaller one. */
static void part_rows(struct gbdt_grower *w, const struct leaf *leaf, size_t left_count)
{
    const struct gbdt_split *s = &leaf->split;
    struct part p = { .w = w, .begin = leaf->begin, .count = leaf->end - leaf->begin, .left_total = left_count };
    size_t pieces = (p.count + ROWS_PER_TASK - 1) / ROWS_PER_TASK, sum = 0;
    bool is_left_small = 2 * left_count <= p.count;
    p.small_at = leaf->begin + (is_left_small ? 0 : left_count);
    p.small_count = is_left_small ? left_count : p.count - left_count;
    p.bin = w->bins->bin + s->col / GBDT_GROUP * w->bins->rows * GBDT_GROUP + s->col % GBDT_GROUP;
    say_sides(&p, s, &w->bins->columns[s->col]);
    split_work(w, p.count * 2, pieces, part_task, &p);
    for (size_t i = 0; i < pieces; i++) {
        size_t n = w->lefts[i];
        w->lefts[i] = sum;
        sum += n;
    }
    ASSERT(sum == left_count);
    split_work(w, p.count * 2, pieces, place_task, &p);
}

/* --- the tree --- */

static void add_leaf(struct gbdt_tree *t, struct leaf *leaf)
{
    float *n = t->nodes + t->node_count * TREE_FIELDS;
    leaf->node = t->node_count++;
    memset(n, 0, TREE_FIELDS * sizeof *n);
    n[TREE_COLUMN] = n[TREE_SET] = -1;
}

static void write_split(const struct gbdt_grower *w, struct gbdt_tree *t, const struct leaf *leaf, size_t left, size_t right)
{
    const struct gbdt_split *s = &leaf->split;
    const struct gbdt_column *c = &w->bins->columns[s->col];
    float *n = t->nodes + leaf->node * TREE_FIELDS;
    n[TREE_COLUMN] = (float)s->col;
    n[TREE_LEFT] = (float)left;
    n[TREE_RIGHT] = (float)right;
    n[TREE_MISSING] = s->missing_left;
    n[TREE_GAIN] = (float)s->gain;
    if (c->is_category) {
        float *set = t->sets + t->set_count * TREE_SET_NUMBERS;
        n[TREE_SET] = (float)t->set_count++;
        for (size_t i = 0; i < TREE_SET_NUMBERS; i++)
            set[i] = (float)(s->left[i / 4] >> i % 4 * 16 & 0xffff);
    } else {
        /* behind all numbers: they go left, and what is missing does not */
        n[TREE_THRESHOLD] = s->bin + 1 < c->bins ? c->cut[s->bin] : 3.4028234663852886e38f;
    }
}

/* Its two sides take its place and the next free one in the list of leaves. */
static void split_leaf(struct gbdt_grower *w, struct gbdt_tree *t, size_t at)
{
    struct leaf parent = w->leaves[at], *left = &w->leaves[at], *right = &w->leaves[w->leaf_count++];
    size_t left_count = (size_t)gbdt_count(&w->scale, parent.split.sum);
    part_rows(w, &parent, left_count);
    *left = (struct leaf){ parent.begin, parent.begin + left_count, parent.depth + 1, 0, parent.split.sum, NULL, { 0 } };
    *right = (struct leaf){ left->end, parent.end, parent.depth + 1, 0, parent.sum - parent.split.sum, NULL, { 0 } };
    add_leaf(t, left);
    add_leaf(t, right);
    write_split(w, t, &parent, left->node, right->node);
    bool is_left_small = 2 * left_count <= parent.end - parent.begin;
    struct leaf *small = is_left_small ? left : right, *large = is_left_small ? right : left;
    if (w->leaf_count == w->limits.leaves || !may_split(w, large)) {
        free_cells(w, &parent);
        return;
    }
    large->cells = parent.cells;
    small->cells = w->slots[--w->free_slots];
    look(w, small, large);
}

struct pass {                   /* over rows of the list */
    struct gbdt_grower *w;
    double unit;
    struct gbdt_tree *tree;
    float *score;
};

static void order_task(void *arg, size_t task)
{
    const struct pass *p = arg;
    size_t from = task * ROWS_PER_TASK, n = p->w->sample->row_count, end = n - from < ROWS_PER_TASK ? n : from + ROWS_PER_TASK;
    for (size_t i = from; i < end; i++) {
        p->w->rows[i] = p->w->sample->rows[i];
        p->w->ordered[i] = cell_of(p->w, p->w->rows[i]);
    }
}

static void value_task(void *arg, size_t task)
{
    const struct pass *p = arg;
    const struct leaf *l = &p->w->leaves[task];
    const struct gbdt_scale *s = &p->w->scale;
    double h = gbdt_hessian(s, l->sum) + p->w->limits.l2 + HESSIAN_TINY;
    float value = (float)(-p->w->limits.rate * ((double)l->sum[0] * s->g) / h * p->unit);
    p->tree->nodes[l->node * TREE_FIELDS + TREE_THRESHOLD] = value;
    for (size_t i = l->begin; i < l->end; i++)
        p->score[p->w->rows[i]] += value;
}

static size_t best_leaf(const struct gbdt_grower *w)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < w->leaf_count; i++)
        if (w->leaves[i].split.gain > 0 && (best == SIZE_MAX || w->leaves[i].split.gain > w->leaves[best].split.gain))
            best = i;
    return best;
}

void gbdt_grow(struct gbdt_grower *w, const struct gbdt_sample *s, const struct gbdt_gradient *gradient,
               const struct gbdt_scale *scale, double unit, struct gbdt_tree *ret, float *score)
{
    struct pass p = { .w = w, .unit = unit, .tree = ret, .score = score };
    struct leaf *first = &w->leaves[0];
    w->sample = s;
    w->gradient = gradient;
    w->scale = *scale;
    w->leaf_count = 1;
    ret->node_count = ret->set_count = 0;
    split_work(w, s->row_count * 2, (s->row_count + ROWS_PER_TASK - 1) / ROWS_PER_TASK, order_task, &p);
    *first = (struct leaf){ .end = s->row_count };
    for (size_t i = 0; i < s->row_count; i++)
        first->sum += w->ordered[i];
    add_leaf(ret, first);
    if (w->limits.leaves > 1) {
        first->cells = w->slots[--w->free_slots];
        look(w, first, NULL);
    }
    for (size_t at; w->leaf_count < w->limits.leaves && (at = best_leaf(w)) != SIZE_MAX;)
        split_leaf(w, ret, at);
    split_work(w, s->row_count * 2, w->leaf_count, value_task, &p);
    for (size_t i = 0; i < w->leaf_count; i++)
        free_cells(w, &w->leaves[i]);
    ret->leaf_count = w->leaf_count;
}
