/* SPDX-License-Identifier: Apache-2.0 */
/* avx2.c - backend "avx2": 256-bit vectors with fused multiply-add (Haswell, Zen and later).
 *
 * Layout: gemm_int.h with panels of 16 columns. Maths: a tile of 6 rows × 2 vectors: 12 sums, 2 loads of B and a broadcast
 * in the 16 registers; 12 independent chains cover the latency of 4 at two per cycle. Batch 1: four panels, 8 chains.
 * Tolerance: 1e-5 relative (norm of the difference to fp64 over the norm), tested at 2e-6 · sqrt(k). Why this variant: the
 * widest that nearly every x86 server has; above it only machines with AVX-512. Measured gain over ref
 * (tests/bench/bench_kernels.c, one busy Zen 4 core, median, us): forward 64x512x784 534 against 20,803 (39x, 96 GFLOP/s);
 * backward w 512x784x64 491 against 36,106 (74x); batch 1 512x784 18.7 against 323 (17x); AdamW 9x; softmax 6x. */
#include "workers/compute/kernels/backend.h"
#include "workers/compute/kernels/tile_int.h"
#include "workers/compute/kernels/transpose_int.h"
#include "workers/compute/kernels/depth8_int.h"

#define MR AVX2_MR
#define NR AVX2_NR

/* One tile: rows × two vectors of sums, a constant number of rows so that all stay in registers. */
static inline __attribute__((always_inline)) void micro(size_t rows, size_t depth, const float *a, size_t a_row, size_t a_step,
                                                        const float *panel, float *c, size_t c_row, bool has_c)
{
    __m256 sum[MR][2];
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++) {
        sum[i][0] = has_c ? _mm256_loadu_ps(c + i * c_row) : _mm256_setzero_ps();
        sum[i][1] = has_c ? _mm256_loadu_ps(c + i * c_row + 8) : _mm256_setzero_ps();
    }
    for (size_t k = 0; k < depth; k++) {
        __m256 b0 = _mm256_load_ps(panel + k * NR), b1 = _mm256_load_ps(panel + k * NR + 8);
#pragma GCC unroll 8
        for (size_t i = 0; i < rows; i++) {
            __m256 x = _mm256_set1_ps(a[i * a_row + k * a_step]);
            sum[i][0] = _mm256_fmadd_ps(x, b0, sum[i][0]);
            sum[i][1] = _mm256_fmadd_ps(x, b1, sum[i][1]);
        }
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++) {
        _mm256_storeu_ps(c + i * c_row, sum[i][0]);
        _mm256_storeu_ps(c + i * c_row + 8, sum[i][1]);
    }
}

/* The first vector of the panel only. */
static inline __attribute__((always_inline)) void micro_half(size_t rows, size_t depth, const float *a, size_t a_row,
                                                             size_t a_step, const float *panel, float *c, size_t c_row,
                                                             bool has_c)
{
    __m256 sum[MR];
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++)
        sum[i] = has_c ? _mm256_loadu_ps(c + i * c_row) : _mm256_setzero_ps();
    for (size_t k = 0; k < depth; k++) {
        __m256 b = _mm256_load_ps(panel + k * NR);
#pragma GCC unroll 8
        for (size_t i = 0; i < rows; i++)
            sum[i] = _mm256_fmadd_ps(_mm256_set1_ps(a[i * a_row + k * a_step]), b, sum[i]);
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++)
        _mm256_storeu_ps(c + i * c_row, sum[i]);
}

static inline __attribute__((always_inline)) void row_panels(size_t depth, const float *x, const float *panel, size_t panel_step,
                                                             size_t panels, float *y)
{
    __m256 sum[4][2];
#pragma GCC unroll 4
    for (size_t p = 0; p < panels; p++)
        sum[p][0] = sum[p][1] = _mm256_setzero_ps();
    for (size_t k = 0; k < depth; k++) {
        __m256 xk = _mm256_set1_ps(x[k]);
#pragma GCC unroll 4
        for (size_t p = 0; p < panels; p++) {
            const float *b = panel + p * panel_step + k * NR;
            sum[p][0] = _mm256_fmadd_ps(xk, _mm256_load_ps(b), sum[p][0]);
            sum[p][1] = _mm256_fmadd_ps(xk, _mm256_load_ps(b + 8), sum[p][1]);
        }
    }
#pragma GCC unroll 4
    for (size_t p = 0; p < panels; p++) {
        _mm256_store_ps(y + p * NR, sum[p][0]);
        _mm256_store_ps(y + p * NR + 8, sum[p][1]);
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

#define DEPTH_LANES AVX2_DEPTH_LANES
static void depth_tile(size_t lanes, size_t pixels, const float *x, size_t x_step, size_t rows, size_t x_row, size_t cols,
                       size_t step, const float *w, size_t w_row, float *y)
{
    bool is_run = pixels == DEPTH_PIXELS;       /* a constant, so that all sums stay in registers */
    for (size_t p = 0; !is_run && pixels > 1 && p < pixels; p++)
        depth_tile(lanes, 1, x + p * x_step, x_step, rows, x_row, cols, step, w, w_row, y + p * step);
    if (!is_run && pixels > 1)
        return;
    if (lanes == 8 && is_run)
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
    return hw->has_avx2 && hw->has_fma;
}

static kernel_table kernels = { KERNELS_OF(ELEM_F32), KERNELS_OF_NET(ELEM_F32, FN), KERNELS_ND(ELEM_F32, f32_), KERNELS_ALWAYS,
                                [OP_CONV2D_PACKED][ELEM_F32] = k_conv2d_packed };

const struct backend backend_avx2 = {
    .name = "avx2", .rank = 10, .kernels = &kernels, .probe = probe, .pack_bytes = pack_bytes, CPU_BACKEND,
};
