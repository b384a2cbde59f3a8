/* SPDX-License-Identifier: Apache-2.0 */
/* avx512vnni.c - backend "avx512vnni": avx512 and its product of four bytes at a time (Cascade Lake, Ice Lake, Zen 4 and later).
 *
 * All but products of whole numbers (q8_vnni_int.h) is avx512, compiled once more. Tolerance: none, the bits of the
 * reference. Why this variant: a step for the products of a register of bytes where avx512 takes four. */
#include "workers/compute/kernels/backend.h"
#include "workers/compute/kernels/tile_int.h"
#include "workers/compute/kernels/transpose_int.h"
#include "workers/compute/kernels/depth8_int.h"
#include "workers/compute/kernels/avx512_int.h"

#include "workers/compute/kernels/q8_vnni_int.h"
#include "workers/compute/kernels/q8_int.h"

static bool probe(const struct hw *hw)
{
    return has_avx512(hw) && hw->has_avx512_vnni;
}

static kernel_table kernels = { KERNELS_AVX512(FN) };

const struct backend backend_avx512vnni = {
    .name = "avx512vnni", .rank = 30, .kernels = &kernels, .probe = probe, .pack_bytes = pack_bytes,
    .windows_bytes = windows_bytes, .pack_q8_bytes = q8_pack_bytes, CPU_BACKEND,
};
