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

#define VEC __m256
#define WIDTH 8
#define V(op) _mm256_##op##_ps
#include "workers/compute/kernels/panel_int.h"

#define DEPTH_LANES AVX2_DEPTH_LANES
static void depth_tile(size_t lanes, size_t pixels, const struct depth_walk *s, size_t rows, size_t cols, const float *x,
                       const float *w, const float *bias, float *y)
{
    if (lanes == 8)
        depth8_pixels(pixels, s, rows, cols, x, w, bias, y);
    else
        depth1(lanes, pixels, s, rows, cols, x, w, bias, y);
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

#define QR AVX2_QR
#define QN AVX2_QN
#define IVEC __m256i
#define IV(op) _mm256_##op
#define IV_AND(x, y) _mm256_and_si256(x, y)
#define WIDEN16(p) \
    _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)(p))), 16))
#define WIDEN8(p) _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)(p))))
#define DECODE_MR AVX2_MR
#include "workers/compute/kernels/decode.h"
#include "workers/compute/kernels/decode_tile_int.h"
#include "workers/compute/kernels/decode_int.h"
#include "workers/compute/kernels/q8_madd_int.h"
#include "workers/compute/kernels/q8_int.h"

static bool probe(const struct hw *hw)
{
    return hw->has_avx2 && hw->has_fma;
}

static kernel_table kernels = { KERNELS_OF(ELEM_F32), KERNELS_OF_NET(ELEM_F32, FN), KERNELS_PRODUCTS(ELEM_F32, FN, FN),
                                KERNELS_ND(ELEM_F32, f32_), KERNELS_ALWAYS, KERNELS_Q8,
                                [OP_CONV2D_PACKED][ELEM_F32] = k_conv2d_packed, KERNELS_WINO, KERNELS_QW };

const struct backend backend_avx2 = {
    .name = "avx2", .rank = 10, .kernels = &kernels, .probe = probe, .pack_bytes = pack_bytes,
    .windows_bytes = windows_bytes, .q8_windows_bytes = q8_windows_bytes, .pack_q8_bytes = q8_pack_bytes, CPU_BACKEND,
};
