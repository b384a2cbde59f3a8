/* SPDX-License-Identifier: Apache-2.0 */
/* numbers_int.h - tensors of f32 or bf16 for GPU code: what a kernel reads it widens, what it writes it rounds to the nearest.
 *
 * The type is the same for a whole launch, so asking for it costs a branch that nobody diverges at. Eight numbers are one access
 * of 16 bytes, or two. */
#pragma once
#include "workers/compute/kernels/cuda/args.h"
#include "workers/compute/kernels/cuda/gpu_math.h"

struct eight {
    float v[8];
};
struct __attribute__((aligned(16), may_alias)) numbers_four_pairs {
    uint32_t v[4];
};

GPU_CALL float numbers_widen(uint32_t half)
{
    union gpu_bits32 b;
    b.u = half << 16;
    return b.f;
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

/* i: a multiple of eight; x begins at 16 bytes. */
GPU_CALL struct eight eight_at(struct numbers x, size_t i)
{
    struct eight r;
    if (x.is_narrow) {
        struct numbers_four_pairs p = *(const struct numbers_four_pairs *)(const void *)((const uint16_t *)x.at + i);
        for (int l = 0; l < 4; l++) {
            r.v[2 * l] = numbers_widen(p.v[l]);
            r.v[2 * l + 1] = numbers_widen(p.v[l] >> 16);
        }
    } else {
        struct gpu_four a = gpu_load4((const float *)x.at + i), b = gpu_load4((const float *)x.at + i + 4);
        for (int l = 0; l < 4; l++) {
            r.v[l] = a.v[l];
            r.v[4 + l] = b.v[l];
        }
    }
    return r;
}

GPU_CALL void eight_put(struct numbers y, size_t i, struct eight v)
{
    if (y.is_narrow) {
        struct numbers_four_pairs p;
        for (int l = 0; l < 4; l++)
            p.v[l] = gpu_bf16(v.v[2 * l]) | (uint32_t)gpu_bf16(v.v[2 * l + 1]) << 16;
        *(struct numbers_four_pairs *)(void *)((uint16_t *)y.at + i) = p;
    } else {
        struct gpu_four a, b;
        for (int l = 0; l < 4; l++) {
            a.v[l] = v.v[l];
            b.v[l] = v.v[4 + l];
        }
        gpu_store4((float *)y.at + i, a);
        gpu_store4((float *)y.at + i + 4, b);
    }
}
