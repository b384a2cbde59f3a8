/* SPDX-License-Identifier: Apache-2.0 */
/* op_shape_trees.c - ensembles of trees: their shapes, and, since a walk goes where the numbers say, the numbers themselves.
 * They must be constants, whoever builds the graph; TREES takes what TREES_PACK made of them and nothing else. */
#include "workers/compute/graph/op_rules_int.h"
#include "workers/compute/kernels/trees.h"

enum { ENSEMBLES_MAX = 16 };    /* of a graph: each is read whole when its node is added, so many would cost their square */

static enum errc check_count(const struct graph *g, struct err *e)
{
    int n = 0;
    for (int i = 0; i < g->node_count; i++)
        n += g->nodes[i].op == OP_TREES_PACK || g->nodes[i].op == OP_TREES;
    return n < 2 * ENSEMBLES_MAX ? ERR_OK : FAIL(e, LIMIT, "the graph has more than %d ensembles of trees", ENSEMBLES_MAX);
}

static enum errc constant(const struct graph *g, const struct node *n, int i, unsigned rank, size_t cols, const float **ret,
                          size_t *ret_count, struct err *e)
{
    const struct value *v = &g->values[n->in[i]];
    const struct shape *s = &v->shape;
    if (s->type != ELEM_F32 || s->rank != rank || !v->data || (rank == 2 && s->dim[1].n != cols))
        return shape_refuse(g, n, i, "expected a constant of trees (trees.h)", e);
    *ret = v->data;
    *ret_count = s->dim[0].n;
    return ERR_OK;
}

static enum errc tensors(const struct graph *g, const struct node *n, struct tree_tensors *t, struct err *e)
{
    TRY(check_count(g, e));
    TRY(constant(g, n, 0, 2, TREE_FIELDS, &t->nodes, &t->node_count, e));
    TRY(constant(g, n, 1, 2, TREE_ROOT_FIELDS, &t->roots, &t->tree_count, e));
    TRY(constant(g, n, 2, 1, 0, &t->base, &t->outputs, e));
    if (n->in[3] != VALUE_NONE)
        TRY(constant(g, n, 3, 2, TREE_SET_NUMBERS, &t->sets, &t->set_count, e));
    return ERR_OK;
}

enum errc shape_trees_pack(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    struct tree_tensors t = { 0 };
    TRY(tensors(g, n, &t, e));
    TRY(trees_check(&t, TREE_NODES_MAX, e));
    size_t bytes = trees_packed_bytes(t.node_count, t.tree_count, t.outputs, t.set_count);
    *out = (struct shape){ ELEM_U8, 1, { DIM(bytes) } };
    return ERR_OK;
}

enum errc shape_trees(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    const struct shape *x = in_shape(g, n, 0);
    const struct value *packed = &g->values[n->in[1]];
    const struct node *maker = packed->node == VALUE_NONE ? NULL : &g->nodes[packed->node];
    struct tree_tensors t = { 0 };
    if (x->type != ELEM_F32 || x->rank != 2 || x->dim[1].is_batched)
        return shape_refuse(g, n, 0, "expected rows of f32", e);
    if (!maker || maker->op != OP_TREES_PACK)
        return shape_refuse(g, n, 1, "expected what trees_pack makes", e);
    TRY(tensors(g, maker, &t, e));
    TRY(trees_check(&t, x->dim[1].n, e));
    *out = (struct shape){ ELEM_F32, 2, { x->dim[0], DIM(t.outputs) } };
    return ERR_OK;
}
