/* SPDX-License-Identifier: Apache-2.0 */
/* image_int.h - pooling, dropout and rotation by position for any backend in host memory and one number type: include with REAL
 * and
 * FN(name) defined. No include guard on purpose: ref.c includes it twice.
 *
 * Loops run over dense channels, which the compiler turns into vectors where the variant has them. An image, or a row, is
 * written by one
 * task in one order, so the bits are the same for any number of threads. */

#include "workers/compute/kernels/taught_int.h"

struct FN(pool_job) {
    struct window w;
    const REAL *x, *dy;
    REAL *out;
    bool is_max;
};

static void FN(pool_row)(void *arg, size_t task)
{
    const struct FN(pool_job) *j = arg;
    const struct window *w = &j->w;
    size_t c = w->x.c, n = task / w->y.h, oy = task % w->y.h, ky0, ky1, kx0, kx1;
    size_t y0 = window_span(oy, w->stride, w->pad, w->h, w->x.h, &ky0, &ky1);
    for (size_t ox = 0; ox < w->y.w; ox++) {
        size_t x0 = window_span(ox, w->stride, w->pad, w->w, w->x.w, &kx0, &kx1);
        REAL *out = j->out + ((n * w->y.h + oy) * w->y.w + ox) * c, count = (REAL)((ky1 - ky0) * (kx1 - kx0));
        for (size_t i = 0; i < c; i++)
            out[i] = j->is_max ? -(REAL)INFINITY : 0;
        for (size_t y = 0; y < ky1 - ky0; y++)
            for (size_t x = 0; x < kx1 - kx0; x++) {
                const REAL *in = j->x + ((n * w->x.h + y0 + y) * w->x.w + x0 + x) * c;
                for (size_t i = 0; i < c && j->is_max; i++)
                    out[i] = in[i] > out[i] || in[i] != in[i] ? in[i] : out[i];
                for (size_t i = 0; i < c && !j->is_max; i++)
                    out[i] += in[i] / count;
            }
    }
}

static void FN(pool)(struct backend_ctx *c, const struct op_call *o, bool is_max)
{
    struct FN(pool_job) j = { window_of(&o->attr, o->in[0], o->out[0]), o->in[0]->ptr, NULL, o->out[0]->ptr, is_max };
    cpu_split(c, j.w.y.n * j.w.y.h, (double)tensor_count(o->out[0]) * (double)(j.w.h * j.w.w), FN(pool_row), &j);
}

static void FN(maxpool)(struct backend_ctx *c, const struct op_call *o)
{
    FN(pool)(c, o, true);
}

static void FN(avgpool)(struct backend_ctx *c, const struct op_call *o)
{
    FN(pool)(c, o, false);
}

/* One image: windows overlap, so it is added up by one task. */
static void FN(pool_back)(void *arg, size_t n)
{
    const struct FN(pool_job) *j = arg;
    const struct window *w = &j->w;
    size_t c = w->x.c, ky0, ky1, kx0, kx1;
    REAL *dx = j->out + n * w->x.h * w->x.w * c;
    memset(dx, 0, w->x.h * w->x.w * c * sizeof *dx);
    for (size_t at = 0; at < w->y.h * w->y.w; at++) {
        size_t y0 = window_span(at / w->y.w, w->stride, w->pad, w->h, w->x.h, &ky0, &ky1);
        size_t x0 = window_span(at % w->y.w, w->stride, w->pad, w->w, w->x.w, &kx0, &kx1), rows = ky1 - ky0, cols = kx1 - kx0;
        const REAL *dy = j->dy + (n * w->y.h * w->y.w + at) * c;
        if (!j->is_max) {
            for (size_t k = 0; k < rows * cols; k++) {
                REAL *to = dx + ((y0 + k / cols) * w->x.w + x0 + k % cols) * c, count = (REAL)(rows * cols);
                for (size_t i = 0; i < c; i++)
                    to[i] += dy[i] / count;
            }
            continue;
        }
        const REAL *x = j->x + n * w->x.h * w->x.w * c;
        for (size_t i = 0; i < c; i++) {
            size_t best = (y0 * w->x.w + x0) * c + i;
            for (size_t k = 1; k < rows * cols; k++) {
                size_t place = ((y0 + k / cols) * w->x.w + x0 + k % cols) * c + i;
                best = x[place] > x[best] ? place : best;
            }
            dx[best] += dy[i];
        }
    }
}

