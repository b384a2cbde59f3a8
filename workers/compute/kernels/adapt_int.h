/* SPDX-License-Identifier: Apache-2.0 */
/* adapt_int.h - from struct op_call to the functions on matrices that the including file has defined, one for each operation.
 *
 * Included once per variant, after its operations. The shapes that a kernel asserts are checked here, for all variants alike. */
#include "core/base/assert.h"
#include "workers/compute/kernels/call_int.h"
#include "workers/compute/kernels/round_int.h"

#include <math.h>
#include <string.h>

static void k_matmul(struct backend_ctx *c, const struct op_call *o)
{
    ROUNDED(c, o, k_matmul);
    struct mat a = in_mat(o, 0), b = in_mat(o, 1), out = mat_of(o->out[0]), room;
    matmul(c, o->attr.flags, &a, &b, maybe(o->in[2], &room), &out);
}

static void k_pack(struct backend_ctx *c, const struct op_call *o)
{
    struct mat w = in_mat(o, 0), out = mat_of(o->out[0]);
    if (o->attr.n)                      /* the weights of a convolution, as a matrix */
        w.rows = o->attr.n, w.cols = w.stride = o->attr.k;
    ASSERT(w.rows * w.cols == tensor_count(o->in[0]));
    pack(c, &w, &out);
}

static void k_matmul_packed(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = in_mat(o, 0), w = in_mat(o, 1), out = mat_of(o->out[0]), room;
    matmul_packed(c, o->attr.flags, &x, &w, o->attr.n, o->attr.k, maybe(o->in[2], &room), &out);
}

static void k_add_bias(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = in_mat(o, 0), b = in_mat(o, 1), y = mat_of(o->out[0]);
    assert_same(&x, &y);
    ASSERT(b.cols == x.cols && b.rows == 1);
    add_bias(c, &x, &b, &y);
}

static void k_add(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = in_mat(o, 0), b = in_mat(o, 1), y = mat_of(o->out[0]);
    assert_same(&x, &y);
    assert_same(&x, &b);
    add(c, &x, &b, &y);
}

static void k_copy(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = in_mat(o, 0), y = mat_of(o->out[0]);
    assert_same(&x, &y);
    if (o->attr.flags & OP_ACCUMULATE) {
        add(c, &y, &x, &y);
        return;
    }
    size_t width = elem_bytes(x.type);
    for (size_t i = 0; i < x.rows; i++)
        memmove((char *)y.ptr + i * y.stride * width, (const char *)x.ptr + i * x.stride * width, x.cols * width);
}

static void k_relu(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = in_mat(o, 0), y = mat_of(o->out[0]);
    assert_same(&x, &y);
    relu(c, &x, &y);
}

static void k_relu_bwd(struct backend_ctx *c, const struct op_call *o)
{
    struct mat y = in_mat(o, 0), dy = in_mat(o, 1), dx = mat_of(o->out[0]);
    assert_same(&y, &dy);
    assert_same(&y, &dx);
    relu_bwd(c, &y, &dy, &dx);
}

static void k_gelu(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = in_mat(o, 0), y = mat_of(o->out[0]);
    assert_same(&x, &y);
    gelu(c, &x, &y);
}

static void k_gelu_bwd(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = in_mat(o, 0), dy = in_mat(o, 1), dx = mat_of(o->out[0]);
    assert_same(&x, &dy);
    assert_same(&x, &dx);
    gelu_bwd(c, &x, &dy, &dx);
}

static void k_layernorm(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = in_mat(o, 0), scale = in_mat(o, 1), shift = in_mat(o, 2), y = mat_of(o->out[0]);
    assert_same(&x, &y);
    ASSERT(scale.cols == x.cols && shift.cols == x.cols && scale.rows == 1 && shift.rows == 1);
    layernorm(c, &x, &scale, &shift, o->attr.eps, &y);
}

static void k_rmsnorm(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = in_mat(o, 0), scale = in_mat(o, 1), y = mat_of(o->out[0]);
    assert_same(&x, &y);
    ASSERT(scale.cols == x.cols && scale.rows == 1);
    layernorm(c, &x, &scale, NULL, o->attr.eps, &y);
}

static void norm_bwd(struct backend_ctx *c, const struct op_call *o, bool is_rms)
{
    struct mat x = in_mat(o, 0), scale = in_mat(o, 1), dy = in_mat(o, 2), dx = mat_of(o->out[0]);
    assert_same(&x, &dy);
    assert_same(&x, &dx);
    ASSERT(scale.cols == x.cols && scale.rows == 1);
    layernorm_bwd(c, &x, &scale, &dy, o->attr.eps, is_rms, &dx);
}

static void k_layernorm_bwd(struct backend_ctx *c, const struct op_call *o)
{
    norm_bwd(c, o, false);
}

static void k_rmsnorm_bwd(struct backend_ctx *c, const struct op_call *o)
{
    norm_bwd(c, o, true);
}

static void k_norm_scale_bwd(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = in_mat(o, 0), dy = in_mat(o, 1), out = mat_of(o->out[0]);
    assert_same(&x, &dy);
    ASSERT(out.rows == 1 && out.cols == x.cols);
    norm_scale_bwd(c, &x, &dy, o->attr.eps, &out, o->attr.flags);
}

static void k_standardise(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = in_mat(o, 0), mean = in_mat(o, 1), scale = in_mat(o, 2), y = mat_of(o->out[0]);
    assert_same(&x, &y);
    ASSERT(mean.cols == x.cols && scale.cols == x.cols && mean.rows == 1 && scale.rows == 1);
    standardise(c, &x, &mean, &scale, &y);
}

static void k_colsum(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = in_mat(o, 0), out = mat_of(o->out[0]);
    ASSERT(out.rows == 1 && out.cols == x.cols);
    colsum(c, &x, &out, o->attr.flags & OP_ACCUMULATE);
}

