/* SPDX-License-Identifier: Apache-2.0 */
/* flash_back_kv_int.h - attention backward, the kernel for the keys: dk and dv (flash_back_int.h). */
#pragma once
#include "workers/compute/kernels/cuda/flash_back_int.h"

/* BACK_STEP queries. rows: log2 of the sum of weights of each of a tile, then their means. */
GPU_CALL void back_kv_step(float (*dk)[FLASH_CHUNKS][4], float (*dv)[FLASH_CHUNKS][4], const struct flash_lane *l,
                           unsigned keys, unsigned queries, const float *rows,
                           const struct heads *s, unsigned key, unsigned query)
{
    unsigned dy = queries + FLASH_TILE_SIZE, values = keys + BACK_KEYS * FLASH_D;
    float w[BACK_K_M][BACK_COLS][4], c = s->scale * FLASH_LOG2E;
    flash_scores(&w[0][0][0], l, keys, queries, BACK_K_M, BACK_STEP, true);
    int hidden = (int)(key + l->group - query - 2 * l->place);         /* queries of this step that come before key 0 */
    bool is_partly = s->is_causal && query < key + 16 * BACK_K_M - 1;
    GPU_UNROLL
    for (int n = 0; n < BACK_COLS; n++) {
        GPU_UNROLL
        for (unsigned e = 0; e < 4; e++) {
            float sum = rows[8 * n + 2 * l->place + e % 2];
            GPU_UNROLL
            for (unsigned m = 0; m < BACK_K_M; m++) {
                float weight = gpu_exp2(gpu_fma(w[m][n][e], c, -sum));
                if (is_partly)
                    weight = 8 * n + (int)(e % 2) < hidden + (int)(16 * m + e / 2 * 8) ? 0 : weight;
                w[m][n][e] = weight;
            }
        }
    }
    struct gpu_mma_a left[BACK_K_M * BACK_STEP / 16];
    flash_pack(left, &w[0][0][0], BACK_K_M * BACK_STEP / 16);
    const struct flash_two two = { { 0, values }, { dy, dy } };
    flash_add_scores(&dv[0][0][0], &w[0][0][0], l, left, &two, BACK_K_M, BACK_STEP);
    GPU_UNROLL
    for (int n = 0; n < BACK_COLS; n++) {
        GPU_UNROLL
        for (unsigned e = 0; e < 4; e++) {
            float mean = rows[FLASH_TILE + 8 * n + 2 * l->place + e % 2];
            GPU_UNROLL
            for (unsigned m = 0; m < BACK_K_M; m++) {
                uint32_t pair = left[m * BACK_STEP / 16 + (unsigned)n / 2].v[(unsigned)n % 2 * 2 + e / 2];
                w[m][n][e] = (e % 2 ? gpu_high(pair) : gpu_low(pair)) * (w[m][n][e] - mean);
            }
        }
    }
    flash_pack(left, &w[0][0][0], BACK_K_M * BACK_STEP / 16);
    flash_add(&dk[0][0][0], l, left, queries, BACK_K_M, BACK_STEP);
}

/* What thread i keeps of a tile of queries: the log of row i, or the mean of row i - FLASH_TILE. */
GPU_CALL float back_number(const struct flash_back_args *a, size_t row, unsigned first)
{
    unsigned thread = gpu_place().thread, i = first + thread % FLASH_TILE;
    if (i >= a->s.t)
        return thread < FLASH_TILE ? __builtin_inff() : 0;
    return thread < FLASH_TILE ? a->sums[row + i] * FLASH_LOG2E : a->mean[row + i];
}

GPU_CALL void back_load_queries(const struct flash_back_args *a, const struct flash_head *at, uint16_t *to, unsigned first)
{
    flash_load(to, a->qkv + at->q, a->s.row, first, (unsigned)a->s.t, FLASH_TILE);
    flash_load(to + FLASH_TILE_SIZE, a->dy + at->y, a->s.heads * FLASH_D, first, (unsigned)a->s.t, FLASH_TILE);
}

/* block: tile of keys, head of keys, item. Shared memory: keys, values, then twice a tile of queries and one of dy, then twice
 * two numbers for each query. */
GPU_CALL void flash_back_kv(const struct flash_back_args *a)
{
    GPU_DYNAMIC(uint16_t, room);
    struct gpu_place p = gpu_place();
    const struct heads *s = &a->s;
    const struct flash_lane l = flash_lane();
    unsigned t = (unsigned)s->t, share = (unsigned)(s->heads / s->kv), first = p.block[0] * BACK_KEYS;
    unsigned begin = s->is_causal ? first / FLASH_TILE * FLASH_TILE : 0, key = first + 16 * BACK_K_M * l.warp;
    struct flash_head at = flash_head(s, p.block[2], (size_t)p.block[1] * share);
    unsigned values = BACK_KEYS * FLASH_D, stage = 2 * values, own = 16 * BACK_K_M * l.warp * FLASH_D;
    float dk[BACK_K_M][FLASH_CHUNKS][4], dv[BACK_K_M][FLASH_CHUNKS][4];
    float *rows = (float *)(void *)(room + stage + 4 * FLASH_TILE_SIZE);
    back_clear(dk, BACK_K_M);
    back_clear(dv, BACK_K_M);
    flash_load(room, a->qkv + at.k, s->row, first, t, BACK_KEYS);
    flash_load(room + values, a->qkv + at.v, s->row, first, t, BACK_KEYS);
    back_load_queries(a, &at, room + stage, begin);
    gpu_copy_commit();
    rows[p.thread] = back_number(a, at.row, begin);
    for (unsigned query = begin, turn = 0; share;) {
        unsigned now = stage + turn * 2 * FLASH_TILE_SIZE;
        unsigned next = query + FLASH_TILE;
        float number = 0;
        gpu_copy_wait(0);
        flash_show();
        GPU_BARRIER();                  /* this tile is there for all, and nobody reads the other any more */
        if (next >= t) {                /* the next head of those that share the keys */
            next = begin;
            share--;
            at.q += FLASH_D;
            at.y += FLASH_D;
            at.row += t;
        }
        if (share) {
            back_load_queries(a, &at, room + stage + (turn ^ 1) * 2 * FLASH_TILE_SIZE, next);
            number = back_number(a, at.row, next);
        }
        gpu_copy_commit();
        for (unsigned step = 0; step < FLASH_TILE; step += BACK_STEP)
            if (query + step < t && (!s->is_causal || query + step + BACK_STEP > key))
                back_kv_step(dk, dv, &l, own, now + step * FLASH_D, rows + turn * 2 * FLASH_TILE + step, s, key,
                             query + step);
        turn ^= 1;
        rows[turn * 2 * FLASH_TILE + p.thread] = number;
        query = next;
    }
    GPU_BARRIER();                      /* own rows are written over */
    at = flash_head(s, p.block[2], (size_t)p.block[1] * (s->heads / s->kv));
    back_store(dk, &l, room + own, a->dqkv + at.k, s, key, s->scale, BACK_K_M);
    back_store(dv, &l, room + values + own, a->dqkv + at.v, s, key, 1, BACK_K_M);
}
