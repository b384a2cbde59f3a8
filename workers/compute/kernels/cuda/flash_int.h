/* SPDX-License-Identifier: Apache-2.0 */
/* flash_int.h - what attention over bf16 on tensor cores is written with (flash_forward_int.h, flash_back_int.h): tiles in shared
 * memory and fragments of gpu_mma. FLASH_D, the width of a head, is said by the file that includes it.
 *
 * A block is four warps. A tile is rows of one head, FLASH_D numbers each; the 16 bytes number c of row r lie at place
 * c ^ r % 8 of its row, so the eight rows of a matrix that gpu_load_matrices reads at once meet 32 different banks. A warp
 * owns whole rows of results: 16·m of them, of which thread (group, place) has rows group and group + 8 of each 16, and
 * columns 2·place and the next of each 8. So a row is folded by the four threads of a group, and what one product gives
 * is, packed, the left factor of the next without passing through memory. Source of the fragments: PTX ISA, "Matrix
 * Fragments for mma.m16n8k16 with floating point type". */
#pragma once
#include "workers/compute/kernels/cuda/args.h"
#include "workers/compute/kernels/cuda/gpu_math.h"

#ifndef FLASH_D
#define FLASH_D 64
#endif
enum {
    FLASH_THREADS = 128,
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

GPU_CALL struct flash_lane flash_lane(void)
{
    struct gpu_place p = gpu_place();
    struct flash_lane l;
    l.warp = p.thread / GPU_WARP;
    l.lane = p.thread % GPU_WARP;
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
    unsigned thread = gpu_place().thread, row = thread / FLASH_CHUNKS, chunk = thread % FLASH_CHUNKS;
    const uint16_t *at = from + (size_t)(first + row) * stride + 8 * chunk;
    uint16_t *to = tile + flash_at(row, chunk);
        size_t step = FLASH_AT_ONCE * stride;
    GPU_UNROLL
    for (unsigned r = 0; r < rows; r += FLASH_AT_ONCE, at += step)
        gpu_copy16_async(to + r * FLASH_D, at, first + row + r < t);
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

/* Results of a product, columns 16·k and on of them, as a left factor of the next one. */
GPU_CALL struct gpu_mma_a flash_pack(float (*sum)[4], unsigned k)
{
    struct gpu_mma_a a;
    a.v[0] = gpu_pack(sum[2 * k][0], sum[2 * k][1]);
    a.v[1] = gpu_pack(sum[2 * k][2], sum[2 * k][3]);
    a.v[2] = gpu_pack(sum[2 * k + 1][0], sum[2 * k + 1][1]);
    a.v[3] = gpu_pack(sum[2 * k + 1][2], sum[2 * k + 1][3]);
    return a;
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
