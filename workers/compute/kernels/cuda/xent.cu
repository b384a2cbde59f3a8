/* SPDX-License-Identifier: Apache-2.0 */
/* xent.cu - cross entropy and its gradient of logits in bf16, whose rows fit into shared memory: a vocabulary's. Others: rows.cu. */
#include "workers/compute/kernels/cuda/numbers_int.h"

#define LOG2E 1.44269504f
enum { XENT_TURN = 4, XENT_TURNS = 4 };         /* of 512 threads, eight logits each: 65,536 */

/* The largest so far and Σ exp(x - largest), of eight more. */
GPU_CALL void xent_more(struct numbers_pairs4 pairs, float *top, float *sum)
{
    struct eight x = numbers_widen8(pairs);
    float higher = x.v[0], add = 0;
    GPU_UNROLL
    for (int l = 1; l < 8; l++)
        higher = x.v[l] > higher ? x.v[l] : higher;
    if (higher > *top) {
        *sum *= gpu_exp2((*top - higher) * LOG2E);
        *top = higher;
    }
    GPU_UNROLL
    for (int l = 0; l < 8; l++)
        add += gpu_exp2((x.v[l] - *top) * LOG2E);
    *sum += add;
}

/* A row of bf16 that shared memory holds: each logit is read once, and written once. A thread copies and looks at
 * XENT_TURN·XENT_TURNS eights at most, turn by turn while the later ones are under way, with a largest of its own (Milakov &
 * Gimelshein, "Online normalizer calculation for softmax", 2018). */
GPU_KERNEL(xent_kept, struct xent_args, a)
{
    GPU_DYNAMIC(struct numbers_pairs4, kept);
    GPU_SHARED(float, room, GPU_WARP);
    struct gpu_place p = gpu_place();
    const struct numbers_pairs4 *from = (const struct numbers_pairs4 *)(const void *)((const uint16_t *)a.x.at
                                                                                      + p.block[0] * a.x_stride);
    size_t label = (size_t)a.label[p.block[0]], eights = a.cols / 8;
    float top = -__builtin_inff(), sum = 0, weight = (float)((a.step ? a.step->loss_scale : 1.0) / (double)a.rows);
    GPU_UNROLL
    for (unsigned turn = 0; turn < XENT_TURNS; turn++) {
        for (unsigned u = 0; u < XENT_TURN; u++) {
            size_t e = (turn * XENT_TURN + u) * p.threads + p.thread;
            if (e < eights)
                gpu_copy16_async(&kept[e], &from[e], true);
        }
        gpu_copy_commit();
    }
#define XENT_LOOK(turn)                                                                 \
    gpu_copy_wait(XENT_TURNS - 1 - (turn));                                             \
    for (unsigned u = 0; u < XENT_TURN; u++) {                                          \
        size_t e = ((turn) * XENT_TURN + u) * (size_t)p.threads + p.thread;             \
        if (e < eights)                                                                 \
            xent_more(kept[e], &top, &sum);                                             \
    }
    XENT_LOOK(0) XENT_LOOK(1) XENT_LOOK(2) XENT_LOOK(3)
#undef XENT_LOOK
    float mine = top;
    top = gpu_block_fold(top, room, true);
    sum *= gpu_exp2((mine - top) * LOG2E);
    sum = gpu_block_fold(sum, room, false);
    if (p.thread == 0) {
        float picked = numbers_widen(((const uint16_t *)(const void *)kept)[label]);
        a.loss[p.block[0]] = (double)top + gpu_log((double)sum) - (double)picked;
    }
    if (!a.dx.at)
        return;
    struct numbers dx = numbers_from(a.dx, p.block[0] * a.dx_stride);
    float share = weight / sum;
    for (size_t e = p.thread; e < eights; e += p.threads) {
        struct eight x = numbers_widen8(kept[e]);
        GPU_UNROLL
        for (int l = 0; l < 8; l++)
            x.v[l] = gpu_exp2((x.v[l] - top) * LOG2E) * share - (8 * e + (unsigned)l == label ? weight : 0);
        eight_put(dx, 8 * e, x);
    }
}
