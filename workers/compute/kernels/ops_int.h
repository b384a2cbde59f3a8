/* SPDX-License-Identifier: Apache-2.0 */
/* ops_int.h - the element-wise and row operations of the vector variants, in plain C that the compiler turns into vectors.
 *
 * Included once per variant and compiled with that variant's flags. Sums run in sixteen lanes, whatever the register width, so that
 * avx2 and avx512 add in the same order. exp is 2^n · p(r), n = round(x / ln 2), r = x - n·ln 2 in two parts (Cody & Waite 1980),
 * p the Taylor polynomial of degree 7: relative error below 2e-7 for -87 … 88, 0 below. */
#include "core/base/assert.h"
#include "workers/compute/kernels/cpu_int.h"

#include <math.h>
#include <string.h>

enum { LANES = 16 };

static inline float exp_fast(float x)
{
    const float round_to_int = 12582912.0f;             /* 1.5 · 2^23: adding it leaves an integer in the low bits */
    float at = x > -87.0f ? (x < 88.0f ? x : 88.0f) : -87.0f;      /* a NaN becomes -87 here and comes back at the end */
    float n = (at * 1.44269504088896f + round_to_int) - round_to_int;
    float r = at - n * 0.693359375f;
    r = r - n * -2.12194440e-4f;
    float p = 1.0f / 5040;
    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    int32_t bits = ((int32_t)n + 127) * (1 << 23);
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    return x >= -87.0f ? p * scale : x < -87.0f ? 0.0f : x;
}

static inline float *row_of(const struct mat *m, size_t i)
{
    return (float *)m->ptr + i * m->stride;
}

static inline float fold_lanes(const float lane[LANES])
{
    float half[LANES / 2];
    for (int l = 0; l < 8; l++)
        half[l] = lane[l] + lane[l + 8];
    return ((half[0] + half[4]) + (half[1] + half[5])) + ((half[2] + half[6]) + (half[3] + half[7]));
}

static void relu_bwd(struct backend_ctx *c, const struct mat *y, const struct mat *dy)
{
    (void)c;
    for (size_t i = 0; i < y->rows; i++) {
        const float *restrict yi = row_of(y, i);
        float *restrict di = row_of(dy, i);
        for (size_t j = 0; j < y->cols; j++)
            di[j] = yi[j] > 0 ? di[j] : 0;
    }
}

/* The largest of a row, in lanes: without them the compiler must keep the order of a scalar loop. */
static float max_row(const float *x, size_t n)
{
    float lane[LANES], top = x[0];
    size_t j = 0;
    for (size_t l = 0; l < LANES; l++)
        lane[l] = x[0];
    for (; j + LANES <= n; j += LANES)
        for (size_t l = 0; l < LANES; l++)
            lane[l] = x[j + l] > lane[l] ? x[j + l] : lane[l];
    for (size_t l = 0; l < LANES; l++)
        top = lane[l] > top ? lane[l] : top;
    for (; j < n; j++)
        top = x[j] > top ? x[j] : top;
    return top;
}

/* y = exp(x - max); y may be x. Returns the sum; *ret_top the maximum. */
static float exp_row(const float *x, float *y, size_t n, float *ret_top)
{
    float top = max_row(x, n), lane[LANES] = { 0 };
    for (size_t j = 0; j < n; j++)
        y[j] = exp_fast(x[j] - top);
    size_t j = 0;
    for (; j + LANES <= n; j += LANES)
        for (size_t l = 0; l < LANES; l++)
            lane[l] += y[j + l];
    for (size_t l = 0; j < n; j++, l++)
        lane[l] += y[j];
    *ret_top = top;
    return fold_lanes(lane);
}

static void softmax(struct backend_ctx *c, const struct mat *x, const struct mat *y)
{
    (void)c;
    for (size_t i = 0; i < x->rows; i++) {
        float top, *yi = row_of(y, i);
        float inverse = 1.0f / exp_row(row_of(x, i), yi, x->cols, &top);
        for (size_t j = 0; j < x->cols; j++)
            yi[j] *= inverse;
    }
}

