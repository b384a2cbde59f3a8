/* SPDX-License-Identifier: Apache-2.0 */
/* flash_forward_int.h - attention over bf16 on tensor cores, forward: a block takes FLASH_QUERIES queries of a head and walks
 * over keys and values, 64 at a time, with a running largest score (FlashAttention-2: Dao, "Faster Attention with Better
 * Parallelism and Work Partitioning", 2023).
 *
 * Keys and values of the next tile are copied while this one is multiplied. Scores are fp32 in registers and turn, packed, into
 * the left factor of the product with the values. 2^x instead of e^x: the scale takes log2 e. Keys ascend, so the first tile
 * has a key for every query and no row is without one; a warp passes over tiles that lie wholly after its queries. Blocks of
 * the last queries, which walk furthest, come first. Sums have one order, that of keys, whatever the batch. */
#pragma once
#if !defined(FLASH_WGMMA)
#include "workers/compute/kernels/cuda/flash_mma_int.h"
#endif

enum { FLASH_QUERIES = FLASH_THREADS / 2 * FLASH_M, FLASH_COLS = FLASH_TILE / 8 };

/* ln x of a positive normal number: exponent and 2·artanh((m - 1)/(m + 1)), |…| < 0.172. */
GPU_CALL float flash_log(float x)
{
    union gpu_bits32 m;
    m.f = x;
    int exponent = (int)(m.u >> 23) - 127;
    m.u = (m.u & 0x7fffffu) | 0x3f800000u;
    if (m.f > 1.41421356f) {
        m.f *= 0.5f;
        exponent++;
    }
    float s = (m.f - 1) / (m.f + 1), s2 = s * s;
    float sum = gpu_fma(s2, gpu_fma(s2, gpu_fma(s2, gpu_fma(s2, 0.111111111f, 0.142857143f), 0.2f), 0.333333333f), 1.0f);
    return x - x != 0 ? x : gpu_fma((float)exponent, 0.693147181f, 2 * s * sum);
}

struct flash_rows {             /* of a thread: results, largest score so far, sum of weights */
    float out[FLASH_M][FLASH_CHUNKS][4], top[FLASH_M][2], sum[FLASH_M][2];
};

/* Scores into weights; what was summed under a lower top is made smaller. c: scale·log2 e. */
GPU_CALL void flash_weigh(struct flash_rows *r, float (*score)[FLASH_COLS][4], float c)
{
    GPU_UNROLL
    for (unsigned m = 0; m < FLASH_M; m++) {
        GPU_UNROLL
        for (unsigned half = 0; half < 2; half++) {
            float high = r->top[m][half], sum = 0;
            GPU_UNROLL
            for (unsigned n = 0; n < FLASH_COLS; n++)
                high = __builtin_fmaxf(high, __builtin_fmaxf(score[m][n][2 * half], score[m][n][2 * half + 1]));
            high = __builtin_fmaxf(high, GPU_SHUFFLE_XOR(high, 1));
            high = __builtin_fmaxf(high, GPU_SHUFFLE_XOR(high, 2));
            float keep = gpu_exp2((r->top[m][half] - high) * c), base = -high * c;
            r->top[m][half] = high;
            GPU_UNROLL
            for (unsigned n = 0; n < FLASH_COLS; n++) {
                float *at = &score[m][n][2 * half];
                at[0] = gpu_exp2(gpu_fma(at[0], c, base));
                at[1] = gpu_exp2(gpu_fma(at[1], c, base));
                sum += at[0] + at[1];
            }
            r->sum[m][half] = gpu_fma(r->sum[m][half], keep, sum);
            GPU_UNROLL
            for (unsigned n = 0; n < FLASH_CHUNKS; n++) {
                r->out[m][n][2 * half] *= keep;
                r->out[m][n][2 * half + 1] *= keep;
            }
        }
    }
}

/* The numbers of keys, from this tile's first on, that each row sees; other scores become -inf. */
GPU_CALL void flash_hide(float (*score)[FLASH_COLS][4], unsigned row, unsigned key, unsigned t, bool is_causal)
{
    const struct flash_lane l = flash_lane();
    GPU_UNROLL
    for (unsigned m = 0; m < FLASH_M; m++) {
        GPU_UNROLL
        for (unsigned half = 0; half < 2; half++) {
            unsigned i = row + 16 * m + 8 * half + l.group, end = is_causal && i < t ? i + 1 : t;
            int seen = (int)(end - key - 2 * l.place);
            GPU_UNROLL
            for (int n = 0; n < FLASH_COLS; n++) {
                float *at = &score[m][n][2 * half];
                at[0] = 8 * n < seen ? at[0] : -__builtin_inff();
                at[1] = 8 * n + 1 < seen ? at[1] : -__builtin_inff();
            }
        }
    }
}

