/* SPDX-License-Identifier: Apache-2.0 */
/* flash_int.h - what attention over bf16 on tensor cores is written with (flash_forward_int.h, flash_back_int.h): tiles
 * in shared memory and fragments of results. FLASH_D, the width of a head, and FLASH_THREADS of a block are said by the
 * file that includes it.
 *
 * A tile is rows of one head, FLASH_D numbers each; the 16 bytes number c of row r lie at place c ^ r % 8 of its row, so
 * the eight rows of a matrix that gpu_load_matrices reads at once meet 32 different banks. A warp owns whole rows of
 * results: 16·m of them, of which thread (group, place) has rows group and group + 8 of each 16, and columns 2·place and
 * the next of each 8. So a row is folded by the four threads of a group, and what one product gives is, packed, the left
 * factor of the next without passing through memory. Source of the fragments: PTX ISA, "Matrix Fragments for
 * mma.m16n8k16 with floating point type". */
#pragma once
#include "workers/compute/kernels/cuda/args.h"
#include "workers/compute/kernels/cuda/gpu_math.h"

#ifndef FLASH_D
#define FLASH_D 64
#endif
#ifndef FLASH_THREADS
#define FLASH_THREADS 128
#endif
enum {
    FLASH_CHUNKS = FLASH_D / 8,                         /* of 16 bytes in a row */
    FLASH_DEPTH = FLASH_D / 16,                         /* steps of gpu_mma along a row */
    FLASH_AT_ONCE = FLASH_THREADS / FLASH_CHUNKS,       /* rows that a block copies at a time */
    FLASH_TILE = 64,                                    /* rows of what streams by: keys and values, or queries and dy */
    FLASH_TILE_SIZE = FLASH_TILE * FLASH_D
};
#define FLASH_LOG2E 1.44269504f

struct flash_lane {
    unsigned warp, lane, group, place;
    unsigned left;              /* where this lane's row of matrices lies in 16 rows: of a left factor, or of a right */
    unsigned right;             /* one by rows of the depth (turned); of a right factor by rows of the results' columns */
};

GPU_CALL unsigned flash_at(unsigned row, unsigned chunk)
{
    return row * FLASH_D + (chunk ^ (row & 7)) * 8;
}

/* Once before a loop, and anew where little of it is asked for: the compiler keeps none of it from one to the other. */
GPU_CALL struct flash_lane flash_lane(void)
{
    unsigned thread = gpu_place().thread;
    struct flash_lane l;
    GPU_HIDE(thread);
    l.warp = thread / GPU_WARP;
    l.lane = thread % GPU_WARP;
    l.group = l.lane / 4;
    l.place = l.lane % 4;
    l.left = flash_at(l.lane % 16, l.lane / 16);
    l.right = flash_at(l.lane % 8 + l.lane / 16 * 8, l.lane / 8 % 2);
    return l;
}

/* `rows` rows from number `first` of a head whose token 0 is `from`; past token t: zeros. */
GPU_CALL void flash_load(uint16_t *tile, const uint16_t *from, size_t stride, unsigned first, unsigned t,
                         unsigned rows)
{
    unsigned thread = gpu_place().thread;
    GPU_HIDE(thread);                   /* what follows would hold registers through the loop around it */
    unsigned chunk = thread % FLASH_CHUNKS, row = thread / FLASH_CHUNKS, step = FLASH_AT_ONCE * (unsigned)stride;
    uint16_t *to = tile + flash_at(row, chunk);
    row += first;
    const uint16_t *at = from + (row * stride + 8 * chunk);
    GPU_HIDE(step);
    GPU_UNROLL
    for (unsigned r = 0; r < rows; r += FLASH_AT_ONCE, at += step)
        gpu_copy16_async(to + r * FLASH_D, at, row + r < t);
}

/* The same of keys, and of values behind them; they lie `apart` from each other. */
GPU_CALL void flash_load_two(uint16_t *tile, const uint16_t *from, size_t apart, size_t stride, unsigned first, unsigned t)
{
    unsigned there = (unsigned)apart;
    GPU_HIDE(there);
    flash_load(tile, from, stride, first, t, FLASH_TILE);
    flash_load(tile + FLASH_TILE_SIZE, from + there, stride, first, t, FLASH_TILE);
}

/* Results of a product, 16 · columns of them at a time, as left factors of the next one. */
GPU_CALL void flash_pack(struct gpu_mma_a *to, const float *sum, unsigned count)
{
    GPU_UNROLL
    for (unsigned k = 0; k < count; k++) {
        GPU_UNROLL
        for (unsigned i = 0; i < 4; i++)
            to[k].v[i] = gpu_pack(sum[8 * k + 2 * i], sum[8 * k + 2 * i + 1]);
    }
}

struct __attribute__((aligned(16), may_alias)) flash_quad {
    uint32_t v[4];
};
GPU_CALL struct flash_quad flash_load_quad(const uint16_t *at)
{
    return *(const struct flash_quad *)(const void *)at;
}
GPU_CALL void flash_store_quad(uint16_t *at, struct flash_quad v)
{
    *(struct flash_quad *)(void *)at = v;
}

/* 16 rows of results, times a factor for each of a thread's two rows, into the warp's own rows of shared memory. */
GPU_CALL void flash_put(const struct flash_lane *l, uint16_t *rows, float (*sum)[4], float above, float below)
{
    GPU_UNROLL
    for (unsigned n = 0; n < FLASH_CHUNKS; n++) {
        gpu_pair *at = (gpu_pair *)(void *)(rows + flash_at(l->group, n) + 2 * l->place);
        at[0] = gpu_pack(sum[n][0] * above, sum[n][1] * above);
        at[8 * FLASH_D / 2] = gpu_pack(sum[n][2] * below, sum[n][3] * below);
    }
}

/* The warp's own rows of shared memory, `rows` of them, to tokens `first` and on of a head; none past token t. */
GPU_CALL void flash_store(const struct flash_lane *l, const uint16_t *tile, unsigned rows, uint16_t *to, size_t stride,
                          unsigned first, unsigned t)
{
    unsigned row = l->lane / FLASH_CHUNKS, chunk = l->lane % FLASH_CHUNKS;
    gpu_warp_barrier();
    GPU_UNROLL
    for (unsigned r = 0; r < rows; r += GPU_WARP / FLASH_CHUNKS)
        if (first + row + r < t)
            flash_store_quad(to + (size_t)(first + row + r) * stride + 8 * chunk,
                             flash_load_quad(tile + flash_at(row + r, chunk)));
}

struct flash_head {             /* one head of one item: where its token 0 begins, in qkv and in y */
    size_t q, k, v, y, row;     /* row: of sums and mean */
};
GPU_CALL struct flash_head flash_head(const struct heads *s, size_t n, size_t h)
{
    size_t item = n * s->t * s->row, group = h / (s->heads / s->kv);
    struct flash_head at;
    at.q = item + h * FLASH_D;
    at.k = item + (s->heads + group) * FLASH_D;
    at.v = item + (s->heads + s->kv + group) * FLASH_D;
    at.y = n * s->t * s->heads * FLASH_D + h * FLASH_D;
    at.row = (n * s->heads + h) * s->t;
    return at;
}