static void softmax_xent(struct backend_ctx *c, const struct mat *logits, const struct mat *labels, const struct mat *dlogits,
                         double scale, double *loss_sum)
{
    ASSERT(labels->type == MAT_I32 && labels->stride == 1 && logits->type == MAT_F32);
    float *row = cpu_scratch(c, logits->cols * sizeof *row);
    const int32_t *label = labels->ptr;
    double loss = 0;
    for (size_t i = 0; i < logits->rows; i++) {
        float top;
        double picked = (double)row_of(logits, i)[label[i]];
        float sum = exp_row(row_of(logits, i), row, logits->cols, &top);
        loss += (double)top + log((double)sum) - picked;
        if (!dlogits)
            continue;
        float *di = row_of(dlogits, i), factor = (float)(scale / (double)sum);
        for (size_t j = 0; j < logits->cols; j++)
            di[j] = row[j] * factor;
        di[label[i]] -= (float)scale;
    }
    *loss_sum = loss;
}

static void mse(struct backend_ctx *c, const struct mat *y, const struct mat *t, const struct mat *dy, double scale, double *loss_sum)
{
    (void)c;
    double loss = 0;
    float factor = (float)(2 * scale);
    for (size_t i = 0; i < y->rows; i++) {
        const float *yi = row_of(y, i), *ti = row_of(t, i);
        for (size_t j = 0; j < y->cols; j++) {
            float d = yi[j] - ti[j];
            loss += (double)d * (double)d;
            if (dy)
                row_of(dy, i)[j] = d * factor;
        }
    }
    *loss_sum = loss;
}

static void colsum(struct backend_ctx *c, const struct mat *x, const struct mat *out, bool accumulate)
{
    (void)c;
    float *restrict sum = row_of(out, 0);
    if (!accumulate)
        memset(sum, 0, x->cols * sizeof *sum);
    for (size_t i = 0; i < x->rows; i++) {
        const float *restrict xi = row_of(x, i);
        for (size_t j = 0; j < x->cols; j++)
            sum[j] += xi[j];
    }
}

static void argmax(struct backend_ctx *c, const struct mat *x, const struct mat *out)
{
    (void)c;
    for (size_t i = 0; i < x->rows; i++) {
        const float *xi = row_of(x, i);
        float top = max_row(xi, x->cols);
        size_t best = 0;
        while (best + 1 < x->cols && xi[best] != top)
            best++;
        ((int32_t *)out->ptr)[i * out->stride] = (int32_t)best;
    }
}

static void sumsq(struct backend_ctx *c, const struct mat *x, double *ret)
{
    (void)c;
    double lane[LANES] = { 0 }, sum = 0;
    for (size_t i = 0; i < x->rows; i++) {
        const float *xi = row_of(x, i);
        size_t j = 0;
        for (; j + LANES <= x->cols; j += LANES)
            for (size_t l = 0; l < LANES; l++)
                lane[l] += (double)xi[j + l] * (double)xi[j + l];
        for (size_t l = 0; j < x->cols; j++, l++)
            lane[l] += (double)xi[j] * (double)xi[j];
    }
    for (size_t l = 0; l < LANES; l++)
        sum += lane[l];
    *ret = sum;
}

static void adamw(struct backend_ctx *c, const struct adamw_step *s, const struct mat *w, const struct mat *g, const struct mat *m,
                  const struct mat *v)
{
    (void)c;
    const float b1 = (float)s->beta1, b2 = (float)s->beta2, c1 = 1 - b1, c2 = 1 - b2, eps = (float)s->eps;
    const float keep = (float)(1 - s->lr * s->weight_decay), rate = (float)(s->lr / s->correction1);
    const float inv2 = (float)(1 / s->correction2);
    for (size_t i = 0; i < w->rows; i++) {
        float *restrict wi = row_of(w, i), *restrict mi = row_of(m, i), *restrict vi = row_of(v, i);
        const float *restrict gi = row_of(g, i);
        for (size_t j = 0; j < w->cols; j++) {
            float mj = b1 * mi[j] + c1 * gi[j];
            float vj = b2 * vi[j] + c2 * gi[j] * gi[j];
            mi[j] = mj;
            vi[j] = vj;
            wi[j] = keep * wi[j] - rate * mj / (sqrtf(vj * inv2) + eps);
        }
    }
}

static void sgd(struct backend_ctx *c, const struct sgd_step *s, const struct mat *w, const struct mat *g, const struct mat *velocity)
{
    (void)c;
    const float lr = (float)s->lr, momentum = (float)s->momentum, decay = (float)s->weight_decay;
    for (size_t i = 0; i < w->rows; i++) {
        float *restrict wi = row_of(w, i), *restrict vi = row_of(velocity, i);
        const float *restrict gi = row_of(g, i);
        for (size_t j = 0; j < w->cols; j++) {
            float vj = momentum * vi[j] + gi[j] + decay * wi[j];
            vi[j] = vj;
            wi[j] -= lr * vj;
        }
    }
}
