/* SPDX-License-Identifier: Apache-2.0 */
/* join.c - a product in bf16 and the GELU behind it, or before it in the backward pass, become one operation where the backend
 * has it: what the product makes is not written, read and written again, but leaves as both, x for the backward pass and GELU(x);
 * and the gradient behind GELU is not written at all.
 *
 * Likewise the gradient of a weight, and the sum of the same rows that is its bias's: the rows are read once.
 *
 * The forward pair may be joined only if nobody reads the product's result before GELU does, the backward one only if nobody else
 * reads it. Sums are those of the product alone; GELU is taken of them before they are rounded. Runs behind fuse.c, which has
 * given the product its bias. */
#include "workers/compute/graph/plan_int.h"

/* The node that makes input i of n in the same part of the step, if it is a product that is nothing else. */
static struct node *product_of(struct graph *g, const struct node *n, int i)
{
    const struct value *x = &g->values[n->in[i]];
    if (x->node == VALUE_NONE || x->is_output || x->region != REGION_ARENA || x->shape.type != ELEM_BF16)
        return NULL;
    struct node *p = &g->nodes[x->node];
    bool is_plain = p->op == OP_MATMUL && !p->is_gone && p->phase == n->phase && !(p->attr.flags & (OP_ACCUMULATE | MM_RELU));
    return is_plain && in_shape(g, p, 0)->type == ELEM_BF16 ? p : NULL;
}

static bool is_read_before(const struct graph *g, int value, const struct node *end)
{
    for (const struct node *n = g->nodes; n < end; n++)
        for (int k = 0; k < OP_INPUTS_MAX && !n->is_gone; k++)
            if (n->in[k] == value)
                return true;
    return false;
}

static struct node joined(const struct node *product, const struct node *n, enum op op)
{
    struct node ret = *n;
    ret.op = op;
    ret.attr = product->attr;
    ret.in[0] = product->in[0];
    ret.in[1] = product->in[1];
    return ret;
}

/* GELU(a·b + bias), and a·b + bias where somebody reads it. */
static void join_forward(struct graph *g, struct node *n)
{
    struct node *p = product_of(g, n, 0);
    int x = n->in[0];
    if (!p || !(p->attr.flags & MM_BIAS) || g->values[n->out[0]].shape.type != ELEM_BF16 || is_read_before(g, x, n))
        return;
    struct node both = joined(p, n, OP_MATMUL_GELU);
    both.in[2] = p->in[2];
    both.out[1] = graph_uses(g, x) > 1 ? x : VALUE_NONE;
    p->is_gone = true;
    *n = both;
    g->values[x].node = (int)(n - g->nodes);
    g->values[x].out = 1;
}

static void join_backward(struct graph *g, struct node *n)
{
    struct node *p = product_of(g, n, 1);
    if (!p || (p->attr.flags & MM_BIAS) || graph_uses(g, n->in[1]) != 1 || g->values[n->out[0]].shape.type != ELEM_BF16
        || in_shape(g, n, 0)->type != ELEM_BF16)
        return;
    struct node both = joined(p, n, OP_MATMUL_GELU_BWD);
    both.in[2] = n->in[0];
    p->is_gone = true;
    *n = both;
}

/* A weight's gradient, and the sum over the same rows for the bias beside it. Both are gradients that nobody reads before the
 * backward pass has ended, so they may be made where the later one was. */
static void join_sum(struct graph *g, struct node *n)
{
    const unsigned not_so = OP_ACCUMULATE | MM_TRANS_B | MM_RELU | MM_BIAS;
    if (!(n->attr.flags & MM_TRANS_A) || (n->attr.flags & not_so) || in_shape(g, n, 0)->type != ELEM_BF16
        || g->values[n->out[0]].region != REGION_GRADS)
        return;
    for (int i = 0; i < g->node_count; i++) {
        struct node *s = &g->nodes[i];
        if (s->is_gone || s->op != OP_COLSUM || s->in[0] != n->in[0] || s->phase != n->phase || (s->attr.flags & OP_ACCUMULATE)
            || g->values[s->out[0]].region != REGION_GRADS)
            continue;
        struct node both = *n, *later = s > n ? s : n, *other = s > n ? n : s;
        both.op = OP_MATMUL_SUM;
        both.out[1] = s->out[0];
        other->is_gone = true;
        *later = both;
        for (int k = 0; k < 2; k++) {
            g->values[both.out[k]].node = (int)(later - g->nodes);
            g->values[both.out[k]].out = k;
        }
        return;
    }
}

void plan_join(struct graph *g, const struct backend *be)
{
    bool has_forward = backend_can(be, OP_MATMUL_GELU, ELEM_BF16), has_backward = backend_can(be, OP_MATMUL_GELU_BWD, ELEM_BF16);
    bool has_sum = backend_can(be, OP_MATMUL_SUM, ELEM_BF16);
    for (int i = 0; i < g->node_count; i++) {
        struct node *n = &g->nodes[i];
        if (!n->is_gone && n->op == OP_GELU && has_forward)
            join_forward(g, n);
        if (!n->is_gone && n->op == OP_GELU_BWD && has_backward)
            join_backward(g, n);
        if (!n->is_gone && n->op == OP_MATMUL && has_sum)
            join_sum(g, n);
    }
}
