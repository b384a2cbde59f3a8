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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fused_and_folded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
