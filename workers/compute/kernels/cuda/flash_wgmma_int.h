/* SPDX-License-Identifier: Apache-2.0 */
/* flash_wgmma_int.h - the two kinds of products of attention (flash_int.h) by wgmma, for cards of compute capability 9.0
 * and heads of 64 numbers: four warps together, 64 rows; flash_mma_int.h is the twin.
 *
 * Results and left factors in registers lie as those of gpu_mma do, warp by warp; a tile in shared memory lies as the
 * unit asks for it: rows of 128 bytes at multiples of 1,024, the 16 bytes number c of row r at c ^ r % 8. A right factor
 * by rows of the results' columns is "K-major", one by rows of the depth "MN-major" (turned). Source: PTX ISA,
 * "Asynchronous warpgroup level matrix multiply-accumulate". */
#pragma once
#define FLASH_WGMMA 1
#include "workers/compute/kernels/cuda/flash_int.h"

enum { FLASH_M = 1, BACK_Q_M = 1, BACK_K_M = 1, BACK_STEP = 64 };

#if defined(__CUDA__) || defined(__CUDACC__)
/* How the unit finds a matrix: its address, 1,024 bytes from 8 rows to the next, a swizzle of 128 bytes. */
GPU_CALL uint64_t wgmma_matrix(unsigned at)
{
    GPU_DYNAMIC(const uint16_t, room);
    return (uint64_t)((GPU_SHARED_AT(room + at) & 0x3ffffu) >> 4) | (uint64_t)1 << 16 | (uint64_t)(1024 >> 4) << 32
           | (uint64_t)1 << 62;
}
#define WGMMA_REGS                                                                                                      \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                                          \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}"
#define WGMMA_4(d, i) "+f"((d)[i]), "+f"((d)[i + 1]), "+f"((d)[i + 2]), "+f"((d)[i + 3])
#define WGMMA_32(d)                                                                                                     \
    WGMMA_4(d, 0), WGMMA_4(d, 4), WGMMA_4(d, 8), WGMMA_4(d, 12), WGMMA_4(d, 16), WGMMA_4(d, 20), WGMMA_4(d, 24), WGMMA_4(d, 28)
GPU_CALL void wgmma_scores(float *d, unsigned left, unsigned right, bool adds)
{
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %34, 0;"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " WGMMA_REGS ", %32, %33, p, 1, 1, 0, 0; }"
                 : WGMMA_32(d) : "l"(wgmma_matrix(left)), "l"(wgmma_matrix(right)), "r"((int)adds));
}
GPU_CALL void wgmma_add(float *d, struct gpu_mma_a a, unsigned right)
{
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %37, 0;"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " WGMMA_REGS ", {%32, %33, %34, %35}, %36, p, 1, 1, 1; }"
                 : WGMMA_32(d) : "r"(a.v[0]), "r"(a.v[1]), "r"(a.v[2]), "r"(a.v[3]), "l"(wgmma_matrix(right)), "r"(1));
}
#define wgmma_begin() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
/* All that was begun is there; nothing that reads it moves up past this. */
GPU_CALL void wgmma_end(float *d)
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" : WGMMA_32(d) :: "memory");
}
GPU_CALL void wgmma_hold(float *d)
{
    asm volatile("" : WGMMA_32(d) :: "memory");
}
#define wgmma_show() asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
#else
void wgmma_scores(float *d, unsigned left, unsigned right, bool adds);
void wgmma_add(float *d, struct gpu_mma_a a, unsigned right);
#define wgmma_begin() ((void)0)
#define wgmma_end(d) ((void)(d))
#define wgmma_hold(d) ((void)(d))
#define wgmma_show() ((void)0)
#endif

/* Before the barrier after which products read what was copied. */
GPU_CALL void flash_show(void)
{
    wgmma_show();
}

/* `left` lies in the 64 rows of the four warps. */
GPU_CALL void flash_scores_of(float *sum, unsigned left, unsigned right)
{
    GPU_UNROLL
    for (unsigned k = 0; k < FLASH_DEPTH; k++)
        wgmma_scores(sum, left / FLASH_TILE_SIZE * FLASH_TILE_SIZE + 16 * k, right + 16 * k, k > 0);
}

GPU_CALL void flash_add_of(float *out, const struct gpu_mma_a *weight, unsigned right)
{
    GPU_UNROLL
    for (unsigned k = 0; k < FLASH_TILE / 16; k++)
        wgmma_add(out, weight[k], right + 16 * k * FLASH_D);
}

/* What follows is as flash_mma_int.h's; two products are waited for once. */
GPU_CALL void flash_scores(float *sum, const struct flash_lane *l, unsigned left, unsigned right, unsigned count, unsigned cols,
                           bool is_tight)
{
    (void)l, (void)count, (void)cols, (void)is_tight;
    wgmma_begin();
    flash_scores_of(sum, left, right);
    wgmma_end(sum);
}

struct flash_two {
    unsigned left[2], right[2];
};
GPU_CALL void flash_scores_two(float *first, float *second, const struct flash_lane *l, const struct flash_two *t, unsigned count,
                               unsigned cols)
{
    (void)l, (void)count, (void)cols;
    wgmma_begin();
    flash_scores_of(first, t->left[0], t->right[0]);
    flash_scores_of(second, t->left[1], t->right[1]);
    wgmma_end(first);
    wgmma_hold(second);
}

GPU_CALL void flash_add(float *out, const struct flash_lane *l, const struct gpu_mma_a *weight, unsigned right, unsigned count,
                        unsigned cols)
{
    (void)l, (void)count, (void)cols;
    wgmma_begin();
    flash_add_of(out, weight, right);
    wgmma_end(out);
}

GPU_CALL void flash_add_scores(float *out, float *sum, const struct flash_lane *l, const struct gpu_mma_a *weight,
                               const struct flash_two *t, unsigned count, unsigned cols)
{
    (void)l, (void)count, (void)cols;
    wgmma_begin();
    flash_scores_of(sum, t->left[1], t->right[1]);
    flash_add_of(out, weight, t->right[0]);
    wgmma_end(out);
    wgmma_hold(sum);
}
