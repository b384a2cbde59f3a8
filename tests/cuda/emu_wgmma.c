/* SPDX-License-Identifier: Apache-2.0 */
/* emu_wgmma.c - the products of four warps (flash_wgmma_int.h) on the processor: matrices are found in shared memory as
 * the unit finds them, by address bits, and each warp multiplies its 16 rows by gpu_mma. What is begun is done at once,
 * so a wait that is missing does not show. */
#include "tests/cuda/emu_int.h"
#include "workers/compute/kernels/cuda/flash_wgmma_int.h"

/* Number `col` of row `row`: rows of 128 bytes, eight of them in 1,024; then bits 4 to 6 of the address turn by bits 7 to 9. */
static uint32_t number(unsigned start, unsigned row, unsigned col)
{
    unsigned at = 2 * start + row / 8 * 1024 + row % 8 * 128 + 2 * col;
    at ^= (at >> 7 & 7) << 4;
    return *(const uint16_t *)(const void *)(gpu_emu_dynamic + at);
}

static uint32_t along(unsigned start, unsigned row, unsigned col)
{
    return number(start, row, col) | number(start, row, col + 1) << 16;
}

static uint32_t across(unsigned start, unsigned row, unsigned col)
{
    return number(start, row, col) | number(start, row + 1, col) << 16;
}

void wgmma_scores(float *d, unsigned left, unsigned right, bool adds)
{
    unsigned lane = emu_thread() % GPU_WARP, group = lane / 4, k = 2 * (lane % 4), row = emu_thread() / GPU_WARP % 4 * 16 + group;
    const struct gpu_mma_a a = { { along(left, row, k), along(left, row + 8, k), along(left, row, k + 8),
                                   along(left, row + 8, k + 8) } };
    for (unsigned i = 0; i < 32 && !adds; i++)
        d[i] = 0;
    for (unsigned n = 0; n < 8; n++)
        gpu_mma(d + 4 * n, a, along(right, 8 * n + group, k), along(right, 8 * n + group, k + 8));
}

void wgmma_add(float *d, struct gpu_mma_a a, unsigned right)
{
    unsigned lane = emu_thread() % GPU_WARP, group = lane / 4, k = 2 * (lane % 4);
    for (unsigned n = 0; n < 8; n++)
        gpu_mma(d + 4 * n, a, across(right, k, 8 * n + group), across(right, k + 8, 8 * n + group));
}
