/* SPDX-License-Identifier: Apache-2.0 */
/* tile_plain_int.h - the tile operations of tile_int.h in plain C; include with MR and NR of a tier defined, before gemm_int.h.
 *
 * fmaf rounds once, as the instruction does, so the bits are those of the tier. Slow: for tests, not for use. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "workers/compute/kernels/tensor.h"

static void micro(size_t rows, size_t depth, const float *a, size_t a_row, size_t a_step, const float *panel, float *c,
                  size_t c_row, bool has_c)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < NR; j++) {
            float sum = has_c ? c[i * c_row + j] : 0;
            for (size_t k = 0; k < depth; k++)
                sum = fmaf(a[i * a_row + k * a_step], panel[k * NR + j], sum);
            c[i * c_row + j] = sum;
        }
}

static void micro_half(size_t rows, size_t depth, const float *a, size_t a_row, size_t a_step, const float *panel, float *c,
                       size_t c_row, bool has_c)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < NR / 2; j++) {
            float sum = has_c ? c[i * c_row + j] : 0;
            for (size_t k = 0; k < depth; k++)
                sum = fmaf(a[i * a_row + k * a_step], panel[k * NR + j], sum);
            c[i * c_row + j] = sum;
        }
}

static float pair_part(float pair, int half)
{
    uint32_t bits;
    memcpy(&bits, &pair, sizeof bits);
    return bf16_to_f32((uint16_t)(bits >> 16 * half));
}

static void pair_columns(size_t rows, size_t columns, size_t depth, const float *a, size_t a_row, size_t a_step,
                         const float *panel, float *c, size_t c_row, bool has_c)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            float sum = has_c ? c[i * c_row + j] : 0;
            for (size_t k = 0; k < depth; k++)
                for (int half = 1; half >= 0; half--)
                    sum = fmaf(pair_part(a[i * a_row + k * a_step], half), pair_part(panel[k * NR + j], half), sum);
            c[i * c_row + j] = sum;
        }
}

static inline void pair_micro(size_t rows, size_t depth, const float *a, size_t a_row, size_t a_step, const float *panel,
                              float *c, size_t c_row, bool has_c)
{
    pair_columns(rows, NR, depth, a, a_row, a_step, panel, c, c_row, has_c);
}

static inline void pair_micro_half(size_t rows, size_t depth, const float *a, size_t a_row, size_t a_step, const float *panel,
                                   float *c, size_t c_row, bool has_c)
{
    pair_columns(rows, NR / 2, depth, a, a_row, a_step, panel, c, c_row, has_c);
}

static void depth_tile(size_t lanes, size_t pixels, const struct depth_walk *s, size_t rows, size_t cols, const float *x,
                       const float *w, const float *bias, float *y)
{
    for (size_t p = 0; p < pixels; p++)
        for (size_t j = 0; j < lanes; j++) {
            float sum = 0;
            for (size_t r = 0; r < rows; r++)
                for (size_t k = 0; k < cols; k++)
                    sum = fmaf(x[p * s->x_step + r * s->x_row + k * s->x_tap + j], w[r * s->w_row + k * s->w_tap + j], sum);
            sum = bias ? sum + bias[j] : sum;
            y[p * s->y_step + j] = s->has_relu && !(sum > 0) ? 0 : sum;
        }
}

static void row_times_panels(size_t depth, const float *x, const float *panel, size_t panel_step, size_t panels, float *y)
{
    for (size_t p = 0; p < panels; p++)
        micro(1, depth, x, 0, 1, panel + p * panel_step, y + p * NR, NR, false);
}

static void transpose8(const float *src, size_t src_row, float *dst, size_t dst_row)
{
    for (size_t i = 0; i < 8; i++)
        for (size_t j = 0; j < 8; j++)
            dst[j * dst_row + i] = src[i * src_row + j];
}
