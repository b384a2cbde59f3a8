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

#define MR AVX512_MR
#define NR AVX512_NR

#define VEC __m512
#define WIDTH 16
#define V(op) _mm512_##op##_ps
#define DEPTH_FN depth16
#include "workers/compute/kernels/panel_int.h"
#include "workers/compute/kernels/depth_lanes_int.h"

#define DEPTH_LANES AVX512_DEPTH_LANES
static void depth_tile(size_t lanes, size_t pixels, const float *x, size_t x_step, size_t rows, size_t x_row, size_t cols,
                       size_t step, const float *w, size_t w_row, float *y)
{
    bool is_run = pixels == DEPTH_PIXELS;       /* a constant, so that all sums stay in registers */
    for (size_t p = 0; !is_run && pixels > 1 && p < pixels; p++)
        depth_tile(lanes, 1, x + p * x_step, x_step, rows, x_row, cols, step, w, w_row, y + p * step);
    if (!is_run && pixels > 1)
        return;
    if (lanes == 16 && is_run)
        depth16(DEPTH_PIXELS, x, x_step, rows, x_row, cols, step, w, w_row, y);
    else if (lanes == 16)
        depth16(1, x, x_step, rows, x_row, cols, step, w, w_row, y);
    else if (lanes == 8 && is_run)
        depth8(DEPTH_PIXELS, x, x_step, rows, x_row, cols, step, w, w_row, y);
    else if (lanes == 8)
        depth8(1, x, x_step, rows, x_row, cols, step, w, w_row, y);
    else
        for (size_t j = 0; j < lanes; j++)
            depth1(pixels, x + j, x_step, rows, x_row, cols, step, w + j, w_row, y + j);
}

#include "workers/compute/kernels/call_int.h"
#include "workers/compute/kernels/net_int.h"
#include "workers/compute/rng.h"
#include "workers/compute/kernels/gemm_int.h"
#include "workers/compute/kernels/ops_int.h"
#include "workers/compute/kernels/loss_int.h"
#include "workers/compute/kernels/norm_int.h"
#include "workers/compute/kernels/nd_fast_int.h"
#include "workers/compute/kernels/nd_table_int.h"
#include "workers/compute/kernels/attention_int.h"
#include "workers/compute/kernels/conv_int.h"
#include "workers/compute/kernels/depthwise_int.h"
#include "workers/compute/kernels/groupnorm_int.h"
#define REAL float
#define FN(name) k_##name
#include "workers/compute/kernels/image_int.h"
#include "workers/compute/kernels/adapt_int.h"

static bool probe(const struct hw *hw)
{
    return hw->has_avx512f && hw->has_avx512bw && hw->has_avx512dq && hw->has_avx512vl && hw->has_avx2 && hw->has_fma;
}

static kernel_table kernels = { KERNELS_OF(ELEM_F32), KERNELS_OF_NET(ELEM_F32, FN), KERNELS_ND(ELEM_F32, f32_), KERNELS_ALWAYS,
                                [OP_CONV2D_PACKED][ELEM_F32] = k_conv2d_packed };

const struct backend backend_avx512 = {
    .name = "avx512", .rank = 20, .kernels = &kernels, .probe = probe, .pack_bytes = pack_bytes, CPU_BACKEND,
};
