/* SPDX-License-Identifier: Apache-2.0 */
/* test_join.c - a product in bf16 and the GELU at its side become one node where a backend has that, and only if nobody needs
 * what lies between them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "graph_kit.h"
#include "workers/compute/graph/plan.h"

enum { C = 8, H = 16 };
enum reader { NOBODY, BEFORE, AFTER };

/* Two linear layers with GELU between them, learnt; who reads what GELU is taken of besides. */
static struct graph *net(enum reader reader, bool learns)
{
    struct graph *g = graph_new(ELEM_F32, 128);
    int w = graph_param(g, "w", 2, (struct dim[]){ DIM(H), DIM(C) }), b = graph_param(g, "b", 1, (struct dim[]){ DIM(H) });
    int v = graph_param(g, "v", 2, (struct dim[]){ DIM(C), DIM(H) }), c = graph_param(g, "c", 1, (struct dim[]){ DIM(C) });
    int x = graph_linear(g, graph_input(g, "x", F32(DIM_ROWS(1), DIM(C))), w, b), other = VALUE_NONE;
    if (reader == BEFORE)
        other = graph_op1(g, OP_RELU, x);
    int y = graph_op1(g, OP_GELU, x);
    if (reader == AFTER)
        other = graph_op1(g, OP_RELU, x);
    if (other != VALUE_NONE)
        y = graph_op(g, OP_MATMUL, &(struct op_attr){ .flags = MM_TRANS_B }, GRAPH_INS(y, graph_op(g, OP_MATMUL,
                     &(struct op_attr){ .flags = MM_TRANS_A }, GRAPH_INS(other, y))));
    int out = graph_linear(g, y, v, c), loss = graph_op2(g, OP_MSE, out, graph_input(g, "t", F32(DIM_ROWS(1), DIM(C))));
    graph_output(g, loss, "loss");
    if (learns)
        graph_backward(g, loss);
    graph_bf16(g);
    graph_narrow(g);
    return g;
}

static bool is_joined(int op)
{
    return op == OP_MATMUL_GELU || op == OP_MATMUL_GELU_BWD || op == OP_MATMUL_SUM;
}

/* A backend that has everything that a plan may ask for, or all but the joined forms; it runs nothing. */
static struct backend backend(bool joins)
{
    static kernel_fn kernels[2][OP_COUNT][ELEM_COUNT];
    struct backend be = backend_ref;
    kernel_fn any = (*backend_ref.kernels)[OP_GELU][ELEM_F32];
    for (int op = 0; op < OP_COUNT; op++)
        for (int t = 0; t < ELEM_COUNT; t++)
            kernels[joins][op][t] = op == OP_PACK || (!joins && is_joined(op)) ? NULL : any;
    be.kernels = (kernel_table *)&kernels[joins];
    be.properties |= BE_NARROW;
    return be;
}

static int count(const struct graph *g, enum op op, const struct node **ret)
{
    int n = 0;
    for (int i = 0; i < g->node_count; i++)
        if (!g->nodes[i].is_gone && g->nodes[i].op == op) {
            *ret = &g->nodes[i];
            n++;
        }
    return n;
}

static void check(enum reader reader, bool learns, bool joins, int forward, int backward, bool keeps)
{
    struct backend be = backend(joins);
    struct backend_ctx *ctx;
    struct plan *p;
    struct err e;
    const struct node *n = NULL;
    const struct plan_options o = { .max_rows = 4 };
    assert_int_equal(be.open(&be, NULL, &ctx, &e), ERR_OK);
    if (plan_new(net(reader, learns), &be, ctx, &o, &p, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    assert_int_equal(count(p->graph, OP_GELU, &n), 1 - forward);
    assert_int_equal(count(p->graph, OP_GELU_BWD, &n), learns ? 1 - backward : 0);
    assert_int_equal(count(p->graph, OP_MATMUL_GELU_BWD, &n), backward);
    assert_true(!backward || (n->in[2] != VALUE_NONE && p->graph->values[n->in[2]].shape.dim[1].n == H));
    assert_int_equal(count(p->graph, OP_MATMUL_GELU, &n), forward);
    if (forward) {
        assert_int_equal(n->out[1] != VALUE_NONE, keeps);
        assert_true(n->in[2] != VALUE_NONE && (n->attr.flags & MM_BIAS) && (n->attr.flags & MM_TRANS_B));
        assert_true(!keeps || p->graph->values[n->out[1]].node == (int)(n - p->graph->nodes));
    }
    /* Two layers' biases: the sum over the hidden one's gradient is beside a product, in bf16; the other's rows are fp32, and
     * their cast is what the product reads. */
    assert_int_equal(count(p->graph, OP_MATMUL_SUM, &n), learns && joins);
    assert_true(!learns || !joins || (n->out[0] != n->out[1] && p->graph->values[n->out[1]].region == REGION_GRADS
                                      && p->graph->values[n->out[1]].shape.dim[0].n == H));
    assert_int_equal(count(p->graph, OP_COLSUM, &n), learns ? 2 - joins : 0);
    plan_free(p);
    be.close(ctx);
}

static void test_learning(void **st)
{
    (void)st;
    check(NOBODY, true, true, 1, 1, true);
    check(NOBODY, true, false, 0, 0, false);
}

static void test_what_is_not_read_is_not_kept(void **st)
{
    (void)st;
    check(NOBODY, false, true, 1, 0, false);
}

static void test_others_that_read(void **st)
{
    (void)st;
    check(AFTER, false, true, 1, 0, true);
    check(BEFORE, false, true, 0, 0, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_learning), cmocka_unit_test(test_what_is_not_read_is_not_kept),
                                        cmocka_unit_test(test_others_that_read) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
