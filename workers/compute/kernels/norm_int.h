/* SPDX-License-Identifier: Apache-2.0 */
/* norm_int.h - GELU and layer normalisation of the vector variants; included once per variant after ops_int.h and loss_int.h.
 *
 * The backward forms compute mean and deviation of a row again: reading the row once more costs less than keeping them. */

/* tanh by exp: 1 - 2/(e^2u + 1); the error of e^2u is taken times at most 1/2, so it stays below 2e-7 absolute. */
static inline float tanh_fast(float u)
{
    return 1.0f - 2.0f / (exp_fast(2.0f * u) + 1.0f);
}

static void gelu_cells(const void *arg, const struct cells *at)
{
    const struct cell_args *a = arg;
    for (size_t i = at->r0; i < at->r1; i++) {
        const float *x = row_of(a->a, i);
        float *y = row_of(a->out, i);
        for (size_t j = at->c0; j < at->c1; j++) {
            float v = x[j], u = 0.7978845608f * (v + 0.044715f * v * v * v);
            y[j] = 0.5f * v * (1.0f + tanh_fast(u));
        }
    }
}

static void gelu(struct backend_ctx *c, const struct mat *x, const struct mat *y)
{
    cells(c, x, false, 16, gelu_cells, &(struct cell_args){ .a = x, .out = y });
}

static void gelu_bwd_cells(const void *arg, const struct cells *at)
{
    const struct cell_args *a = arg;
    for (size_t i = at->r0; i < at->r1; i++) {
        const float *x = row_of(a->a, i), *dy = row_of(a->b, i);
        float *dx = row_of(a->out, i);
        for (size_t j = at->c0; j < at->c1; j++) {
            float v = x[j], t = tanh_fast(0.7978845608f * (v + 0.044715f * v * v * v));
            float slope = 0.7978845608f * (1.0f + 3 * 0.044715f * v * v);
            dx[j] = dy[j] * (0.5f * (1.0f + t) + 0.5f * v * (1.0f - t * t) * slope);
        }
    }
}

static void gelu_bwd(struct backend_ctx *c, const struct mat *x, const struct mat *dy, const struct mat *dx)
{
    cells(c, x, false, 20, gelu_bwd_cells, &(struct cell_args){ .a = x, .b = dy, .out = dx });
}

struct moments {
    float mean, inverse;        /* 1/√(var + eps) */
};

/* is_rms: mean 0, so the deviation is that from zero. */
static struct moments moments_of(const float *x, size_t n, double eps, bool is_rms)
{
    float sum[LANES] = { 0 }, square[LANES] = { 0 };
    size_t j = 0;
    for (; j + LANES <= n; j += LANES)
        for (size_t l = 0; l < LANES; l++)
            sum[l] += x[j + l];
    for (size_t l = 0; j < n; j++, l++)
        sum[l] += x[j];
    float mean = is_rms ? 0 : fold_lanes(sum) / (float)n;
    for (j = 0; j + LANES <= n; j += LANES)
        for (size_t l = 0; l < LANES; l++)
            square[l] += (x[j + l] - mean) * (x[j + l] - mean);
    for (size_t l = 0; j < n; j++, l++)
        square[l] += (x[j] - mean) * (x[j] - mean);
    return (struct moments){ mean, 1.0f / sqrtf(fold_lanes(square) / (float)n + (float)eps) };
}

struct norm_job {
    const struct mat *x, *dy, *out;
    const float *scale, *shift;
    double eps;
    struct moments *moments;    /* by row */
    float *sum;
    bool accumulate, is_rms;
};

static void layernorm_cells(const void *arg, const struct cells *at)
{
    const struct norm_job *w = arg;
    for (size_t i = at->r0; i < at->r1; i++) {
        const float *x = row_of(w->x, i);
        float *y = row_of(w->out, i);
        struct moments m = moments_of(x, w->x->cols, w->eps, w->is_rms);
        for (size_t j = 0; j < w->x->cols; j++)
            y[j] = (x[j] - m.mean) * m.inverse * w->scale[j] + (w->shift ? w->shift[j] : 0);
    }
}

