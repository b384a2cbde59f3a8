/* SPDX-License-Identifier: Apache-2.0 */
/* test_fuse_rows.c - on a device additions and norms, backward forms and sums become one pass; what may not join stays. That the
 * merged ones compute the same is test_cuda_narrow.c's and the self-test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph_kit.h"

enum { C = 8 };

struct net {
    struct graph *g;
    int sum, norm, loss;
};

/* A residual stream x + relu(x·w + b), a norm, a product through GELU, added again, a norm. */
static struct net net(bool is_rms, bool is_narrow)
{
    struct net m = { .g = graph_new(ELEM_F32, 256) };
    struct graph *g = m.g;
    const struct op_attr norm = { .eps = 1e-5 };
    int w = graph_param(g, "w", 2, (struct dim[]){ DIM(C), DIM(C) });
    int u = graph_param(g, "u", 2, (struct dim[]){ DIM(C), DIM(C) });
    int b = graph_param(g, "b", 1, (struct dim[]){ DIM(C) }), d = graph_param(g, "d", 1, (struct dim[]){ DIM(C) });
    int scale[2], shift[2];
    for (int i = 0; i < 2; i++) {
        scale[i] = graph_param(g, "scale", 1, (struct dim[]){ DIM(C) });
        shift[i] = graph_param(g, "shift", 1, (struct dim[]){ DIM(C) });
    }
    int x = graph_linear(g, graph_input(g, "x", F32(DIM_ROWS(1), DIM(C))), w, b);
    for (int i = 0; i < 2; i++) {
        int y = is_rms ? graph_op(g, OP_RMSNORM, &norm, GRAPH_INS(x, scale[i]))
                       : graph_op(g, OP_LAYERNORM, &norm, GRAPH_INS(x, scale[i], shift[i]));
        if (i)
            m.norm = y;
        y = graph_op1(g, OP_GELU, graph_linear(g, y, u, i ? b : d));
        x = m.sum = i ? y : graph_op2(g, OP_ADD, x, y);
    }
    m.loss = graph_op2(g, OP_MSE, x, graph_input(g, "t", F32(DIM_ROWS(1), DIM(C))));
    graph_output(g, m.loss, "loss");
    graph_backward(g, m.loss);
    if (is_narrow) {
        graph_bf16(g);
        graph_narrow(g);
    }
    return m;
}

/* A backend in name only. */
static struct backend device(bool can)
{
    static kernel_fn kernels[OP_COUNT][ELEM_COUNT];
    struct backend be = { .name = "device", .properties = BE_DEVICE, .kernels = (kernel_table *)&kernels };
    for (int i = 0; i < 3; i++)
        for (int t = 0; t < ELEM_COUNT; t++)
            kernels[(const enum op[]){ OP_ADD_NORM, OP_NORM_ADD_BWD, OP_GELU_BWD_SUM }[i]][t] = can ? (kernel_fn)abort : NULL;
    return be;
}

static const struct node *only(const struct graph *g, enum op op)
{
    const struct node *found = NULL;
    for (int i = 0; i < g->node_count; i++)
        if (!g->nodes[i].is_gone && g->nodes[i].op == op) {
            assert_null(found);
            found = &g->nodes[i];
        }
    assert_non_null(found);
    return found;
}

/* Each value is made once, by the node that it names, before it is read. */
static void assert_whole(const struct graph *g)
{
    for (int i = 0; i < g->node_count; i++)
        for (int k = 0; k < OP_OUTPUTS_MAX && !g->nodes[i].is_gone; k++)
            if (g->nodes[i].out[k] != VALUE_NONE)
                assert_true(g->values[g->nodes[i].out[k]].node == i && g->values[g->nodes[i].out[k]].out == k);
    for (int i = 0; i < g->node_count; i++)
        for (int k = 0; k < OP_INPUTS_MAX && !g->nodes[i].is_gone; k++)
            if (g->nodes[i].in[k] != VALUE_NONE && g->values[g->nodes[i].in[k]].node != VALUE_NONE) {
                const struct node *maker = &g->nodes[g->values[g->nodes[i].in[k]].node];
                assert_true(!maker->is_gone && maker < &g->nodes[i]);
            }
}

