/* SPDX-License-Identifier: Apache-2.0 */
/* op_shape_q8.c - shapes of products and convolutions of bytes: what kernels/q8_int.h asserts, refused by name. The same rules
 * for weights as they lie in a file and for packed ones, whose shape is in the attributes. */
#include "workers/compute/graph/op_rules_int.h"

#include <math.h>

/* How x is quantised, what a column is scaled by, and how deep the sums go. */
static enum errc check(const struct graph *g, const struct node *n, size_t columns, size_t depth, struct err *e)
{
    const struct op_attr *a = &n->attr;
    if (in_shape(g, n, 0)->type != ELEM_F32)
        return shape_refuse(g, n, 0, "expected f32, which it quantises itself", e);
    if (!(a->alpha >= 0) || !isfinite(a->alpha) || (a->alpha > 0 && !((float)a->alpha > 0)))
        return FAIL(e, UNPROCESSABLE, "%s: a scale of %g (alpha); expected a number above 0, or 0 for the range of each row",
                    op_name(n->op), a->alpha);
    if (!(a->gamma >= 0 && a->gamma <= 255) || a->gamma != rint(a->gamma))
        return FAIL(e, UNPROCESSABLE, "%s: 0 becomes %g (gamma); expected a whole number from 0 to 255", op_name(n->op),
                    a->gamma);
    if (!is_vector_of(in_shape(g, n, 2), ELEM_F32, DIM(columns)))
        return shape_refuse(g, n, 2, "expected a scale for each column", e);
    if (depth < 1 || depth > Q8_DEPTH_MAX)
        return FAIL(e, UNPROCESSABLE, "%s: sums of %zu products; 1 to %d are exact", op_name(n->op), depth, Q8_DEPTH_MAX);
    return ERR_OK;
}

enum errc shape_qpack(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    if (in_shape(g, n, 0)->type != ELEM_I8 || (in_shape(g, n, 0)->rank != 2 && in_shape(g, n, 0)->rank != 4))
        return shape_refuse(g, n, 0, "expected i8 weights of a product or of a convolution", e);
    *out = (struct shape){ ELEM_U8, 1, { DIM(n->attr.bytes) } };
    return ERR_OK;
}

enum errc shape_qmatmul(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    const struct shape *w = in_shape(g, n, 1);
    bool is_packed = n->op == OP_QMATMUL_PACKED;
    *out = *in_shape(g, n, 0);
    if (!is_packed && (w->type != ELEM_I8 || w->rank != 2 || w->dim[0].is_batched || w->dim[1].is_batched))
        return shape_refuse(g, n, 1, "expected i8 weights [columns, depth]", e);
    size_t columns = is_packed ? n->attr.n : w->dim[0].n, depth = is_packed ? n->attr.k : w->dim[1].n;
    TRY(check(g, n, columns, depth, e));
    if (!is_same_dim(last_of(out), DIM(depth)))
        return shape_refuse(g, n, 0, "its depth is not that of the weights", e);
    out->dim[out->rank - 1] = DIM(columns);
    if (n->attr.flags & CONV_ADD)
        return shape_refuse(g, n, 0, "a product adds a bias and nothing else", e);
    if (n->attr.flags & Q8_ITEM && n->attr.alpha > 0)
        return FAIL(e, UNPROCESSABLE, "%s: one scale for all rows (alpha %g) and a range for each item", op_name(n->op),
                    n->attr.alpha);
    if (n->attr.flags & Q8_ITEM && out->rank < 2)
        return shape_refuse(g, n, 0, "expected items of rows for a range each", e);
    return shape_epilogue(g, n, 3, out, e);
}

enum errc shape_qconv2d(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    const struct shape *x = in_shape(g, n, 0), *w = in_shape(g, n, 1);
    size_t columns = n->attr.n, high = n->attr.window[0], wide = n->attr.window[1], depth = n->attr.k;
    if (n->op == OP_QCONV2D) {
        if (w->type != ELEM_I8 || w->rank != 4 || x->rank != 4 || !is_same_dim(w->dim[3], x->dim[3]))
            return shape_refuse(g, n, 1, "expected i8 weights [out, height, width, in] with the channels of input 0", e);
        columns = w->dim[0].n, high = w->dim[1].n, wide = w->dim[2].n;
        if (__builtin_mul_overflow(high, wide, &depth) || __builtin_mul_overflow(depth, w->dim[3].n, &depth))
            depth = SIZE_MAX;
    } else if (x->rank != 4 || depth != high * wide * x->dim[3].n) {
        return shape_refuse(g, n, 0, "its channels are not those of the packed weights", e);
    }
    TRY(check(g, n, columns, depth, e));
    TRY(shape_walk(g, n, x, high, wide, DIM(columns), out, e));
    return shape_epilogue(g, n, 3, out, e);
}
