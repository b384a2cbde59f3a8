/* SPDX-License-Identifier: Apache-2.0 */
/* test_fuse.c - bias and activation join the product without changing a bit, and only where nobody else reads it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph_kit.h"

enum { ROWS = KIT_ROWS, COLS = KIT_COLS };

/* Serving: weights packed, bias and ReLU in the product, raw weights gone; the same bits as without. */
static void test_fused_and_folded(void **st)
{
    (void)st;
    float w[3 * COLS], b[3], x[ROWS * COLS], got[ROWS * 3], want[ROWS * 3];
    struct err e;
    kit_fill(w, ELEM_F32, 3 * COLS);
    kit_fill(b, ELEM_F32, 3);
    kit_fill(x, ELEM_F32, ROWS * COLS);
    for (const struct backend *const *be = backend_list(); *be; be++) {
        struct hw hw;
        hw_read(&hw);
        if (!(*be)->probe(&hw))
            continue;
        struct backend_ctx *c = kit_open(*be);
        for (int is_fused = 0; is_fused < 2; is_fused++) {
            struct graph *g = graph_new(ELEM_F32, 16);
            int in = graph_input(g, "x", F32(DIM_ROWS(1), DIM(COLS)));
            int weight = graph_const(g, "w", F32(DIM(3), DIM(COLS)), w), bias = graph_const(g, "b", F32(DIM(3)), b);
            int product = graph_op(g, OP_MATMUL, &(struct op_attr){ .flags = MM_TRANS_B }, GRAPH_INS(in, weight));
            int sum = graph_op2(g, OP_ADD_BIAS, product, bias), y = graph_op1(g, OP_RELU, sum);
            if (!is_fused) {
                graph_output(g, product, "product");
                graph_output(g, sum, "sum");
            }
            graph_output(g, y, "y");
            struct plan *p = kit_plan(g, *be, c, ROWS);
            assert_int_equal(kit_count(g, OP_MATMUL), 0);
            assert_int_equal(kit_count(g, OP_MATMUL_PACKED), 1);
            assert_int_equal(kit_count(g, OP_RELU), !is_fused);
            assert_int_equal(kit_count(g, OP_ADD_BIAS), !is_fused);
            assert_null(p->consts[weight]);
            struct run *r = kit_run(p, c);
            run_put(r, in, 0, 3, x);
            run_put(r, in, 3, ROWS - 3, x + 3 * COLS);
            run_exec(r, ROWS, PHASE_FORWARD, false);
            run_get(r, y, 0, ROWS, is_fused ? got : want);
            assert_int_equal(run_sync(r, &e), ERR_OK);
            run_free(r);
            plan_free(p);
        }
        assert_memory_equal(got, want, sizeof got);
        (*be)->close(c);
    }
}

/* A residual block: bias, what is added and ReLU join both kinds of convolution; the weights of one are packed. */
static void test_convolutions(void **st)
{
    (void)st;
    enum { SIDE = 9, CHANNELS = 18, ALL = SIDE * SIDE * CHANNELS };
    static float w[CHANNELS * 9 * CHANNELS], each[9 * CHANNELS], b[CHANNELS], x[ROWS * ALL], got[ROWS * ALL], want[ROWS * ALL];
    const struct op_attr attr = { .stride = 1, .pad = 1 };
    struct err e;
    struct hw hw;
    hw_read(&hw);
    kit_fill(w, ELEM_F32, CHANNELS * 9 * CHANNELS);
    kit_fill(each, ELEM_F32, 9 * CHANNELS);
    kit_fill(b, ELEM_F32, CHANNELS);
    kit_fill(x, ELEM_F32, ROWS * ALL);
    for (const struct backend *const *be = backend_list(); *be; be++) {
        if (!(*be)->probe(&hw))
            continue;
        struct backend_ctx *c = kit_open(*be);
        for (int is_fused = 0; is_fused < 2; is_fused++) {
            struct graph *g = graph_new(ELEM_F32, 16);
            int in = graph_input(g, "x", F32(DIM_ROWS(1), DIM(SIDE), DIM(SIDE), DIM(CHANNELS)));
            int weight = graph_const(g, "w", F32(DIM(CHANNELS), DIM(3), DIM(3), DIM(CHANNELS)), w);
            int single = graph_const(g, "e", F32(DIM(3), DIM(3), DIM(CHANNELS)), each), bias = graph_const(g, "b",
                F32(DIM(CHANNELS)), b);
            int deep = graph_op(g, OP_DEPTHWISE, &attr, GRAPH_INS(in, single));
            int first = graph_op1(g, OP_RELU, graph_op2(g, OP_ADD_BIAS, deep, bias));
            int product = graph_op(g, OP_CONV2D, &attr, GRAPH_INS(first, weight));
            int sum = graph_op2(g, OP_ADD_BIAS, product, bias), both = graph_op2(g, OP_ADD, in, sum), y = graph_op1(g,
                OP_RELU, both);
            if (!is_fused) {
                graph_output(g, deep, "deep");
                graph_output(g, product, "product");
                graph_output(g, sum, "sum");
                graph_output(g, both, "both");
            }
            graph_output(g, y, "y");
            struct plan *p = kit_plan(g, *be, c, ROWS);
            assert_int_equal(kit_count(g, OP_CONV2D) + kit_count(g, OP_CONV2D_PACKED), 1);
            assert_int_equal(kit_count(g, OP_CONV2D_PACKED), backend_can(*be, OP_CONV2D_PACKED, ELEM_F32));
            assert_int_equal(kit_count(g, OP_ADD), !is_fused);
            assert_int_equal(kit_count(g, OP_RELU), is_fused ? 0 : 2);
            struct run *r = kit_run(p, c);
            run_put(r, in, 0, ROWS, x);
            run_exec(r, ROWS, PHASE_FORWARD, false);
            run_get(r, y, 0, ROWS, is_fused ? got : want);
            assert_int_equal(run_sync(r, &e), ERR_OK);
            run_free(r);
            plan_free(p);
        }
        assert_memory_equal(got, want, sizeof got);
        (*be)->close(c);
    }
}

