/* SPDX-License-Identifier: Apache-2.0 */
/* ref.c - backend "ref": the reference, plain loops in fp32 and fp64, portable C.
 *
 * Layout: row-major, no packing; "packed" weights are a plain copy. Maths: as written in ref_int.h; fp64 takes part in
 * gradient checks only. Tolerance: it is the measure (fp64) and differs from it by rounding (fp32). Why it exists: to judge
 * the others, and to run where no vector unit is. Measured (tests/bench/bench_kernels.c, one Zen 4 core): 1.4 to 2.5
 * GFLOP/s, the base of all gains. */
#include "core/base/assert.h"
#include "workers/compute/kernels/call_int.h"
#include "workers/compute/kernels/net_int.h"
#include "workers/compute/kernels/round_int.h"
#include "workers/compute/rng.h"

#include <math.h>
#include <string.h>

#define REAL float
#define FN(name) f32_##name
#include "workers/compute/kernels/ref_int.h"
#include "workers/compute/kernels/ref_net_int.h"
#include "workers/compute/kernels/image_int.h"
#undef REAL
#undef FN
#define REAL double
#define FN(name) f64_##name
#include "workers/compute/kernels/ref_int.h"
#include "workers/compute/kernels/ref_net_int.h"
#include "workers/compute/kernels/image_int.h"
#undef REAL
#undef FN

/* The form for the type of x. */
#define BY_TYPE(x, call)                                                \
    do {                                                                \
        ASSERT((x)->type == ELEM_F32 || (x)->type == ELEM_F64);         \
        if ((x)->type == ELEM_F32)                                      \
            f32_##call;                                                 \
        else                                                            \
            f64_##call;                                                 \
    } while (0)
#define PICK(x, call) ((x)->type == ELEM_F32 ? f32_##call : f64_##call)

static void matmul(struct backend_ctx *c, unsigned flags, const struct mat *a, const struct mat *b, const struct mat *bias,
                   const struct mat *out)
{
    (void)c;
    ASSERT((flags & MM_TRANS_A ? a->cols : a->rows) == out->rows && (flags & MM_TRANS_B ? b->rows : b->cols) == out->cols);
    ASSERT((flags & MM_TRANS_A ? a->rows : a->cols) == (flags & MM_TRANS_B ? b->cols : b->rows) && !bias == !(flags & MM_BIAS));
    BY_TYPE(out, matmul(flags, a, b, bias, out));
}

/* Room for either type: who packs says which only later. */
static size_t pack_bytes(size_t n, size_t k)
{
    return n * k * sizeof(double);
}

static void pack(struct backend_ctx *c, const struct mat *w, const struct mat *ret)
{
    (void)c;
    size_t size = elem_bytes(w->type), row = w->cols * size;
    ASSERT(ret->cols >= w->rows * row);
    for (size_t i = 0; i < w->rows; i++)
        memcpy((char *)ret->ptr + i * row, (const char *)w->ptr + i * w->stride * size, row);
}

static void matmul_packed(struct backend_ctx *c, unsigned flags, const struct mat *x, const struct mat *w, size_t n, size_t k,
                          const struct mat *bias, const struct mat *out)
{
    struct mat b = mat_host(w->ptr, x->type, n, k);
    matmul(c, (flags & (MM_BIAS | MM_RELU)) | MM_TRANS_B, x, &b, bias, out);
}

static void add_bias(struct backend_ctx *c, const struct mat *x, const struct mat *bias, const struct mat *y)
{
    (void)c;
    BY_TYPE(x, add_bias(x, bias, y));
}

static void add(struct backend_ctx *c, const struct mat *x, const struct mat *y, const struct mat *z)
{
    (void)c;
    BY_TYPE(x, add(x, y, z));
}

static void relu(struct backend_ctx *c, const struct mat *x, const struct mat *y)
{
    (void)c;
    BY_TYPE(x, relu(x, y));
}

static void relu_bwd(struct backend_ctx *c, const struct mat *y, const struct mat *dy, const struct mat *dx)
{
    (void)c;
    BY_TYPE(y, relu_bwd(y, dy, dx));
}

