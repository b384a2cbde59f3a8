/* SPDX-License-Identifier: Apache-2.0 */
/* test_narrow.c - which values of a net that learns become bf16, and where casts stand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph_kit.h"

enum { T = 6, C = 8, V = 11 };

struct small {                  /* an embedding, a residual block of attention, a norm, the tied head */
    struct graph *g;
    int table, w, out_w, x, norm, qkv, y, sum, last, logits, loss;
};

static struct small small(bool recomputes)
{
    struct small m = { .g = graph_new(ELEM_F32, 256) };
    struct graph *g = m.g;
    const struct op_attr norm = { .eps = 1e-5 }, attn = { .heads = 2, .kv_heads = 2, .flags = ATTN_CAUSAL };
    struct shape tokens = { ELEM_I32, 2, { DIM_ROWS(1), DIM(T) } }, labels = { ELEM_I32, 1, { DIM_ROWS(T) } };
    m.table = graph_param(g, "table", 2, (struct dim[]){ DIM(V), DIM(C) });
    m.w = graph_param(g, "w", 2, (struct dim[]){ DIM(3 * C), DIM(C) });
    m.out_w = graph_param(g, "out", 2, (struct dim[]){ DIM(C), DIM(C) });
    int bias = graph_param(g, "bias", 1, (struct dim[]){ DIM(3 * C) });
    int scale = graph_param(g, "scale", 1, (struct dim[]){ DIM(C) });
    m.x = graph_op2(g, OP_EMBED, m.table, graph_input(g, "x", tokens));
    g->block = 1;
    m.norm = graph_op(g, OP_RMSNORM, &norm, GRAPH_INS(m.x, scale));
    m.qkv = graph_linear(g, m.norm, m.w, bias);
    m.y = graph_op(g, OP_ATTENTION, &attn, &m.qkv, 1);
    int out = graph_op(g, OP_MATMUL, &(struct op_attr){ .flags = MM_TRANS_B }, GRAPH_INS(m.y, m.out_w));
    m.sum = graph_op2(g, OP_ADD, m.x, out);
    g->block = 0;
    m.last = graph_op(g, OP_RMSNORM, &norm, GRAPH_INS(m.sum, scale));
    int flat = graph_reshape(g, m.last, F32(DIM_ROWS(T), DIM(C)));
    m.logits = graph_op(g, OP_MATMUL, &(struct op_attr){ .flags = MM_TRANS_B }, GRAPH_INS(flat, m.table));
    m.loss = graph_op2(g, OP_SOFTMAX_XENT, m.logits, graph_input(g, "labels", labels));
    graph_output(g, m.loss, "loss");
    graph_backward(g, m.loss);
    if (recomputes)
        graph_recompute(g);
    graph_bf16(g);
    graph_narrow(g);
    return m;
}

static enum elem type_of(const struct graph *g, int value)
{
    return g->values[value].shape.type;
}

static void test_types(void **st)
{
    (void)st;
    struct small m = small(false);
    struct graph *g = m.g;
    struct err e;
    assert_int_equal(graph_check(g, &e), ERR_OK);
    assert_int_equal(type_of(g, m.x), ELEM_F32);                /* the residual stream */
    assert_int_equal(type_of(g, m.sum), ELEM_F32);
    assert_int_equal(type_of(g, m.norm), ELEM_BF16);
    assert_int_equal(type_of(g, m.qkv), ELEM_BF16);
    assert_int_equal(type_of(g, m.y), ELEM_BF16);
    assert_int_equal(type_of(g, graph_out(g, m.y, 1)), ELEM_F32);       /* log sums */
    assert_int_equal(type_of(g, m.last), ELEM_BF16);
    assert_int_equal(type_of(g, m.logits), ELEM_BF16);
    assert_int_equal(type_of(g, graph_out(g, m.loss, 1)), ELEM_BF16);
    assert_int_equal(type_of(g, m.loss), ELEM_F64);
    for (int i = 0; i < g->node_count; i++) {
        const struct node *n = &g->nodes[i];
        for (int k = 0; k < OP_OUTPUTS_MAX; k++) {
            if (n->out[k] == VALUE_NONE)
                continue;
            const struct value *v = &g->values[n->out[k]];
            assert_int_equal(v->node, i);
            assert_true(v->region != REGION_GRADS || v->shape.type == ELEM_F32);
            assert_true((n->op != OP_ADD && n->op != OP_RMSNORM_BWD) || v->shape.type == ELEM_F32);
        }
        if (n->op == OP_MATMUL)         /* two narrow factors, and nothing that rounds again */
            assert_true(type_of(g, n->in[0]) == ELEM_BF16 && type_of(g, n->in[1]) == ELEM_BF16
                        && !(n->attr.flags & OP_BF16));
        if (n->op == OP_ATTENTION_BWD)
            assert_true(type_of(g, n->in[3]) == ELEM_BF16 && type_of(g, n->out[0]) == ELEM_BF16);
    }
    graph_free(g);
}

