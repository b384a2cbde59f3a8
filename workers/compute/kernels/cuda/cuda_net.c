/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_net.c - products, convolutions, pooling and group norm as launches. */
#include "workers/compute/kernels/cuda/cuda_conv.h"
#include "workers/compute/kernels/cuda/lt_int.h"

enum { TILE = 64 };

/* The kernel for factors in fp32, or the one for factors in bf16. */
#define KERNEL_OF(o, name) ((o)->attr.flags & OP_BF16 ? KERNEL_##name##_half : KERNEL_##name)

/* Transposed is the same product with the strides the other way round. */
static struct product_args product_of(const struct op_call *o, const struct mat *a, const struct mat *b, const struct mat *out)
{
    bool ta = o->attr.flags & MM_TRANS_A, tb = o->attr.flags & MM_TRANS_B;
    struct product_args p = { .a = f32(a), .b = f32(b), .out = f32(out), .m = out->rows, .n = out->cols,
                              .k = ta ? a->rows : a->cols, .a_row = ta ? 1 : a->stride, .a_col = ta ? a->stride : 1,
                              .b_row = tb ? 1 : b->stride, .b_col = tb ? b->stride : 1, .out_stride = out->stride, .batch = 1,
                              .accumulate = o->attr.flags & OP_ACCUMULATE, .relu = o->attr.flags & MM_RELU };
    ASSERT((ta ? a->cols : a->rows) == p.m && (tb ? b->rows : b->cols) == p.n && (tb ? b->cols : b->rows) == p.k);
    return p;
}

static void matmul(struct backend_ctx *c, const struct op_call *o)
{
    if (cuda_lt_matmul(c, o))
        return;
    struct mat a = mat_of(o->in[0]), b = mat_of(o->in[1]), out = mat_of(o->out[0]);
    struct product_args p = product_of(o, &a, &b, &out);
    ASSERT(!o->in[2] == !(o->attr.flags & MM_BIAS));
    p.bias = o->in[2] ? at(o->in[2]) : NULL;
    if (o->attr.flags & OP_BF16 || !cuda_wide(c, &p))
        cuda_launch(c, KERNEL_OF(o, product), over(p.m, TILE), over(p.n, TILE), 1, &p);
}

/* Factors that are bf16 in memory; the result is fp32 or bf16. */
static void matmul_narrow(struct backend_ctx *c, const struct op_call *o)
{
    if (cuda_lt_matmul(c, o))
        return;
    struct mat a = mat_of(o->in[0]), b = mat_of(o->in[1]), out = mat_of(o->out[0]);
    struct product_narrow_args n = { product_of(o, &a, &b, &out), out.type == ELEM_BF16 };
    ASSERT(!o->in[2] == !(o->attr.flags & MM_BIAS) && a.type == ELEM_BF16 && b.type == ELEM_BF16);
    ASSERT(!n.p.accumulate || !n.is_narrow);
    n.p.bias = o->in[2] ? at(o->in[2]) : NULL;
    if (!cuda_strip(c, &n.p, n.is_narrow))
        cuda_launch(c, KERNEL_product_narrow, over(n.p.m, TILE), over(n.p.n, TILE), 1, &n);
}

void cuda_product_narrow(struct backend_ctx *c, const struct op_call *o)
{
    matmul_narrow(c, o);
}

/* The product, then a pass over what it made. */
static void gelu_apart(struct backend_ctx *c, const struct op_call *o)
{
    const struct tensor *product = o->out[1] ? o->out[1] : o->out[0];
    const struct mat x = mat_of(product), y = mat_of(o->out[0]);
    const struct op_call plain = { o->attr, { o->in[0], o->in[1], o->in[2] }, { product } };
    matmul_narrow(c, &plain);
    cuda_cells(c, y.type == ELEM_BF16 ? CELL_GELU_QUICK : CELL_GELU, &x, NULL, NULL, &y);
}

static void gelu_bwd_apart(struct backend_ctx *c, const struct op_call *o)
{
    const struct mat x = mat_of(o->in[2]), d = mat_of(o->out[0]);
    const struct op_call plain = { o->attr, { o->in[0], o->in[1] }, { o->out[0] } };
    matmul_narrow(c, &plain);
    cuda_cells(c, d.type == ELEM_BF16 ? CELL_GELU_BACK_QUICK : CELL_GELU_BACK, &x, &d, NULL, &d);
}

static void sum_apart(struct backend_ctx *c, const struct op_call *o)
{
    const struct op_call plain = { o->attr, { o->in[0], o->in[1] }, { o->out[0] } };
    const struct op_call sum = { { .flags = o->attr.flags & OP_ACCUMULATE }, { o->in[0] }, { o->out[1] } };
    matmul_narrow(c, &plain);
    cuda_colsum_inside(c, &sum);
}

