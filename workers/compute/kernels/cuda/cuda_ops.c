/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_ops.c - operations of rows, cells and sums as launches: shapes asserted, arguments filled, grids cut by shape alone. */
#include "workers/compute/kernels/cuda/cuda_ops_int.h"

#include <math.h>

enum { CHUNK_NUMBERS = 65536 };
enum { KEPT_FROM = 1024, KEPT_BYTES = 100864 };         /* logits of a row that shared memory holds: kernel.def */

/* Eight numbers a thread where every operand is dense and begins at 16 bytes. */
void cuda_cells(struct backend_ctx *c, enum cell_fn fn, const struct mat *x, const struct mat *y, const struct mat *z,
                const struct mat *out)
{
    struct cells_args a = { numbers_of(x), numbers_of(y), numbers_of(z), numbers_of(out), x->rows, x->cols, x->stride,
                            y ? y->stride : 0, z ? z->stride : 0, out->stride, fn, false };
    bool is_vector = y && y->rows == 1 && x->rows > 1;
    if (is_vector)
        a.y_stride = a.z_stride = 0;
    a.is_wide = !z && is_flat(x) && is_flat(out) && (!y || is_flat(y)) && (!is_vector || x->cols % 8 == 0);
    size_t count = x->rows * x->cols;
    cuda_launch(c, KERNEL_cells, over(count, a.is_wide ? 2048 : 256), 1, 1, &a);
}

static void cells_of(struct backend_ctx *c, const struct op_call *o, enum cell_fn fn)
{
    struct mat m[3], out = mat_of(o->out[0]);
    for (int i = 0; i < 3 && o->in[i]; i++) {
        m[i] = mat_of(o->in[i]);
        ASSERT(m[i].cols == out.cols && (m[i].rows == out.rows || (i && m[i].rows == 1)));
    }
    cuda_cells(c, fn, &m[0], o->in[1] ? &m[1] : NULL, o->in[2] ? &m[2] : NULL, &out);
}

static void add_bias(struct backend_ctx *c, const struct op_call *o) { cells_of(c, o, CELL_ADD_BIAS); }
static void add(struct backend_ctx *c, const struct op_call *o) { cells_of(c, o, CELL_ADD); }
static void relu(struct backend_ctx *c, const struct op_call *o) { cells_of(c, o, CELL_RELU); }
static void relu_bwd(struct backend_ctx *c, const struct op_call *o) { cells_of(c, o, CELL_RELU_BACK); }

/* Results that are rounded to bf16 need no exact function. */
static void gelu(struct backend_ctx *c, const struct op_call *o)
{
    cells_of(c, o, o->out[0]->type == ELEM_BF16 ? CELL_GELU_QUICK : CELL_GELU);
}

static void gelu_bwd(struct backend_ctx *c, const struct op_call *o)
{
    cells_of(c, o, o->out[0]->type == ELEM_BF16 ? CELL_GELU_BACK_QUICK : CELL_GELU_BACK);
}

static void standardise(struct backend_ctx *c, const struct op_call *o) { cells_of(c, o, CELL_STANDARDISE); }

static void copy(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = mat_of(o->in[0]), y = mat_of(o->out[0]);
    ASSERT(x.rows == y.rows && x.cols == y.cols);
    bool adds = o->attr.flags & OP_ACCUMULATE;
    cuda_cells(c, adds ? CELL_ADD : CELL_COPY, &x, adds ? &y : NULL, NULL, &y);
}

static void swiglu(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = mat_of(o->in[0]), y = mat_of(o->out[0]);
    const struct swiglu_args a = { numbers_of(&x), numbers_of(NULL), numbers_of(&y), y.rows, y.cols };
    ASSERT(x.cols == 2 * y.cols && x.rows == y.rows && is_dense(&x) && is_dense(&y));
    cuda_launch(c, KERNEL_swiglu, over(y.rows * y.cols, 256), 1, 1, &a);
}

static void swiglu_bwd(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = mat_of(o->in[0]), dy = mat_of(o->in[1]), dx = mat_of(o->out[0]);
    const struct swiglu_args a = { numbers_of(&x), numbers_of(&dy), numbers_of(&dx), dy.rows, dy.cols };
    ASSERT(x.cols == 2 * dy.cols && x.rows == dy.rows && dx.cols == x.cols && is_dense(&x) && is_dense(&dy) && is_dense(&dx));
    cuda_launch(c, KERNEL_swiglu, over(dy.rows * dy.cols, 256), 1, 1, &a);
}

