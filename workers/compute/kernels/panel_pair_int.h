/* SPDX-License-Identifier: Apache-2.0 */
/* panel_pair_int.h - the tile operations of pairs (tile_int.h) by VDPBF16PS, for the variants with AVX512_BF16; included once.
 *
 * The instruction adds the product of the upper halves, then that of the lower ones, each sum rounded to the nearest; numbers
 * below 2^-126 count as 0 (Intel SDM, VDPBF16PS), which the plain form does not know. */
#include <immintrin.h>

static inline __attribute__((always_inline)) void pair_tile(size_t rows, size_t vectors, size_t depth, const float *a,
                                                            size_t a_row, size_t a_step, const float *panel, float *c,
                                                            size_t c_row, bool has_c)
{
    __m512 sum[AVX512_MR][2];
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (size_t v = 0; v < vectors; v++)
            sum[i][v] = has_c ? _mm512_loadu_ps(c + i * c_row + 16 * v) : _mm512_setzero_ps();
    for (size_t k = 0; k < depth; k++) {
        __m512bh b[2];
#pragma GCC unroll 2
        for (size_t v = 0; v < vectors; v++)
            b[v] = (__m512bh)_mm512_load_ps(panel + k * AVX512_NR + 16 * v);
#pragma GCC unroll 8
        for (size_t i = 0; i < rows; i++) {
            __m512bh x = (__m512bh)_mm512_set1_ps(a[i * a_row + k * a_step]);
#pragma GCC unroll 2
            for (size_t v = 0; v < vectors; v++)
                sum[i][v] = _mm512_dpbf16_ps(sum[i][v], x, b[v]);
        }
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (size_t v = 0; v < vectors; v++)
            _mm512_storeu_ps(c + i * c_row + 16 * v, sum[i][v]);
}

static inline __attribute__((always_inline)) void pair_micro(size_t rows, size_t depth, const float *a, size_t a_row,
                                                             size_t a_step, const float *panel, float *c, size_t c_row,
                                                             bool has_c)
{
    pair_tile(rows, 2, depth, a, a_row, a_step, panel, c, c_row, has_c);
}

static inline __attribute__((always_inline)) void pair_micro_half(size_t rows, size_t depth, const float *a, size_t a_row,
                                                                  size_t a_step, const float *panel, float *c, size_t c_row,
                                                                  bool has_c)
{
    pair_tile(rows, 1, depth, a, a_row, a_step, panel, c, c_row, has_c);
}