/* By the library in one pass where it has that and is faster by it; else one after the other. */
static void matmul_gelu(struct backend_ctx *c, const struct op_call *o)
{
    if (!cuda_lt_gelu(c, o, gelu_apart))
        gelu_apart(c, o);
}

static void matmul_gelu_bwd(struct backend_ctx *c, const struct op_call *o)
{
    if (!cuda_lt_gelu_bwd(c, o, gelu_bwd_apart))
        gelu_bwd_apart(c, o);
}

static void matmul_sum(struct backend_ctx *c, const struct op_call *o)
{
    if (!cuda_lt_sum(c, o, sum_apart))
        sum_apart(c, o);
}

/* All but the last two dimensions are a batch. */
static struct product_args bmm_of(const struct op_call *o)
{
    const struct tensor *a = o->in[0], *b = o->in[1], *y = o->out[0];
    unsigned r = y->rank;
    struct mat am = { a->type, a->dim[r - 2], a->dim[r - 1], a->stride[r - 2], a->buf, a->offset_bytes, NULL };
    struct mat bm = { b->type, b->dim[r - 2], b->dim[r - 1], b->stride[r - 2], b->buf, b->offset_bytes, NULL };
    struct mat ym = { y->type, y->dim[r - 2], y->dim[r - 1], y->stride[r - 2], y->buf, y->offset_bytes, NULL };
    struct op_call plain = *o;
    plain.attr.flags &= MM_TRANS_B;
    struct product_args p = product_of(&plain, &am, &bm, &ym);
    for (unsigned d = 0; d + 2 < r; d++)
        p.batch *= y->dim[d];
    p.a_batch = a->dim[r - 2] * a->dim[r - 1];
    p.b_batch = b->dim[r - 2] * b->dim[r - 1];
    p.out_batch = y->dim[r - 2] * y->dim[r - 1];
    return p;
}

static void bmm(struct backend_ctx *c, const struct op_call *o)
{
    if (cuda_lt_bmm(c, o))
        return;
    const struct product_args p = bmm_of(o);
    if (!cuda_wide(c, &p))
        cuda_launch(c, KERNEL_product, over(p.m, TILE), over(p.n, TILE), p.batch, &p);
}

static void bmm_narrow(struct backend_ctx *c, const struct op_call *o)
{
    if (cuda_lt_bmm(c, o))
        return;
    const struct product_narrow_args n = { bmm_of(o), o->out[0]->type == ELEM_BF16 };
    ASSERT(o->in[1]->type == ELEM_BF16);
    if (!cuda_strip(c, &n.p, n.is_narrow))
        cuda_launch(c, KERNEL_product_narrow, over(n.p.m, TILE), over(n.p.n, TILE), n.p.batch, &n);
}

static struct images images_of(const struct op_attr *a, const struct tensor *x, const struct tensor *y)
{
    ASSERT(x->rank == 4 && y->rank == 4 && x->dim[0] == y->dim[0]);
    struct images s = { x->dim[0], x->dim[1], x->dim[2], x->dim[3], y->dim[1], y->dim[2], y->dim[3], a->window[0], a->window[1],
                        a->stride, a->pad };
    ASSERT(s.stride >= 1 && s.h >= 1 && s.w >= 1 && s.xh + 2 * s.pad >= s.h && s.xw + 2 * s.pad >= s.w);
    ASSERT(s.yh == (s.xh + 2 * s.pad - s.h) / s.stride + 1 && s.yw == (s.xw + 2 * s.pad - s.w) / s.stride + 1);
    return s;
}

/* The window is that of the weights, [out, height, width, in]. */
static struct op_attr window_of(const struct op_call *o, const struct tensor *w)
{
    struct op_attr a = o->attr;
    ASSERT(w->rank == 4);
    a.window[0] = w->dim[1], a.window[1] = w->dim[2];
    return a;
}

static void conv2d(struct backend_ctx *c, const struct op_call *o)
{
    const struct op_attr w = window_of(o, o->in[1]);
    const struct conv_args a = { at(o->in[0]), at(o->in[1]), o->attr.flags & MM_BIAS ? at(o->in[2]) : NULL,
                                 o->attr.flags & CONV_ADD ? at(o->in[3]) : NULL, at(o->out[0]),
                                 images_of(&w, o->in[0], o->out[0]), o->attr.flags & MM_RELU };
    ASSERT(o->in[1]->dim[0] == a.s.yc && o->in[1]->dim[3] == a.s.xc);
    if (o->attr.flags & OP_BF16 && cuda_gathered_conv(c, o, &a.s))
        return;
    cuda_launch(c, KERNEL_OF(o, conv), over(a.s.n * a.s.yh * a.s.yw, TILE), over(a.s.yc, TILE), 1, &a);
}

