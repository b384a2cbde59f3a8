/* SPDX-License-Identifier: Apache-2.0 */
/* test_trees.c - every backend walks as the plain form does, whatever is missing; hostile ensembles are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "core/base/cleanup.h"
#include "workers/compute/kernels/trees.h"
#include "workers/compute/rng.h"

enum { ROWS = 203, COLS = 7, TREES = 12, DEPTH = 6, NODES = (2 << DEPTH) - 1, OUTPUTS = 3, SETS = 4 };

static float nodes[TREES * NODES * TREE_FIELDS], roots[TREES * TREE_ROOT_FIELDS], base[OUTPUTS], sets[SETS * TREE_SET_NUMBERS];
static float x[ROWS * COLS];

/* Full trees, every third node of the even ones by categories; column 6 holds codes and others. */
static struct tree_tensors make(void)
{
    for (size_t t = 0; t < TREES; t++) {
        roots[2 * t] = (float)(t * NODES);
        roots[2 * t + 1] = (float)(t % OUTPUTS);
        for (size_t i = 0; i < NODES; i++) {
            float *n = nodes + (t * NODES + i) * TREE_FIELDS;
            const struct philox r = philox(1, t, i);
            bool is_leaf = 2 * i + 2 >= NODES, by_set = t % 2 == 0 && i % 3 == 0;
            n[TREE_COLUMN] = is_leaf ? -1 : by_set ? COLS - 1 : (float)(r.v[0] % (COLS - 1));
            n[TREE_THRESHOLD] = (float)philox_normal(2, t, i);
            n[TREE_LEFT] = is_leaf ? 0 : (float)(2 * i + 1);
            n[TREE_RIGHT] = is_leaf ? 0 : (float)(2 * i + 2);
            n[TREE_MISSING] = r.v[1] & 1;
            n[TREE_SET] = by_set && !is_leaf ? (float)(r.v[2] % SETS) : -1;
            n[TREE_GAIN] = 0;
        }
    }
    for (size_t i = 0; i < SETS * TREE_SET_NUMBERS; i++)
        sets[i] = (float)(philox(3, 0, i).v[0] & 0xffff);
    for (size_t k = 0; k < OUTPUTS; k++)
        base[k] = (float)k - 0.5f;
    for (size_t i = 0; i < ROWS * COLS; i++) {
        x[i] = (float)philox_normal(4, 0, i);
        if (i % COLS == COLS - 1)
            x[i] = i % 5 ? (float)(i % 256) : 1e9f;
        if (i > ROWS * COLS / 2 && i % 13 == 0)
            x[i] = i % 2 ? NAN : INFINITY;
    }
    return (struct tree_tensors){ nodes, roots, base, sets, TREES * NODES, TREES, OUTPUTS, SETS };
}

static struct tensor matrix(const float *p, size_t rows, size_t cols)
{
    struct tensor t = tensor_at(NULL, 0, ELEM_F32, cols ? 2 : 1, (size_t[]){ rows, cols });
    t.ptr = (void *)(uintptr_t)p;
    return t;
}

