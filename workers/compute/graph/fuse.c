/* SPDX-License-Identifier: Apache-2.0 */
/* fuse.c - bias and activation join the product before them: a tile of the result gets both while it is in a register or in
 * L1, and a pass over memory is saved for each.
 *
 * A product may take in what follows only if nobody else reads it. The order is that of the kernel's epilogue: accumulate,
 * bias, relu. The bits stay the same: the sums are the same, in the same order. */
#include "workers/compute/graph/plan_int.h"

/* The product that alone feeds input 0 of n, or NULL. */
static struct node *product_before(struct graph *g, const struct node *n)
{
    const struct value *x = &g->values[n->in[0]];
    if (x->node == VALUE_NONE || x->is_output || x->region != REGION_ARENA || graph_uses(g, n->in[0]) != 1)
        return NULL;
    struct node *p = &g->nodes[x->node];
    return p->op == OP_MATMUL && !p->is_gone && p->phase == n->phase ? p : NULL;
}

static bool can_take(const struct node *product, const struct node *n)
{
    unsigned flags = product->attr.flags;
    if (n->op == OP_ADD_BIAS)
        return !(flags & (MM_BIAS | MM_RELU));
    return n->op == OP_RELU && !(flags & (MM_RELU | OP_ACCUMULATE));
}

void plan_fuse(struct graph *g)
{
    for (int i = 0; i < g->node_count; i++) {
        struct node *n = &g->nodes[i], *p;
        if (n->is_gone || (n->op != OP_ADD_BIAS && n->op != OP_RELU) || !(p = product_before(g, n)) || !can_take(p, n))
            continue;
        /* The product moves here, where the bias is known for certain to be there. */
        struct node merged = *p;
        merged.attr.flags |= n->op == OP_RELU ? MM_RELU : MM_BIAS;
        if (n->op == OP_ADD_BIAS)
            merged.in[2] = n->in[1];
        merged.out[0] = n->out[0];
        *n = merged;
        p->is_gone = true;
    }
}
