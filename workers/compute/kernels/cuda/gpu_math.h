/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_math.h - functions of numbers for GPU code: no library of device functions is linked, so the few that are needed are here.
 *
 * exp: 2^n · e^r, |r| ≤ ln2/2, the Taylor polynomial of degree 7 (error below 1e-7 relative). log: exponent and
 * 2·artanh((m - 1)/(m + 1)) in fp64. NaN stays NaN. */
#pragma once
#include "workers/compute/kernels/cuda/gpu.h"

union gpu_bits32 {
    float f;
    uint32_t u;
};
union gpu_bits64 {
    double f;
    uint64_t u;
};

GPU_CALL float gpu_fma(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}

/* To the nearest bf16, even of two; NaN stays one. */
GPU_CALL uint16_t gpu_bf16(float x)
{
    union gpu_bits32 b;
    b.f = x;
    return (uint16_t)((x != x ? b.u | 0x400000u : b.u + 0x7fffu + (b.u >> 16 & 1)) >> 16);
}

/* Stores of 8 and 16 bytes. */
struct __attribute__((aligned(8))) gpu_two {
    float v[2];
};
GPU_CALL void gpu_store2(float *at, struct gpu_two v)
{
    *(struct gpu_two *)(void *)at = v;
}
struct __attribute__((aligned(16), may_alias)) gpu_quad {       /* pairs of bf16 */
    uint32_t v[4];
};
GPU_CALL void gpu_store_quad(uint16_t *at, struct gpu_quad v)
{
    *(struct gpu_quad *)(void *)at = v;
}

/* What the lane `by` away, bit by bit, brings. */
GPU_CALL uint32_t gpu_swap(uint32_t v, unsigned by)
{
    union gpu_pair_half x;
    x.u = v;
    x.f = GPU_SHUFFLE_XOR(x.f, by);
    return x.u;
}

GPU_CALL float gpu_exp(float x)
{
    if (!(x > -103.0f))                 /* 0, or NaN */
        return x != x ? x : 0.0f;
    if (x > 88.72f)
        return __builtin_inff();
    float n = gpu_fma(x, 1.44269504f, 12582912.0f) - 12582912.0f;       /* to the nearest whole number */
    float r = gpu_fma(n, -1.42860677e-6f, gpu_fma(n, -0.693145752f, x));
    float p = 1.98412698e-4f;
    p = gpu_fma(p, r, 1.38888889e-3f);
    p = gpu_fma(p, r, 8.33333333e-3f);
    p = gpu_fma(p, r, 4.16666667e-2f);
    p = gpu_fma(p, r, 0.166666667f);
    p = gpu_fma(p, r, 0.5f);
    p = gpu_fma(p, r, 1.0f);
    p = gpu_fma(p, r, 1.0f);
    int whole = (int)n, half = whole / 2;       /* two factors: the result may be subnormal, neither factor is */
    union gpu_bits32 a, b;
    a.u = (uint32_t)(half + 127) << 23;
    b.u = (uint32_t)(whole - half + 127) << 23;
    return p * a.f * b.f;
}

GPU_CALL float gpu_tanh(float u)
{
    return 1.0f - 2.0f / (gpu_exp(2.0f * u) + 1.0f);
}

GPU_CALL float gpu_sigmoid(float x)
{
    return 1.0f / (1.0f + gpu_exp(-x));
}

/* Of a positive normal number; NaN and infinity stay, 0 and below give NaN. */
GPU_CALL double gpu_log(double x)
{
    union gpu_bits64 m;
    if (!(x > 0) || x - x != 0)
        return x > 0 ? x : (double)__builtin_nanf("");
    m.f = x;
    int exponent = (int)(m.u >> 52) - 1023;
    m.u = (m.u & 0xfffffffffffffull) | 0x3ff0000000000000ull;
    if (m.f > 1.4142135623730951) {
        m.f *= 0.5;
        exponent++;
    }
    double s = (m.f - 1) / (m.f + 1), s2 = s * s, sum = 0;
    for (int k = 23; k >= 1; k -= 2)
        sum = sum * s2 + 1.0 / (double)k;
    return (double)exponent * 0.6931471805599453 + 2 * s * sum;
}

/* Of one row: is it a number and not infinite? */
GPU_CALL bool gpu_is_finite(double x)
{
    return x - x == 0;
}
