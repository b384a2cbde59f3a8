/* SPDX-License-Identifier: Apache-2.0 */
/* op_shape.c - the shapes and types of an operation's outputs: one rule per name in the column `shape` of op.def.
 *
 * A rule refuses what the kernel would assert, so that a kernel never meets a shape it cannot do. Matrices are seen as kernels
 * see them: all dimensions but the last are rows. */
#include "workers/compute/graph/op_rules_int.h"

#include <string.h>

enum errc shape_refuse(const struct graph *g, const struct node *n, int i, const char *why, struct err *e)
{
    char text[96] = "missing";
    if (n->in[i] != VALUE_NONE)
        shape_text(in_shape(g, n, i), text, sizeof text);
    return FAIL(e, UNPROCESSABLE, "input %d of %s is %s: %s", i, op_name(n->op), text, why);
}

static enum errc shape_same(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    bool has_vectors = n->op == OP_ADD_BIAS || n->op == OP_STANDARDISE || n->op == OP_LAYERNORM || n->op == OP_RMSNORM;
    *out = *in_shape(g, n, 0);
    for (int i = 1; i < OP_INPUTS_MAX && n->in[i] != VALUE_NONE; i++) {
        if (has_vectors && !is_vector_of(in_shape(g, n, i), out->type, last_of(out)))
            return shape_refuse(g, n, i, "expected a vector with a number for each column", e);
        if (!has_vectors && !is_same_shape(in_shape(g, n, i), out))
            return shape_refuse(g, n, i, "expected the shape and type of input 0", e);
    }
    return ERR_OK;
}

static enum errc shape_matmul(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    const struct shape *a = in_shape(g, n, 0), *b = in_shape(g, n, 1);
    bool ta = n->attr.flags & MM_TRANS_A, tb = n->attr.flags & MM_TRANS_B;
    struct dim m = ta ? last_of(a) : rows_of(a), ka = ta ? rows_of(a) : last_of(a);
    struct dim kb = tb ? last_of(b) : rows_of(b), cols = tb ? rows_of(b) : last_of(b);
    if (a->type != b->type)
        return shape_refuse(g, n, 1, "expected the type of input 0", e);
    if (!is_same_dim(ka, kb))
        return shape_refuse(g, n, 1, "its depth is not that of input 0", e);
    if (n->in[2] != VALUE_NONE && !is_vector_of(in_shape(g, n, 2), a->type, cols))
        return shape_refuse(g, n, 2, "expected a bias with a number for each column of the product", e);
    *out = (struct shape){ a->type, 2, { m, cols } };
    if (!ta) {
        *out = *a;
        out->dim[a->rank - 1] = cols;
    }
    return ERR_OK;
}

static enum errc shape_matmul_gelu(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    TRY(shape_matmul(g, n, out, e));
    out[1] = out[0];
    return ERR_OK;
}

/* Input 2 is no bias here. */
static enum errc shape_matmul_gelu_bwd(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    struct node product = *n;
    product.in[2] = VALUE_NONE;
    TRY(shape_matmul(g, &product, out, e));
    return is_same_shape(in_shape(g, n, 2), out) ? ERR_OK
                                                 : shape_refuse(g, n, 2, "expected the shape and type of the product", e);
}

static enum errc shape_matmul_sum(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    if (!(n->attr.flags & MM_TRANS_A))
        return shape_refuse(g, n, 0, "expected to be turned: its columns are summed up", e);
    TRY(shape_matmul(g, n, out, e));
    out[1] = (struct shape){ out[0].type, 1, { last_of(in_shape(g, n, 0)) } };
    return ERR_OK;
}

static enum errc shape_pack(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    if (in_shape(g, n, 0)->rank != 2 && in_shape(g, n, 0)->rank != 4)
        return shape_refuse(g, n, 0, "expected a matrix, or the weights of a convolution", e);
    *out = (struct shape){ ELEM_U8, 1, { DIM(n->attr.bytes) } };
    return ERR_OK;
}

static enum errc shape_matmul_packed(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    *out = *in_shape(g, n, 0);
    if (!is_same_dim(last_of(out), DIM(n->attr.k)))
        return shape_refuse(g, n, 0, "its depth is not that of the packed weights", e);
    out->dim[out->rank - 1] = DIM(n->attr.n);
    return ERR_OK;
}

static enum errc shape_reshape(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    (void)e;
    *out = *in_shape(g, n, 0);      /* graph_reshape puts the new one there */
    return ERR_OK;
}

static enum errc shape_norm_bwd(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    *out = *in_shape(g, n, 0);
    if (!is_vector_of(in_shape(g, n, 1), out->type, last_of(out)))
        return shape_refuse(g, n, 1, "expected a vector with a number for each column", e);
    return is_same_shape(in_shape(g, n, 2), out) ? ERR_OK : shape_refuse(g, n, 2, "expected the shape and type of input 0", e);
}

