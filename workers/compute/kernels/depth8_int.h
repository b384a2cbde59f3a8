/* SPDX-License-Identifier: Apache-2.0 */
/* depth8_int.h - eight channels of a depthwise convolution in registers, and single ones (AVX2, FMA): depth_tile of
 * tile_int.h but for
 * wider vectors. Included by the AVX2 and AVX-512 variants only. */
#include <immintrin.h>
#include <math.h>
#include <stddef.h>

static inline __attribute__((always_inline)) void depth8(size_t pixels, const float *x, size_t x_step, size_t rows, size_t x_row,
                                                         size_t cols, size_t step, const float *w, size_t w_row, float *y)
{
    __m256 sum[DEPTH_PIXELS];
#pragma GCC unroll 8
    for (size_t p = 0; p < pixels; p++)
        sum[p] = _mm256_setzero_ps();
    for (size_t r = 0; r < rows; r++)
        for (size_t k = 0; k < cols; k++) {
            __m256 by = _mm256_loadu_ps(w + r * w_row + k * step);
            const float *from = x + r * x_row + k * step;
#pragma GCC unroll 8
            for (size_t p = 0; p < pixels; p++)
                sum[p] = _mm256_fmadd_ps(_mm256_loadu_ps(from + p * x_step), by, sum[p]);
        }
#pragma GCC unroll 8
    for (size_t p = 0; p < pixels; p++)
        _mm256_storeu_ps(y + p * step, sum[p]);
}

static inline void depth1(size_t pixels, const float *x, size_t x_step, size_t rows, size_t x_row, size_t cols, size_t step,
                          const float *w, size_t w_row, float *y)
{
    for (size_t p = 0; p < pixels; p++) {
        float sum = 0;
        for (size_t r = 0; r < rows; r++)
            for (size_t k = 0; k < cols; k++)
                sum = fmaf(x[p * x_step + r * x_row + k * step], w[r * w_row + k * step], sum);
        y[p * step] = sum;
    }
}
