/* SPDX-License-Identifier: Apache-2.0 */
/* op_grad.c - the backward pass, derived: the nodes from the loss back to the first, each by the rule named in the column
 * `grad` of op.def.
 *
 * A rule adds the nodes that make, from the gradient of its outputs, its part of the gradient of each input; parts are added
 * up in the order in which they come. What no parameter flows into gets none. A parameter's gradient is written straight to
 * its place in REGION_GRADS by the node that makes it; further parts of it (tied weights) are added there. */
#include "workers/compute/graph/op_rules_int.h"

#include <string.h>

/* Whether the value is made for this gradient alone, by a node that can write and add to a given place. */
static bool can_move(const struct graph *g, int value)
{
    const struct value *v = &g->values[value];
    return v->node != VALUE_NONE && v->region == REGION_ARENA && (op_row(g->nodes[v->node].op)->flags & OP_ADDS)
           && g->nodes[v->node].phase == PHASE_BACKWARD && !graph_uses(g, value);
}

static void give_param(struct back *b, int param, int part)
{
    struct graph *g = b->g;
    int made = can_move(g, part) ? part : graph_op1(g, OP_COPY, part);
    if (made == VALUE_NONE)
        return;
    g->values[made].region = REGION_GRADS;
    g->values[made].offset_bytes = g->values[param].offset_bytes;
    if (b->of[param] != VALUE_NONE)
        g->nodes[g->values[made].node].attr.flags |= OP_ACCUMULATE;
    b->of[param] = made;
}

void grad_give(struct back *b, const struct node *n, int in, int part)
{
    if (part == VALUE_NONE || !is_wanted(b, n, in))
        return;
    int to = n->in[in];
    if (b->g->values[to].region == REGION_PARAMS)
        give_param(b, to, part);
    else
        b->of[to] = b->of[to] == VALUE_NONE ? part : graph_op2(b->g, OP_ADD, b->of[to], part);
}

static int product(struct back *b, unsigned flags, int x, int y)
{
    return graph_op(b->g, OP_MATMUL, &(struct op_attr){ .flags = flags }, GRAPH_INS(x, y));
}

/* y = a·b: da = dy·bᵀ, db = aᵀ·dy; with b stored [n, k], db = dyᵀ·a. */
static void grad_matmul(struct back *b, const struct node *n)
{
    int d = dy(b, n, 0);
    bool tb = n->attr.flags & MM_TRANS_B;
    if (is_wanted(b, n, 1))
        grad_give(b, n, 1, tb ? product(b, MM_TRANS_A, d, n->in[0]) : product(b, MM_TRANS_A, n->in[0], d));
    if (is_wanted(b, n, 2))
        grad_give(b, n, 2, graph_op1(b->g, OP_COLSUM, d));
    if (is_wanted(b, n, 0))
        grad_give(b, n, 0, product(b, tb ? 0 : MM_TRANS_B, d, n->in[1]));
}

static void grad_add_bias(struct back *b, const struct node *n)
{
    if (is_wanted(b, n, 1))
        grad_give(b, n, 1, graph_op1(b->g, OP_COLSUM, dy(b, n, 0)));
    grad_give(b, n, 0, dy(b, n, 0));
}

static void grad_add(struct back *b, const struct node *n)
{
    grad_give(b, n, 0, dy(b, n, 0));
    grad_give(b, n, 1, dy(b, n, 0));
}

static void grad_copy(struct back *b, const struct node *n)
{
    grad_give(b, n, 0, dy(b, n, 0));
}

static void grad_reshape(struct back *b, const struct node *n)
{
    int d = dy(b, n, 0);
    if (!is_wanted(b, n, 0))
        return;
    if (n->over == OVER_SAME)
        d = graph_over_ranks(b->g, OVER_SUM, d);
    grad_give(b, n, 0, graph_reshape(b->g, d, *in_shape(b->g, n, 0)));
}

static void grad_relu(struct back *b, const struct node *n)
{
    if (is_wanted(b, n, 0))
        grad_give(b, n, 0, graph_op2(b->g, OP_RELU_BWD, n->out[0], dy(b, n, 0)));
}

