/* SPDX-License-Identifier: Apache-2.0 */
/* op_shape_nd.c - the rules of shapes for operations on tensors of any rank (kernels/nd_int.h). */
#include "workers/compute/graph/op_rules_int.h"
#include "workers/compute/kernels/nd.h"

#define NODE_FAIL(i, ...) shape_refuse(g, n, (i), __VA_ARGS__, e)

static bool is_one(struct dim d)
{
    return d.n == 1 && !d.is_batched;
}

static enum errc check_fn(const struct node *n, unsigned count, struct err *e)
{
    return n->attr.fn < count ? ERR_OK : FAIL(e, UNPROCESSABLE, "%s has no function %u", op_name(n->op), n->attr.fn);
}

enum errc shape_unary(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    *out = *in_shape(g, n, 0);
    return check_fn(n, UNARY_COUNT, e);
}

enum errc shape_binary(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    struct shape s = { .type = in_shape(g, n, 0)->type };
    for (int i = 0; i < OP_INPUTS_MAX && n->in[i] != VALUE_NONE; i++)
        s.rank = in_shape(g, n, i)->rank > s.rank ? in_shape(g, n, i)->rank : s.rank;
    for (unsigned d = 0; d < s.rank; d++)
        s.dim[d] = DIM(1);
    for (int i = 0; i < OP_INPUTS_MAX && n->in[i] != VALUE_NONE; i++) {
        const struct shape *x = in_shape(g, n, i);
        if (x->type != s.type)
            return NODE_FAIL(i, "expected the type of input 0");
        for (unsigned d = 0; d < x->rank; d++) {
            struct dim *to = &s.dim[d + s.rank - x->rank];
            if (is_one(*to))
                *to = x->dim[d];
            else if (!is_one(x->dim[d]) && !is_same_dim(x->dim[d], *to))
                return NODE_FAIL(i, "it cannot be repeated to the shape of the others");
        }
    }
    *out = s;
    return n->op == OP_BINARY ? check_fn(n, BINARY_COUNT, e) : ERR_OK;
}

enum errc shape_transpose(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    const struct shape *x = in_shape(g, n, 0);
    unsigned seen = 0;
    *out = *x;
    for (unsigned d = 0; d < x->rank; d++) {
        size_t from = n->attr.at[d];
        if (from >= x->rank || (seen >> from & 1))
            return NODE_FAIL(0, "the order of dimensions is none of its own");
        seen |= 1u << from;
        out->dim[d] = x->dim[from];
    }
    return ERR_OK;
}

enum errc shape_slice(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    const struct shape *x = in_shape(g, n, 0);
    *out = *x;
    for (unsigned d = 0; d < x->rank; d++) {
        size_t len = n->attr.len[d], at = n->attr.at[d], step = n->attr.step[d], last;
        if (len == 0 && at == 0 && step == 1)
            continue;
        if (x->dim[d].is_batched)
            return NODE_FAIL(0, "a part of the batch cannot be taken");
        if (len == 0 || step == 0 || __builtin_mul_overflow(len - 1, step, &last) || __builtin_add_overflow(last, at, &last)
            || last >= x->dim[d].n)
            return NODE_FAIL(0, "the part is not inside");
        out->dim[d] = DIM(len);
    }
    return ERR_OK;
}

enum errc shape_concat(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    struct shape s = *in_shape(g, n, 0);
    size_t axis = n->attr.axes;
    if (axis >= s.rank || s.dim[axis].is_batched)
        return NODE_FAIL(0, "it cannot be joined to others in this dimension");
    for (int i = 1; i < OP_INPUTS_MAX && n->in[i] != VALUE_NONE; i++) {
        struct shape x = *in_shape(g, n, i);
        if (axis < x.rank && !x.dim[axis].is_batched) {
            s.dim[axis].n += x.dim[axis].n;
            x.dim[axis] = s.dim[axis];
        }
        if (!is_same_shape(&x, &s))
            return NODE_FAIL(i, "expected the shape and type of input 0 in all other dimensions");
    }
    *out = s;
    return ERR_OK;
}

enum errc shape_reduce(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    const struct shape *x = in_shape(g, n, 0);
    *out = *x;
    if (n->attr.axes >> x->rank)
        return NODE_FAIL(0, "it has fewer dimensions than are to be reduced");
    for (unsigned d = 0; d < x->rank; d++) {
        if (!(n->attr.axes >> d & 1))
            continue;
        if (x->dim[d].is_batched)
            return NODE_FAIL(0, "rows of a batch do not depend on each other, so they cannot be reduced");
        out->dim[d] = DIM(1);
    }
    return check_fn(n, REDUCE_COUNT, e);
}

enum errc shape_bmm(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    const struct shape *a = in_shape(g, n, 0), *b = in_shape(g, n, 1);
    unsigned r = a->rank, k = n->attr.flags & MM_TRANS_B ? r - 1 : r - 2;
    if (r < 3 || b->rank != r || a->type != b->type || (n->attr.flags & ~(unsigned)MM_TRANS_B))
        return NODE_FAIL(1, "expected the type and the number of dimensions of input 0, at least three");
    for (unsigned d = 0; d + 2 < r; d++)
        if (!is_same_dim(a->dim[d], b->dim[d]))
            return NODE_FAIL(1, "expected as many matrices as input 0 has");
    if (a->dim[r - 1].is_batched || a->dim[r - 2].is_batched || !is_same_dim(a->dim[r - 1],
                                                                             b->dim[k]) || b->dim[2 * r - 3 - k].is_batched)
        return NODE_FAIL(1, "its depth is not that of input 0");
    *out = *a;
    out->dim[r - 1] = b->dim[2 * r - 3 - k];
    return ERR_OK;
}
