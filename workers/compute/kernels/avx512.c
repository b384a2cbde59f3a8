/* SPDX-License-Identifier: Apache-2.0 */
/* avx512.c - backend "avx512": 512-bit vectors (Skylake-SP, Ice Lake, Zen 4 and later).
 *
 * Layout: gemm_int.h with panels of 32 columns. Maths: a tile of 8 rows × 2 vectors: 16 chains cover a latency of 4 at two per
 * cycle, and batches of 8, 16, 32, 64 need no ragged tile; layers of 64, 128, 256, 512 need no ragged panel. Batch 1: four panels.
 * Tolerance: 1e-5 relative, tested at 2e-6 · sqrt(k); matmul has the same bits as avx2.
 * Why this variant: half the instructions per product; where a machine runs 512 bits as two halves (Zen 4) it still saves decode.
 * Measured gain over avx2 (same run as in avx2.c): batch 32 512x784 packed 246 us against 292 (1.18x, 104 GFLOP/s); batch 1 16.8
 * against 18.7 (1.11x); AdamW 456 against 652 (1.43x); unpacked products within 4 %, as Zen 4 runs 512 bits as two halves and is
 * at 85 % of its peak either way. The factor 1.9 between the peaks of a machine with full-width units was not measured here. */
#include "workers/compute/kernels/backend.h"
#include "workers/compute/kernels/tile_int.h"
#include "workers/compute/kernels/transpose_int.h"
#include "workers/compute/kernels/depth8_int.h"
#include "workers/compute/kernels/avx512_int.h"

#define IVEC __m512i
#define IV(op) _mm512_##op
#define IV_AND(x, y) _mm512_and_si512(x, y)
#include "workers/compute/kernels/q8_madd_int.h"
#include "workers/compute/kernels/q8_int.h"

static bool probe(const struct hw *hw)
{
    return has_avx512(hw);
}

static kernel_table kernels = { KERNELS_AVX512(FN), KERNELS_QW };

const struct backend backend_avx512 = {
    .name = "avx512", .rank = 20, .kernels = &kernels, .probe = probe, .pack_bytes = pack_bytes,
    .windows_bytes = windows_bytes, .q8_windows_bytes = q8_windows_bytes, .pack_q8_bytes = q8_pack_bytes, CPU_BACKEND,
};