static void gelu(struct backend_ctx *c, const struct mat *x, const struct mat *y)
{
    (void)c;
    BY_TYPE(x, gelu(x, y));
}

static void gelu_bwd(struct backend_ctx *c, const struct mat *x, const struct mat *dy, const struct mat *dx)
{
    (void)c;
    BY_TYPE(x, gelu_bwd(x, dy, dx));
}

static void layernorm(struct backend_ctx *c, const struct mat *x, const struct mat *scale, const struct mat *shift,
                      double eps, const struct mat *y)
{
    (void)c;
    BY_TYPE(x, layernorm(x, scale, shift, eps, y));
}

static void layernorm_bwd(struct backend_ctx *c, const struct mat *x, const struct mat *scale, const struct mat *dy,
                          double eps, bool is_rms, const struct mat *dx)
{
    (void)c;
    BY_TYPE(x, layernorm_bwd(x, scale, dy, eps, is_rms, dx));
}

static void norm_scale_bwd(struct backend_ctx *c, const struct mat *x, const struct mat *dy, double eps,
                           const struct mat *out, unsigned flags)
{
    (void)c;
    BY_TYPE(x, norm_scale_bwd(x, dy, eps, out, flags));
}

static void standardise(struct backend_ctx *c, const struct mat *x, const struct mat *mean, const struct mat *scale, const struct mat *y)
{
    (void)c;
    BY_TYPE(x, standardise(x, mean, scale, y));
}

static void colsum(struct backend_ctx *c, const struct mat *x, const struct mat *out, bool accumulate)
{
    (void)c;
    BY_TYPE(x, colsum(x, out, accumulate));
}

static void softmax(struct backend_ctx *c, const struct mat *x, const struct mat *y)
{
    (void)c;
    BY_TYPE(x, softmax(x, y));
}

static void softmax_bwd(struct backend_ctx *c, const struct mat *y, const struct mat *dy, const struct mat *dx)
{
    (void)c;
    BY_TYPE(y, softmax_bwd(y, dy, dx));
}

static void argmax(struct backend_ctx *c, const struct mat *x, int32_t *out)
{
    (void)c;
    BY_TYPE(x, argmax(x, out));
}

static void softmax_xent(struct backend_ctx *c, const struct mat *logits, const int32_t *labels, const struct mat *dlogits,
                         double scale, double *ret)
{
    void *row = cpu_scratch(c, logits->cols * sizeof(double));
    *ret = PICK(logits, softmax_xent(logits, labels, dlogits, scale, row));
}

static void mse(struct backend_ctx *c, const struct mat *y, const struct mat *t, const struct mat *dy, double scale, double *ret)
{
    (void)c;
    *ret = PICK(y, mse(y, t, dy, scale));
}

static void sigmoid_xent(struct backend_ctx *c, const struct mat *x, const struct mat *t, const struct mat *dx, double scale,
                         double *ret)
{
    (void)c;
    *ret = PICK(x, sigmoid_xent(x, t, dx, scale));
}

static double sumsq(struct backend_ctx *c, const struct mat *x)
{
    (void)c;
    return PICK(x, sumsq(x));
}

static void adamw(struct backend_ctx *c, const struct op_attr *s, const struct step_scalars *at, const struct mat *w, const struct mat *g,
                  const struct mat *m, const struct mat *v)
{
    (void)c;
    BY_TYPE(w, adamw(s, at, w, g, m, v));
}

static void sgd(struct backend_ctx *c, const struct op_attr *s, const struct step_scalars *at, const struct mat *w, const struct mat *g,
                const struct mat *v)
{
    (void)c;
    BY_TYPE(w, sgd(s, at, w, g, v));
}

