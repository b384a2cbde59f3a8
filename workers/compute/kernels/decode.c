/* SPDX-License-Identifier: Apache-2.0 */
/* decode.c - packing, and products cut into tasks of whole panels. */
#include "workers/compute/kernels/decode.h"
#include "workers/compute/pool.h"

#include <math.h>
#include <string.h>

enum { PANELS_PER_TASK = 4 };
static const double SPLIT_FROM = 131072;        /* multiplications below which waking a thread costs more than it gives */
static const size_t WIDTH_OF[DECODE_TYPES] = { 4, 2, 1 };

const char *const decode_type_names[] = { "fp32", "bf16", "int8", NULL };

static size_t panels_of(size_t n)
{
    return (n + DECODE_NR - 1) / DECODE_NR;
}

size_t decode_bytes(enum decode_type type, size_t n, size_t k)
{
    return panels_of(n) * DECODE_NR * k * WIDTH_OF[type];
}

static float number_at(const void *from, size_t i)
{
    float v;
    memcpy(&v, (const char *)from + i * sizeof v, sizeof v);
    return v;
}

static size_t place_of(const struct decode_weights *w, size_t row, size_t k)
{
    return (row / DECODE_NR * w->k + k) * DECODE_NR + row % DECODE_NR;
}

static void pack_row(const struct decode_weights *w, size_t row, const void *from, size_t step)
{
    float most = 0;
    for (size_t k = 0; k < w->k && w->type == DECODE_I8; k++)
        most = fmaxf(most, fabsf(number_at(from, k * step)));
    float scale = most > 0 && isfinite(most) ? most / 127 : 1;
    if (w->type == DECODE_I8)
        w->scale[row] = scale;
    for (size_t k = 0; k < w->k; k++) {
        float v = number_at(from, k * step);
        size_t at = place_of(w, row, k);
        if (w->type == DECODE_F32)
            ((float *)w->data)[at] = v;
        else if (w->type == DECODE_BF16)
            ((uint16_t *)w->data)[at] = bf16_of(v);
        else
            ((int8_t *)w->data)[at] = (int8_t)lrintf(fmaxf(-127, fminf(127, v / scale)));
    }
}

void decode_pack(const struct decode_weights *w, size_t at, size_t rows, const void *from, size_t row_step, size_t col_step)
{
    ASSERT(at <= w->n && rows <= w->n - at);
    for (size_t r = 0; r < rows; r++)
        pack_row(w, at + r, (const char *)from + r * row_step * sizeof(float), col_step);
}

void decode_row(const struct decode_weights *w, size_t r, float *ret)
{
    ASSERT(r < w->n);
    for (size_t k = 0; k < w->k; k++) {
        size_t at = place_of(w, r, k);
        ret[k] = w->type == DECODE_F32    ? ((const float *)w->data)[at]
                 : w->type == DECODE_BF16 ? bf16_to_f32(((const uint16_t *)w->data)[at])
                                          : (float)((const int8_t *)w->data)[at] * w->scale[r];
    }
}

struct run_job {
    const struct decode *d;
    const struct decode_product *p;
};

static void run_task(void *arg, size_t task)
{
    const struct run_job *j = arg;
    size_t to = panels_of(j->p->w->n), from = task * PANELS_PER_TASK;
    for (size_t i = from; i < to && i < from + PANELS_PER_TASK; i++)
        j->d->panel(j->p, i);
}

void decode_run(const struct backend *be, struct pool *pool, const struct decode_product *p)
{
    struct run_job j = { be->decode, p };
    ASSERT(p->m >= 1 && p->m <= DECODE_ROWS);
    double work = (double)p->m * (double)p->w->n * (double)p->w->k;
    pool_run(work < SPLIT_FROM ? NULL : pool, (panels_of(p->w->n) + PANELS_PER_TASK - 1) / PANELS_PER_TASK, run_task, &j);
}
