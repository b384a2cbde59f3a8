/* SPDX-License-Identifier: Apache-2.0 */
/* product_int.h - the tile of all products: 64 × 64 results of a block of 256 threads, 4 × 4 of each, 16 of the depth at a time.
 *
 * A result is one chain of fused multiply-adds over ascending k, whatever the tile: a row has the same bits in any batch. What is
 * multiplied is said by two loads of single numbers, so that a convolution is the same text with other loads. Include once per
 * file; a kernel declares TILE_ROOM, then uses TILE_RUN. */
#pragma once
#include "workers/compute/kernels/cuda/gpu_math.h"

enum { TILE = 64, TILE_K = 16, TILE_EACH = 4, TILE_SIDE = TILE / TILE_EACH };

struct tile {
    size_t row, col;            /* first of the block */
    unsigned r, c;              /* first of this thread, in the tile */
    float sum[TILE_EACH][TILE_EACH];
};

GPU_CALL struct tile tile_begin(void)
{
    struct gpu_place p = gpu_place();
    struct tile t;
    t.row = (size_t)p.block[0] * TILE;
    t.col = (size_t)p.block[1] * TILE;
    t.r = p.thread / TILE_SIDE * TILE_EACH;
    t.c = p.thread % TILE_SIDE * TILE_EACH;
    for (int i = 0; i < TILE_EACH; i++)
        for (int j = 0; j < TILE_EACH; j++)
            t.sum[i][j] = 0;
    return t;
}

#define TILE_ROOM                                   \
    GPU_SHARED(float, at_a, TILE_K * TILE);         \
    GPU_SHARED(float, at_b, TILE_K * TILE)

GPU_CALL void tile_step(struct tile *t, const float *at_a, const float *at_b)
{
    for (int k = 0; k < TILE_K; k++) {
        struct gpu_four a = gpu_load4(at_a + k * TILE + t->r), b = gpu_load4(at_b + k * TILE + t->c);
        for (int i = 0; i < TILE_EACH; i++)
            for (int j = 0; j < TILE_EACH; j++)
                t->sum[i][j] = gpu_fma(a.v[i], b.v[j], t->sum[i][j]);
    }
}

/* load_a(i, k) and load_b(k, j): expressions in i, k, j that are asked for inside m, n, depth only; a_by_k, b_by_k: neighbours in
 * memory are neighbours in k, and so are the threads that load them. */
#define TILE_RUN(t, m, n, depth, a_by_k, b_by_k, load_a, load_b)                                        \
    for (size_t from = 0; from < (depth); from += TILE_K) {                                             \
        for (unsigned e = gpu_place().thread; e < TILE * TILE_K; e += gpu_place().threads) {            \
            unsigned ka = (a_by_k) ? e % TILE_K : e / TILE, ia = (a_by_k) ? e / TILE_K : e % TILE;      \
            unsigned kb = (b_by_k) ? e % TILE_K : e / TILE, jb = (b_by_k) ? e / TILE_K : e % TILE;      \
            size_t i = (t).row + ia, j = (t).col + jb, k = from + ka;                                   \
            at_a[ka * TILE + ia] = i < (m) && k < (depth) ? (load_a) : 0;                               \
            k = from + kb;                                                                              \
            at_b[kb * TILE + jb] = j < (n) && k < (depth) ? (load_b) : 0;                               \
        }                                                                                               \
        GPU_BARRIER();                                                                                  \
        tile_step(&(t), at_a, at_b);                                                                    \
        GPU_BARRIER();                                                                                  \
    }

/* What the chains begin with: `first` of i, j. */
#define TILE_FIRST(t, m, n, first)                                      \
    for (int u = 0; u < TILE_EACH; u++)                                 \
        for (int v = 0; v < TILE_EACH; v++) {                           \
            size_t i = (t).row + (t).r + u, j = (t).col + (t).c + v;    \
            if (i < (m) && j < (n))                                     \
                (t).sum[u][v] = (first);                                \
        }

/* end: a statement in i, j and sum for each result of the thread. */
#define TILE_END(t, m, n, end)                                          \
    for (int u = 0; u < TILE_EACH; u++)                                 \
        for (int v = 0; v < TILE_EACH; v++) {                           \
            size_t i = (t).row + (t).r + u, j = (t).col + (t).c + v;    \
            float sum = (t).sum[u][v];                                  \
            if (i < (m) && j < (n)) {                                   \
                end;                                                    \
            }                                                           \
        }
