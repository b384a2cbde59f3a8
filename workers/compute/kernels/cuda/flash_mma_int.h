/* SPDX-License-Identifier: Apache-2.0 */
/* flash_mma_int.h - the two kinds of products of attention (flash_int.h) by gpu_mma: each warp for itself. flash_wgmma_int.h has
 * the same names for one generation of cards. */
#pragma once
#include "workers/compute/kernels/cuda/flash_int.h"

/* 16 rows each, of a warp: queries forward and backward, keys backward; columns of scores at a time backward. */
enum { FLASH_M = FLASH_D == 64 ? 2 : 1, BACK_Q_M = FLASH_M, BACK_K_M = FLASH_M, BACK_STEP = FLASH_D == 64 ? 32 : 16 };

/* Before the barrier after which products read what was copied. */
GPU_CALL void flash_show(void)
{
}

/* The same in the two places k of a row, in the 16 rows number n from `rows` on, which is a multiple of 16 rows. */
GPU_CALL const uint16_t *flash_matrices(unsigned rows, unsigned lane, unsigned k, unsigned n)
{
    GPU_DYNAMIC(const uint16_t, room);
    return room + ((rows + lane) ^ 16 * k) + 16 * n * FLASH_D;
}

GPU_CALL struct gpu_mma_a flash_left(const struct flash_lane *l, unsigned rows, unsigned k, unsigned n)
{
    struct gpu_mma_a a;
    gpu_load_matrices(a.v, flash_matrices(rows, l->left, k, n));
    return a;
}

GPU_CALL void flash_scores_at(float *sum, const struct flash_lane *l, unsigned left, unsigned right, unsigned count,
                              unsigned cols, unsigned k)
{
    struct gpu_mma_a a[2];
    uint32_t b[4];
    GPU_UNROLL
    for (unsigned m = 0; m < count; m++)
        a[m] = flash_left(l, left, k, m);
    GPU_UNROLL
    for (unsigned n = 0; n < cols / 16; n++) {
        gpu_load_matrices(b, flash_matrices(right, l->right, k, n));
        GPU_UNROLL
        for (unsigned m = 0; m < count; m++) {
            float *at = sum + m * cols / 2 + 8 * n;
            gpu_mma(at, a[m], b[0], b[1]);
            gpu_mma(at + 4, a[m], b[2], b[3]);
        }
    }
}

/* sum = left·rightᵀ: 16·count rows of the warp, from `left` on in shared memory, by `cols` rows from `right` on, over the width
 * of a head. is_tight: registers are few. */
GPU_CALL void flash_scores(float *sum, const struct flash_lane *l, unsigned left, unsigned right, unsigned count, unsigned cols,
                           bool is_tight)
{
    GPU_UNROLL
    for (unsigned i = 0; i < count * cols / 2; i++)
        sum[i] = 0;
    GPU_UNROLL_TWO
    for (unsigned k = 0; k < FLASH_DEPTH && is_tight; k++)
        flash_scores_at(sum, l, left, right, count, cols, k);
    GPU_UNROLL
    for (unsigned k = 0; k < FLASH_DEPTH && !is_tight; k++)
        flash_scores_at(sum, l, left, right, count, cols, k);
}

/* Two of them, for one count of rows. */
struct flash_two {
    unsigned left[2], right[2];
};
GPU_CALL void flash_scores_two(float *first, float *second, const struct flash_lane *l, const struct flash_two *t, unsigned count,
                               unsigned cols)
{
    flash_scores(first, l, t->left[0], t->right[0], count, cols, false);
    flash_scores(second, l, t->left[1], t->right[1], count, cols, false);
}

/* out += weight·right over `cols` rows from `right` on; weight: flash_pack of the rows of each 16. */
GPU_CALL void flash_add(float *out, const struct flash_lane *l, const struct gpu_mma_a *weight, unsigned right, unsigned count,
                        unsigned cols)
{
    GPU_UNROLL
    for (unsigned k = 0; k < cols / 16; k++) {
        uint32_t b[4];
        GPU_UNROLL
        for (unsigned n = 0; n < FLASH_DEPTH; n++) {
            gpu_load_matrices_turned(b, flash_matrices(right, l->left, n, k));
            GPU_UNROLL
            for (unsigned m = 0; m < count; m++) {
                float *at = out + m * FLASH_D / 2 + 8 * n;
                gpu_mma(at, weight[m * cols / 16 + k], b[0], b[1]);
                gpu_mma(at + 4, weight[m * cols / 16 + k], b[2], b[3]);
            }
        }
    }
}

/* Both, one after the other: out += weight·t.right[0], sum = t.left[1]·t.right[1]ᵀ. */
GPU_CALL void flash_add_scores(float *out, float *sum, const struct flash_lane *l, const struct gpu_mma_a *weight,
                               const struct flash_two *t, unsigned count, unsigned cols)
{
    flash_add(out, l, weight, t->right[0], count, cols);
    flash_scores(sum, l, t->left[1], t->right[1], count, cols, true);
}
