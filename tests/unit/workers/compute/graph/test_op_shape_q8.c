/* SPDX-License-Identifier: Apache-2.0 */
/* test_op_shape_q8.c - what products of bytes make, and what their rules refuse before a kernel meets it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "shape_kit.h"

#define X8 graph_input(g, "x", F32(DIM_ROWS(1), DIM(8)))
#define IMAGE graph_input(g, "x", F32(DIM_ROWS(1), DIM(5), DIM(5), DIM(4)))
#define BYTES(...) graph_input(g, "w", (struct shape){ ELEM_I8, sizeof((struct dim[]){ __VA_ARGS__ }) / sizeof(struct dim), \
                                                        { __VA_ARGS__ } })
#define SCALE(n) graph_input(g, "s", F32(DIM(n)))
#define Q(op, attr, ...) graph_op(g, op, &(struct op_attr){ attr }, GRAPH_INS(__VA_ARGS__))

static void test_products(void **st)
{
    (void)st;
    is_shape(Q(OP_QMATMUL, .alpha = 0.1, X8, BYTES(DIM(3), DIM(8)), SCALE(3)), "f32[rows,3]");
    is_shape(Q(OP_QMATMUL, .gamma = 0, X8, BYTES(DIM(3), DIM(8)), SCALE(3)), "f32[rows,3]");
    refused(Q(OP_QMATMUL, .gamma = 0, X8, BYTES(DIM(3), DIM(7)), SCALE(3)), ERR_UNPROCESSABLE, "its depth is not that");
    refused(Q(OP_QMATMUL, .gamma = 0, X8, BYTES(DIM(3), DIM(8)), SCALE(4)), ERR_UNPROCESSABLE, "a scale for each column");
    refused(Q(OP_QMATMUL, .gamma = 0, X8, SCALE(3), SCALE(3)), ERR_UNPROCESSABLE, "expected i8 weights [columns, depth]");
    refused(Q(OP_QMATMUL, .alpha = -1, X8, BYTES(DIM(3), DIM(8)), SCALE(3)), ERR_UNPROCESSABLE, "a scale of -1");
    refused(Q(OP_QMATMUL, .alpha = (double)NAN, X8, BYTES(DIM(3), DIM(8)), SCALE(3)), ERR_UNPROCESSABLE, "a scale of");
    refused(Q(OP_QMATMUL, .alpha = 1e-60, X8, BYTES(DIM(3), DIM(8)), SCALE(3)), ERR_UNPROCESSABLE, "a scale of 1e-60");
    refused(Q(OP_QMATMUL, .gamma = 256, X8, BYTES(DIM(3), DIM(8)), SCALE(3)), ERR_UNPROCESSABLE, "0 becomes 256");
    refused(Q(OP_QMATMUL, .gamma = 0.5, X8, BYTES(DIM(3), DIM(8)), SCALE(3)), ERR_UNPROCESSABLE, "0 becomes 0.5");
    refused(Q(OP_QMATMUL, .flags = MM_BIAS, X8, BYTES(DIM(3), DIM(8)), SCALE(3)), ERR_UNPROCESSABLE, "if the flag asks");
    const struct op_attr both = { .flags = Q8_ITEM, .alpha = 0.1 };
    refused(graph_op(g, OP_QMATMUL, &both, GRAPH_INS(X8, BYTES(DIM(3), DIM(8)), SCALE(3))), ERR_UNPROCESSABLE, "for each item");
    const struct op_attr item = { .flags = Q8_ITEM };
    int flat = graph_const(g, "x", F32(DIM(8)), NULL);
    refused(graph_op(g, OP_QMATMUL, &item, GRAPH_INS(flat, BYTES(DIM(3), DIM(8)), SCALE(3))), ERR_UNPROCESSABLE, "items of rows");
    int deep = graph_input(g, "x", F32(DIM_ROWS(1), DIM(Q8_DEPTH_MAX + 1)));
    refused(Q(OP_QMATMUL, .gamma = 0, deep, BYTES(DIM(1), DIM(Q8_DEPTH_MAX + 1)), SCALE(1)), ERR_UNPROCESSABLE, "65537 products");
}

static void test_convolutions(void **st)
{
    (void)st;
    is_shape(Q(OP_QCONV2D, .stride = 1, IMAGE, BYTES(DIM(7), DIM(3), DIM(3), DIM(4)), SCALE(7)), "f32[rows,3,3,7]");
    refused(Q(OP_QCONV2D, .stride = 1, IMAGE, BYTES(DIM(7), DIM(3), DIM(3), DIM(5)), SCALE(7)), ERR_UNPROCESSABLE,
            "with the channels of input 0");
    refused(Q(OP_QCONV2D, .stride = 0, IMAGE, BYTES(DIM(7), DIM(3), DIM(3), DIM(4)), SCALE(7)), ERR_UNPROCESSABLE,
            "does not fit into it");
    refused(Q(OP_QCONV2D, .stride = 1, IMAGE, BYTES(DIM(7), DIM(3), DIM(3), DIM(4)), SCALE(1)), ERR_UNPROCESSABLE,
            "a scale for each column");
    refused(Q(OP_QCONV2D, .stride = 1, IMAGE, BYTES(DIM(1), DIM(300), DIM(300), DIM(4)), SCALE(1)), ERR_UNPROCESSABLE,
            "360000 products");
}

static void test_pack(void **st)
{
    (void)st;
    is_shape(Q(OP_QPACK, .bytes = 96, BYTES(DIM(3), DIM(8))), "u8[96]");
    refused(Q(OP_QPACK, .bytes = 96, SCALE(3)), ERR_UNPROCESSABLE, "expected i8 weights");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_products, begin, end),
        cmocka_unit_test_setup_teardown(test_convolutions, begin, end),
        cmocka_unit_test_setup_teardown(test_pack, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