static void FN(maxpool_bwd)(struct backend_ctx *c, const struct op_call *o)
{
    struct FN(pool_job) j = { window_of(&o->attr, o->in[0], o->in[1]), o->in[0]->ptr, o->in[1]->ptr, o->out[0]->ptr, true };
    cpu_split(c, j.w.x.n, (double)tensor_count(o->in[1]) * (double)(j.w.h * j.w.w), FN(pool_back), &j);
}

static void FN(avgpool_bwd)(struct backend_ctx *c, const struct op_call *o)
{
    struct FN(pool_job) j = { window_of(&o->attr, o->out[0], o->in[0]), NULL, o->in[0]->ptr, o->out[0]->ptr, false };
    cpu_split(c, j.w.x.n, (double)tensor_count(o->in[0]) * (double)(j.w.h * j.w.w), FN(pool_back), &j);
}

struct FN(dropout_job) {
    const REAL *x;
    REAL *y, keep;              /* 1/(1 - rate) */
    uint32_t below;             /* a draw below this becomes 0 */
    uint64_t seed, stream, n;
};

/* Four draws at a time from index i/4 of the stream. */
static void FN(dropout_cells)(const void *arg, const struct cells *at)
{
    const struct FN(dropout_job) *j = arg;
    for (size_t i = at->c0; i < at->c1; i += 4) {
        struct philox r = philox(j->seed, j->stream, i / 4);
        for (size_t l = 0; l < 4 && i + l < at->c1; l++)
            j->y[i + l] = r.v[l] < j->below ? 0 : j->x[i + l] * j->keep;
    }
}

static void FN(dropout)(struct backend_ctx *c, const struct op_call *o)
{
    const struct step_scalars *at = scalars(o->in[1]);
    size_t n = tensor_count(o->in[0]);
    ASSERT(n == tensor_count(o->out[0]) && o->attr.rate >= 0 && o->attr.rate < 1);
    struct FN(dropout_job) j = { o->in[0]->ptr, o->out[0]->ptr, (REAL)(1 / (1 - o->attr.rate)), (uint32_t)(o->attr.rate * 0x1p32),
                                 at->seed, (o->attr.stream + 1) << 40 ^ at->counter, n };
    if (!at->is_training && j.x != j.y)
        memcpy(j.y, j.x, n * sizeof *j.y);
    if (at->is_training)
        cpu_cells(c, 1, n, false, 12, FN(dropout_cells), &j);
}

struct FN(rotary_job) {
    const REAL *x, *table;
    REAL *y;
    size_t t, row, heads, d;
    REAL sign;
};

static void FN(rotary_token)(void *arg, size_t task)
{
    const struct FN(rotary_job) *j = arg;
    size_t half = j->d / 2;
    const REAL *x = j->x + task * j->row, *cosine = j->table + task % j->t * j->d, *sine = cosine + half;
    REAL *y = j->y + task * j->row;
    for (size_t h = 0; h < j->heads * j->d; h += j->d)
        for (size_t i = 0; i < half; i++) {
            REAL a = x[h + i], b = x[h + half + i], s = sine[i] * j->sign;
            y[h + i] = a * cosine[i] - b * s;
            y[h + half + i] = b * cosine[i] + a * s;
        }
    if (x != y)
        memcpy(y + j->heads * j->d, x + j->heads * j->d, (j->row - j->heads * j->d) * sizeof *y);
}

static void FN(rotary)(struct backend_ctx *c, const struct op_call *o)
{
    const struct tensor *x = o->in[0], *table = o->in[1];
    ASSERT(x->rank == 3 && table->rank == 2 && table->dim[0] >= x->dim[1] && table->dim[1] % 2 == 0);
    struct FN(rotary_job) j = { x->ptr, table->ptr, o->out[0]->ptr, x->dim[1], x->dim[2], o->attr.heads, table->dim[1],
                                o->attr.flags & ROTARY_BACK ? -1 : 1 };
    ASSERT(j.heads * j.d <= j.row);
    cpu_split(c, x->dim[0] * j.t, (double)tensor_count(x) * 3, FN(rotary_token), &j);
}
