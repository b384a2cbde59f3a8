/* SPDX-License-Identifier: Apache-2.0 */
/* ref.c - backend "ref": the reference, plain loops in fp32 and fp64, portable C.
 *
 * Layout: row-major, no packing; "packed" weights are a plain copy. Maths: as written in ref_int.h; fp64 takes part in gradient
 * checks only. Tolerance: it is the measure (fp64) and differs from it by rounding (fp32). Why it exists: to judge the others, and
 * to run where no vector unit is. Measured (tests/bench/bench_kernels.c, one Zen 4 core): 1.4 to 2.5 GFLOP/s, the base of all gains. */
#include "core/base/assert.h"
#include "workers/compute/kernels/cpu_int.h"

#include <math.h>
#include <string.h>

#define REAL float
#define FN(name) f32_##name
#include "workers/compute/kernels/ref_int.h"
#undef REAL
#undef FN
#define REAL double
#define FN(name) f64_##name
#include "workers/compute/kernels/ref_int.h"
#undef REAL
#undef FN

#define DISPATCH(type_, call32, call64)                                   \
    do {                                                                  \
        ASSERT((type_) == MAT_F32 || (type_) == MAT_F64);                 \
        if ((type_) == MAT_F32)                                           \
            call32;                                                       \
        else                                                              \
            call64;                                                       \
    } while (0)

static bool probe(const struct hw *hw)
{
    (void)hw;
    return true;
}

static void matmul(struct backend_ctx *c, unsigned flags, const struct mat *a, const struct mat *b, const struct mat *bias,
                   const struct mat *out)
{
    (void)c;
    ASSERT((flags & MM_TRANS_A ? a->cols : a->rows) == out->rows && (flags & MM_TRANS_B ? b->rows : b->cols) == out->cols);
    ASSERT((flags & MM_TRANS_A ? a->rows : a->cols) == (flags & MM_TRANS_B ? b->cols : b->rows));
    DISPATCH(out->type, f32_matmul(flags, a, b, bias, out), f64_matmul(flags, a, b, bias, out));
}

static size_t pack_bytes(size_t n, size_t k)
{
    return n * k * sizeof(float);
}

static void pack(struct backend_ctx *c, const struct mat *w, struct packed *ret)
{
    (void)c;
    ASSERT(w->type == MAT_F32 && w->rows == ret->n && w->cols == ret->k);
    for (size_t i = 0; i < w->rows; i++)
        memcpy((float *)ret->buf->ptr + i * w->cols, (const float *)w->ptr + i * w->stride, w->cols * sizeof(float));
}

static void matmul_packed(struct backend_ctx *c, unsigned flags, const struct mat *x, const struct packed *w, const struct mat *bias,
                          const struct mat *out)
{
    struct mat b = mat_at(w->buf, 0, MAT_F32, w->n, w->k);
    matmul(c, flags | MM_TRANS_B, x, &b, bias, out);
}

static void relu_bwd(struct backend_ctx *c, const struct mat *y, const struct mat *dy)
{
    (void)c;
    DISPATCH(y->type, f32_relu_bwd(y, dy), f64_relu_bwd(y, dy));
}

static void softmax_xent(struct backend_ctx *c, const struct mat *logits, const struct mat *labels, const struct mat *dlogits,
                         double scale, double *loss_sum)
{
    void *row = cpu_scratch(c, logits->cols * sizeof(double));
    ASSERT(labels->type == MAT_I32 && labels->stride == 1);
    DISPATCH(logits->type, f32_softmax_xent(logits, labels->ptr, dlogits, scale, loss_sum, row),
             f64_softmax_xent(logits, labels->ptr, dlogits, scale, loss_sum, row));
}

static void mse(struct backend_ctx *c, const struct mat *y, const struct mat *t, const struct mat *dy, double scale, double *loss_sum)
{
    (void)c;
    DISPATCH(y->type, f32_mse(y, t, dy, scale, loss_sum), f64_mse(y, t, dy, scale, loss_sum));
}

static void colsum(struct backend_ctx *c, const struct mat *x, const struct mat *out, bool accumulate)
{
    (void)c;
    DISPATCH(x->type, f32_colsum(x, out, accumulate), f64_colsum(x, out, accumulate));
}

static void softmax(struct backend_ctx *c, const struct mat *x, const struct mat *y)
{
    (void)c;
    for (size_t i = 0; i < x->rows; i++)
        DISPATCH(x->type, f32_softmax_row((float *)x->ptr + i * x->stride, (float *)y->ptr + i * y->stride, x->cols),
                 f64_softmax_row((double *)x->ptr + i * x->stride, (double *)y->ptr + i * y->stride, x->cols));
}

static void argmax(struct backend_ctx *c, const struct mat *x, const struct mat *out)
{
    (void)c;
    DISPATCH(x->type, f32_argmax(x, out), f64_argmax(x, out));
}

static void sumsq(struct backend_ctx *c, const struct mat *x, double *ret)
{
    (void)c;
    DISPATCH(x->type, *ret = f32_sumsq(x), *ret = f64_sumsq(x));
}

static void adamw(struct backend_ctx *c, const struct adamw_step *s, const struct mat *w, const struct mat *g, const struct mat *m,
                  const struct mat *v)
{
    (void)c;
    DISPATCH(w->type, f32_adamw(s, w, g, m, v), f64_adamw(s, w, g, m, v));
}

static void sgd(struct backend_ctx *c, const struct sgd_step *s, const struct mat *w, const struct mat *g, const struct mat *velocity)
{
    (void)c;
    DISPATCH(w->type, f32_sgd(s, w, g, velocity), f64_sgd(s, w, g, velocity));
}

const struct backend backend_ref = {
    .name = "ref", .rank = 0, .types = MAT_F32 | MAT_F64, .probe = probe,
    .open = cpu_open, .close = cpu_close, .alloc = cpu_alloc, .free = cpu_free, .put = cpu_put, .get = cpu_get, .sync = cpu_sync,
    .matmul = matmul, .pack_bytes = pack_bytes, .pack = pack, .matmul_packed = matmul_packed, .relu_bwd = relu_bwd,
    .softmax_xent = softmax_xent, .mse = mse, .colsum = colsum, .softmax = softmax, .argmax = argmax, .sumsq = sumsq,
    .adamw = adamw, .sgd = sgd,
};
