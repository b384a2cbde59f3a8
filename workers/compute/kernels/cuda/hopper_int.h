/* SPDX-License-Identifier: Apache-2.0 */
/* hopper_int.h - products of bf16 tensors by wgmma, for cards of compute capability 9.0 alone: 128 × 256 results of a block of
 * two warpgroups, 64 of the depth at a time.
 *
 * The arguments are those of strips (strip_int.h), which are this form's simple twin: same ways to lie, same ends, other sums
 * within a step of 16. A block stays and takes one tile after the other, so that the first copies of the next are under way
 * while results are written. Copies are cp.async; what they wrote is shown to the units by fence.proxy.async before a
 * barrier.
 *
 * In shared memory a factor lies in rows of 128 bytes, piece p of row r at p ^ r % 8, eight rows in 1,024 bytes ("128B
 * swizzle"): by depth a row is 64 numbers of k of one row of m or n; across it is 64 numbers of m or n of one k, and 64 rows make
 * a block. One multiplication is under way while the next begins, so a stage is free two steps after it was read. Source: PTX
 * ISA, "Asynchronous warpgroup level matrix multiply-accumulate", matrix descriptors and register fragments. */
#pragma once
#include "workers/compute/kernels/cuda/strip_int.h"

#if defined(__CUDA__) || defined(__CUDACC__)
enum {
    HOPPER_M = 128, HOPPER_N = 256, HOPPER_K = 64, HOPPER_STAGES = 4, HOPPER_AHEAD = 2,
    HOPPER_ROW = 64,            /* numbers of 128 bytes */
    HOPPER_BLOCK = 64 * HOPPER_ROW, HOPPER_A = HOPPER_M * HOPPER_K, HOPPER_STAGE = HOPPER_A + HOPPER_N * HOPPER_K,
    HOPPER_THREADS = 256
};

struct hopper_sums {
    float of[128];              /* 8 columns after the other: two of a row, two of the row 8 below */
};

/* The units' view of a factor: its address, from 64 of m or n to the next (across), from 8 rows to the next. */
GPU_CALL uint64_t hopper_matrix(uint32_t at, bool is_across)
{
    return (uint64_t)((at & 0x3ffffu) >> 4) | (uint64_t)(is_across ? HOPPER_BLOCK * 2 >> 4 : 1) << 16
           | (uint64_t)(1024 >> 4) << 32 | (uint64_t)1 << 62;
}

#define HOPPER_REGS                                                                                                     \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                                           \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "                                 \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "                                 \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "                                 \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "                                 \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "                                 \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "                     \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"                  
#define HOPPER_D4(d, i) "+f"((d)[i]), "+f"((d)[i + 1]), "+f"((d)[i + 2]), "+f"((d)[i + 3])
#define HOPPER_D16(d, i) HOPPER_D4(d, i), HOPPER_D4(d, i + 4), HOPPER_D4(d, i + 8), HOPPER_D4(d, i + 12)
#define HOPPER_D64(d, i) HOPPER_D16(d, i), HOPPER_D16(d, i + 16), HOPPER_D16(d, i + 32), HOPPER_D16(d, i + 48)
#define HOPPER_MULTIPLY(d, a, b, turns)                                                                                 \
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %130, 0;"                                                              \
                 "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {" HOPPER_REGS "}, %128, %129, p, 1, 1, " turns "; }" \
                 : HOPPER_D64(d, 0), HOPPER_D64(d, 64) : "l"(a), "l"(b), "r"(1))

GPU_CALL void hopper_multiply(struct hopper_sums *s, uint64_t a, uint64_t b, bool a_across, bool b_across)
{
    if (a_across && b_across)
        HOPPER_MULTIPLY(s->of, a, b, "1, 1");
    else if (a_across)
        HOPPER_MULTIPLY(s->of, a, b, "1, 0");
    else if (b_across)
        HOPPER_MULTIPLY(s->of, a, b, "0, 1");
    else
        HOPPER_MULTIPLY(s->of, a, b, "0, 0");
}

/* What a thread copies of a factor of `width` numbers along m or n. */
struct hopper_copy {
    const uint16_t *from;
    size_t stage;
    uint32_t step, inside, k, to;
};

