/* SPDX-License-Identifier: Apache-2.0 */
/* avx512bf16.c - backend "avx512bf16": avx512vnni and products of pairs of bf16 (Cooper Lake, Sapphire Rapids, Zen 4 and later).
 *
 * All but products with OP_BF16 is avx512vnni, compiled once more, with its bits. Layout: panels of 32 columns, a pair of bf16 in
 * the room of a float. Maths: VDPBF16PS takes two steps of depth where a fused multiply-add takes one; sums are fp32. Tolerance:
 * 1e-5 of the fp64 product of the same rounded factors. Why this variant: twice the peak of fp32 (233 against 117 GFLOP/s in
 * registers, one busy Zen 4 core), which `precision` of training may use. */
#define PAIRS
#define ROUNDED(c, o, kernel) ((void)0)
#define BF16_IS_FAST BE_FAST_BF16
#include "workers/compute/kernels/backend.h"
#include "workers/compute/kernels/tile_int.h"
#include "workers/compute/kernels/transpose_int.h"
#include "workers/compute/kernels/depth8_int.h"
#include "workers/compute/kernels/panel_pair_int.h"
#include "workers/compute/kernels/avx512_int.h"
#include "workers/compute/kernels/pairs_int.h"
#include "workers/compute/kernels/q8_vnni_int.h"
#include "workers/compute/kernels/q8_int.h"

static bool probe(const struct hw *hw)
{
    return has_avx512(hw) && hw->has_avx512_vnni && hw->has_avx512_bf16;
}

static kernel_table kernels = { KERNELS_AVX512(PAIR_KERNEL) };

const struct backend backend_avx512bf16 = {
    .name = "avx512bf16", .rank = 35, .kernels = &kernels, .probe = probe, .pack_bytes = pack_bytes,
    .windows_bytes = windows_bytes, .pack_q8_bytes = q8_pack_bytes, CPU_BACKEND,
};
