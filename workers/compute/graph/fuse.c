/* SPDX-License-Identifier: Apache-2.0 */
/* fuse.c - bias and activation join the product before them: a tile of the result gets both while it is in a register or in
 * L1, and a pass over memory is saved for each.
 *
 * A product may take in what follows only if nobody else reads it. The order is that of the kernel's epilogue: accumulate,
 * bias, what is added to a convolution's result (a residual block's other way), relu. The bits stay the same: the sums are
 * the same, in the same order. */
#include "workers/compute/graph/plan_int.h"

/* Those have the scales of their columns before the bias. */
static bool is_q8(enum op op)
{
    return op == OP_QMATMUL || op == OP_QCONV2D;
}

/* The product that alone feeds input i of n, or NULL. */
static struct node *product_before(struct graph *g, const struct node *n, int i)
{
    const struct value *x = &g->values[n->in[i]];
    if (x->node == VALUE_NONE || x->is_output || x->region != REGION_ARENA || graph_uses(g, n->in[i]) != 1)
        return NULL;
    struct node *p = &g->nodes[x->node];
    bool is_product = p->op == OP_MATMUL || p->op == OP_CONV2D || p->op == OP_DEPTHWISE || is_q8(p->op);
    return is_product && !p->is_gone && p->phase == n->phase ? p : NULL;
}

static bool can_take(const struct node *product, const struct node *n)
{
    unsigned flags = product->attr.flags;
    switch (n->op) {
    case OP_ADD_BIAS: return !(flags & (MM_BIAS | CONV_ADD | MM_RELU));
    case OP_ADD:
        return (product->op == OP_CONV2D || product->op == OP_QCONV2D) && !(flags & (CONV_ADD | MM_RELU)) && n->in[0] != n->in[1];
    case OP_RELU: return !(flags & (MM_RELU | OP_ACCUMULATE));
    default: return false;
    }
}

/* The input of n that a product may be merged over: of an addition either one. -1: none. */
static int merged_input(struct graph *g, const struct node *n)
{
    for (int i = 0; i < (n->op == OP_ADD ? 2 : 1); i++) {
        const struct node *p = product_before(g, n, i);
        if (p && can_take(p, n))
            return i;
    }
    return -1;
}

void plan_fuse(struct graph *g)
{
    for (int i = 0; i < g->node_count; i++) {
        struct node *n = &g->nodes[i];
        if (n->is_gone || (n->op != OP_ADD_BIAS && n->op != OP_ADD && n->op != OP_RELU))
            continue;
        int at = merged_input(g, n);
        if (at < 0)
            continue;
        /* The product moves here, where the bias, or what is added, is known for certain to be there. */
        struct node *p = &g->nodes[g->values[n->in[at]].node], merged = *p;
        merged.attr.flags |= n->op == OP_RELU ? MM_RELU : n->op == OP_ADD ? CONV_ADD : MM_BIAS;
        int bias = is_q8(p->op) ? 3 : 2;
        if (n->op == OP_ADD_BIAS)
            merged.in[bias] = n->in[1];
        if (n->op == OP_ADD)
            merged.in[bias + 1] = n->in[1 - at];
        merged.out[0] = n->out[0];
        *n = merged;
        p->is_gone = true;
    }
}