static void test_walks(void **st)
{
    (void)st;
    const struct tree_tensors all = make();
    struct hw hw;
    struct err e = { 0 };
    hw_read(&hw);
    assert_int_equal(trees_check(&all, COLS, &e), ERR_OK);
    for (const struct backend *const *be = backend_list(); *be; be++) {
        struct backend_ctx *c;
        static float y[ROWS * OUTPUTS];
        if (!(*be)->probe(&hw))
            continue;
        assert_int_equal((*be)->open(*be, NULL, &c, &e), ERR_OK);
        size_t bytes = trees_packed_bytes(all.node_count, TREES, OUTPUTS, SETS);
        struct buffer *b = (*be)->alloc(c, bytes);
        struct tensor t[4] = { matrix(nodes, TREES * NODES, TREE_FIELDS), matrix(roots, TREES, 2), matrix(base, OUTPUTS, 0),
                               matrix(sets, SETS, TREE_SET_NUMBERS) };
        struct tensor packed = tensor_at(b, 0, ELEM_U8, 1, &bytes);
        const struct op_call pack = { { 0 }, { &t[0], &t[1], &t[2], &t[3] }, { &packed } };
        (*(*be)->kernels)[OP_TREES_PACK][ELEM_F32](c, &pack);
        for (size_t rows = 1; rows <= ROWS; rows += 101) {      /* 1, 102, 203: a row's bits do not depend on its batch */
            struct tensor in = matrix(x + (ROWS - rows) * COLS, rows, COLS), out = matrix(y, rows, OUTPUTS);
            const struct op_call walk = { { 0 }, { &in, &packed }, { &out } };
            (*(*be)->kernels)[OP_TREES][ELEM_F32](c, &walk);
            for (size_t r = 0; r < rows; r++) {
                float want[OUTPUTS] = { 0 };
                for (size_t i = 0; i < TREES; i++)
                    want[i % OUTPUTS] += tree_leaf(nodes + i * NODES * TREE_FIELDS, sets, x + (ROWS - rows + r) * COLS);
                for (size_t k = 0; k < OUTPUTS; k++)
                    assert_true(y[r * OUTPUTS + k] == want[k] + base[k]);
            }
        }
        (*be)->free(c, b);
        (*be)->close(c);
    }
}

static void test_hostile(void **st)
{
    (void)st;
    struct tree_tensors all = make();
    static const struct { size_t node; enum tree_field field; float bad; const char *why; } bad[] = {
        { 0, TREE_COLUMN, COLS, "node 0: its column is 7 of 7" },
        { 0, TREE_COLUMN, 0.5f, "its column is 0.5" },
        { 0, TREE_COLUMN, -2, "its column is -2" },
        { 0, TREE_COLUMN, NAN, "its column is" },
        { NODES - 1, TREE_THRESHOLD, INFINITY, "node 126: its threshold is no finite number" },
        { 1, TREE_LEFT, 1, "node 1: its child 1 is not behind it" },
        { 1, TREE_LEFT, 0, "node 1: its child 0 is not behind it" },
        { 2, TREE_RIGHT, NODES, "its child 127 is not behind it in its tree of 127 nodes" },
        { 2, TREE_RIGHT, 5, "its child 5 is not behind it in its tree of 127 nodes, or another's, too" },
        { 3, TREE_LEFT, 7.5f, "its child 7.5" },
        { 5, TREE_MISSING, 2, "missing values go 2" },
        { 5, TREE_SET, SETS, "its set is 4 of 4" },
        { NODES + 4, TREE_COLUMN, 9, "node 131: its column is 9" },
        { 62, TREE_COLUMN, -1, "node 125: no node before it leads to it" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        make();
        float *at = nodes + bad[i].node * TREE_FIELDS + bad[i].field;
        struct err e = { 0 };
        *at = bad[i].bad;
        assert_int_equal(trees_check(&all, COLS, &e), ERR_BAD_DATA);
        if (!strstr(e.msg, bad[i].why))
            fail_msg("%s instead of %s", e.msg, bad[i].why);
    }
    static const struct { float *at; float bad; const char *why; } more[] = {
        { &roots[0], 1, "tree 0: its first node is 1" }, { &roots[2], 0, "tree 1: its first node is 0" },
        { &roots[4], TREES * NODES, "tree 2: its first node is" }, { &roots[1], OUTPUTS, "tree 0: its output is 3 of 3" },
        { &base[1], NAN, "output 1 begins with" }, { &sets[17], 65536, "set 1: 65536 is no number of 16 bits" },
    };
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        struct err e = { 0 };
        make();
        *more[i].at = more[i].bad;
        assert_int_equal(trees_check(&all, COLS, &e), ERR_BAD_DATA);
        assert_non_null(strstr(e.msg, more[i].why));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_walks), cmocka_unit_test(test_hostile) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
