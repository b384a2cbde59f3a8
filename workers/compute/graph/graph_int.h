/* SPDX-License-Identifier: Apache-2.0 */
/* graph_int.h - between the files of workers/compute/graph. */
#pragma once
#include "workers/compute/graph/graph.h"

/* The shapes of a node's outputs from those of its inputs: the rule named in op.def. */
enum errc node_shapes(const struct graph *g, const struct node *n, struct shape out[OP_OUTPUTS_MAX], struct err *e);

int graph_value(struct graph *g, const struct value *v);
void graph_fail(struct graph *g, const struct err *e);

static inline const struct shape *in_shape(const struct graph *g, const struct node *n, int i)
{
    return &g->values[n->in[i]].shape;
}
static inline bool is_same_dim(struct dim a, struct dim b)
{
    return a.n == b.n && a.is_batched == b.is_batched;
}
bool is_same_shape(const struct shape *a, const struct shape *b);

/* How often a value is read. */
int graph_uses(const struct graph *g, int value);
