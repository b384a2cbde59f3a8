/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_norm.c - norms, sums by column and what is done in the same pass, as launches.
 *
 * Rows that a warp can hold, of fours that begin at 16 bytes, are read once; others go through the simple kernels, one operation
 * behind the other. Sums are of pieces that the shape cuts, then over those. */
#include "workers/compute/kernels/cuda/args_norm.h"
#include "workers/compute/kernels/cuda/cuda_ops_int.h"

enum { CHUNK_ROWS = 256, NORM_CHUNK_ROWS = 64, WARPS = 8, KEPT_COLS = 1024 };

/* Rows that a warp holds in registers. */
static bool is_kept(const struct mat *m)
{
    return m->cols % 4 == 0 && m->cols <= KEPT_COLS && m->stride % 4 == 0 && is_at_16(f32(m));
}

static bool is_eights(const struct mat *m)
{
    return m->cols % 8 == 0 && m->stride % 8 == 0 && is_at_16(f32(m));
}

static bool is_like(const struct mat *x, const struct mat *y)
{
    return x->rows == y->rows && x->cols == y->cols;
}

static const float *vector_of(const struct tensor *t, size_t cols)
{
    ASSERT(!t || (tensor_count(t) == cols && t->type == ELEM_F32));
    return t ? at(t) : NULL;
}

static void launch_norm(struct backend_ctx *c, const struct norm_args *a, bool is_kept)
{
    if (is_kept)
        cuda_launch(c, KERNEL_norm_kept, over(a->rows, WARPS), 1, 1, a);
    else
        cuda_launch(c, KERNEL_norm, a->rows, 1, 1, a);
}

static void norm(struct backend_ctx *c, const struct op_call *o, const struct tensor *shift)
{
    struct mat x = mat_of(o->in[0]), y = mat_of(o->out[0]);
    const struct norm_args a = { .x = f32(&x), .scale = vector_of(o->in[1], x.cols), .shift = vector_of(shift, x.cols),
                                 .y = numbers_of(&y), .rows = x.rows, .cols = x.cols, .x_stride = x.stride,
                                 .y_stride = y.stride, .eps = (float)o->attr.eps, .is_rms = !shift };
    ASSERT(is_like(&x, &y));
    launch_norm(c, &a, is_kept(&x) && is_kept(&y) && is_at_16(a.scale) && is_at_16(a.shift));
}

static void layernorm(struct backend_ctx *c, const struct op_call *o) { norm(c, o, o->in[2]); }
static void rmsnorm(struct backend_ctx *c, const struct op_call *o) { norm(c, o, NULL); }

static void add_norm(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = mat_of(o->in[0]), more = mat_of(o->in[1]), y = mat_of(o->out[0]), sum = mat_of(o->out[1]);
    struct norm_args a = { .x = f32(&x), .scale = vector_of(o->in[2], x.cols), .shift = vector_of(o->in[3], x.cols),
                           .y = numbers_of(&y), .more = numbers_of(&more), .sum = f32(&sum), .rows = x.rows, .cols = x.cols,
                           .x_stride = x.stride, .y_stride = y.stride, .more_stride = more.stride, .sum_stride = sum.stride,
                           .eps = (float)o->attr.eps, .is_rms = o->attr.flags & NORM_RMS };
    bool is_one = is_kept(&x) && is_kept(&y) && is_kept(&more) && is_kept(&sum) && is_at_16(a.scale) && is_at_16(a.shift);
    ASSERT(is_like(&x, &y) && is_like(&x, &more) && is_like(&x, &sum) && sum.type == ELEM_F32 && a.is_rms == !a.shift);
    if (!is_one) {
        cuda_cells(c, CELL_ADD, &x, &more, NULL, &sum);
        a.x = a.sum;
        a.x_stride = a.sum_stride;
        a.more.at = NULL;
    }
    launch_norm(c, &a, is_one);
}

static void norm_back(struct backend_ctx *c, const struct op_call *o, bool is_rms, const struct mat *dx)
{
    struct mat x = mat_of(o->in[0]), dy = mat_of(o->in[2]);
    const struct norm_back_args a = { f32(&x), vector_of(o->in[1], x.cols), numbers_of(&dy), f32(dx), x.cols, x.stride, dy.stride,
                                      dx->stride, (float)o->attr.eps, is_rms };
    ASSERT(is_like(&x, dx) && is_like(&x, &dy));
    cuda_launch(c, KERNEL_norm_back, x.rows, 1, 1, &a);
}

static void layernorm_bwd(struct backend_ctx *c, const struct op_call *o)
{
    struct mat dx = mat_of(o->out[0]);
    norm_back(c, o, false, &dx);
}

static void rmsnorm_bwd(struct backend_ctx *c, const struct op_call *o)
{
    struct mat dx = mat_of(o->out[0]);
    norm_back(c, o, true, &dx);
}

/* Σ x by column, or Σ dy·z with the moments of x's rows, which lie behind the partial sums. */
static void columns(struct backend_ctx *c, const struct op_attr *attr, const struct mat *x, const struct mat *dy,
                    const struct tensor *out)
{
    size_t parts = over(x->rows, CHUNK_ROWS);
    float *part = cuda_scratch(c, (parts * x->cols + 2 * x->rows) * sizeof *part), *moments = part + parts * x->cols;
    ASSERT(tensor_count(out) == x->cols && out->type == ELEM_F32);
    if (dy) {
        const struct moments_args m = { f32(x), moments, x->cols, x->stride, (float)attr->eps, attr->flags & NORM_RMS };
        ASSERT(is_like(x, dy));
        cuda_launch(c, KERNEL_moments, x->rows, 1, 1, &m);
    }
    const struct column_part_args a = { numbers_of(x), numbers_of(dy), moments, part, x->rows, x->cols, x->stride,
                                        dy ? dy->stride : 0, CHUNK_ROWS };
    const struct column_end_args b = { part, at(out), parts, x->cols, attr->flags & OP_ACCUMULATE };
    if (!dy && is_eights(x))
        cuda_launch(c, KERNEL_column_wide, over(x->cols, 256), parts, 1, &a);
    else
        cuda_launch(c, KERNEL_column_part, over(x->cols, 128), parts, 1, &a);
    cuda_launch(c, KERNEL_column_end, over(x->cols, 32), 1, 1, &b);
}