GPU_CALL struct hopper_copy hopper_copy_of(const uint16_t *x, size_t stride, uint32_t first, uint32_t extent, uint32_t k,
                                           uint32_t width, bool is_across)
{
    uint32_t t = gpu_place().thread, side = is_across ? width / 8 : 8, line = t / side, piece = t % side;
    uint32_t lines = HOPPER_THREADS / side;
    struct hopper_copy c;
    c.k = k + (is_across ? line : 8 * piece);
    c.from = is_across ? x + c.k * stride + first + 8 * piece : x + (first + line) * stride + c.k;
    c.step = (uint32_t)stride * lines;
    c.stage = is_across ? HOPPER_K * stride : HOPPER_K;
    c.to = piece / 8 * HOPPER_BLOCK + line * HOPPER_ROW + 8 * (piece % 8 ^ line % 8);
    c.inside = 0;
    GPU_UNROLL
    for (uint32_t i = 0; i < width / 32; i++)
        c.inside |= (uint32_t)((is_across ? first + 8 * piece : first + line + lines * i) < extent) << i;
    return c;
}

GPU_CALL void hopper_copy(struct hopper_copy *c, uint16_t *room, uint32_t k_end, uint32_t width, bool is_across)
{
    uint32_t step = c->step, lines = HOPPER_THREADS / (is_across ? width / 8 : 8);
    GPU_HIDE(step);
    GPU_UNROLL
    for (uint32_t i = 0; i < width / 32; i++)
        gpu_copy16_async(room + c->to + i * lines * HOPPER_ROW, c->from + (size_t)i * step,
                         (c->inside >> i & 1) && c->k + (is_across ? lines * i : 0) < k_end);
    c->from += c->stage;
    c->k += HOPPER_K;
}

/* A tile of one part of the depth, and its copies. */
struct hopper_work {
    struct strip_place place;
    uint32_t part, end, stages;
    struct hopper_copy a, b;
};

GPU_CALL void hopper_next(struct hopper_work *w, uint16_t *room, uint32_t stage, bool a_across, bool b_across)
{
    uint16_t *to = room + stage % HOPPER_STAGES * HOPPER_STAGE;
    if (stage < w->stages) {
        hopper_copy(&w->a, to, w->end, HOPPER_M, a_across);
        hopper_copy(&w->b, to + HOPPER_A, w->end, HOPPER_N, b_across);
    }
    gpu_copy_commit();
}

/* Tiles are numbered down STRIP_GROUP rows of them, then to the right, then on below; then the next part of the depth. */
GPU_CALL void hopper_begin(struct hopper_work *w, const struct product_strip_args *a, uint32_t number, uint16_t *room,
                           bool a_across, bool b_across)
{
    uint32_t rows = (a->m + HOPPER_M - 1) / HOPPER_M, cols = (a->n + HOPPER_N - 1) / HOPPER_N, tile = number % (rows * cols);
    uint32_t group = tile / (STRIP_GROUP * cols), left = rows - group * STRIP_GROUP, in = tile - group * STRIP_GROUP * cols;
    uint32_t high = left < STRIP_GROUP ? left : STRIP_GROUP;
    w->part = number / (rows * cols);
    w->place.row = HOPPER_M * (group * STRIP_GROUP + in % high);
    w->place.col = HOPPER_N * (in / high);
    uint32_t from = w->part * a->k_each;
    w->end = a->k - from < a->k_each ? a->k : from + a->k_each;
    w->stages = (w->end - from + HOPPER_K - 1) / HOPPER_K;
    w->a = hopper_copy_of(a->a, a->a_stride, w->place.row, a->m, from, HOPPER_M, a_across);
    w->b = hopper_copy_of(a->b, a->b_stride, w->place.col, a->n, from, HOPPER_N, b_across);
    GPU_UNROLL
    for (uint32_t i = 0; i < HOPPER_AHEAD; i++)
        hopper_next(w, room, i, a_across, b_across);
}

