/* SPDX-License-Identifier: Apache-2.0 */
/* selftest.c - a variant against the fp64 reference before it is trusted: every operation, awkward shapes, under a millisecond.
 *
 * Inputs are pseudo-random (never zeros), outputs are poisoned with NaN first, the measure is |got - want| / |want| by the 2-norm.
 * It catches a wrong instruction, a miscompiled loop, a machine that lies about a feature; the full table is a unit test. */
#include "workers/compute/kernels/call.h"
#include "workers/compute/kernels/selftest_int.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX = 40 * 80 };

struct bench {
    const struct backend *be;
    struct backend_ctx *ctx, *ref;
    uint64_t random;
    float f[5][MAX];
    double d[5][MAX];
    double tolerance;
    struct selftest_faults *faults;     /* NULL: the first one ends it */
};

static double next_random(struct bench *t)
{
    t->random = t->random * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(t->random >> 11) / (double)(1ll << 52) - 1;
}

static void fill(struct bench *t, int slot, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        t->f[slot][i] = (float)next_random(t);
        t->d[slot][i] = (double)t->f[slot][i];
    }
}

static void poison(struct bench *t, int slot, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        t->f[slot][i] = NAN;
        t->d[slot][i] = (double)NAN;
    }
}

static enum errc compare(const struct bench *t, int slot, size_t n, const char *op, struct err *e)
{
    double diff = 0, norm = 0;
    for (size_t i = 0; i < n; i++) {
        double d = (double)t->f[slot][i] - t->d[slot][i];
        diff += d * d;
        norm += t->d[slot][i] * t->d[slot][i];
    }
    if (sqrt(diff) <= t->tolerance * sqrt(norm) + 1e-30)        /* NaN fails, too */
        return ERR_OK;
    FAIL(e, INTERNAL, "backend %s: %s differs from the reference by %.3g of its norm", t->be->name, op, sqrt(diff / norm));
    return selftest_fault(t->faults, e);
}

static struct mat f32(struct bench *t, int slot, size_t rows, size_t cols)
{
    return mat_host(t->f[slot], ELEM_F32, rows, cols);
}

static struct mat f64(struct bench *t, int slot, size_t rows, size_t cols)
{
    return mat_host(t->d[slot], ELEM_F64, rows, cols);
}

static enum errc test_matmul(struct bench *t, size_t m, size_t n, size_t k, unsigned flags, struct err *e)
{
    bool ta = flags & MM_TRANS_A, tb = flags & MM_TRANS_B;
    fill(t, 0, m * k);
    fill(t, 1, n * k);
    fill(t, 2, n);
    if (flags & OP_ACCUMULATE)
        fill(t, 3, m * n);
    else
        poison(t, 3, m * n);
    struct mat a = f32(t, 0, ta ? k : m, ta ? m : k), b = f32(t, 1, tb ? n : k, tb ? k : n), bias = f32(t, 2, 1, n);
    struct mat a64 = f64(t, 0, ta ? k : m, ta ? m : k), b64 = f64(t, 1, tb ? n : k, tb ? k : n), bias64 = f64(t, 2, 1, n);
    struct mat out = f32(t, 3, m, n), out64 = f64(t, 3, m, n);
    call_matmul(t->be, t->ctx, flags, &a, &b, &bias, &out);
    call_matmul(&backend_ref, t->ref, flags, &a64, &b64, &bias64, &out64);
    char name[64];
    snprintf(name, sizeof name, "matmul %zux%zux%zu flags %u", m, n, k, flags);
    TRY(compare(t, 3, m * n, name, e));
    if (!tb || ta || (flags & (OP_ACCUMULATE | OP_BF16)) || !backend_can(t->be, OP_PACK, ELEM_F32))
        return ERR_OK;
    struct buffer *w = call_pack(t->be, t->ctx, &b);
    if (!w)
        return FAIL(e, LIMIT, "no memory for the self-test");
    poison(t, 3, m * n);
    call_matmul(&backend_ref, t->ref, flags, &a64, &b64, &bias64, &out64);
    call_matmul_packed(t->be, t->ctx, flags, &a, w, n, k, &bias, &out);
    t->be->free(t->ctx, w);
    return compare(t, 3, m * n, "matmul_packed", e);
}

