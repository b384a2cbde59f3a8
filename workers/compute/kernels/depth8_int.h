/* SPDX-License-Identifier: Apache-2.0 */
/* depth8_int.h - eight channels of a depthwise convolution in registers, and single ones (AVX2, FMA): depth_tile of
 * tile_int.h but for
 * wider vectors. Included by the AVX2 and AVX-512 variants only. */
#include <immintrin.h>
#include <math.h>
#include <stddef.h>

#define DEPTH_FN depth8
#define VEC __m256
#define V(op) _mm256_##op##_ps
#include "workers/compute/kernels/depth_lanes_int.h"
#undef DEPTH_FN
#undef VEC
#undef V

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
