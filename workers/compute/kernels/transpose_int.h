/* SPDX-License-Identifier: Apache-2.0 */
/* transpose_int.h - 8 × 8 floats in registers (AVX): 24 shuffles for 64 numbers, against 64 scalar moves with strided stores.
 * Included by the AVX2 and AVX-512 variants only. */
#include <immintrin.h>
#include <stddef.h>

static inline void transpose8(const float *src, size_t src_row, float *dst, size_t dst_row)
{
    __m256 r[8], t[8];
    for (int i = 0; i < 8; i++)
        r[i] = _mm256_loadu_ps(src + (size_t)i * src_row);
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        r[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
        r[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xEE);
        r[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
        r[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xEE);
    }
    for (int i = 0; i < 4; i++) {
        _mm256_storeu_ps(dst + (size_t)i * dst_row, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
        _mm256_storeu_ps(dst + (size_t)(i + 4) * dst_row, _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
    }
}
