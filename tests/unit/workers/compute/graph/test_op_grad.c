/* SPDX-License-Identifier: Apache-2.0 */
/* test_op_grad.c - the derived backward pass against central differences in fp64, operation by operation and in random graphs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "grad_kit.h"

static void test_single_operations(void **st)
{
    (void)st;
    struct built b;
    for (int form = 0; form < 3; form++) {      /* a·b, a·bᵀ, and a bias in the product itself */
        b = new_graph();
        int a = param(b.g, ROWS, 4), w = form ? param(b.g, 7, 4) : param(b.g, 4, 7);
        struct op_attr attr = { .flags = form == 0 ? 0 : form == 1 ? MM_TRANS_B : MM_TRANS_B | MM_BIAS };
        int bias = form == 2 ? vector(b.g, 7) : VALUE_NONE;
        mean_square(&b, graph_op(b.g, OP_MATMUL, &attr, GRAPH_INS(a, w, bias)));
        check("matmul", b, ROWS);
    }
    b = new_graph();
    mean_square(&b, graph_op2(b.g, OP_ADD_BIAS, param(b.g, ROWS, 7), vector(b.g, 7)));
    check("add_bias", b, ROWS);
    b = new_graph();
    mean_square(&b, graph_op2(b.g, OP_ADD, param(b.g, ROWS, 7), param(b.g, ROWS, 7)));
    check("add", b, ROWS);
    b = new_graph();
    mean_square(&b, graph_op1(b.g, OP_COPY, param(b.g, ROWS, 7)));
    check("copy", b, ROWS);
    b = new_graph();
    mean_square(&b, graph_op1(b.g, OP_RELU, param(b.g, ROWS, 7)));
    check("relu", b, ROWS);
    b = new_graph();
    static const int32_t token[ROWS] = { 3, 0, 3, 7, 3 };
    int tokens = graph_const(b.g, "tokens", (struct shape){ ELEM_I32, 1, { DIM(ROWS) } }, token);
    mean_square(&b, graph_op2(b.g, OP_EMBED, param(b.g, 8, 5), tokens));
    check("embed", b, ROWS);
    b = new_graph();
    mean_square(&b, graph_op1(b.g, OP_GELU, param(b.g, ROWS, 7)));
    check("gelu", b, ROWS);
    b = new_graph();
    int x = param(b.g, ROWS, 7), scale = vector(b.g, 7), shift = vector(b.g, 7);
    mean_square(&b, graph_op(b.g, OP_LAYERNORM, &(struct op_attr){ .eps = 1e-5 }, GRAPH_INS(x, scale, shift)));
    check("layernorm", b, ROWS);
    b = new_graph();
    mean_square(&b, graph_op1(b.g, OP_SOFTMAX, param(b.g, ROWS, 7)));
    check("softmax", b, ROWS);
    b = new_graph();
    mean_square(&b, graph_reshape(b.g, graph_op1(b.g, OP_RELU, param(b.g, ROWS, 8)), F64(DIM(ROWS), DIM(2), DIM(4))));
    check("reshape", b, ROWS * 2);
    b = new_graph();
    mean_square(&b, param(b.g, ROWS, 3));
    check("mse", b, ROWS);
    b = new_graph();
    static const int32_t label[ROWS] = { 0, 6, 3, 3, 1 };
    int labels = graph_const(b.g, "labels", (struct shape){ ELEM_I32, 1, { DIM(ROWS) } }, label);
    b.loss = graph_op2(b.g, OP_SOFTMAX_XENT, param(b.g, ROWS, 7), labels);
    check("softmax_xent", b, ROWS);
}

/* A weight that is used three times, once through itself; a result that three nodes read. */
static void test_shared(void **st)
{
    (void)st;
    struct built b = new_graph();
    int w = param(b.g, COLS, COLS), v = vector(b.g, COLS);
    int y = graph_linear(b.g, b.x, w, v), z = graph_op1(b.g, OP_RELU, graph_linear(b.g, y, w, v));
    int sum = graph_op2(b.g, OP_ADD, graph_op2(b.g, OP_ADD, y, z), graph_op1(b.g, OP_SOFTMAX, y));
    mean_square(&b, graph_op2(b.g, OP_ADD_BIAS, sum, v));
    check("shared", b, ROWS);
}

static void test_random_graphs(void **st)
{
    (void)st;
    for (int seed = 0; seed < 40; seed++) {
        kit_state = (uint64_t)seed * 77 + 5;
        struct built b = new_graph();
        int pool[16] = { b.x }, n = 1, w = param(b.g, COLS, COLS), v = vector(b.g, COLS);
        pool[n++] = graph_linear(b.g, b.x, w, v);
        while (n < 10) {
            int x = pool[kit_below((size_t)n)], y = pool[kit_below((size_t)n)];
            switch (kit_below(5)) {
            case 0: pool[n++] = graph_op1(b.g, OP_RELU, x); break;
            case 1: pool[n++] = graph_op2(b.g, OP_ADD, x, y); break;
            case 2: pool[n++] = graph_op1(b.g, OP_SOFTMAX, x); break;
            case 3: pool[n++] = graph_linear(b.g, x, kit_below(2) ? w : param(b.g, COLS, COLS), v); break;
            default: pool[n++] = graph_op(b.g, OP_MATMUL, &(struct op_attr){ 0 }, GRAPH_INS(x, w)); break;
            }
        }
        int y = pool[1];                            /* all that nobody reads flows into the loss */
        for (int i = 2; i < n; i++)
            y = graph_uses(b.g, pool[i]) ? y : graph_op2(b.g, OP_ADD, y, pool[i]);
        mean_square(&b, y);
        check("random", b, ROWS);
    }
}

static void test_no_gradient(void **st)
{
    (void)st;
    struct err e = { 0 };
    struct built b = new_graph();
    double ones[COLS] = { 1, 1, 1, 1, 1, 1 };
    int c = graph_const(b.g, "c", F64(DIM(COLS)), ones);
    mean_square(&b, graph_op(b.g, OP_STANDARDISE, &(struct op_attr){ 0 }, GRAPH_INS(param(b.g, ROWS, COLS), c, c)));
    graph_backward(b.g, b.loss);
    assert_int_equal(graph_check(b.g, &e), ERR_UNPROCESSABLE);
    assert_non_null(strstr(e.msg, "no gradient of standardise"));
    graph_free(b.g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_operations), cmocka_unit_test(test_shared),
        cmocka_unit_test(test_random_graphs),     cmocka_unit_test(test_no_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