static void colsum(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = mat_of(o->in[0]);
    columns(c, &o->attr, &x, NULL, o->out[0]);
}

void cuda_colsum_inside(struct backend_ctx *c, const struct op_call *o)
{
    colsum(c, o);
}

static void norm_scale_bwd(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = mat_of(o->in[0]), dy = mat_of(o->in[1]);
    columns(c, &o->attr, &x, &dy, o->out[0]);
}

/* One operation behind the other. What is added may lie where dx will: the backward form goes to scratch memory first. */
static void norm_add_bwd_simply(struct backend_ctx *c, const struct op_call *o, const struct mat *x, const struct mat *dy,
                                const struct mat *dx)
{
    bool is_rms = o->attr.flags & NORM_RMS;
    if (o->out[0])
        columns(c, &o->attr, x, dy, o->out[0]);
    if (o->out[1])
        columns(c, &o->attr, dy, NULL, o->out[1]);
    if (o->in[3]) {
        struct buffer room = { .handle = cuda_scratch(c, x->rows * x->cols * sizeof(float)) };
        struct mat made = mat_at(&room, 0, ELEM_F32, x->rows, x->cols), more = mat_of(o->in[3]);
        ASSERT(is_like(x, &more) && more.type == ELEM_F32);
        norm_back(c, o, is_rms, &made);
        cuda_cells(c, CELL_ADD, &made, &more, NULL, dx);
    } else {
        norm_back(c, o, is_rms, dx);
    }
    if (o->out[2])
        columns(c, &o->attr, dx, NULL, o->out[2]);
    if (o->out[3]) {
        struct mat copy = mat_of(o->out[3]);
        cuda_cells(c, CELL_COPY, dx, NULL, NULL, &copy);
    }
}

static void norm_add_bwd(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = mat_of(o->in[0]), dy = mat_of(o->in[2]), dx = mat_of(o->out[4]);
    struct mat more = o->in[3] ? mat_of(o->in[3]) : dx, copy = o->out[3] ? mat_of(o->out[3]) : dx;
    const float *scale = vector_of(o->in[1], x.cols);
    ASSERT(is_like(&x, &dy) && is_like(&x, &dx) && is_like(&x, &more) && is_like(&x, &copy) && dx.type == ELEM_F32);
    if (!is_kept(&x) || !is_kept(&dy) || !is_kept(&dx) || !is_kept(&more) || !is_kept(&copy) || !is_at_16(scale)) {
        norm_add_bwd_simply(c, o, &x, &dy, &dx);
        return;
    }
    size_t parts = over(x.rows, NORM_CHUNK_ROWS);
    float *part = cuda_scratch(c, parts * 3 * x.cols * sizeof *part);
    const struct norm_sums_args a = { f32(&x), scale, o->in[3] ? f32(&more) : NULL, numbers_of(&dy),
                                      numbers_of(o->out[3] ? &copy : NULL), f32(&dx), part, x.rows, x.cols, x.stride, dy.stride,
                                      more.stride, dx.stride, copy.stride, NORM_CHUNK_ROWS, (float)o->attr.eps,
                                      o->attr.flags & NORM_RMS };
    struct norm_end_args e = { .part = part, .parts = parts, .cols = x.cols, .accumulate = o->attr.flags & OP_ACCUMULATE };
    for (int i = 0; i < 3; i++) {
        ASSERT(!o->out[i] || tensor_count(o->out[i]) == x.cols);
        e.out[i] = o->out[i] ? at(o->out[i]) : NULL;
    }
    enum kernel whole = x.cols == 768 ? KERNEL_norm_back_768 : KERNEL_norm_back_1024;
    cuda_launch(c, x.cols == 768 || x.cols == 1024 ? whole : KERNEL_norm_back_kept, parts, 1, 1, &a);
    cuda_launch(c, KERNEL_norm_end, over(x.cols, 32), 3, 1, &e);
}

static void gelu_bwd_sum(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = mat_of(o->in[0]), dy = mat_of(o->in[1]), dx = mat_of(o->out[1]);
    ASSERT(is_like(&x, &dy) && is_like(&x, &dx));
    size_t parts = over(x.rows, CHUNK_ROWS);
    float *part = cuda_scratch(c, parts * x.cols * sizeof *part);
    const struct gelu_sums_args a = { numbers_of(&x), numbers_of(&dy), numbers_of(&dx), part, x.rows, x.cols, x.stride, dy.stride,
                                      dx.stride, CHUNK_ROWS, is_eights(&x) && is_eights(&dy) && is_eights(&dx) };
    const struct column_end_args b = { part, at(o->out[0]), parts, x.cols, o->attr.flags & OP_ACCUMULATE };
    ASSERT(tensor_count(o->out[0]) == x.cols && o->out[0]->type == ELEM_F32);
    cuda_launch(c, KERNEL_gelu_sums, over(x.cols, 256), parts, 1, &a);
    cuda_launch(c, KERNEL_column_end, over(x.cols, 32), 1, 1, &b);
}

CUDA_NORM_OPS(CUDA_DEFINE_NET)
