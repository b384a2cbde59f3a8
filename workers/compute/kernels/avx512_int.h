/* SPDX-License-Identifier: Apache-2.0 */
/* avx512_int.h - all operations in registers of 512 bits but dot_cols, for the variants with AVX-512: included by each, after its
 * own includes. A variant then adds its dot_cols, q8_int.h and its table. */
#define MR AVX512_MR
#define NR AVX512_NR

#define VEC __m512
#define WIDTH 16
#define V(op) _mm512_##op##_ps
#define DEPTH_FN depth16
#include "workers/compute/kernels/panel_int.h"
#include "workers/compute/kernels/depth_lanes_int.h"

#define DEPTH_LANES AVX512_DEPTH_LANES
static void depth_tile(size_t lanes, size_t pixels, const struct depth_walk *s, size_t rows, size_t cols, const float *x,
                       const float *w, const float *bias, float *y)
{
    if (lanes == 16)
        depth16_pixels(pixels, s, rows, cols, x, w, bias, y);
    else if (lanes == 8)
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

#define QR AVX512_QR
#define QN AVX512_QN

#define WIDEN16(p) \
    _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)(p))), 16))
#define WIDEN8(p) _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)(p))))
#define DECODE_MR AVX512_MR
#include "workers/compute/kernels/decode.h"
#include "workers/compute/kernels/decode_tile_int.h"
#include "workers/compute/kernels/decode_int.h"

static bool has_avx512(const struct hw *hw)
{
    return hw->has_avx512f && hw->has_avx512bw && hw->has_avx512dq && hw->has_avx512vl && hw->has_avx2 && hw->has_fma;
}

#define KERNELS_AVX512(PRODUCT)                                                                                           \
    KERNELS_OF(ELEM_F32), KERNELS_OF_NET(ELEM_F32, FN), KERNELS_PRODUCTS(ELEM_F32, PRODUCT, PRODUCT),                 \
    KERNELS_ND(ELEM_F32, f32_), KERNELS_ALWAYS, KERNELS_Q8,                                                               \
    [OP_CONV2D_PACKED][ELEM_F32] = k_conv2d_packed, KERNELS_WINO