static void rotary(struct backend_ctx *c, const struct op_call *o)
{
    const struct tensor *x = o->in[0], *table = o->in[1];
    ASSERT(x->rank == 3 && table->rank == 2 && table->dim[0] >= x->dim[1] && table->dim[1] % 2 == 0);
    const struct rotary_args a = { numbers_at(x), numbers_at(o->out[0]), at(table), x->dim[0] * x->dim[1], x->dim[1], x->dim[2],
                                   o->attr.heads, table->dim[1], o->attr.flags & ROTARY_BACK ? -1.0f : 1.0f };
    ASSERT(a.heads * a.d <= a.row && x->type == o->out[0]->type && table->type == ELEM_F32);
    cuda_launch(c, KERNEL_rotary, over(a.tokens * a.row, 256), 1, 1, &a);
}

static void dropout(struct backend_ctx *c, const struct op_call *o)
{
    const struct dropout_args a = { numbers_at(o->in[0]), numbers_at(o->out[0]), at(o->in[1]), tensor_count(o->in[0]),
                                    (float)(1 / (1 - o->attr.rate)), (uint32_t)(o->attr.rate * 0x1p32),
                                    (o->attr.stream + 1) << 40 };
    ASSERT(o->attr.rate >= 0 && o->attr.rate < 1);
    cuda_launch(c, KERNEL_dropout, over(a.n, 1024), 1, 1, &a);
}

static void cast(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = mat_of(o->in[0]), y = mat_of(o->out[0]);
    const struct cast_args a = { numbers_of(&x), numbers_of(&y), tensor_count(o->in[0]), is_flat(&x) && is_flat(&y) };
    ASSERT(is_dense(&x) && is_dense(&y) && a.x.is_narrow != a.y.is_narrow);
    cuda_launch(c, KERNEL_cast, over(a.n, a.is_wide ? 2048 : 256), 1, 1, &a);
}

static void softmax(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = mat_of(o->in[0]), y = mat_of(o->out[0]);
    const struct softmax_args a = { f32(&x), NULL, f32(&y), x.cols, x.stride, 0, y.stride };
    ASSERT(x.rows == y.rows && x.cols == y.cols);
    cuda_launch(c, KERNEL_softmax, x.rows, 1, 1, &a);
}

static void softmax_bwd(struct backend_ctx *c, const struct op_call *o)
{
    struct mat y = mat_of(o->in[0]), dy = mat_of(o->in[1]), dx = mat_of(o->out[0]);
    const struct softmax_args a = { f32(&y), f32(&dy), f32(&dx), y.cols, y.stride, dy.stride, dx.stride };
    ASSERT(y.rows == dx.rows && y.cols == dx.cols && dy.rows == y.rows);
    cuda_launch(c, KERNEL_softmax, y.rows, 1, 1, &a);
}

static void argmax(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = mat_of(o->in[0]);
    const struct argmax_args a = { numbers_of(&x), at(o->out[0]), x.cols, x.stride };
    ASSERT(tensor_count(o->out[0]) == x.rows && o->out[0]->type == ELEM_I32);
    cuda_launch(c, KERNEL_argmax, x.rows, 1, 1, &a);
}

/* Losses by row, in scratch memory, then their sum. */
static void total(struct backend_ctx *c, const double *part, size_t n, const struct tensor *out, bool accumulate)
{
    const struct total_args a = { part, at(out), n, accumulate };
    ASSERT(out->type == ELEM_F64);
    cuda_launch(c, KERNEL_total, 1, 1, 1, &a);
}

static void softmax_xent(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = mat_of(o->in[0]), d = o->out[1] ? mat_of(o->out[1]) : x;
    double *part = cuda_scratch(c, x.rows * sizeof *part);
    const struct xent_args a = { numbers_of(&x), numbers_of(o->out[1] ? &d : NULL), at(o->in[1]),
                                 o->in[2] ? at(o->in[2]) : NULL, part, x.rows, x.cols, x.stride, d.stride };
    ASSERT(tensor_count(o->in[1]) == x.rows && o->in[1]->type == ELEM_I32);
    bool is_kept = x.type == ELEM_BF16 && x.cols % 8 == 0 && x.cols >= KEPT_FROM && x.cols * sizeof(uint16_t) <= KEPT_BYTES
                   && x.stride % 8 == 0 && d.stride % 8 == 0 && d.type == x.type && is_at_16(a.x.at) && is_at_16(a.dx.at)
                   && !c->is_too_large[KERNEL_xent_kept];
    cuda_launch(c, is_kept ? KERNEL_xent_kept : KERNEL_xent, x.rows, 1, 1, &a);
    total(c, part, x.rows, o->out[0], false);
}

static void differ(struct backend_ctx *c, const struct op_call *o, bool is_sigmoid)
{
    struct mat x = mat_of(o->in[0]), t = mat_of(o->in[1]), d = o->out[1] ? mat_of(o->out[1]) : x;
    double *part = cuda_scratch(c, x.rows * sizeof *part);
    const struct differ_args a = { f32(&x), f32(&t), o->in[2] ? at(o->in[2]) : NULL, o->out[1] ? f32(&d) : NULL, part, x.rows,
                                   x.cols, x.stride, t.stride, d.stride, is_sigmoid };
    ASSERT(t.rows == x.rows && t.cols == x.cols);
    cuda_launch(c, KERNEL_differ, x.rows, 1, 1, &a);
    total(c, part, x.rows, o->out[0], false);
}

