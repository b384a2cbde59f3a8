/* SPDX-License-Identifier: Apache-2.0 */
/* gelu_int.h - GELU as in GPT-2 and its slope, for GPU code: exact, and quick for what is rounded to bf16. */
#pragma once
#include "workers/compute/kernels/cuda/gpu_math.h"

/* ½x(1 + tanh u), u = √(2/π)(x + 0.044715x³), and its slope. */
GPU_CALL float gelu_at(float v, float *ret_slope)
{
    float t = gpu_tanh(0.7978845608f * (v + 0.044715f * v * v * v));
    *ret_slope = 0.5f * (1.0f + t) + 0.5f * v * (1.0f - t * t) * 0.7978845608f * (1.0f + 0.134145f * v * v);
    return 0.5f * v * (1.0f + t);
}

/* The same by σ(2u) = ½(1 + tanh u), for results that are rounded to bf16: the functions of the card, right to a few units in the
 * last place of fp32. */
GPU_CALL float gelu_quick(float v, float *ret_slope)
{
    float u = v * (0.7978845608f + 0.0356774081f * v * v);              /* 2u·log2 e = u·2.885390082 */
    float s = gpu_inverse(1.0f + gpu_exp2(-2.885390082f * u)), y = v * s;
    *ret_slope = s + 2.0f * y * (1.0f - s) * (0.7978845608f + 0.1070322243f * v * v);
    return y;
}
