/* SPDX-License-Identifier: Apache-2.0 */
/* test_op_shape_nd.c - shapes of the operations of any rank, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "shape_kit.h"
#include "workers/compute/kernels/nd.h"

static void test_shapes(void **st)
{
    (void)st;
    int x = graph_input(g, "x", F32(DIM_ROWS(1), DIM(3), DIM(4))), v = graph_input(g, "v", F32(DIM(3), DIM(1)));
    is_shape(graph_op(g, OP_BINARY, &(struct op_attr){ .fn = BINARY_MUL }, GRAPH_INS(v, x)), "f32[rows,3,4]");
    is_shape(graph_op(g, OP_TRANSPOSE, &(struct op_attr){ .at = { 2, 0, 1 } }, GRAPH_INS(x)), "f32[4,rows,3]");
    is_shape(graph_op(g, OP_SLICE, &(struct op_attr){ .at = { 0, 0, 1 }, .step = { 1, 1, 2 }, .len = { 0, 0, 2 } },
                      GRAPH_INS(x)), "f32[rows,3,2]");
    is_shape(graph_op(g, OP_CONCAT, &(struct op_attr){ .axes = 1 }, GRAPH_INS(x, x, x)), "f32[rows,9,4]");
    is_shape(graph_op(g, OP_REDUCE, &(struct op_attr){ .axes = 6 }, GRAPH_INS(x)), "f32[rows,1,1]");
    is_shape(graph_op(g, OP_BMM, &(struct op_attr){ .flags = MM_TRANS_B }, GRAPH_INS(x, x)), "f32[rows,3,3]");
    is_shape(graph_op(g, OP_SELECT, &(struct op_attr){ 0 }, GRAPH_INS(v, x, v)), "f32[rows,3,4]");
}

static void refuses(enum op op, struct op_attr attr, int second, const char *why)
{
    int x = graph_input(g, "x", F32(DIM_ROWS(1), DIM(3), DIM(4)));
    int y = second == 1 ? x : second == 2 ? graph_input(g, "y", F32(DIM(2), DIM(3), DIM(4))) : VALUE_NONE;
    refused(graph_op(g, op, &attr, (int[]){ x, y }, second ? 2 : 1), ERR_UNPROCESSABLE, why);
}

static void test_refusals(void **st)
{
    (void)st;
    refuses(OP_UNARY, (struct op_attr){ .fn = UNARY_COUNT }, 0, "unary has no function");
    refuses(OP_BINARY, (struct op_attr){ .fn = BINARY_ADD }, 2, "cannot be repeated");
    refuses(OP_TRANSPOSE, (struct op_attr){ .at = { 0, 0, 1 } }, 0, "is none of its own");
    refuses(OP_TRANSPOSE, (struct op_attr){ .at = { 0, 1, 3 } }, 0, "is none of its own");
    refuses(OP_SLICE, (struct op_attr){ .at = { 0, 2, 0 }, .step = { 1, 1, 1 }, .len = { 0, 2, 0 } }, 0, "is not inside");
    refuses(OP_SLICE, (struct op_attr){ .at = { 0, 0, 0 }, .step = { 1, SIZE_MAX, 1 }, .len = { 0, 3, 0 } }, 0, "is not inside");
    refuses(OP_SLICE, (struct op_attr){ .step = { 1, 1, 1 }, .len = { 1, 0, 0 } }, 0, "a part of the batch");
    refuses(OP_CONCAT, (struct op_attr){ .axes = 0 }, 1, "cannot be joined");
    refuses(OP_REDUCE, (struct op_attr){ .axes = 1 }, 0, "rows of a batch");
    refuses(OP_REDUCE, (struct op_attr){ .axes = 8 }, 0, "fewer dimensions");
    refuses(OP_BMM, (struct op_attr){ 0 }, 1, "its depth is not that of input 0");
    refuses(OP_BMM, (struct op_attr){ .flags = MM_TRANS_B }, 2, "as many matrices");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_shapes, begin, end),
        cmocka_unit_test_setup_teardown(test_refusals, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