static void test_merged(void **st)
{
    (void)st;
    const struct backend be = device(true);
    for (int is_rms = 0; is_rms < 2; is_rms++)
        for (int is_narrow = 0; is_narrow < 2; is_narrow++) {
            struct net m = net(is_rms, is_narrow);
            struct graph *g = m.g;
            const int sums = kit_count(g, OP_COLSUM);
            plan_fuse_rows(g, &be);
            const struct node *n = only(g, OP_ADD_NORM);
            assert_true(n->out[0] == m.norm && n->out[1] == n->out[1] && (n->attr.flags == NORM_RMS) == is_rms);
            assert_true((n->in[3] == VALUE_NONE) == is_rms && n->attr.eps > 0);
            assert_int_equal(kit_count(g, OP_ADD), 0);          /* the other one joined a norm's backward form */
            assert_int_equal(kit_count(g, OP_NORM_SCALE_BWD), 0);
            assert_int_equal(kit_count(g, OP_NORM_ADD_BWD), 2);
            assert_int_equal(kit_count(g, OP_LAYERNORM_BWD) + kit_count(g, OP_RMSNORM_BWD), 0);
            assert_int_equal(kit_count(g, OP_GELU_BWD_SUM), 2);
            int shifts = 0, biases = 0, copies = 0, added = 0;
            for (int i = 0; i < g->node_count; i++)
                if (!g->nodes[i].is_gone && g->nodes[i].op == OP_NORM_ADD_BWD) {
                    shifts += g->nodes[i].out[1] != VALUE_NONE, biases += g->nodes[i].out[2] != VALUE_NONE;
                    copies += g->nodes[i].out[3] != VALUE_NONE, added += g->nodes[i].in[3] != VALUE_NONE;
                    assert_true(g->nodes[i].out[0] != VALUE_NONE && g->nodes[i].out[4] != VALUE_NONE);
                }
            assert_int_equal(shifts, is_rms ? 0 : 2);
            assert_int_equal(added, 1);
            assert_int_equal(copies, is_narrow);
            assert_int_equal(kit_count(g, OP_COLSUM), sums - shifts - biases - 2);
            assert_whole(g);
            graph_free(g);
        }
}

/* A processor, and a device without those kernels, keep what they have. */
static void test_left_alone(void **st)
{
    (void)st;
    struct net m = net(false, false);
    const struct backend poor = device(false);
    plan_fuse_rows(m.g, &backend_ref);
    plan_fuse_rows(m.g, &poor);
    assert_int_equal(kit_count(m.g, OP_ADD_NORM) + kit_count(m.g, OP_NORM_ADD_BWD) + kit_count(m.g, OP_GELU_BWD_SUM), 0);
    graph_free(m.g);
}

/* A parameter that two nodes share has a sum that is added to: it stays where it stands. */
static void test_shared_parameter(void **st)
{
    (void)st;
    const struct backend be = device(true);
    struct graph *g = graph_new(ELEM_F32, 128);
    int scale = graph_param(g, "scale", 1, (struct dim[]){ DIM(C) });
    int w = graph_param(g, "w", 2, (struct dim[]){ DIM(C), DIM(C) });
    int x = graph_op2(g, OP_MATMUL, graph_input(g, "x", F32(DIM_ROWS(1), DIM(C))), w);
    for (int i = 0; i < 2; i++)
        x = graph_op(g, OP_RMSNORM, &(struct op_attr){ .eps = 1e-5 }, GRAPH_INS(x, scale));
    int loss = graph_op2(g, OP_MSE, x, graph_input(g, "t", F32(DIM_ROWS(1), DIM(C))));
    graph_output(g, loss, "loss");
    graph_backward(g, loss);
    plan_fuse_rows(g, &be);
    assert_int_equal(kit_count(g, OP_NORM_ADD_BWD), 1);
    const struct node *left = only(g, OP_NORM_SCALE_BWD);
    assert_true(left->attr.flags & OP_ACCUMULATE && left > only(g, OP_NORM_ADD_BWD));
    assert_whole(g);
    graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_merged), cmocka_unit_test(test_left_alone),
                                        cmocka_unit_test(test_shared_parameter) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
