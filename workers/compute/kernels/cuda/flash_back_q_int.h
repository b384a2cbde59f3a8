/* SPDX-License-Identifier: Apache-2.0 */
/* flash_back_q_int.h - attention backward, the kernel for the queries: mean, then dq (flash_back_int.h). */
#pragma once
#include "workers/compute/kernels/cuda/flash_back_int.h"

/* dy·y of a row, in the order of its numbers. */
GPU_CALL float back_dot(const uint16_t *x, const uint16_t *y, unsigned row)
{
    float sum = 0;
    GPU_UNROLL
    for (unsigned n = 0; n < FLASH_CHUNKS; n++) {
        struct flash_quad a = flash_load_quad(x + flash_at(row, n)), b = flash_load_quad(y + flash_at(row, n));
        GPU_UNROLL
        for (unsigned k = 0; k < 4; k++) {
            sum = gpu_fma(gpu_low(a.v[k]), gpu_low(b.v[k]), sum);
            sum = gpu_fma(gpu_high(a.v[k]), gpu_high(b.v[k]), sum);
        }
    }
    return sum;
}

struct back_row {               /* of a thread's rows: log2 of the sum of weights, and mean */
    float sum[BACK_Q_M][2], mean[BACK_Q_M][2];
};

/* BACK_STEP keys: the slopes of the scores, times keys. */
GPU_CALL void back_q_step(float (*dq)[FLASH_CHUNKS][4], const struct flash_lane *l, const struct back_row *r, unsigned q,
                          unsigned dy, unsigned keys, const struct heads *s, unsigned row, unsigned key)
{
    float w[BACK_Q_M][BACK_COLS][4], slope[BACK_Q_M][BACK_COLS][4], c = s->scale * FLASH_LOG2E;
    const struct flash_two two = { { q, dy }, { keys, keys + FLASH_TILE_SIZE } };
    flash_scores_two(&w[0][0][0], &slope[0][0][0], l, &two, BACK_Q_M, BACK_STEP);
    bool is_partly = key + BACK_STEP > s->t || (s->is_causal && key + BACK_STEP - 1 > row);
    GPU_UNROLL
    for (unsigned m = 0; m < BACK_Q_M; m++) {
        GPU_UNROLL
        for (unsigned e = 0; e < 4; e++) {
            unsigned i = row + 16 * m + e / 2 * 8 + l->group, t = (unsigned)s->t, end = s->is_causal && i < t ? i + 1 : t;
            int seen = (int)(end - key - 2 * l->place - e % 2);
            GPU_UNROLL
            for (int n = 0; n < BACK_COLS; n++) {
                float weight = gpu_exp2(gpu_fma(w[m][n][e], c, -r->sum[m][e / 2]));
                if (is_partly)
                    weight = 8 * n < seen ? weight : 0;
                slope[m][n][e] = weight * (slope[m][n][e] - r->mean[m][e / 2]);
            }
        }
    }
    struct gpu_mma_a left[BACK_Q_M * BACK_STEP / 16];
    flash_pack(left, &slope[0][0][0], BACK_Q_M * BACK_STEP / 16);
    flash_add(&dq[0][0][0], l, left, keys, BACK_Q_M, BACK_STEP);
}

/* mean of the block's rows, into shared memory and for the other kernel; and what a thread keeps of its rows. */
GPU_CALL struct back_row back_means(const struct flash_back_args *a, const struct flash_head *at, const struct flash_lane *l,
                                    float *means, const uint16_t *dy, const uint16_t *y, unsigned first)
{
    struct back_row r;
    unsigned thread = gpu_place().thread, t = (unsigned)a->s.t;
    if (thread < BACK_QUERIES) {
        float mean = back_dot(dy, y, thread);
        means[thread] = mean;
        if (first + thread < t)
            a->mean[at->row + first + thread] = mean;
    }
    GPU_BARRIER();
    GPU_UNROLL
    for (unsigned m = 0; m < BACK_Q_M; m++) {
        GPU_UNROLL
        for (unsigned half = 0; half < 2; half++) {
            unsigned i = 16 * (BACK_Q_M * l->warp + m) + 8 * half + l->group;
            r.mean[m][half] = means[i];
            r.sum[m][half] = first + i < t ? a->sums[at->row + first + i] * FLASH_LOG2E : __builtin_inff();
        }
    }
    return r;
}

/* block: tile of queries, head, item. Shared memory: queries, dy, then twice a tile of keys and one of values, then a number for
 * each query; y lies in the second of the two until its first use. */
GPU_CALL void flash_back_q(const struct flash_back_args *a)
{
    GPU_DYNAMIC(uint16_t, room);
    struct gpu_place p = gpu_place();
    const struct heads *s = &a->s;
    const struct flash_lane l = flash_lane();
    unsigned t = (unsigned)s->t, tiles = (t + BACK_QUERIES - 1) / BACK_QUERIES;
    unsigned first = (s->is_causal ? tiles - 1 - p.block[0] : p.block[0]) * BACK_QUERIES, row = first + 16 * BACK_Q_M * l.warp;
    unsigned end = s->is_causal && first + BACK_QUERIES < t ? first + BACK_QUERIES : t;
    const struct flash_head at = flash_head(s, p.block[2], p.block[1]);
    unsigned dy = BACK_QUERIES * FLASH_D, stage = 2 * dy, y = stage + 2 * FLASH_TILE_SIZE, own = 16 * BACK_Q_M * l.warp * FLASH_D;
    float dq[BACK_Q_M][FLASH_CHUNKS][4], *means = (float *)(void *)(room + stage + 4 * FLASH_TILE_SIZE);
    back_clear(dq, BACK_Q_M);
    flash_load(room + dy, a->dy + at.y, s->heads * FLASH_D, first, t, BACK_QUERIES);
    flash_load(room + y, a->y + at.y, s->heads * FLASH_D, first, t, BACK_QUERIES);
    gpu_copy_commit();
    flash_load(room, a->qkv + at.q, s->row, first, t, BACK_QUERIES);
    flash_load_two(room + stage, a->qkv + at.k, s->kv * FLASH_D, s->row, 0, t);
    gpu_copy_commit();
    gpu_copy_wait(1);
    GPU_BARRIER();
    const struct back_row r = back_means(a, &at, &l, means, room + dy, room + y, first);
    for (unsigned key = 0, turn = 0; key < end; key += FLASH_TILE, turn ^= 1) {
        unsigned now = stage + turn * 2 * FLASH_TILE_SIZE, next = stage + (turn ^ 1) * 2 * FLASH_TILE_SIZE;
        gpu_copy_wait(0);
        flash_show();
        GPU_BARRIER();                  /* this tile is there for all, and nobody reads the other any more */
        if (key + FLASH_TILE < end)
            flash_load_two(room + next, a->qkv + at.k, s->kv * FLASH_D, s->row, key + FLASH_TILE, t);
        gpu_copy_commit();
        for (unsigned step = 0; step < FLASH_TILE; step += BACK_STEP)
            if (key + step < t && (!s->is_causal || key + step < row + 16 * BACK_Q_M))
                back_q_step(dq, &l, &r, own, dy + own, now + step * FLASH_D, s, row, key + step);
    }
    GPU_BARRIER();                      /* own rows are written over */
    back_store(dq, &l, room + own, a->dqkv + at.q, s, row, s->scale, BACK_Q_M);
}
