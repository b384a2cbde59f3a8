/* SPDX-License-Identifier: Apache-2.0 */
/* ops_int.h - the element-wise and row operations of the vector variants, in plain C that the compiler turns into vectors.
 *
 * Included once per variant and compiled with that variant's flags. Each operation is a function over some rows and columns
 * (struct cells, cut by shape alone). Sums run in sixteen lanes, whatever the register width, so that avx2 and avx512 add in
 * the same order. exp is 2^n · p(r), n = round(x / ln 2), r = x - n·ln 2 in two parts (Cody & Waite 1980), p the Taylor
 * polynomial of degree 7: relative error below 2e-7 for -87 … 88, 0 below. */
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

struct cell_args {
    const struct mat *a, *b, *c, *out;
    void *extra;
};

static inline void cells(struct backend_ctx *c, const struct mat *of, bool whole_rows, double cost,
                         void (*fn)(const void *, const struct cells *), const struct cell_args *a)
{
    cpu_cells(c, of->rows, of->cols, whole_rows, cost, fn, a);
}

static void relu_cells(const void *arg, const struct cells *at)
{
    const struct cell_args *a = arg;
    for (size_t i = at->r0; i < at->r1; i++) {
        const float *x = row_of(a->a, i);
        float *y = row_of(a->out, i);
        for (size_t j = at->c0; j < at->c1; j++)
            y[j] = x[j] > 0 ? x[j] : 0;
    }
}

static void relu(struct backend_ctx *c, const struct mat *x, const struct mat *y)
{
    cells(c, x, false, 1, relu_cells, &(struct cell_args){ .a = x, .out = y });
}

static void relu_bwd_cells(const void *arg, const struct cells *at)
{
    const struct cell_args *a = arg;
    for (size_t i = at->r0; i < at->r1; i++) {
        const float *y = row_of(a->a, i), *dy = row_of(a->b, i);
        float *dx = row_of(a->out, i);
        for (size_t j = at->c0; j < at->c1; j++)
            dx[j] = y[j] > 0 ? dy[j] : 0;
    }
}

static void relu_bwd(struct backend_ctx *c, const struct mat *y, const struct mat *dy, const struct mat *dx)
{
    cells(c, y, false, 1, relu_bwd_cells, &(struct cell_args){ .a = y, .b = dy, .out = dx });
}

static void add_cells(const void *arg, const struct cells *at)
{
    const struct cell_args *a = arg;
    for (size_t i = at->r0; i < at->r1; i++) {
        const float *x = row_of(a->a, i), *y = row_of(a->b, i);
        float *z = row_of(a->out, i);
        for (size_t j = at->c0; j < at->c1; j++)
            z[j] = x[j] + y[j];
    }
}

static void add(struct backend_ctx *c, const struct mat *x, const struct mat *y, const struct mat *z)
{
    cells(c, x, false, 1, add_cells, &(struct cell_args){ .a = x, .b = y, .out = z });
}

static void add_bias_cells(const void *arg, const struct cells *at)
{
    const struct cell_args *a = arg;
    const float *bias = a->b->ptr;
    for (size_t i = at->r0; i < at->r1; i++) {
        const float *x = row_of(a->a, i);
        float *y = row_of(a->out, i);
        for (size_t j = at->c0; j < at->c1; j++)
            y[j] = x[j] + bias[j];
    }
}

static void add_bias(struct backend_ctx *c, const struct mat *x, const struct mat *bias, const struct mat *y)
{
    cells(c, x, false, 1, add_bias_cells, &(struct cell_args){ .a = x, .b = bias, .out = y });
}

static void standardise_cells(const void *arg, const struct cells *at)
{
    const struct cell_args *a = arg;
    const float *mean = a->b->ptr, *scale = a->c->ptr;
    for (size_t i = at->r0; i < at->r1; i++) {
        const float *x = row_of(a->a, i);
        float *y = row_of(a->out, i);
        for (size_t j = at->c0; j < at->c1; j++)
            y[j] = (x[j] - mean[j]) / scale[j];
    }
}

static void standardise(struct backend_ctx *c, const struct mat *x, const struct mat *mean, const struct mat *scale, const struct mat *y)
{
    cells(c, x, false, 2, standardise_cells, &(struct cell_args){ .a = x, .b = mean, .c = scale, .out = y });
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

/* y = exp(x - max), which may be x, or NULL where only the sum is wanted. Returns the sum; *ret_top the maximum. */
static float exp_row(const float *x, float *y, size_t n, float *ret_top)
{
    enum { PIECE = 16 * LANES };
    float top = max_row(x, n), lane[LANES] = { 0 }, piece[PIECE];
    for (size_t from = 0; from < n; from += PIECE) {
        size_t count = n - from < PIECE ? n - from : PIECE, j = 0;
        float *out = y ? y + from : piece;
        for (size_t i = 0; i < count; i++)
            out[i] = exp_fast(x[from + i] - top);
        for (; j + LANES <= count; j += LANES)
            for (size_t l = 0; l < LANES; l++)
                lane[l] += out[j + l];
        for (size_t l = 0; j < count; j++, l++)
            lane[l] += out[j];
    }
    *ret_top = top;
    return fold_lanes(lane);
}

static void softmax_cells(const void *arg, const struct cells *at)
{
    const struct cell_args *a = arg;
    for (size_t i = at->r0; i < at->r1; i++) {
        float top, *y = row_of(a->out, i);
        float inverse = 1.0f / exp_row(row_of(a->a, i), y, a->a->cols, &top);
        for (size_t j = 0; j < a->a->cols; j++)
            y[j] *= inverse;
    }
}

static void softmax(struct backend_ctx *c, const struct mat *x, const struct mat *y)
{
    cells(c, x, true, 12, softmax_cells, &(struct cell_args){ .a = x, .out = y });
}

static float dot_row(const float *x, const float *y, size_t n)
{
    float lane[LANES] = { 0 };
    size_t j = 0;
    for (; j + LANES <= n; j += LANES)
        for (size_t l = 0; l < LANES; l++)
            lane[l] += x[j + l] * y[j + l];
    for (size_t l = 0; j < n; j++, l++)
        lane[l] += x[j] * y[j];
    return fold_lanes(lane);
}

static void softmax_bwd_cells(const void *arg, const struct cells *at)
{
    const struct cell_args *a = arg;
    for (size_t i = at->r0; i < at->r1; i++) {
        const float *y = row_of(a->a, i), *dy = row_of(a->b, i);
        float *dx = row_of(a->out, i), mean = dot_row(y, dy, a->a->cols);
        for (size_t j = 0; j < a->a->cols; j++)
            dx[j] = y[j] * (dy[j] - mean);
    }
}

static void softmax_bwd(struct backend_ctx *c, const struct mat *y, const struct mat *dy, const struct mat *dx)
{
    cells(c, y, true, 4, softmax_bwd_cells, &(struct cell_args){ .a = y, .b = dy, .out = dx });
}
