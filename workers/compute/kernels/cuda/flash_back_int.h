/* SPDX-License-Identifier: Apache-2.0 */
/* flash_back_int.h - attention over bf16 on tensor cores, backward, in two kernels that add to nothing another block writes.
 *
 * Weights are made again from the kept logs of their sums. The kernel for the queries goes first: a block has queries and their
 * dy, makes mean = dy·y of each row (y is passed over once), and walks over keys and values: dq = Σ (w ∘ (dy·vᵀ - mean))·k. The
 * kernel for the keys has keys and values and walks over the queries of all heads that share them, with scores turned (k·qᵀ), so
 * that weights in registers are the left factor of dv = Σ wᵀ·dy and dk = Σ …ᵀ·q. Seven products instead of the five of one pass;
 * that pass would need atomics on dq, in no order, or dq once for each block of keys. The scale meets dq and dk at the end.
 *
 * Rows past the last token are zeros, and the log of their sum counts as infinite: their weights are 0. What a causal query
 * does not see has weight 0; a warp passes over squares of BACK_STEP that lie wholly there. */
#pragma once
#include "workers/compute/kernels/cuda/flash_int.h"

enum {
    BACK_Q_M = FLASH_D == 64 ? 2 : 1,           /* 16 queries each, of a warp */
    BACK_QUERIES = 64 * BACK_Q_M,
    BACK_K_M = FLASH_D == 64 ? 2 : 1,           /* 16 keys each, of a warp */
    BACK_KEYS = 64 * BACK_K_M,
    BACK_STEP = FLASH_D == 64 ? 32 : 16,        /* columns of scores at a time */
    BACK_COLS = BACK_STEP / 8
};

GPU_CALL void back_scores_at(float (*sum)[BACK_COLS][4], const struct flash_lane *l, unsigned left, unsigned right,
                             unsigned count, unsigned k)
{
    struct gpu_mma_a a[2];
    uint32_t b[4];
    GPU_UNROLL
    for (unsigned m = 0; m < count; m++)
        a[m] = flash_left(l, left, k, m);
    GPU_UNROLL
    for (unsigned n = 0; n < BACK_STEP / 16; n++) {
        gpu_load_matrices(b, flash_matrices(right, l->right, k, n));
        GPU_UNROLL
        for (unsigned m = 0; m < count; m++) {
            gpu_mma(sum[m][2 * n], a[m], b[0], b[1]);
            gpu_mma(sum[m][2 * n + 1], a[m], b[2], b[3]);
        }
    }
}

/* sum[m] = left[m]·rightᵀ: 16 rows of the warp each, by BACK_STEP rows of a tile, over the width of a head. */
GPU_CALL void back_scores(float (*sum)[BACK_COLS][4], const struct flash_lane *l, unsigned left, unsigned right, unsigned count,
                          bool is_tight)
{
    GPU_UNROLL
    for (unsigned m = 0; m < count; m++) {
        GPU_UNROLL
        for (unsigned n = 0; n < BACK_COLS; n++)
            sum[m][n][0] = sum[m][n][1] = sum[m][n][2] = sum[m][n][3] = 0;
    }
    GPU_UNROLL_TWO
    for (unsigned k = 0; k < FLASH_DEPTH && is_tight; k++)
        back_scores_at(sum, l, left, right, count, k);
    GPU_UNROLL
    for (unsigned k = 0; k < FLASH_DEPTH && !is_tight; k++)
        back_scores_at(sum, l, left, right, count, k);
}

/* Results of back_scores as left factors. */
GPU_CALL void back_pack(struct gpu_mma_a (*to)[BACK_STEP / 16], float (*sum)[BACK_COLS][4], unsigned count)
{
    GPU_UNROLL
    for (unsigned m = 0; m < count; m++) {
        GPU_UNROLL
        for (unsigned k = 0; k < BACK_STEP / 16; k++)
            to[m][k] = flash_pack(sum[m], k);
    }
}

/* out[m] += weight[m]·right, over BACK_STEP rows of a tile. */
GPU_CALL void back_add(float (*out)[FLASH_CHUNKS][4], const struct flash_lane *l, struct gpu_mma_a (*weight)[BACK_STEP / 16],
                       unsigned right, unsigned count)
{
    GPU_UNROLL
    for (unsigned k = 0; k < BACK_STEP / 16; k++) {
        uint32_t b[4];
        GPU_UNROLL
        for (unsigned n = 0; n < FLASH_DEPTH; n++) {
            gpu_load_matrices_turned(b, flash_matrices(right, l->left, n, k));
            GPU_UNROLL
            for (unsigned m = 0; m < count; m++) {
                gpu_mma(out[m][2 * n], weight[m][k], b[0], b[1]);
                gpu_mma(out[m][2 * n + 1], weight[m][k], b[2], b[3]);
            }
        }
    }
}

GPU_CALL void back_clear(float (*out)[FLASH_CHUNKS][4], unsigned count)
{
    GPU_UNROLL
    for (unsigned m = 0; m < count; m++) {
        GPU_UNROLL
        for (unsigned n = 0; n < FLASH_CHUNKS; n++)
            out[m][n][0] = out[m][n][1] = out[m][n][2] = out[m][n][3] = 0;
    }
}

/* 16·count rows of a warp, times a factor, by way of its own rows of shared memory. */
GPU_CALL void back_store(float (*out)[FLASH_CHUNKS][4], const struct flash_lane *l, uint16_t *rows, uint16_t *to,
                         const struct heads *s, unsigned first, float by, unsigned count)
{
    GPU_UNROLL
    for (unsigned m = 0; m < count; m++)
        flash_put(l, rows + 16 * m * FLASH_D, out[m], by, by);
    flash_store(l, rows, 16 * count, to, s->row, first, (unsigned)s->t);
}