/* shift NULL: RMSNORM. */
static void layernorm(struct backend_ctx *c, const struct mat *x, const struct mat *scale, const struct mat *shift, double eps,
                      const struct mat *y)
{
    const struct norm_job w = { .x = x, .out = y, .scale = scale->ptr, .shift = shift ? shift->ptr : NULL, .eps = eps,
                                .is_rms = !shift };
    cpu_cells(c, x->rows, x->cols, true, 6, layernorm_cells, &w);
}

/* With z = (x - mean)·inverse and g = dy·scale: dx = inverse·(g - mean(g) - z·mean(g·z)). */
static void layernorm_bwd_cells(const void *arg, const struct cells *at)
{
    const struct norm_job *w = arg;
    size_t n = w->x->cols;
    for (size_t i = at->r0; i < at->r1; i++) {
        const float *x = row_of(w->x, i), *dy = row_of(w->dy, i);
        float *dx = row_of(w->out, i), sum[LANES] = { 0 }, dot[LANES] = { 0 };
        struct moments m = moments_of(x, n, w->eps, w->is_rms);
        for (size_t j = 0; j < n; j++) {
            float g = dy[j] * w->scale[j];
            sum[j % LANES] += g;
            dot[j % LANES] += g * (x[j] - m.mean) * m.inverse;
        }
        float mean_g = w->is_rms ? 0 : fold_lanes(sum) / (float)n, mean_gz = fold_lanes(dot) / (float)n;
        for (size_t j = 0; j < n; j++)
            dx[j] = m.inverse * (dy[j] * w->scale[j] - mean_g - (x[j] - m.mean) * m.inverse * mean_gz);
    }
}

static void layernorm_bwd(struct backend_ctx *c, const struct mat *x, const struct mat *scale, const struct mat *dy, double eps,
                          bool is_rms, const struct mat *dx)
{
    const struct norm_job w = { .x = x, .dy = dy, .out = dx, .scale = scale->ptr, .eps = eps, .is_rms = is_rms };
    cpu_cells(c, x->rows, x->cols, true, 10, layernorm_bwd_cells, &w);
}

static void moments_cells(const void *arg, const struct cells *at)
{
    const struct norm_job *w = arg;
    for (size_t i = at->r0; i < at->r1; i++)
        w->moments[i] = moments_of(row_of(w->x, i), w->x->cols, w->eps, w->is_rms);
}

static void norm_scale_task(void *arg, size_t task)
{
    const struct norm_job *w = arg;
    size_t from = task * COLSUM_COLS, left = w->x->cols - from, n = left < COLSUM_COLS ? left : COLSUM_COLS;
    float *sum = w->sum + from;
    if (!w->accumulate)
        memset(sum, 0, n * sizeof *sum);
    for (size_t i = 0; i < w->x->rows; i++) {
        const float *x = row_of(w->x, i) + from, *dy = row_of(w->dy, i) + from;
        struct moments m = w->moments[i];
        for (size_t j = 0; j < n; j++)
            sum[j] += dy[j] * (x[j] - m.mean) * m.inverse;
    }
}

static void norm_scale_bwd(struct backend_ctx *c, const struct mat *x, const struct mat *dy, double eps, const struct mat *out,
                           unsigned flags)
{
    struct norm_job w = { .x = x, .dy = dy, .eps = eps, .sum = row_of(out, 0), .accumulate = flags & OP_ACCUMULATE,
                          .is_rms = flags & NORM_RMS };
    w.moments = cpu_scratch(c, x->rows * sizeof *w.moments);
    cpu_cells(c, x->rows, x->cols, true, 4, moments_cells, &w);
    cpu_split(c, (x->cols + COLSUM_COLS - 1) / COLSUM_COLS, (double)x->rows * (double)x->cols * 3, norm_scale_task, &w);
}