static void mse(struct backend_ctx *c, const struct op_call *o) { differ(c, o, false); }
static void sigmoid_xent(struct backend_ctx *c, const struct op_call *o) { differ(c, o, true); }

static void sumsq(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = mat_of(o->in[0]);
    size_t blocks = over(x.rows * x.cols, CHUNK_NUMBERS);
    double *part = cuda_scratch(c, blocks * sizeof *part);
    const struct square_args a = { f32(&x), part, x.rows, x.cols, x.stride, CHUNK_NUMBERS, is_flat(&x) };
    cuda_launch(c, KERNEL_square, blocks, 1, 1, &a);
    total(c, part, blocks, o->out[0], o->attr.flags & OP_ACCUMULATE);
}

static void clip(struct backend_ctx *c, const struct op_call *o)
{
    const struct clip_args a = { at(o->in[0]), at(o->in[1]) };
    cuda_launch(c, KERNEL_clip, 1, 1, 1, &a);
}

static bool are_fours(const struct mat *x, const struct mat *y)
{
    return x->cols % 4 == 0 && x->stride % 4 == 0 && y->stride % 4 == 0 && is_at_16(f32(x)) && is_at_16(f32(y));
}

static void embed(struct backend_ctx *c, const struct op_call *o)
{
    struct mat table = mat_of(o->in[0]), out = mat_of(o->out[0]);
    const struct embed_args a = { f32(&table), at(o->in[1]), f32(&out), table.cols, table.stride, out.stride,
                                  are_fours(&table, &out) };
    ASSERT(table.cols == out.cols && tensor_count(o->in[1]) == out.rows && o->in[1]->type == ELEM_I32);
    cuda_launch(c, KERNEL_embed, out.rows, 1, 1, &a);
}

static void embed_bwd(struct backend_ctx *c, const struct op_call *o)
{
    struct mat dy = mat_of(o->in[1]), table = mat_of(o->out[0]);
    const struct embed_back_args a = { at(o->in[0]), f32(&dy), f32(&table), dy.rows, table.rows, dy.cols, dy.stride, table.stride,
                                       o->attr.flags & OP_ACCUMULATE, are_fours(&table, &dy) };
    ASSERT(table.cols == dy.cols && tensor_count(o->in[0]) == dy.rows && o->in[0]->type == ELEM_I32);
    cuda_launch(c, KERNEL_embed_back, over(table.rows, EMBED_ROWS), 1, 1, &a);
}

/* One flat segment: a matrix whose rows follow each other. */
static size_t segment(const struct tensor *const *t, int n, bool *ret_is_wide)
{
    *ret_is_wide = true;
    for (int i = 0; i < n; i++) {
        struct mat m = mat_of(t[i]);
        ASSERT(is_dense(&m) && tensor_count(t[i]) == tensor_count(t[0]));
        *ret_is_wide = *ret_is_wide && is_flat(&m);
    }
    return tensor_count(t[0]);
}

static void adamw(struct backend_ctx *c, const struct op_call *o)
{
    struct adamw_args a = { at(o->in[0]), at(o->in[2]), at(o->in[3]), at(o->in[1]), at(o->in[4]), 0, o->attr.beta1, o->attr.beta2,
                            o->attr.eps, o->attr.weight_decay, false };
    a.n = segment(o->in, 4, &a.is_wide);
    cuda_launch(c, KERNEL_adamw, over(a.n, 1024 * UPDATE_TURNS), 1, 1, &a);
}

static void sgd(struct backend_ctx *c, const struct op_call *o)
{
    struct sgd_args a = { at(o->in[0]), at(o->in[2]), at(o->in[1]), at(o->in[3]), 0, o->attr.momentum, o->attr.weight_decay,
                          false };
    a.n = segment(o->in, 3, &a.is_wide);
    cuda_launch(c, KERNEL_sgd, over(a.n, 1024), 1, 1, &a);
}

CUDA_OPS(CUDA_DEFINE)
#define ROW(NAME, name, type) [OP_##NAME][type] = k_##name,
#define NET_ROW(NAME, name, type) [OP_##NAME][type] = cuda_##name,
kernel_table cuda_kernels = { CUDA_OPS(ROW) CUDA_NARROW_OPS(ROW) CUDA_NORM_OPS(NET_ROW) CUDA_NORM_NARROW_OPS(NET_ROW)
                              CUDA_NET_OPS(NET_ROW)
                              CUDA_ATTENTION_OPS(NET_ROW) CUDA_NARROW_NET_OPS(NET_ROW) };