static enum errc test_losses(struct bench *t, size_t rows, size_t cols, struct err *e)
{
    int32_t label[40], got[40], want[40];
    double loss, loss64;
    fill(t, 0, rows * cols);
    fill(t, 1, rows * cols);
    for (size_t i = 0; i < rows; i++)
        label[i] = (int32_t)((i * 7 + 3) % cols);
    struct mat x = f32(t, 0, rows, cols), x64 = f64(t, 0, rows, cols), y = f32(t, 2, rows, cols), y64 = f64(t, 2, rows, cols);
    struct mat o = f32(t, 1, rows, cols), o64 = f64(t, 1, rows, cols), lab = mat_host(label, ELEM_I32, rows, 1);
    poison(t, 2, rows * cols);
    loss = call_loss(t->be, t->ctx, OP_SOFTMAX_XENT, &x, &lab, &y);
    loss64 = call_loss(&backend_ref, t->ref, OP_SOFTMAX_XENT, &x64, &lab, &y64);
    TRY(compare(t, 2, rows * cols, "softmax_xent", e));
    if (!(fabs(loss - loss64) <= 1e-5 * fabs(loss64) + 1e-6 * (double)rows)) {
        FAIL(e, INTERNAL, "backend %s: softmax_xent gives the loss %g, the reference %g", t->be->name, loss, loss64);
        TRY(selftest_fault(t->faults, e));
    }
    static const enum op against[] = { OP_MSE, OP_SIGMOID_XENT };
    for (size_t i = 0; i < 2; i++) {
        loss = call_loss(t->be, t->ctx, against[i], &x, &o, &y);
        loss64 = call_loss(&backend_ref, t->ref, against[i], &x64, &o64, &y64);
        TRY(compare(t, 2, rows * cols, op_name(against[i]), e));
        if (!(fabs(loss - loss64) <= 1e-5 * fabs(loss64))) {
            FAIL(e, INTERNAL, "backend %s: %s gives the loss %g, the reference %g", t->be->name, op_name(against[i]), loss,
                 loss64);
            TRY(selftest_fault(t->faults, e));
        }
    }
    struct mat am = mat_host(got, ELEM_I32, rows, 1), am64 = mat_host(want, ELEM_I32, rows, 1);
    call_unary(t->be, t->ctx, OP_ARGMAX, &x, &am);
    call_unary(&backend_ref, t->ref, OP_ARGMAX, &x64, &am64);
    if (memcmp(got, want, rows * sizeof *got)) {
        FAIL(e, INTERNAL, "backend %s: argmax differs from the reference", t->be->name);
        TRY(selftest_fault(t->faults, e));
    }
    double s = call_sumsq(t->be, t->ctx, &x), s64 = call_sumsq(&backend_ref, t->ref, &x64);
    if (fabs(s - s64) <= 1e-9 * s64)
        return ERR_OK;
    FAIL(e, INTERNAL, "backend %s: sumsq differs from the reference", t->be->name);
    return selftest_fault(t->faults, e);
}

/* Operations that make a matrix of one or two of the same shape, and those with vectors for the columns. */
static enum errc test_cells(struct bench *t, size_t rows, size_t cols, struct err *e)
{
    static const struct { enum op op; int ins; unsigned vectors; } all[] = {    /* vectors: bits of inputs */
        { OP_RELU, 1, 0 },      { OP_ADD, 2, 0 },         { OP_RELU_BWD, 2, 0 }, { OP_SOFTMAX, 1, 0 },   { OP_SOFTMAX_BWD, 2, 0 },
        { OP_ADD_BIAS, 2, 2 },  { OP_STANDARDISE, 3, 6 }, { OP_GELU, 1, 0 },     { OP_GELU_BWD, 2, 0 },  { OP_COPY, 1, 0 },
        { OP_LAYERNORM, 3, 6 }, { OP_LAYERNORM_BWD, 3, 2 }, { OP_NORM_SCALE_BWD, 2, 0 },
    };
    const struct op_attr attr = { .eps = 1e-5 };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!selftest_case(t->faults))
            continue;
        struct mat in[3], in64[3];
        const struct mat *ins[3], *ins64[3];
        for (int k = 0; k < all[i].ins; k++) {
            bool is_vector = all[i].vectors >> k & 1;
            fill(t, k, rows * cols);
            for (size_t j = 0; k == 2 && j < rows * cols; j++)  /* a scale: away from zero */
                t->d[k][j] = (double)(t->f[k][j] = fabsf(t->f[k][j]) + 0.5f);
            in[k] = f32(t, k, is_vector ? 1 : rows, cols);
            in64[k] = f64(t, k, is_vector ? 1 : rows, cols);
            ins[k] = &in[k];
            ins64[k] = &in64[k];
        }
        size_t out_rows = all[i].op == OP_NORM_SCALE_BWD ? 1 : rows;
        struct mat y = f32(t, 4, out_rows, cols), y64 = f64(t, 4, out_rows, cols);
        poison(t, 4, rows * cols);
        call_op(t->be, t->ctx, all[i].op, &attr, ins, (size_t)all[i].ins, CALL_INS(&y));
        call_op(&backend_ref, t->ref, all[i].op, &attr, ins64, (size_t)all[i].ins, CALL_INS(&y64));
        TRY(compare(t, 4, out_rows * cols, op_name(all[i].op), e));
    }
    return ERR_OK;
}