static void k_softmax(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = in_mat(o, 0), y = mat_of(o->out[0]);
    assert_same(&x, &y);
    softmax(c, &x, &y);
}

static void k_softmax_bwd(struct backend_ctx *c, const struct op_call *o)
{
    struct mat y = in_mat(o, 0), dy = in_mat(o, 1), dx = mat_of(o->out[0]);
    assert_same(&y, &dy);
    assert_same(&y, &dx);
    softmax_bwd(c, &y, &dy, &dx);
}

static void k_argmax(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = in_mat(o, 0);
    argmax(c, &x, vector(o->out[0], ELEM_I32, x.rows));
}

static inline double loss_weight(const struct op_call *o, size_t rows)
{
    return (o->in[2] ? scalars(o->in[2])->loss_scale : 1.0) / (double)rows;
}

static void k_softmax_xent(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = in_mat(o, 0), room;
    const struct mat *d = maybe(o->out[1], &room);
    softmax_xent(c, &x, vector(o->in[1], ELEM_I32, x.rows), d, loss_weight(o, x.rows), vector(o->out[0], ELEM_F64, 1));
}

static void k_sigmoid_xent(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = in_mat(o, 0), t = in_mat(o, 1), room;
    const struct mat *d = maybe(o->out[1], &room);
    assert_same(&x, &t);
    sigmoid_xent(c, &x, &t, d, loss_weight(o, x.rows), vector(o->out[0], ELEM_F64, 1));
}

static void k_mse(struct backend_ctx *c, const struct op_call *o)
{
    struct mat y = in_mat(o, 0), t = in_mat(o, 1), room;
    const struct mat *d = maybe(o->out[1], &room);
    assert_same(&y, &t);
    mse(c, &y, &t, d, loss_weight(o, y.rows), vector(o->out[0], ELEM_F64, 1));
}

static void k_sumsq(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = in_mat(o, 0);
    double *sum = vector(o->out[0], ELEM_F64, 1);
    *sum = sumsq(c, &x) + (o->attr.flags & OP_ACCUMULATE ? *sum : 0);
}

/* A norm that is no number leaves the scale no number, which an update leaves out. */
static void k_clip(struct backend_ctx *c, const struct op_call *o)
{
    (void)c;
    struct step_scalars *at = vector(o->in[1], ELEM_U8, sizeof *at);
    double norm = sqrt(*(double *)vector(o->in[0], ELEM_F64, 1));
    at->grad_scale = !isfinite(norm) ? NAN : at->clip_norm > 0 && norm > at->clip_norm ? at->clip_norm / norm : 1;
}

static void k_adamw(struct backend_ctx *c, const struct op_call *o)
{
    struct mat w = in_mat(o, 0), g = in_mat(o, 1), m = in_mat(o, 2), v = in_mat(o, 3);
    assert_same(&w, &g);
    assert_same(&w, &m);
    assert_same(&w, &v);
    adamw(c, &o->attr, scalars(o->in[4]), &w, &g, &m, &v);
}

static void k_sgd(struct backend_ctx *c, const struct op_call *o)
{
    struct mat w = in_mat(o, 0), g = in_mat(o, 1), v = in_mat(o, 2);
    assert_same(&w, &g);
    assert_same(&w, &v);
    sgd(c, &o->attr, scalars(o->in[3]), &w, &g, &v);
}

#include "workers/compute/kernels/embed_int.h"
#include "workers/compute/kernels/trees.h"
#include "workers/compute/kernels/cast_int.h"

/* The column of one type in a kernel table. CLIP has the sum, f64, as its key. */
#define KERNELS_OF(type)                                                                                                   \
    [OP_PACK][type] = k_pack, [OP_MATMUL_PACKED][type] = k_matmul_packed,                                                  \
    [OP_ADD_BIAS][type] = k_add_bias, [OP_ADD][type] = k_add, [OP_RELU][type] = k_relu, [OP_RELU_BWD][type] = k_relu_bwd, \
    [OP_STANDARDISE][type] = k_standardise, [OP_COPY][type] = k_copy, [OP_COLSUM][type] = k_colsum,     \
    [OP_SOFTMAX][type] = k_softmax,                                                                                        \
    [OP_SOFTMAX_BWD][type] = k_softmax_bwd, [OP_ARGMAX][type] = k_argmax, [OP_SOFTMAX_XENT][type] = k_softmax_xent,        \
    [OP_EMBED][type] = k_embed, [OP_EMBED_BWD][type] = k_embed_bwd,                                                        \
    [OP_GELU][type] = k_gelu, [OP_GELU_BWD][type] = k_gelu_bwd, [OP_LAYERNORM][type] = k_layernorm,                        \
    [OP_LAYERNORM_BWD][type] = k_layernorm_bwd, [OP_NORM_SCALE_BWD][type] = k_norm_scale_bwd,                              \
    [OP_RMSNORM][type] = k_rmsnorm, [OP_RMSNORM_BWD][type] = k_rmsnorm_bwd, [OP_SIGMOID_XENT][type] = k_sigmoid_xent,       \
    [OP_MSE][type] = k_mse, [OP_SUMSQ][type] = k_sumsq, [OP_ADAMW][type] = k_adamw, [OP_SGD][type] = k_sgd
#define KERNELS_ALWAYS                                                                                                     \
    [OP_TREES_PACK][ELEM_F32] = kernel_trees_pack, [OP_TREES][ELEM_F32] = kernel_trees,                                    \
    [OP_CLIP][ELEM_F64] = k_clip, [OP_CAST][ELEM_F32] = k_cast, [OP_CAST][ELEM_BF16] = k_cast, [OP_CAST][ELEM_F64] = k_cast
