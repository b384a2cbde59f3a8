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
#if !defined(FLASH_WGMMA)
#include "workers/compute/kernels/cuda/flash_mma_int.h"
#endif

enum { BACK_QUERIES = FLASH_THREADS / 2 * BACK_Q_M, BACK_KEYS = FLASH_THREADS / 2 * BACK_K_M, BACK_COLS = BACK_STEP / 8 };

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
