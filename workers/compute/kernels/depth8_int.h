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

/* Single channels. */
static inline void depth1(size_t lanes, size_t pixels, const struct depth_walk *s, size_t rows, size_t cols, const float *x,
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