static enum errc shape_norm_scale_bwd(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    const struct shape *x = in_shape(g, n, 0);
    *out = (struct shape){ x->type, 1, { last_of(x) } };
    return is_same_shape(in_shape(g, n, 1), x) ? ERR_OK : shape_refuse(g, n, 1, "expected the shape and type of input 0", e);
}

static enum errc shape_add_norm(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    bool is_rms = n->attr.flags & NORM_RMS;
    out[0] = out[1] = *in_shape(g, n, 0);
    if (!is_same_shape(in_shape(g, n, 1), out))
        return shape_refuse(g, n, 1, "expected the shape and type of input 0", e);
    if (!is_vector_of(in_shape(g, n, 2), out->type, last_of(out)))
        return shape_refuse(g, n, 2, "expected a vector with a number for each column", e);
    if (is_rms != (n->in[3] == VALUE_NONE) || (!is_rms && !is_vector_of(in_shape(g, n, 3), out->type, last_of(out))))
        return shape_refuse(g, n, 3, "expected a vector with a number for each column, if the flag does not say RMS", e);
    return ERR_OK;
}

static enum errc shape_norm_add_bwd(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    struct shape x;
    TRY(shape_norm_bwd(g, n, &x, e));
    out[0] = out[1] = out[2] = (struct shape){ x.type, 1, { last_of(&x) } };
    out[3] = out[4] = x;
    return n->in[3] == VALUE_NONE || is_same_shape(in_shape(g, n, 3), &x)
               ? ERR_OK : shape_refuse(g, n, 3, "expected the shape and type of input 0", e);
}

static enum errc shape_gelu_bwd_sum(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    TRY(shape_same(g, n, &out[1], e));
    out[0] = (struct shape){ out[1].type, 1, { last_of(&out[1]) } };
    return ERR_OK;
}

static enum errc shape_embed(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    const struct shape *table = in_shape(g, n, 0);
    *out = *in_shape(g, n, 1);
    if (table->rank != 2)
        return shape_refuse(g, n, 0, "expected a matrix with a row for each token", e);
    if (out->type != ELEM_I32 || out->rank == TENSOR_DIMS_MAX)
        return shape_refuse(g, n, 1, "expected i32 tokens of at most five dimensions", e);
    out->type = table->type;
    out->dim[out->rank++] = table->dim[1];
    return ERR_OK;
}

static enum errc shape_embed_bwd(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    (void)e;
    const struct shape *d = in_shape(g, n, 1);
    *out = (struct shape){ d->type, 2, { DIM(n->attr.n), last_of(d) } };
    return ERR_OK;
}

static enum errc shape_colsum(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    (void)e;
    const struct shape *x = in_shape(g, n, 0);
    *out = (struct shape){ x->type, 1, { last_of(x) } };
    return ERR_OK;
}

static enum errc shape_argmax(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    (void)e;
    *out = (struct shape){ ELEM_I32, 1, { rows_of(in_shape(g, n, 0)) } };
    return ERR_OK;
}

static enum errc shape_loss(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    const struct shape *y = in_shape(g, n, 0), *t = in_shape(g, n, 1);
    out[0] = (struct shape){ ELEM_F64, 1, { DIM(1) } };
    out[1] = *y;
    if (n->op == OP_SOFTMAX_XENT && !is_vector_of(t, ELEM_I32, rows_of(y)))
        return shape_refuse(g, n, 1, "expected an i32 label for each row", e);
    bool is_refused = n->op != OP_SOFTMAX_XENT && !is_same_shape(t, y);
    return is_refused ? shape_refuse(g, n, 1, "expected the shape and type of input 0", e) : ERR_OK;
}

static enum errc shape_taught(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    const struct shape *y = in_shape(g, n, 0);
    out[0] = (struct shape){ ELEM_F64, 1, { DIM(1) } };
    out[1] = *y;
    if (!is_vector_of(in_shape(g, n, 1), ELEM_I32, rows_of(y)))
        return shape_refuse(g, n, 1, "expected an i32 label for each row", e);
    return is_same_shape(in_shape(g, n, 2), y) ? ERR_OK
                                               : shape_refuse(g, n, 2, "expected the shape and type of input 0", e);
}

static enum errc shape_scalar(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    (void)g, (void)n, (void)e;
    *out = (struct shape){ ELEM_F64, 1, { DIM(1) } };
    return ERR_OK;
}

static enum errc shape_nothing(const struct graph *g, const struct node *n, struct shape *out, struct err *e)
{
    (void)g, (void)n, (void)out, (void)e;
    return ERR_OK;
}

enum errc node_shapes(const struct graph *g, const struct node *n, struct shape out[OP_OUTPUTS_MAX], struct err *e)
{
    static shape_rule *const rule[OP_COUNT] = {
#define OP(NAME, name, key, in_min, in_max, outs, writes, takes_over, flags, shape, grad) shape_##shape,
#include "workers/compute/kernels/op.def"
#undef OP
    };
    return rule[n->op](g, n, out, e);
}
