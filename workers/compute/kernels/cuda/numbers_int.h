/* SPDX-License-Identifier: Apache-2.0 */
/* numbers_int.h - tensors of f32 or bf16 for GPU code: what a kernel reads it widens, what it writes it rounds to the nearest.
 *
 * The type is the same for a whole launch, so asking for it costs a branch that nobody diverges at. Eight numbers are one access
 * of 16 bytes, or two; four are one of 8 or 16. */
#pragma once
#include "workers/compute/kernels/cuda/args.h"
#include "workers/compute/kernels/cuda/gpu_math.h"

enum { NUMBERS_KEPT = 8 };      /* fours of a row in registers of each thread of a warp: 1,024 columns */

struct eight {
    float v[8];
};
struct __attribute__((aligned(16), may_alias)) numbers_pairs4 {
    uint32_t v[4];
};
struct __attribute__((aligned(8), may_alias)) numbers_pairs2 {
    uint32_t v[2];
};

GPU_CALL float numbers_widen(uint32_t half)
{
    return gpu_low(half);
}

GPU_CALL float number_at(struct numbers x, size_t i)
{
    return x.is_narrow ? numbers_widen(((const uint16_t *)x.at)[i]) : ((const float *)x.at)[i];
}

GPU_CALL void number_put(struct numbers y, size_t i, float v)
{
    if (y.is_narrow)
        ((uint16_t *)y.at)[i] = gpu_bf16(v);
    else
        ((float *)y.at)[i] = v;
}

GPU_CALL struct numbers numbers_from(struct numbers x, size_t i)
{
    x.at = x.is_narrow ? (void *)((uint16_t *)x.at + i) : (void *)((float *)x.at + i);
    return x;
}

GPU_CALL struct eight numbers_widen8(struct numbers_pairs4 p)
{
    struct eight r;
    GPU_UNROLL
    for (int l = 0; l < 4; l++) {
        r.v[2 * l] = gpu_low(p.v[l]);
        r.v[2 * l + 1] = gpu_high(p.v[l]);
    }
    return r;
}

/* i: a multiple of eight (four: of four); x begins at 16 bytes. */
GPU_CALL struct eight eight_at(struct numbers x, size_t i)
{
    struct eight r;
    if (x.is_narrow)
        return numbers_widen8(*(const struct numbers_pairs4 *)(const void *)((const uint16_t *)x.at + i));
    struct gpu_four a = gpu_load4((const float *)x.at + i), b = gpu_load4((const float *)x.at + i + 4);
    GPU_UNROLL
    for (int l = 0; l < 4; l++) {
        r.v[l] = a.v[l];
        r.v[4 + l] = b.v[l];
    }
    return r;
}

GPU_CALL void eight_put(struct numbers y, size_t i, struct eight v)
{
    if (y.is_narrow) {
        struct numbers_pairs4 p;
        GPU_UNROLL
        for (int l = 0; l < 4; l++)
            p.v[l] = gpu_pack(v.v[2 * l], v.v[2 * l + 1]);
        *(struct numbers_pairs4 *)(void *)((uint16_t *)y.at + i) = p;
    } else {
        struct gpu_four a, b;
        GPU_UNROLL
        for (int l = 0; l < 4; l++) {
            a.v[l] = v.v[l];
            b.v[l] = v.v[4 + l];
        }
        gpu_store4((float *)y.at + i, a);
        gpu_store4((float *)y.at + i + 4, b);
    }
}

/* As many as there are, one by one; 0 for the others. */
GPU_CALL struct eight some_at(struct numbers x, size_t i, size_t count)
{
    struct eight r;
    GPU_UNROLL
    for (unsigned l = 0; l < 8; l++)
        r.v[l] = l < count ? number_at(x, i + l) : 0;
    return r;
}

GPU_CALL void some_put(struct numbers y, size_t i, size_t count, struct eight v)
{
    GPU_UNROLL
    for (unsigned l = 0; l < 8; l++)
        if (l < count)
            number_put(y, i + l, v.v[l]);
}

GPU_CALL struct gpu_four four_at(struct numbers x, size_t i)
{
    struct gpu_four r;
    if (!x.is_narrow)
        return gpu_load4((const float *)x.at + i);
    struct numbers_pairs2 p = *(const struct numbers_pairs2 *)(const void *)((const uint16_t *)x.at + i);
    r.v[0] = gpu_low(p.v[0]);
    r.v[1] = gpu_high(p.v[0]);
    r.v[2] = gpu_low(p.v[1]);
    r.v[3] = gpu_high(p.v[1]);
    return r;
}

GPU_CALL void four_put(struct numbers y, size_t i, struct gpu_four v)
{
    struct numbers_pairs2 p;
    if (!y.is_narrow) {
        gpu_store4((float *)y.at + i, v);
        return;
    }
    p.v[0] = gpu_pack(v.v[0], v.v[1]);
    p.v[1] = gpu_pack(v.v[2], v.v[3]);
    *(struct numbers_pairs2 *)(void *)((uint16_t *)y.at + i) = p;
}

/* The sum over the warp, in every thread, by halves. */
GPU_CALL float numbers_warp_sum(float v)
{
    for (unsigned by = GPU_WARP / 2; by; by /= 2)
        v += GPU_SHUFFLE_XOR(v, by);
    return v;
}

/* Of a block: the parts of 32 columns, `step` apart, are added in one order: each of eight warps every eighth part, then what
 * they have. room: a number for each thread. */
GPU_CALL void numbers_end(const float *part, size_t step, size_t parts, size_t cols, float *out, bool accumulate, float *room)
{
    struct gpu_place p = gpu_place();
    unsigned warp = p.thread / GPU_WARP, warps = p.threads / GPU_WARP;
    size_t j = (size_t)p.block[0] * GPU_WARP + p.thread % GPU_WARP;
    float sum = 0, x[4];
    for (size_t i = warp; i < parts && j < cols; i += 4 * warps) {
        GPU_UNROLL
        for (unsigned u = 0; u < 4; u++)
            x[u] = i + u * warps < parts ? part[(i + u * warps) * step + j] : 0;
        GPU_UNROLL
        for (unsigned u = 0; u < 4; u++)
            sum += x[u];
    }
    room[p.thread] = sum;
    GPU_BARRIER();
    if (warp == 0 && j < cols) {
        sum = accumulate ? out[j] : 0;
        for (unsigned w = 0; w < warps; w++)
            sum += room[w * GPU_WARP + p.thread];
        out[j] = sum;
    }
}