GPU_CALL void hopper_sum(struct hopper_sums *s, struct hopper_work *w, uint16_t *room, bool a_across, bool b_across)
{
    uint32_t group = gpu_place().thread / 128;
    GPU_UNROLL
    for (int i = 0; i < 128; i++)
        s->of[i] = 0;
    for (uint32_t i = 0; i < w->stages; i++) {
        uint32_t at = GPU_SHARED_AT(room + i % HOPPER_STAGES * HOPPER_STAGE);
        gpu_copy_wait(HOPPER_AHEAD - 1);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        GPU_BARRIER();                  /* the stage is there, and nobody reads the one that the next copies go to */
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        GPU_UNROLL
        for (uint32_t k = 0; k < HOPPER_K / 16; k++)
            hopper_multiply(s, hopper_matrix(at + group * (HOPPER_BLOCK * 2) + k * (a_across ? 16 * 128 : 32), a_across),
                            hopper_matrix(at + HOPPER_A * 2 + k * (b_across ? 16 * 128 : 32), b_across),
                            a_across, b_across);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        hopper_next(w, room, i + HOPPER_AHEAD, a_across, b_across);
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

/* For each pair of results of the thread. */
#define HOPPER_EACH(s, p, ...)                                                                                          \
    {                                                                                                                   \
        uint32_t hopper_row = (p).row;                                                                                  \
        GPU_UNROLL                                                                                                      \
        for (uint32_t hopper_i = 0; hopper_i < 64; hopper_i++) {                                                        \
            if (hopper_i % 4 == 0)                                                                                      \
                GPU_HIDE(hopper_row);                                                                                   \
            uint32_t row = hopper_row + hopper_i % 2 * 8, col = (p).col + hopper_i / 2 * 8;                             \
            float *v = (s)->of + 2 * hopper_i;                                                                          \
            __VA_ARGS__;                                                                                                \
        }                                                                                                               \
    }

GPU_CALL void hopper_put_narrow(const struct product_strip_args *a, struct hopper_sums *s, struct strip_place p, size_t first)
{
    uint32_t place = gpu_place().thread % 4, row = p.row + 8 * (place / 2), col = p.col - 2 * place + 8 * (place % 2);
    GPU_UNROLL
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t q[4];
        GPU_HIDE(row);
        GPU_UNROLL
        for (uint32_t e = 0; e < 4; e++) {
            const float *v = s->of + 8 * i + 4 * (e % 2) + 2 * (e / 2);
            q[e] = gpu_pack(v[0], v[1]);
        }
        strip_turn(q);
        struct gpu_quad v = { { q[0], q[1], q[2], q[3] } };
        if (row < a->m && col + 16 * i < a->n)
            gpu_store_quad((uint16_t *)a->out + first + row * a->out_stride + col + 16 * i, v);
    }
}

GPU_CALL void hopper_put(const struct product_strip_args *a, struct hopper_sums *s, const struct hopper_work *w)
{
    uint32_t t = gpu_place().thread, lane = t % GPU_WARP;
    size_t first = w->part * a->out_batch;
    struct strip_place p;
    p.row = w->place.row + t / GPU_WARP * 16 + lane / 4;
    p.col = w->place.col + 2 * (lane % 4);
    if (a->accumulate)
        HOPPER_EACH(s, p, {
            const float *before = (const float *)a->out + first + row * a->out_stride + col;
            if (row < a->m && col < a->n) {
                v[0] += before[0];
                v[1] += before[1];
            }
        })
    GPU_UNROLL
    for (uint32_t j = 0; j < 32 && a->bias; j++) {
        GPU_HIDE(p.col);
        uint32_t col = p.col + 8 * j;
        float x = col < a->n ? a->bias[col] : 0, y = col < a->n ? a->bias[col + 1] : 0;
        s->of[4 * j] += x, s->of[4 * j + 1] += y;
        s->of[4 * j + 2] += x, s->of[4 * j + 3] += y;
    }
    GPU_UNROLL
    for (uint32_t i = 0; i < 128 && a->relu; i++)
        s->of[i] = s->of[i] < 0 ? 0 : s->of[i];
    if (a->is_narrow)
        hopper_put_narrow(a, s, p, first);
    else
        HOPPER_EACH(s, p, if (row < a->m && col < a->n) {
            struct gpu_two two = { { v[0], v[1] } };
            gpu_store2((float *)a->out + first + row * a->out_stride + col, two);
        })
}

/* The tiles of a block. Nobody reads shared memory when the first copies of the next tile go there. */
GPU_CALL void hopper_run(const struct product_strip_args *a, uint32_t count, uint32_t step, bool a_across, bool b_across)
{
    GPU_DYNAMIC(unsigned char, all);            /* 1,024 bytes more than the stages, should it not begin at a multiple of them */
    uint16_t *room = (uint16_t *)(void *)(all + (1024 - (GPU_SHARED_AT(all) & 1023u)) % 1024);
    struct hopper_work now, next;
    struct hopper_sums sums;
    uint32_t number = gpu_place().block[0];
    hopper_begin(&now, a, number, room, a_across, b_across);
    for (;;) {
        hopper_sum(&sums, &now, room, a_across, b_across);
        GPU_BARRIER();
        number += step;
        bool is_last = number >= count;
        if (!is_last)
            hopper_begin(&next, a, number, room, a_across, b_across);
        hopper_put(a, &sums, &now);
        if (is_last)
            break;
        now = next;
    }
}
#endif