static enum errc test_updates(struct bench *t, size_t rows, size_t cols, struct err *e)
{
    size_t n = rows * cols;
    const struct step_scalars at = { .lr = 1e-2, .correction1 = 0.19, .correction2 = 0.002, .grad_scale = 0.7, .loss_scale = 1 };
    const struct call_step adam = { { .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .weight_decay = 0.1 }, at };
    const struct call_step sgd = { { .momentum = 0.9, .weight_decay = 0.01 }, at };
    struct mat m[4], m64[4];
    for (int s = 0; s < 4; s++) {
        fill(t, s, n);
        m[s] = f32(t, s, rows, cols);
        m64[s] = f64(t, s, rows, cols);
    }
    for (size_t i = 0; i < n; i++)
        t->d[3][i] = (double)(t->f[3][i] = fabsf(t->f[3][i]) + 0.01f);
    call_adamw(t->be, t->ctx, &adam, &m[0], &m[1], &m[2], &m[3]);
    call_adamw(&backend_ref, t->ref, &adam, &m64[0], &m64[1], &m64[2], &m64[3]);
    for (int s = 0; s < 4; s++)
        TRY(compare(t, s, n, "adamw", e));
    call_sgd(t->be, t->ctx, &sgd, &m[0], &m[1], &m[2]);
    call_sgd(&backend_ref, t->ref, &sgd, &m64[0], &m64[1], &m64[2]);
    TRY(compare(t, 0, n, "sgd", e));
    poison(t, 4, cols);
    struct mat sum = f32(t, 4, 1, cols), sum64 = f64(t, 4, 1, cols);
    call_unary(t->be, t->ctx, OP_COLSUM, &m[0], &sum);
    call_unary(&backend_ref, t->ref, OP_COLSUM, &m64[0], &sum64);
    return compare(t, 4, cols, "colsum", e);
}

static enum errc run_all(struct bench *t, struct err *e)
{
    static const struct { size_t m, n, k; } shape[] = { { 1, 1, 1 }, { 1, 33, 7 }, { 7, 17, 40 }, { 8, 32, 16 }, { 13, 70, 33 } };
    static const unsigned flags[] = {
        0, MM_TRANS_B | MM_BIAS | MM_RELU, MM_TRANS_A | OP_ACCUMULATE, MM_TRANS_B, OP_BF16,
        OP_BF16 | MM_TRANS_B | MM_BIAS | MM_RELU, OP_BF16 | MM_TRANS_A | OP_ACCUMULATE,
    };
    for (size_t s = 0; s < sizeof shape / sizeof *shape; s++)
        for (size_t f = 0; f < sizeof flags / sizeof *flags; f++)
            if ((!(flags[f] & OP_BF16) || (t->be->properties & BE_BF16)) && selftest_case(t->faults))
                TRY(test_matmul(t, shape[s].m, shape[s].n, shape[s].k, flags[f], e));
    if (selftest_case(t->faults))
        TRY(test_losses(t, 5, 10, e));
    if (selftest_case(t->faults))
        TRY(test_losses(t, 3, 37, e));
    TRY(test_cells(t, 5, 10, e));
    TRY(test_cells(t, 3, 37, e));
    if (selftest_case(t->faults))
        TRY(test_updates(t, 3, 37, e));
    if (selftest_case(t->faults))
        TRY(test_updates(t, 1, 1, e));
    TRY(net_selftest(t->be, t->ctx, t->ref, t->faults, e));
    TRY(flash_selftest(t->be, t->ctx, t->ref, t->faults, e));
    TRY(narrow_selftest(t->be, t->ctx, t->ref, t->faults, e));
    return q8_selftest(t->be, t->ctx, t->ref, t->faults, e);
}

enum errc backend_selftest(const struct backend *be, struct err *e)
{
    return backend_selftest_all(be, NULL, e);
}

enum errc backend_selftest_all(const struct backend *be, struct selftest_faults *f, struct err *e)
{
    static const size_t bytes = sizeof(struct bench);
    struct backend_ctx *ref = NULL, *ctx = NULL;
    TRY(backend_ref.open(&backend_ref, NULL, &ref, e));
    enum errc rc = be->open(be, NULL, &ctx, e);
    struct buffer *b = rc == ERR_OK ? backend_ref.alloc(ref, bytes) : NULL;
    if (rc == ERR_OK && !b)
        rc = FAIL(e, LIMIT, "no memory for the self-test of backend %s", be->name);
    if (b) {
        struct bench *t = b->ptr;
        t->be = be;
        t->ctx = ctx;
        t->ref = ref;
        t->random = 42;
        t->tolerance = 1e-5;
        t->faults = f;
        rc = run_all(t, e);
    }
    backend_ref.free(ref, b);
    if (ctx)
        be->close(ctx);
    backend_ref.close(ref);
    return rc;
}