/* One cast of all parameters that products read before everything else, one of the residual stream's gradient. The tied table
 * is read as it is by the embedding, rounded by the head. */
static void test_casts(void **st)
{
    (void)st;
    struct small m = small(false);
    struct graph *g = m.g;
    assert_int_equal(g->nodes[0].op, OP_CAST);
    assert_int_equal(kit_count(g, OP_CAST), 2);
    const struct value *from = &g->values[g->nodes[0].in[0]], *to = &g->values[g->nodes[0].out[0]];
    assert_true(from->region == REGION_PARAMS && to->region == REGION_NARROW);
    assert_int_equal(shape_count(&to->shape, 1), V * C + 3 * C * C + C * C);    /* no vector */
    for (int i = 0; i < g->node_count; i++) {
        const struct node *n = &g->nodes[i];
        if (n->op == OP_EMBED)
            assert_int_equal(n->in[0], m.table);
        if (n->op == OP_MATMUL && n->out[0] == m.logits) {
            assert_true(g->values[n->in[1]].region == REGION_NARROW);
            assert_int_equal(g->values[n->in[1]].offset_bytes, g->values[m.table].offset_bytes / 2);
        }
        if (n->op == OP_CAST && i)
            assert_true(n->phase == PHASE_BACKWARD && type_of(g, n->in[0]) == ELEM_F32);
    }
    graph_free(g);
}

/* Copies that are made again have the types of what they stand for. */
static void test_made_again(void **st)
{
    (void)st;
    struct small m = small(true);
    struct graph *g = m.g;
    struct err e;
    int again = 0;
    assert_int_equal(graph_check(g, &e), ERR_OK);
    for (int i = 0; i < g->node_count; i++) {
        const struct node *n = &g->nodes[i];
        again += n->is_again;
        if (n->is_again)
            assert_int_equal(type_of(g, n->out[0]), ELEM_BF16);
    }
    assert_true(again >= 3);
    graph_free(g);
}

/* A reader that takes fp32 alone keeps what it reads fp32, and the product beside it gets a cast; attention's result, which is
 * bf16 whoever reads it, is widened. What is read from outside stays fp32. A net in fp64 is left alone. */
static void test_mixed(void **st)
{
    (void)st;
    struct graph *g = graph_new(ELEM_F32, 64);
    int w = graph_param(g, "w", 2, (struct dim[]){ DIM(3 * C), DIM(C) });
    int x = graph_input(g, "x", F32(DIM_ROWS(1), DIM(T), DIM(C)));
    int a = graph_op(g, OP_MATMUL, &(struct op_attr){ .flags = MM_TRANS_B }, GRAPH_INS(x, w));
    int soft = graph_op1(g, OP_SOFTMAX, a);
    const struct op_attr attn = { .heads = 2, .kv_heads = 2 };
    int y = graph_op(g, OP_ATTENTION, &attn, &a, 1), other = graph_op1(g, OP_SOFTMAX, y);
    graph_output(g, soft, "soft");
    graph_output(g, other, "other");
    graph_bf16(g);
    graph_narrow(g);
    assert_int_equal(type_of(g, a), ELEM_F32);
    assert_int_equal(type_of(g, y), ELEM_BF16);
    assert_int_equal(kit_count(g, OP_CAST), 4);                 /* w, x, a; and y the other way */
    const struct node *last = &g->nodes[g->values[other].node], *wide = &g->nodes[g->values[last->in[0]].node];
    assert_true(wide->op == OP_CAST && wide->in[0] == y && type_of(g, wide->out[0]) == ELEM_F32);
    graph_free(g);
    g = graph_new(ELEM_F64, 16);
    w = graph_param(g, "w", 2, (struct dim[]){ DIM(C), DIM(C) });
    a = graph_op2(g, OP_MATMUL, w, w);
    graph_narrow(g);
    assert_int_equal(type_of(g, a), ELEM_F64);
    assert_int_equal(g->node_count, 1);
    graph_free(g);
}

/* No room for the casts is an error with a name. */
static void test_too_many(void **st)
{
    (void)st;
    struct graph *g = graph_new(ELEM_F32, 1);
    struct err e;
    int x = graph_input(g, "x", F32(DIM_ROWS(1), DIM(C))), w = graph_input(g, "w", F32(DIM(C), DIM(C)));
    graph_op2(g, OP_MATMUL, x, w);
    graph_bf16(g);
    graph_narrow(g);
    assert_int_equal(graph_check(g, &e), ERR_LIMIT);
    assert_non_null(strstr(e.msg, "more than 1 nodes"));
    graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_types), cmocka_unit_test(test_casts),
                                        cmocka_unit_test(test_made_again), cmocka_unit_test(test_mixed),
                                        cmocka_unit_test(test_too_many) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