/* One tile of keys and values for the warp's queries, from `row` on; those lie first in shared memory. */
GPU_CALL void flash_tile(struct flash_rows *r, const struct flash_lane *l, unsigned keys, const struct heads *s, unsigned row,
                         unsigned key)
{
    float score[FLASH_M][FLASH_COLS][4];
    struct gpu_mma_a weight[FLASH_M * FLASH_TILE / 16];
    flash_scores(&score[0][0][0], l, row % FLASH_QUERIES * FLASH_D, keys, FLASH_M, FLASH_TILE, true);
    if (key + FLASH_TILE > s->t || (s->is_causal && key + FLASH_TILE - 1 > row))
        flash_hide(score, row, key, (unsigned)s->t, s->is_causal);
    flash_weigh(r, score, s->scale * FLASH_LOG2E);
    flash_pack(weight, &score[0][0][0], FLASH_M * FLASH_TILE / 16);
    flash_add(&r->out[0][0][0], l, weight, keys + FLASH_TILE_SIZE, FLASH_M, FLASH_TILE);
}

/* Over the sum of each row; the log of that sum, one row a thread. */
GPU_CALL void flash_end(struct flash_rows *r, const struct flash_args *a, unsigned row)
{
    GPU_DYNAMIC(uint16_t, room);
    const struct flash_lane lane = flash_lane(), *l = &lane;
    uint16_t *rows = room + row % FLASH_QUERIES * FLASH_D;
    struct gpu_place p = gpu_place();
    GPU_HIDE(p.block[1]);
    const struct flash_head at = flash_head(&a->s, p.block[2], p.block[1]);
    float mine_top = 0, mine_sum = 1;
    GPU_UNROLL
    for (unsigned m = 0; m < FLASH_M; m++) {
        float by[2];
        GPU_UNROLL
        for (unsigned half = 0; half < 2; half++) {
            float sum = r->sum[m][half], top = r->top[m][half];
            sum += GPU_SHUFFLE_XOR(sum, 1);
            sum += GPU_SHUFFLE_XOR(sum, 2);
            by[half] = 1 / sum;
            mine_top = l->place == 2 * m + half ? top : mine_top;
            mine_sum = l->place == 2 * m + half ? sum : mine_sum;
        }
        flash_put(l, rows + 16 * m * FLASH_D, r->out[m], by[0], by[1]);
    }
    flash_store(l, rows, 16 * FLASH_M, a->y + at.y, a->s.heads * FLASH_D, row, (unsigned)a->s.t);
    unsigned i = row + l->place / 2 * 16 + l->place % 2 * 8 + l->group;
    if (a->sums && l->place < 2 * FLASH_M && i < a->s.t)
        a->sums[at.row + i] = gpu_fma(mine_top, a->s.scale, flash_log(mine_sum));
}

/* block: tile of queries, head, item. Shared memory: queries, then twice a tile of keys and one of values. */
GPU_CALL void flash_forward(const struct flash_args *a)
{
    GPU_DYNAMIC(uint16_t, room);
    struct gpu_place p = gpu_place();
    const struct heads *s = &a->s;
    const struct flash_lane l = flash_lane();
    unsigned t = (unsigned)s->t, tiles = (t + FLASH_QUERIES - 1) / FLASH_QUERIES;
    unsigned first = (s->is_causal ? tiles - 1 - p.block[0] : p.block[0]) * FLASH_QUERIES;
    unsigned end = s->is_causal && first + FLASH_QUERIES < t ? first + FLASH_QUERIES : t;
    const struct flash_head at = flash_head(s, p.block[2], p.block[1]);
    unsigned row = first + 16 * FLASH_M * l.warp, stage = FLASH_QUERIES * FLASH_D;
    struct flash_rows r;
    GPU_UNROLL
    for (unsigned m = 0; m < FLASH_M; m++) {
        r.top[m][0] = r.top[m][1] = -__builtin_inff();
        r.sum[m][0] = r.sum[m][1] = 0;
        GPU_UNROLL
        for (unsigned n = 0; n < FLASH_CHUNKS; n++)
            r.out[m][n][0] = r.out[m][n][1] = r.out[m][n][2] = r.out[m][n][3] = 0;
    }
    flash_load(room, a->qkv + at.q, s->row, first, t, FLASH_QUERIES);
    flash_load_two(room + stage, a->qkv + at.k, s->kv * FLASH_D, s->row, 0, t);
    gpu_copy_commit();
    for (unsigned key = 0; key < end; key += FLASH_TILE) {
        unsigned turn = key / FLASH_TILE % 2, now = stage + turn * 2 * FLASH_TILE_SIZE;
        unsigned next = stage + (turn ^ 1) * 2 * FLASH_TILE_SIZE;
        gpu_copy_wait(0);
        flash_show();
        GPU_BARRIER();                  /* this tile is there for all, and nobody reads the other any more */
        if (key + FLASH_TILE < end)
            flash_load_two(room + next, a->qkv + at.k, s->kv * FLASH_D, s->row, key + FLASH_TILE, t);
        gpu_copy_commit();
        if (!s->is_causal || key < row + 16 * FLASH_M)
            flash_tile(&r, &l, now, s, row, key);
    }
    GPU_BARRIER();                      /* own rows are written over */
    flash_end(&r, a, row);
}
