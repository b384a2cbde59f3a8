/* SPDX-License-Identifier: Apache-2.0 */
/* q8_madd_int.h - dot_cols of tile_int.h for registers without a product of bytes, and exact.
 *
 * The product of bytes that AVX2 has (vpmaddubsw) adds two products in 16 bits, and saturates. Here a quad is seen as two pairs
 * of 16-bit numbers, its even and its odd bytes: vpmaddwd multiplies pairs into 32 bits, where nothing can saturate
 * (2 · 255 · 128 < 2^31). That is four steps for the products of a register of bytes; the saturating way takes three, and six
 * where weights are split in two so that it does not saturate. Weights are widened once for all rows of a tile.
 *
 * Included after QR, QN, IVEC (the type of a register), IV(op), which names an operation of it, and IV_AND(x, y). */
#include <string.h>

static inline __attribute__((always_inline)) void dot_cols(size_t halves, size_t rows, const uint8_t *const *u, size_t slices,
                                                           size_t quads, size_t slice_step, const int8_t *panel, int32_t *c)
{
    IVEC sum[QR][2], low = IV(set1_epi16)(255);
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++)
        sum[i][0] = sum[i][1] = IV(set1_epi32)(0);
    for (size_t s = 0; s < slices; s++)
        for (size_t at = s * slice_step, end = at + 4 * quads; at < end; at += 4, panel += QN * 4) {
            IVEC b0, b1;
            memcpy(&b0, panel, sizeof b0);
            memcpy(&b1, panel + (halves > 1 ? sizeof b0 : 0), sizeof b1);
            IVEC even0 = IV(srai_epi16)(IV(slli_epi16)(b0, 8), 8), odd0 = IV(srai_epi16)(b0, 8);
            IVEC even1 = IV(srai_epi16)(IV(slli_epi16)(b1, 8), 8), odd1 = IV(srai_epi16)(b1, 8);
#pragma GCC unroll 8
            for (size_t i = 0; i < rows; i++) {
                int32_t quad;
                memcpy(&quad, u[i] + at, sizeof quad);
                IVEC x = IV(set1_epi32)(quad), even = IV_AND(x, low), odd = IV(srli_epi16)(x, 8);
                sum[i][0] = IV(add_epi32)(sum[i][0], IV(add_epi32)(IV(madd_epi16)(even, even0), IV(madd_epi16)(odd, odd0)));
                if (halves > 1)
                    sum[i][1] = IV(add_epi32)(sum[i][1], IV(add_epi32)(IV(madd_epi16)(even, even1), IV(madd_epi16)(odd, odd1)));
            }
        }
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++)
        memcpy(c + i * QN, sum[i], halves * sizeof sum[i][0]);
}

#define PAIR_COLS
static inline __attribute__((always_inline)) void pair_cols(size_t halves, size_t rows, const int16_t *v, size_t v_row,
                                                            size_t pairs, const int16_t *panel, int32_t *c, size_t c_row)
{
    IVEC sum[QR][2];
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++)
        sum[i][0] = sum[i][1] = IV(set1_epi32)(0);
    for (size_t k = 0; k < pairs; k++, panel += QN * 2) {
        IVEC b0, b1;
        memcpy(&b0, panel, sizeof b0);
        memcpy(&b1, panel + (halves > 1 ? QN : 0), sizeof b1);
#pragma GCC unroll 8
        for (size_t i = 0; i < rows; i++) {
            int32_t pair;
            memcpy(&pair, v + i * v_row + 2 * k, sizeof pair);
            IVEC x = IV(set1_epi32)(pair);
            sum[i][0] = IV(add_epi32)(sum[i][0], IV(madd_epi16)(x, b0));
            if (halves > 1)
                sum[i][1] = IV(add_epi32)(sum[i][1], IV(madd_epi16)(x, b1));
        }
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++)
        memcpy(c + i * c_row, sum[i], halves * sizeof sum[i][0]);
}
