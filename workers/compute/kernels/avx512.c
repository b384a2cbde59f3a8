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

/* One tile: rows × two vectors of sums, a constant number of rows so that all stay in registers. */
static inline __attribute__((always_inline)) void micro(size_t rows, size_t depth, const float *a, size_t a_row, size_t a_step,
                                                        const float *panel, float *c, size_t c_row, bool has_c)
{
    __m512 sum[MR][2];
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++) {
        sum[i][0] = has_c ? _mm512_loadu_ps(c + i * c_row) : _mm512_setzero_ps();
        sum[i][1] = has_c ? _mm512_loadu_ps(c + i * c_row + 16) : _mm512_setzero_ps();
    }
    for (size_t k = 0; k < depth; k++) {
        __m512 b0 = _mm512_load_ps(panel + k * NR), b1 = _mm512_load_ps(panel + k * NR + 16);
#pragma GCC unroll 8
        for (size_t i = 0; i < rows; i++) {
            __m512 x = _mm512_set1_ps(a[i * a_row + k * a_step]);
            sum[i][0] = _mm512_fmadd_ps(x, b0, sum[i][0]);
            sum[i][1] = _mm512_fmadd_ps(x, b1, sum[i][1]);
        }
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++) {
        _mm512_storeu_ps(c + i * c_row, sum[i][0]);
        _mm512_storeu_ps(c + i * c_row + 16, sum[i][1]);
    }
}

/* The first vector of the panel only. */
static inline __attribute__((always_inline)) void micro_half(size_t rows, size_t depth, const float *a, size_t a_row,
                                                             size_t a_step, const float *panel, float *c, size_t c_row,
                                                             bool has_c)
{
    __m512 sum[MR];
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++)
        sum[i] = has_c ? _mm512_loadu_ps(c + i * c_row) : _mm512_setzero_ps();
    for (size_t k = 0; k < depth; k++) {
        __m512 b = _mm512_load_ps(panel + k * NR);
#pragma GCC unroll 8
        for (size_t i = 0; i < rows; i++)
            sum[i] = _mm512_fmadd_ps(_mm512_set1_ps(a[i * a_row + k * a_step]), b, sum[i]);
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++)
        _mm512_storeu_ps(c + i * c_row, sum[i]);
}

static inline __attribute__((always_inline)) void row_panels(size_t depth, const float *x, const float *panel, size_t panel_step,
                                                             size_t panels, float *y)
{
    __m512 sum[4][2];
#pragma GCC unroll 4
    for (size_t p = 0; p < panels; p++)
        sum[p][0] = sum[p][1] = _mm512_setzero_ps();
    for (size_t k = 0; k < depth; k++) {
        __m512 xk = _mm512_set1_ps(x[k]);
#pragma GCC unroll 4
        for (size_t p = 0; p < panels; p++) {
            const float *b = panel + p * panel_step + k * NR;
            sum[p][0] = _mm512_fmadd_ps(xk, _mm512_load_ps(b), sum[p][0]);
            sum[p][1] = _mm512_fmadd_ps(xk, _mm512_load_ps(b + 16), sum[p][1]);
        }
    }
#pragma GCC unroll 4
    for (size_t p = 0; p < panels; p++) {
        _mm512_store_ps(y + p * NR, sum[p][0]);
        _mm512_store_ps(y + p * NR + 16, sum[p][1]);
    }
}

static void row_times_panels(size_t depth, const float *x, const float *panel, size_t panel_step, size_t panels, float *y)
{
    switch (panels) {
    case 1: row_panels(depth, x, panel, panel_step, 1, y); break;
    case 2: row_panels(depth, x, panel, panel_step, 2, y); break;
    case 3: row_panels(depth, x, panel, panel_step, 3, y); break;
    default: row_panels(depth, x, panel, panel_step, 4, y); break;
    }
}

static inline __attribute__((always_inline)) void depth16(size_t pixels, const float *x, size_t x_step, size_t rows, size_t x_row,
                                                         size_t cols, size_t step, const float *w, size_t w_row, float *y)
{
    __m512 sum[DEPTH_PIXELS];
#pragma GCC unroll 8
    for (size_t p = 0; p < pixels; p++)
        sum[p] = _mm512_setzero_ps();
    for (size_t r = 0; r < rows; r++)
        for (size_t k = 0; k < cols; k++) {
            __m512 by = _mm512_loadu_ps(w + r * w_row + k * step);
            const float *from = x + r * x_row + k * step;
#pragma GCC unroll 8
            for (size_t p = 0; p < pixels; p++)
                sum[p] = _mm512_fmadd_ps(_mm512_loadu_ps(from + p * x_step), by, sum[p]);
        }
#pragma GCC unroll 8
    for (size_t p = 0; p < pixels; p++)
        _mm512_storeu_ps(y + p * step, sum[p]);
}

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
