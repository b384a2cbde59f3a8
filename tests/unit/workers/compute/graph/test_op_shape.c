/* SPDX-License-Identifier: Apache-2.0 */
/* test_op_shape.c - shapes and types inferred; wrong graphs refused with the operation and the input named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "shape_kit.h"

static void test_shapes(void **st)
{
    (void)st;
    int x = graph_input(g, "x", F32(DIM_ROWS(1), DIM(5), DIM(4)));
    int labels = graph_input(g, "labels", (struct shape){ ELEM_I32, 1, { DIM_ROWS(5) } });
    int w = graph_param(g, "w", 2, (struct dim[]){ DIM(3), DIM(4) }), b = graph_param(g, "b", 1, (struct dim[]){ DIM(3) });
    int y = graph_linear(g, x, w, b), flat = graph_reshape(g, y, F32(DIM_ROWS(5), DIM(3)));
    int loss = graph_op2(g, OP_SOFTMAX_XENT, flat, labels);
    is_shape(y, "f32[rows,5,3]");
    is_shape(flat, "f32[5rows,3]");
    is_shape(loss, "f64[1]");
    is_shape(graph_out(g, loss, 1), "f32[5rows,3]");
    is_shape(graph_op1(g, OP_ARGMAX, y), "i32[5rows]");
    is_shape(graph_op1(g, OP_COLSUM, y), "f32[3]");
    int rows = graph_reshape(g, x, F32(DIM_ROWS(5), DIM(4)));
    is_shape(graph_op(g, OP_MATMUL, &(struct op_attr){ .flags = MM_TRANS_A }, GRAPH_INS(flat, rows)), "f32[3,4]");
    assert_int_equal(g->param_count, 15);
    assert_int_equal(g->values[b].offset_bytes, 48);
    assert_int_equal(graph_check(g, &e), ERR_OK);
}

static void test_refusals(void **st)
{
    (void)st;
    int x = graph_input(g, "x", F32(DIM_ROWS(1), DIM(4))), w = graph_param(g, "w", 2, (struct dim[]){ DIM(3), DIM(5) });
    refused(graph_op(g, OP_MATMUL, &(struct op_attr){ .flags = MM_TRANS_B }, GRAPH_INS(x, w)), ERR_UNPROCESSABLE,
            "input 1 of matmul is f32[3,5]: its depth is not that of input 0");
    x = graph_input(g, "x", F32(DIM_ROWS(1), DIM(4)));
    int d = graph_input(g, "d", (struct shape){ ELEM_F64, 2, { DIM_ROWS(1), DIM(4) } });
    refused(graph_op2(g, OP_ADD, x, d), ERR_UNPROCESSABLE, "input 1 of add is f64[rows,4]");
    x = graph_input(g, "x", F32(DIM_ROWS(1), DIM(4)));
    int fixed = graph_input(g, "fixed", F32(DIM(1), DIM(4)));       /* one row is not the batch, whatever the batch is */
    refused(graph_op2(g, OP_ADD, x, fixed), ERR_UNPROCESSABLE, "input 1 of add");
    x = graph_input(g, "x", F32(DIM_ROWS(1), DIM(4)));
    refused(graph_op1(g, OP_ADD, x), ERR_UNPROCESSABLE, "add has 1 inputs; it takes 2 to 2");
    x = graph_input(g, "x", F32(DIM_ROWS(1), DIM(4)));
    refused(graph_op2(g, OP_SOFTMAX_XENT, x, x), ERR_UNPROCESSABLE, "expected an i32 label for each row");
    x = graph_input(g, "x", F32(DIM_ROWS(1), DIM(4)));
    refused(graph_reshape(g, x, F32(DIM_ROWS(1), DIM(5))), ERR_UNPROCESSABLE, "f32[rows,4] cannot be seen as f32[rows,5]");
    x = graph_input(g, "x", F32(DIM_ROWS(1), DIM(4)));
    refused(graph_reshape(g, x, F32(DIM(4))), ERR_UNPROCESSABLE, "cannot be seen as f32[4]");
    refused(graph_input(g, "big", F32(DIM((size_t)1 << 40), DIM((size_t)1 << 40))), ERR_LIMIT, "dimension 0 of big");
    refused(graph_input(g, "none", F32(DIM_ROWS(1), DIM(0))), ERR_LIMIT, "dimension 1 of none is 0");
    float one[4] = { 0 };
    refused(graph_const(g, "k", F32(DIM_ROWS(1), DIM(4)), one), ERR_UNPROCESSABLE, "k depends on the batch");
    refused(graph_input(g, "square", F32(DIM_ROWS(1), DIM_ROWS(1))), ERR_UNPROCESSABLE, "more than one dimension");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_shapes, begin, end),
        cmocka_unit_test_setup_teardown(test_refusals, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
