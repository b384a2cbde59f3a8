/* SPDX-License-Identifier: Apache-2.0 */
/* op_rules_int.h - what the rules of shapes and of gradients share: op_shape.c and op_grad.c hold those of dense layers and the
 * tables,
 * op_shape_net.c and op_grad_net.c those of attention, convolution and pooling, op_shape_nd.c those of tensors of any rank,
 * op_shape_trees.c those of ensembles of trees, op_shape_q8.c those of products of bytes. */
#pragma once
#include "workers/compute/graph/graph_int.h"

enum errc shape_refuse(const struct graph *g, const struct node *n, int i, const char *why, struct err *e);

/* All but the last dimension. */
static inline struct dim rows_of(const struct shape *s)
{
    struct dim d = { 1, false };
    for (unsigned i = 0; i + 1 < s->rank; i++) {
        d.n *= s->dim[i].n;
        d.is_batched = d.is_batched || s->dim[i].is_batched;
    }
    return d;
}
static inline struct dim last_of(const struct shape *s)
{
    return s->dim[s->rank - 1];
}
static inline bool is_vector_of(const struct shape *s, enum elem type, struct dim n)
{
    return s->type == type && s->rank == 1 && is_same_dim(s->dim[0], n);
}

/* What a window of the node's stride and padding makes of images; op_shape_net.c. */
enum errc shape_walk(const struct graph *g, const struct node *n, const struct shape *x, size_t h, size_t w, struct dim channels,
                     struct shape *out, struct err *e);
/* Bias and what is added, inputs `bias` and `bias` + 1, are there as the flags say and fit the result. */
enum errc shape_epilogue(const struct graph *g, const struct node *n, int bias, const struct shape *out, struct err *e);

typedef enum errc shape_rule(const struct graph *g, const struct node *n, struct shape *out, struct err *e);
shape_rule shape_like_first, shape_rotary, shape_attention, shape_attention_bwd, shape_swiglu, shape_swiglu_bwd, shape_conv2d,
    shape_conv2d_packed, shape_depthwise,
    shape_conv2d_bwd_x, shape_conv2d_bwd_w, shape_groupnorm, shape_groupnorm_bwd, shape_pool, shape_avgpool_bwd, shape_cast,
    shape_unary, shape_binary, shape_transpose, shape_slice, shape_concat, shape_reduce, shape_bmm, shape_trees_pack, shape_trees,
    shape_qpack, shape_qmatmul, shape_qconv2d;

struct back {
    struct graph *g;
    int *of;                    /* of[value]: its gradient so far */
    bool *is_wanted;            /* a parameter flows into it */
};

/* The gradient of an output of n; VALUE_NONE: nothing after depends on it. */
static inline int dy(const struct back *b, const struct node *n, int out)
{
    return b->of[n->out[out]];
}
static inline bool is_wanted(const struct back *b, const struct node *n, int in)
{
    return n->in[in] != VALUE_NONE && b->is_wanted[n->in[in]];
}
/* A part of the gradient of input `in` of n. */
void grad_give(struct back *b, const struct node *n, int in, int part);

typedef void grad_rule(struct back *b, const struct node *n);
grad_rule grad_rmsnorm, grad_rotary, grad_attention, grad_swiglu, grad_conv2d, grad_groupnorm, grad_maxpool, grad_avgpool,
    grad_dropout,
    grad_cast;