/* Products of bytes take bias, what is added and ReLU, and are packed; the bits are those of the nodes one by one. */
static void test_whole_numbers(void **st)
{
    (void)st;
    enum { SIDE = 5, CHANNELS = 18, ALL = SIDE * SIDE * CHANNELS };
    static float scale[CHANNELS], b[CHANNELS], x[ROWS * ALL], got[ROWS * 3], want[ROWS * 3];
    static int8_t w[CHANNELS * 9 * CHANNELS], last[3 * ALL];
    const struct op_attr conv = { .stride = 1, .pad = 1, .alpha = 0.01, .gamma = 128 };
    struct err e;
    struct hw hw;
    hw_read(&hw);
    kit_fill(scale, ELEM_F32, CHANNELS);
    kit_fill(b, ELEM_F32, CHANNELS);
    kit_fill(x, ELEM_F32, ROWS * ALL);
    for (size_t i = 0; i < sizeof w; i++)
        w[i] = (int8_t)(i * 37 % 251 - 125);
    for (size_t i = 0; i < sizeof last; i++)
        last[i] = (int8_t)(i * 91 % 255 - 127);
    for (const struct backend *const *be = backend_list(); *be; be++) {
        if (!(*be)->probe(&hw))
            continue;
        struct backend_ctx *c = kit_open(*be);
        for (int is_fused = 0; is_fused < 2; is_fused++) {
            struct graph *g = graph_new(ELEM_F32, 32);
            int in = graph_input(g, "x", F32(DIM_ROWS(1), DIM(SIDE), DIM(SIDE), DIM(CHANNELS)));
            struct shape ws = { ELEM_I8, 4, { DIM(CHANNELS), DIM(3), DIM(3), DIM(CHANNELS) } };
            int weight = graph_const(g, "w", ws, w), s = graph_const(g, "s", F32(DIM(CHANNELS)), scale);
            int bias = graph_const(g, "b", F32(DIM(CHANNELS)), b);
            int product = graph_op(g, OP_QCONV2D, &conv, GRAPH_INS(in, weight, s));
            int sum = graph_op2(g, OP_ADD_BIAS, product, bias);
            int both = graph_op2(g, OP_ADD, in, sum), relu = graph_op1(g, OP_RELU, both);
            int flat = graph_reshape(g, relu, F32(DIM_ROWS(1), DIM(ALL)));
            int matrix = graph_const(g, "l", (struct shape){ ELEM_I8, 2, { DIM(3), DIM(ALL) } }, last);
            int three = graph_const(g, "t", F32(DIM(3)), scale), end = graph_const(g, "e", F32(DIM(3)), b);
            int logits = graph_op(g, OP_QMATMUL, &(struct op_attr){ 0 }, GRAPH_INS(flat, matrix, three));
            int y = graph_op2(g, OP_ADD_BIAS, logits, end);
            for (int i = 0; i < 4 && !is_fused; i++)
                graph_output(g, (int[]){ product, sum, both, logits }[i], (const char *const[]){ "p", "s", "b", "l" }[i]);
            graph_output(g, y, "y");
            struct plan *p = kit_plan(g, *be, c, ROWS);
            assert_int_equal(kit_count(g, OP_QCONV2D_PACKED) + kit_count(g, OP_QMATMUL_PACKED), 2);
            assert_int_equal(kit_count(g, OP_ADD) + kit_count(g, OP_ADD_BIAS) + kit_count(g, OP_RELU), is_fused ? 0 : 4);
            assert_null(p->consts[weight]);
            struct run *r = kit_run(p, c);
            run_put(r, in, 0, ROWS, x);
            run_exec(r, ROWS, PHASE_FORWARD, false);
            run_get(r, y, 0, ROWS, is_fused ? got : want);
            assert_int_equal(run_sync(r, &e), ERR_OK);
            run_free(r);
            plan_free(p);
        }
        assert_memory_equal(got, want, sizeof got);
        (*be)->close(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fused_and_folded),
        cmocka_unit_test(test_convolutions),
        cmocka_unit_test(test_whole_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
