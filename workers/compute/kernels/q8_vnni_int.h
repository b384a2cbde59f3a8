/* SPDX-License-Identifier: Apache-2.0 */
/* q8_vnni_int.h - dot_cols of tile_int.h by vpdpbusd, for the variants with AVX512_VNNI: it adds four products of a byte without
 * a sign and one with a sign to 32 bits, and saturates nowhere (Intel SDM; vpdpbusds would). Included once, with QR and QN. */
static inline __attribute__((always_inline)) void dot_cols(size_t halves, size_t rows, const uint8_t *const *u, size_t slices,
                                                           size_t quads, size_t slice_step, const int8_t *panel, int32_t *c)
{
    __m512i sum[QR][2];
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++)
        sum[i][0] = sum[i][1] = _mm512_setzero_si512();
    for (size_t s = 0; s < slices; s++)
        for (size_t at = s * slice_step, end = at + 4 * quads; at < end; at += 4, panel += QN * 4) {
            __m512i b0 = _mm512_loadu_si512(panel), b1 = halves > 1 ? _mm512_loadu_si512(panel + 64) : b0;
#pragma GCC unroll 8
            for (size_t i = 0; i < rows; i++) {
                int32_t quad;
                memcpy(&quad, u[i] + at, sizeof quad);
                __m512i x = _mm512_set1_epi32(quad);
                sum[i][0] = _mm512_dpbusd_epi32(sum[i][0], x, b0);
                if (halves > 1)
                    sum[i][1] = _mm512_dpbusd_epi32(sum[i][1], x, b1);
            }
        }
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++) {
        _mm512_storeu_si512(c + i * QN, sum[i][0]);
        if (halves > 1)
            _mm512_storeu_si512(c + i * QN + 16, sum[i][1]);
    }
}
