/* SPDX-License-Identifier: Apache-2.0 */
/* op_grad_net.c - gradients of attention, convolution, pooling and what goes with them. */
#include "workers/compute/graph/op_rules_int.h"

void grad_rmsnorm(struct back *b, const struct node *n)
{
    int d = dy(b, n, 0);
    struct op_attr attr = n->attr;
    attr.flags |= NORM_RMS;
    if (is_wanted(b, n, 1))
        grad_give(b, n, 1, graph_op(b->g, OP_NORM_SCALE_BWD, &attr, GRAPH_INS(n->in[0], d)));
    if (is_wanted(b, n, 0))
        grad_give(b, n, 0, graph_op(b->g, OP_RMSNORM_BWD, &n->attr, GRAPH_INS(n->in[0], n->in[1], d)));
}

void grad_rotary(struct back *b, const struct node *n)
{
    struct op_attr attr = n->attr;
    attr.flags ^= ROTARY_BACK;
    if (is_wanted(b, n, 0))
        grad_give(b, n, 0, graph_op(b->g, OP_ROTARY, &attr, GRAPH_INS(dy(b, n, 0), n->in[1])));
}

void grad_attention(struct back *b, const struct node *n)
{
    if (is_wanted(b, n, 0))
        grad_give(b, n, 0, graph_op(b->g, OP_ATTENTION_BWD, &n->attr, GRAPH_INS(n->in[0], n->out[0], n->out[1], dy(b, n, 0))));
}

void grad_swiglu(struct back *b, const struct node *n)
{
    if (is_wanted(b, n, 0))
        grad_give(b, n, 0, graph_op2(b->g, OP_SWIGLU_BWD, n->in[0], dy(b, n, 0)));
}

void grad_conv2d(struct back *b, const struct node *n)
{
    struct op_attr attr = n->attr;
    const struct shape x = *in_shape(b->g, n, 0), w = *in_shape(b->g, n, 1);
    attr.image[0] = x.dim[1].n, attr.image[1] = x.dim[2].n;
    attr.window[0] = w.dim[1].n, attr.window[1] = w.dim[2].n;
    if (is_wanted(b, n, 1))
        grad_give(b, n, 1, graph_op(b->g, OP_CONV2D_BWD_W, &attr, GRAPH_INS(n->in[0], dy(b, n, 0))));
    if (is_wanted(b, n, 0))
        grad_give(b, n, 0, graph_op(b->g, OP_CONV2D_BWD_X, &attr, GRAPH_INS(n->in[1], dy(b, n, 0))));
}

/* The shift's gradient is the sum over all pixels: images as a matrix with a column for each channel. */
void grad_groupnorm(struct back *b, const struct node *n)
{
    int d = dy(b, n, 0);
    if (is_wanted(b, n, 1))
        grad_give(b, n, 1, graph_op(b->g, OP_GROUPNORM_SCALE_BWD, &n->attr, GRAPH_INS(n->in[0], d)));
    if (is_wanted(b, n, 2))
        grad_give(b, n, 2, graph_op1(b->g, OP_COLSUM, d));
    if (is_wanted(b, n, 0))
        grad_give(b, n, 0, graph_op(b->g, OP_GROUPNORM_BWD, &n->attr, GRAPH_INS(n->in[0], n->in[1], d)));
}

void grad_maxpool(struct back *b, const struct node *n)
{
    if (is_wanted(b, n, 0))
        grad_give(b, n, 0, graph_op(b->g, OP_MAXPOOL_BWD, &n->attr, GRAPH_INS(n->in[0], dy(b, n, 0))));
}

void grad_avgpool(struct back *b, const struct node *n)
{
    struct op_attr attr = n->attr;
    const struct shape x = *in_shape(b->g, n, 0);
    attr.image[0] = x.dim[1].n, attr.image[1] = x.dim[2].n;
    if (is_wanted(b, n, 0))
        grad_give(b, n, 0, graph_op(b->g, OP_AVGPOOL_BWD, &attr, GRAPH_INS(dy(b, n, 0))));
}

/* The same numbers are drawn again. */
void grad_dropout(struct back *b, const struct node *n)
{
    if (is_wanted(b, n, 0))
        grad_give(b, n, 0, graph_op(b->g, OP_DROPOUT, &n->attr, GRAPH_INS(dy(b, n, 0), n->in[1])));
}

void grad_cast(struct back *b, const struct node *n)
{
    const struct op_attr attr = { .n = in_shape(b->g, n, 0)->type };
    if (is_wanted(b, n, 0))
        grad_give(b, n, 0, graph_op(b->g, OP_CAST, &attr, GRAPH_INS(dy(b, n, 0))));
}