static void grad_gelu(struct back *b, const struct node *n)
{
    if (is_wanted(b, n, 0))
        grad_give(b, n, 0, graph_op2(b->g, OP_GELU_BWD, n->in[0], dy(b, n, 0)));
}

static void grad_layernorm(struct back *b, const struct node *n)
{
    int d = dy(b, n, 0);
    if (is_wanted(b, n, 1))
        grad_give(b, n, 1, graph_op(b->g, OP_NORM_SCALE_BWD, &n->attr, GRAPH_INS(n->in[0], d)));
    if (is_wanted(b, n, 2))
        grad_give(b, n, 2, graph_op1(b->g, OP_COLSUM, d));
    if (is_wanted(b, n, 0))
        grad_give(b, n, 0, graph_op(b->g, OP_LAYERNORM_BWD, &n->attr, GRAPH_INS(n->in[0], n->in[1], d)));
}

static void grad_embed(struct back *b, const struct node *n)
{
    const struct op_attr attr = { .n = in_shape(b->g, n, 0)->dim[0].n };
    if (is_wanted(b, n, 0))
        grad_give(b, n, 0, graph_op(b->g, OP_EMBED_BWD, &attr, GRAPH_INS(n->in[1], dy(b, n, 0))));
}

static void grad_softmax(struct back *b, const struct node *n)
{
    if (is_wanted(b, n, 0))
        grad_give(b, n, 0, graph_op2(b->g, OP_SOFTMAX_BWD, n->out[0], dy(b, n, 0)));
}

/* A loss makes its gradient with itself. */
static void grad_loss(struct back *b, const struct node *n)
{
    grad_give(b, n, 0, n->out[1]);
}

static void grad_none(struct back *b, const struct node *n)
{
    struct err e;
    FAIL(&e, UNPROCESSABLE, "there is no gradient of %s, which the loss reaches a parameter through", op_name(n->op));
    graph_fail(b->g, &e);
}

static grad_rule *const rules[OP_COUNT] = {
#define OP(NAME, name, key, in_min, in_max, outs, writes, takes_over, flags, shape, grad) grad_##grad,
#include "workers/compute/kernels/op.def"
#undef OP
};

/* What a parameter flows into, in the order of the nodes. */
static void mark_wanted(struct back *b, int nodes)
{
    const struct graph *g = b->g;
    for (int v = 0; v < g->value_count; v++)
        b->is_wanted[v] = g->values[v].region == REGION_PARAMS && g->values[v].node == VALUE_NONE;
    for (int i = 0; i < nodes; i++) {
        bool any = false;
        for (int k = 0; k < OP_INPUTS_MAX; k++)
            any = any || is_wanted(b, &g->nodes[i], k);
        for (int k = 0; any && k < OP_OUTPUTS_MAX; k++)
            if (g->nodes[i].out[k] != VALUE_NONE)
                b->is_wanted[g->nodes[i].out[k]] = true;
    }
}

void graph_backward(struct graph *g, int loss)
{
    if (loss == VALUE_NONE || g->err.code != ERR_OK)
        return;
    size_t values_max = (size_t)g->nodes_max * 4 + 64;
    struct back b = { g, ARENA_ARRAY(g->arena, int, values_max), ARENA_ARRAY(g->arena, bool, values_max) };
    int last = g->values[loss].node;
    ASSERT(last != VALUE_NONE && rules[g->nodes[last].op] == grad_loss);
    for (size_t i = 0; i < values_max; i++)
        b.of[i] = VALUE_NONE;
    mark_wanted(&b, last + 1);
    b.of[loss] = loss;
    enum phase phase = g->phase;
    g->phase = PHASE_BACKWARD;
    for (int i = last; i >= 0 && g->err.code == ERR_OK; i--) {
        struct node n = g->nodes[i];
        bool has_gradient = false, has_wanted = false;
        for (int k = 0; k < OP_OUTPUTS_MAX; k++)
            has_gradient = has_gradient || (n.out[k] != VALUE_NONE && b.of[n.out[k]] != VALUE_NONE);
        for (int k = 0; k < OP_INPUTS_MAX; k++)
            has_wanted = has_wanted || is_wanted(&b, &n, k);
        if (has_gradient && has_wanted)
            rules[n.op](&b, &n);
    }
    g->phase = phase;
}