static void conv2d_bwd_x(struct backend_ctx *c, const struct op_call *o)
{
    const struct op_attr w = window_of(o, o->in[0]);
    const struct conv_back_x_args a = { at(o->in[0]), at(o->in[1]), at(o->out[0]), images_of(&w, o->out[0], o->in[1]) };
    if (o->attr.flags & OP_BF16 && cuda_gathered_back_x(c, o, &a.s))
        return;
    cuda_launch(c, KERNEL_OF(o, conv_back_x), over(a.s.n * a.s.xh * a.s.xw, TILE), over(a.s.xc, TILE), 1, &a);
}

static void conv2d_bwd_w(struct backend_ctx *c, const struct op_call *o)
{
    const struct conv_back_w_args a = { at(o->in[0]), at(o->in[1]), at(o->out[0]), images_of(&o->attr, o->in[0], o->in[1]),
                                        o->attr.flags & OP_ACCUMULATE };
    if (o->attr.flags & OP_BF16 && cuda_gathered_back_w(c, o, &a.s))
        return;
    cuda_launch(c, KERNEL_OF(o, conv_back_w), over(a.s.yc, TILE), over(a.s.h * a.s.w * a.s.xc, TILE), 1, &a);
}

static void pool(struct backend_ctx *c, const struct op_call *o, bool is_max)
{
    const struct pool_args a = { at(o->in[0]), at(o->out[0]), images_of(&o->attr, o->in[0], o->out[0]), is_max };
    cuda_launch(c, KERNEL_pool, over(tensor_count(o->out[0]), 128), 1, 1, &a);
}

static void maxpool(struct backend_ctx *c, const struct op_call *o) { pool(c, o, true); }
static void avgpool(struct backend_ctx *c, const struct op_call *o) { pool(c, o, false); }

static void maxpool_bwd(struct backend_ctx *c, const struct op_call *o)
{
    const struct pool_back_args a = { at(o->in[0]), at(o->in[1]), at(o->out[0]), images_of(&o->attr, o->in[0], o->in[1]) };
    cuda_launch(c, KERNEL_pool_back, over(tensor_count(o->out[0]), 128), 1, 1, &a);
}

static void avgpool_bwd(struct backend_ctx *c, const struct op_call *o)
{
    const struct pool_back_args a = { NULL, at(o->in[0]), at(o->out[0]), images_of(&o->attr, o->out[0], o->in[0]) };
    cuda_launch(c, KERNEL_pool_back, over(tensor_count(o->out[0]), 128), 1, 1, &a);
}

/* Mean and deviation of each group of each image, in scratch memory. */
static float *group_moments(struct backend_ctx *c, const struct op_call *o)
{
    const struct tensor *x = o->in[0];
    ASSERT(x->rank == 4 && o->attr.n >= 1 && x->dim[3] % o->attr.n == 0);
    float *ret = cuda_scratch(c, 2 * x->dim[0] * o->attr.n * sizeof *ret);
    const struct group_moments_args a = { at(x), ret, x->dim[1] * x->dim[2], x->dim[3], o->attr.n, (float)o->attr.eps };
    cuda_launch(c, KERNEL_group_moments, o->attr.n, x->dim[0], 1, &a);
    return ret;
}

static void groupnorm(struct backend_ctx *c, const struct op_call *o)
{
    const struct tensor *x = o->in[0];
    const struct group_norm_args a = { at(x), at(o->in[1]), at(o->in[2]), group_moments(c, o), at(o->out[0]),
                                       x->dim[1] * x->dim[2], x->dim[3], o->attr.n };
    cuda_launch(c, KERNEL_group_norm, o->attr.n, x->dim[0], 1, &a);
}

static void groupnorm_bwd(struct backend_ctx *c, const struct op_call *o)
{
    const struct tensor *x = o->in[0];
    const struct group_norm_back_args a = { at(x), at(o->in[1]), at(o->in[2]), group_moments(c, o), at(o->out[0]),
                                            x->dim[1] * x->dim[2], x->dim[3], o->attr.n };
    cuda_launch(c, KERNEL_group_norm_back, o->attr.n, x->dim[0], 1, &a);
}

static void groupnorm_scale_bwd(struct backend_ctx *c, const struct op_call *o)
{
    const struct tensor *x = o->in[0];
    const struct group_scale_back_args a = { at(x), at(o->in[1]), group_moments(c, o), at(o->out[0]), x->dim[0],
                                             x->dim[1] * x->dim[2], x->dim[3], o->attr.n, o->attr.flags & OP_ACCUMULATE };
    cuda_launch(c, KERNEL_group_scale_back, x->dim[3], 1, 1, &a);
}

CUDA_NET_OPS(CUDA_DEFINE_NET)
CUDA_NARROW_NET_OPS(CUDA_DEFINE_NET)
