/* SPDX-License-Identifier: Apache-2.0 */
/* half_int.h - the tile of products whose factors are bf16, on tensor cores: 64 × 64 results of a block of 256 threads, 16 of the
 * depth at a time; each of its eight warps makes 16 × 32 of them by four mma.m16n8k16 (gpu_mma).
 *
 * Factors are rounded to nearest even where they are loaded, sums are fp32. In shared memory a row of a, or a column of
 * b, has its 16 numbers of the depth side by side, HALF_PITCH apart, so that a pair is one load and the 32 loads of a
 * warp meet 32 banks. A result is a chain of sums of 16 products over ascending k: a row has the same bits in any
 * batch. Loads and ends are said as in product_int.h. Source of the fragments: PTX ISA, "Matrix Fragments for
 * mma.m16n8k16 with floating point type". */
#pragma once
#include "workers/compute/kernels/cuda/gpu_math.h"

enum { HALF = 64, HALF_K = 16, HALF_PITCH = 24, HALF_COLS = 4 };

struct half_tile {
    size_t row, col;            /* first of the block */
    unsigned r, c;              /* first of the warp, in the tile */
    unsigned group, place;      /* of the thread in its warp: eight groups of four */
    float sum[HALF_COLS][4];    /* by eight columns: rows group and group + 8, columns 2·place and the next */
};

GPU_CALL struct half_tile half_begin(void)
{
    struct gpu_place p = gpu_place();
    unsigned warp = p.thread / GPU_WARP, lane = p.thread % GPU_WARP;
    struct half_tile t;
    t.row = (size_t)p.block[0] * HALF;
    t.col = (size_t)p.block[1] * HALF;
    t.r = warp % 4 * 16;
    t.c = warp / 4 * 32;
    t.group = lane / 4;
    t.place = lane % 4;
    for (int n = 0; n < HALF_COLS; n++)
        for (int e = 0; e < 4; e++)
            t.sum[n][e] = 0;
    return t;
}

#define HALF_ROOM                                       \
    GPU_SHARED(uint16_t, at_a, HALF * HALF_PITCH);      \
    GPU_SHARED(uint16_t, at_b, HALF * HALF_PITCH)

GPU_CALL uint32_t half_pair(const uint16_t *at, unsigned row, unsigned k)
{
    return gpu_load_pair(at + row * HALF_PITCH + k);
}

GPU_CALL void half_step(struct half_tile *t, const uint16_t *at_a, const uint16_t *at_b)
{
    unsigned row = t->r + t->group, k = 2 * t->place;
    struct gpu_mma_a a;
    a.v[0] = half_pair(at_a, row, k);
    a.v[1] = half_pair(at_a, row + 8, k);
    a.v[2] = half_pair(at_a, row, k + 8);
    a.v[3] = half_pair(at_a, row + 8, k + 8);
    for (int n = 0; n < HALF_COLS; n++) {
        unsigned col = t->c + 8 * (unsigned)n + t->group;
        gpu_mma(t->sum[n], a, half_pair(at_b, col, k), half_pair(at_b, col, k + 8));
    }
}

#define HALF_RUN(t, m, n, depth, a_by_k, b_by_k, load_a, load_b)                                        \
    for (size_t from = 0; from < (depth); from += HALF_K) {                                             \
        for (unsigned e = gpu_place().thread; e < HALF * HALF_K; e += gpu_place().threads) {            \
            unsigned ka = (a_by_k) ? e % HALF_K : e / HALF, ia = (a_by_k) ? e / HALF_K : e % HALF;      \
            unsigned kb = (b_by_k) ? e % HALF_K : e / HALF, jb = (b_by_k) ? e / HALF_K : e % HALF;      \
            size_t i = (t).row + ia, j = (t).col + jb, k = from + ka;                                   \
            at_a[ia * HALF_PITCH + ka] = gpu_bf16(i < (m) && k < (depth) ? (load_a) : 0);               \
            k = from + kb;                                                                              \
            at_b[jb * HALF_PITCH + kb] = gpu_bf16(j < (n) && k < (depth) ? (load_b) : 0);               \
        }                                                                                               \
        GPU_BARRIER();                                                                                  \
        half_step(&(t), at_a, at_b);                                                                    \
        GPU_BARRIER();                                                                                  \
    }

/* A statement in i, j and *sum for each result of the thread: what it begins with, or where it goes. */
#define HALF_EACH(t, m, n, each)                                                        \
    GPU_UNROLL                                                                          \
    for (int u = 0; u < HALF_COLS; u++) {                                               \
        GPU_UNROLL                                                                      \
        for (int v = 0; v < 4; v++) {                                                   \
            size_t i = (t).row + (t).r + (t).group + (v >= 2 ? 8 : 0);                  \
            size_t j = (t).col + (t).c + 8 * (size_t)u + 2 * (t).place + (v & 1);       \
            float *sum = &(t).sum[u][v];                                                \
            if (i < (m) && j < (n)) {                                                   \
                each;                                                                   \
            }                                                                           \
        }                                                                               \
    }