#include "workers/compute/kernels/adapt_int.h"
#include "workers/compute/kernels/nd_walk_int.h"
#include "workers/compute/kernels/nd_table_int.h"
#include "workers/compute/kernels/nd_f32_int.h"
#define EXP(x) expf(x)
#define TANH(x) tanhf(x)
#define ERF(x) erff(x)
#include "workers/compute/kernels/nd_int.h"
#define REAL double
#define FN(name) f64_##name
#define EXP(x) exp(x)
#define LOG(x) log(x)
#define SQRT(x) sqrt(x)
#define TANH(x) tanh(x)
#define ERF(x) erf(x)
#define ABS(x) fabs(x)
#define FLOOR(x) floor(x)
#define CEIL(x) ceil(x)
#define ROUND(x) rint(x)
#define SIN(x) sin(x)
#define COS(x) cos(x)
#define POW(x, y) pow(x, y)
#include "workers/compute/kernels/nd_int.h"

#define QR 4
#define QN 16
#include "workers/compute/kernels/dot_plain_int.h"
#include "workers/compute/kernels/q8_int.h"

#define DECODE_MR 8
#include "workers/compute/kernels/decode.h"
#include "workers/compute/kernels/decode_plain_int.h"
#include "workers/compute/kernels/decode_int.h"

static bool probe(const struct hw *hw)
{
    (void)hw;
    return true;
}

/* One after the other: as a graph says it where they are not one. */
static void matmul_gelu(struct backend_ctx *c, const struct op_call *o)
{
    const struct tensor *x = o->out[1] ? o->out[1] : o->out[0];
    const struct op_call product = { o->attr, { o->in[0], o->in[1], o->in[2] }, { x } };
    const struct op_call cells = { .in = { x }, .out = { o->out[0] } };
    (*backend_ref.kernels)[OP_MATMUL][x->type](c, &product);
    (*backend_ref.kernels)[OP_GELU][x->type](c, &cells);
}

static void matmul_gelu_bwd(struct backend_ctx *c, const struct op_call *o)
{
    const struct tensor *d = o->out[0];
    const struct op_call product = { o->attr, { o->in[0], o->in[1] }, { d } };
    const struct op_call cells = { .in = { o->in[2], d }, .out = { d } };
    (*backend_ref.kernels)[OP_MATMUL][d->type](c, &product);
    (*backend_ref.kernels)[OP_GELU_BWD][d->type](c, &cells);
}

static void matmul_sum(struct backend_ctx *c, const struct op_call *o)
{
    const struct op_call product = { o->attr, { o->in[0], o->in[1] }, { o->out[0] } };
    const struct op_call sum = { { .flags = o->attr.flags & OP_ACCUMULATE }, { o->in[0] }, { o->out[1] } };
    (*backend_ref.kernels)[OP_MATMUL][o->in[0]->type](c, &product);
    (*backend_ref.kernels)[OP_COLSUM][o->in[0]->type](c, &sum);
}
#define KERNELS_JOINED(type)                                                                                            \
    [OP_MATMUL_GELU][type] = matmul_gelu, [OP_MATMUL_GELU_BWD][type] = matmul_gelu_bwd, [OP_MATMUL_SUM][type] = matmul_sum

#include "workers/compute/kernels/fused_int.h"

#define F32(name) f32_##name
#define F64(name) f64_##name
#define K(name) k_##name
static kernel_table kernels = { KERNELS_OF(ELEM_F32), KERNELS_OF(ELEM_F64), KERNELS_OF_NET(ELEM_F32, F32),
                                KERNELS_OF_NET(ELEM_F64, F64), KERNELS_PRODUCTS(ELEM_F32, K, F32),
                                KERNELS_PRODUCTS(ELEM_F64, K, F64),
                                KERNELS_OF_FUSED(ELEM_F32), KERNELS_OF_FUSED(ELEM_F64),
                                KERNELS_ND(ELEM_F32, f32_), KERNELS_ND(ELEM_F64, f64_),
                                KERNELS_JOINED(ELEM_F32), KERNELS_JOINED(ELEM_F64),
                                KERNELS_ALWAYS, KERNELS_Q8 };

const struct backend backend_ref = {
    .name = "ref", .rank = 0, .kernels = &kernels, .probe = probe, .pack_bytes = pack_bytes, .pack_q8_bytes = q8_pack_bytes,
    CPU_BACKEND,
};
