/* SPDX-License-Identifier: Apache-2.0 */
/* test_op_grad_net.c - the gradients of attention, convolution, pooling and norms against central differences in fp64, at
 * awkward sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "grad_kit.h"

static int param_of(struct graph *g, unsigned rank, size_t a, size_t b, size_t c, size_t d)
{
    return graph_param(g, "p", rank, (struct dim[]){ DIM(a), DIM(b), DIM(c), DIM(d) });
}

static void test_attention(void **st)
{
    (void)st;
    static const struct { size_t heads, kv, t, d; unsigned flags; } all[] = {
        { 1, 1, 1, 2, ATTN_CAUSAL }, { 2, 2, 5, 3, ATTN_CAUSAL }, { 4, 2, 6, 4, ATTN_CAUSAL }, { 3, 1, 4, 2, 0 },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct built b = new_graph();
        const struct op_attr attr = { .heads = all[i].heads, .kv_heads = all[i].kv, .flags = all[i].flags };
        int qkv = param_of(b.g, 3, 2, all[i].t, (all[i].heads + 2 * all[i].kv) * all[i].d, 0);
        mean_square(&b, graph_op(b.g, OP_ATTENTION, &attr, &qkv, 1));
        check("attention", b, 2 * all[i].t);
    }
}

static void test_rotary(void **st)
{
    (void)st;
    double table[5 * 4];
    for (int t = 0; t < 5; t++)
        for (int i = 0; i < 2; i++) {
            table[t * 4 + i] = cos(t * (i + 0.3));
            table[t * 4 + 2 + i] = sin(t * (i + 0.3));
        }
    struct built b = new_graph();
    int x = param_of(b.g, 3, 2, 5, 11, 0), angles = graph_const(b.g, "angles", F64(DIM(5), DIM(4)), table);
    int y = graph_op(b.g, OP_ROTARY, &(struct op_attr){ .heads = 2 }, GRAPH_INS(x, angles));
    mean_square(&b, y);
    check("rotary", b, 10);
}

static void test_rows(void **st)
{
    (void)st;
    struct built b = new_graph();
    int x = param(b.g, ROWS, 7), scale = vector(b.g, 7);
    mean_square(&b, graph_op(b.g, OP_RMSNORM, &(struct op_attr){ .eps = 1e-5 }, GRAPH_INS(x, scale)));
    check("rmsnorm", b, ROWS);
    b = new_graph();
    mean_square(&b, graph_op1(b.g, OP_SWIGLU, param(b.g, ROWS, 8)));
    check("swiglu", b, ROWS);
    b = new_graph();
    mean_square(&b, graph_op(b.g, OP_DROPOUT, &(struct op_attr){ .rate = 0.4, .stream = 2 },
                             GRAPH_INS(param(b.g, ROWS, 7), graph_step(b.g))));
    check("dropout", b, ROWS);
    b = new_graph();
    mean_square(&b, graph_op(b.g, OP_CAST, &(struct op_attr){ .n = ELEM_F64 }, GRAPH_INS(param(b.g, ROWS, 7))));
    check("cast", b, ROWS);
    b = new_graph();
    int y = param(b.g, ROWS, 3);
    b.target = graph_input(b.g, "target", b.g->values[y].shape);
    b.loss = graph_op2(b.g, OP_SIGMOID_XENT, y, b.target);
    check("sigmoid_xent", b, ROWS);
}

static void test_images(void **st)
{
    (void)st;
    static const struct { size_t size, window, stride, pad; } all[] = {
        { 5, 3, 1, 1 }, { 6, 3, 2, 1 }, { 4, 1, 1, 0 }, { 5, 2, 2, 0 }, { 7, 5, 3, 2 },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct op_attr attr = { .window = { all[i].window, all[i].window }, .stride = all[i].stride, .pad = all[i].pad };
        size_t out = (all[i].size + 2 * all[i].pad - all[i].window) / all[i].stride + 1;
        struct built b = new_graph();
        int x = param_of(b.g, 4, 2, all[i].size, all[i].size + 1, 3), w = param_of(b.g, 4, 4, all[i].window, all[i].window, 3);
        int y = graph_op(b.g, OP_CONV2D, &attr, GRAPH_INS(x, w));
        mean_square(&b, y);
        check("conv2d", b, shape_count(&b.g->values[y].shape, 1) / 4);
        for (int is_max = 0; is_max < 2; is_max++) {
            b = new_graph();
            x = param_of(b.g, 4, 2, all[i].size, all[i].size, 3);
            mean_square(&b, graph_op(b.g, is_max ? OP_MAXPOOL : OP_AVGPOOL, &attr, &x, 1));
            check(is_max ? "maxpool" : "avgpool", b, 2 * out * out);
        }
    }
    struct built b = new_graph();
    int x = param_of(b.g, 4, 2, 3, 2, 6);
    mean_square(&b, graph_op(b.g, OP_GROUPNORM, &(struct op_attr){ .n = 3, .eps = 1e-5 }, GRAPH_INS(x, vector(b.g, 6),
                                                                                                    vector(b.g, 6))));
    check("groupnorm", b, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_attention), cmocka_unit_test(test_rotary),
                                        cmocka_unit_test(test_rows),
                                        cmocka_unit_test(test_images) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
