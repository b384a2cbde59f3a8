/* SPDX-License-Identifier: Apache-2.0 */
/* test_gbdt_tree.c - a tree's leaves hold what its gradients say, within its limits, on any number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "core/base/cleanup.h"
#include "workers/compute/pool.h"
#include "workers/compute/rng.h"
#include "workers/compute/train/gbdt_tree.h"

enum { ROWS = 70000, COLS = 5, LEAVES = 31 };

static float x[ROWS * COLS], score[ROWS];
static uint32_t rows[ROWS];
static struct gbdt_gradient gradient[ROWS];

static void grow(struct arena *a, struct pool *pool, size_t n, const struct gbdt_limits *limits, struct gbdt_tree *t)
{
    struct gbdt_table table = { x, ROWS, COLS, rows, ROWS, NULL };
    struct gbdt_scale scale = { 0x1p-20, 1, 0 };
    struct gbdt_bins b;
    struct gbdt_grower *w;
    struct err e = { 0 };
    for (uint32_t i = 0; i < ROWS; i++) {
        rows[i] = i;
        for (size_t c = 0; c < COLS; c++)
            x[i * COLS + c] = i % 11 == c ? NAN : (float)philox_normal(1, c, i);
        double y = (double)(x[i * COLS] > 0.3f) * 2 + (isnan(x[i * COLS + 1]) ? 1 : (double)x[i * COLS + 1]);
        gradient[i] = (struct gbdt_gradient){ (int32_t)lrint(-y * 0x1p20), 1 };
    }
    assert_int_equal(gbdt_hessian_bits(n, &scale.count_shift) >= 1, 1);
    assert_int_equal(gbdt_bins_make(a, pool, &table, 255, 1, &b, &e), ERR_OK);
    assert_int_equal(gbdt_grower_new(a, pool, &b, limits, ROWS, &w, &e), ERR_OK);
    t->nodes = arena_alloc(a, 2 * limits->leaves * TREE_FIELDS * sizeof(float));
    t->sets = arena_alloc(a, limits->leaves * TREE_SET_NUMBERS * sizeof(float));
    memset(score, 0, sizeof score);
    const struct gbdt_sample s = { rows, n, NULL };
    gbdt_grow(w, &s, gradient, &scale, 1, t, score);
}

static void test_leaves_are_means(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)256 << 20);
    const struct gbdt_limits limits = { .leaves = LEAVES, .leaf_rows = 100, .rate = 1 };
    static double sum[2 * LEAVES], count[2 * LEAVES];
    struct gbdt_tree t;
    struct pool *pool;
    struct err e = { 0 };
    assert_int_equal(pool_new(2, &pool, &e), ERR_OK);
    grow(a, pool, ROWS, &limits, &t);
    pool_free(pool);
    assert_int_equal(t.leaf_count, LEAVES);
    const struct tree_tensors all = { t.nodes, (float[]){ 0, 0 }, (float[]){ 0 }, NULL, t.node_count, 1, 1, 0 };
    assert_int_equal(trees_check(&all, COLS, &e), ERR_OK);
    double before = 0, after = 0;
    for (size_t i = 0; i < ROWS; i++) {
        float v = tree_leaf(t.nodes, NULL, x + i * COLS);
        assert_true(v == score[i]);                 /* numbers walk as their bins did */
        size_t leaf = 0;
        while (t.nodes[leaf * TREE_FIELDS + TREE_COLUMN] != -1 || t.nodes[leaf * TREE_FIELDS + TREE_THRESHOLD] != v)
            leaf++;
        double y = -(double)gradient[i].g * 0x1p-20;
        sum[leaf] += y;
        count[leaf]++;
        before += y * y;
        after += (y - (double)v) * (y - (double)v);
    }
    for (size_t n = 0; n < t.node_count; n++)
        if (t.nodes[n * TREE_FIELDS + TREE_COLUMN] == -1)
            assert_true(count[n] >= 100
                        && fabs(sum[n] / count[n] - (double)t.nodes[n * TREE_FIELDS + TREE_THRESHOLD]) < 1e-5);
    assert_true(after < 0.05 * before);
}

static void test_limits_and_threads(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)512 << 20);
    static float first[ROWS];
    struct gbdt_tree one, four;
    struct pool *pool;
    struct err e = { 0 };
    const struct gbdt_limits flat = { .leaves = LEAVES, .leaf_rows = 20, .depth = 2, .l2 = 3, .rate = 0.1 };
    assert_int_equal(pool_new(4, &pool, &e), ERR_OK);
    grow(a, NULL, ROWS, &flat, &one);
    assert_int_equal(one.leaf_count, 4);
    memcpy(first, score, sizeof score);
    grow(a, pool, ROWS, &flat, &four);
    assert_memory_equal(first, score, sizeof score);
    assert_memory_equal(one.nodes, four.nodes, one.node_count * TREE_FIELDS * sizeof(float));
    const struct gbdt_limits lone = { .leaves = LEAVES, .leaf_rows = 20, .rate = 1 };
    grow(a, NULL, 39, &lone, &one);                 /* too few for two leaves */
    assert_int_equal(one.leaf_count, 1);
    pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_leaves_are_means), cmocka_unit_test(test_limits_and_threads) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
