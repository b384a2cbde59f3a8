/* SPDX-License-Identifier: Apache-2.0 */
/* cells.cu - number by number: sums, activations, gates, rotation, dropout, types.
 *
 * A dense matrix is taken four numbers at a time where all its operands begin at 16 bytes; the formula is one for both ways. */
#include "workers/compute/kernels/cuda/args.h"
#include "workers/compute/kernels/cuda/gpu_math.h"
#define RNG_CALL GPU_CALL
#include "workers/compute/rng.h"

/* ½x(1 + tanh u), u = √(2/π)(x + 0.044715x³), and its slope. */
GPU_CALL float gelu_at(float v, float *ret_slope)
{
    float t = gpu_tanh(0.7978845608f * (v + 0.044715f * v * v * v));
    *ret_slope = 0.5f * (1.0f + t) + 0.5f * v * (1.0f - t * t) * 0.7978845608f * (1.0f + 0.134145f * v * v);
    return 0.5f * v * (1.0f + t);
}

GPU_CALL float cell_of(enum cell_fn fn, float x, float y, float z)
{
    float slope;
    switch (fn) {
    case CELL_ADD: case CELL_ADD_BIAS: return x + y;
    case CELL_RELU: return x > 0 ? x : 0;
    case CELL_RELU_BACK: return x > 0 ? y : 0;
    case CELL_GELU: return gelu_at(x, &slope);
    case CELL_GELU_BACK: gelu_at(x, &slope); return y * slope;
    case CELL_STANDARDISE: return (x - y) / z;
    default: return x;
    }
}

GPU_KERNEL(cells, struct cells_args, a)
{
    size_t i = gpu_index(), count = a.rows * a.cols;
    if (a.is_wide) {
        struct gpu_four x, y;
        if ((i *= 4) + 4 <= count) {
            x = gpu_load4(a.x + i);
            y = a.y ? gpu_load4(a.y + i) : x;
            for (int l = 0; l < 4; l++)
                x.v[l] = cell_of(a.fn, x.v[l], y.v[l], 0);
            gpu_store4(a.out + i, x);
        } else {
            for (; i < count; i++)
                a.out[i] = cell_of(a.fn, a.x[i], a.y ? a.y[i] : 0, 0);
        }
    } else if (i < count) {
        size_t r = i / a.cols, c = i % a.cols;
        a.out[r * a.out_stride + c] = cell_of(a.fn, a.x[r * a.x_stride + c], a.y ? a.y[r * a.y_stride + c] : 0,
                                              a.z ? a.z[r * a.z_stride + c] : 0);
    }
}

/* silu(x[..n])·x[n..], or its gradient. */
GPU_KERNEL(swiglu, struct swiglu_args, a)
{
    size_t i = gpu_index();
    if (i < a.rows * a.cols) {
        size_t at = i / a.cols * 2 * a.cols + i % a.cols;
        float v = a.x[at], gate = a.x[at + a.cols], sigma = gpu_sigmoid(v);
        if (a.dy) {
            float d = a.dy[i];
            a.out[at] = d * gate * sigma * (1.0f + v * (1.0f - sigma));
            a.out[at + a.cols] = d * v * sigma;
        } else {
            a.out[i] = v * sigma * gate;
        }
    }
}

/* One number of a token: it is the first of a pair, the second, or behind the heads that turn. */
GPU_KERNEL(rotary, struct rotary_args, a)
{
    size_t i = gpu_index(), token = i / a.row, c = i % a.row, half = a.d / 2;
    const float *x = a.x + token * a.row, *cosine = a.table + token % a.t * a.d;
    if (token < a.tokens && c >= a.heads * a.d && a.x != a.y)
        a.y[i] = x[c];
    if (token < a.tokens && c < a.heads * a.d && c % a.d < half) {      /* both of the pair: they may lie over what is read */
        size_t k = c % a.d;
        float u = x[c], v = x[c + half], s = cosine[half + k] * a.sign;
        a.y[i] = u * cosine[k] - v * s;
        a.y[i + half] = v * cosine[k] + u * s;
    }
}

/* Four numbers of one draw. */
GPU_KERNEL(dropout, struct dropout_args, a)
{
    size_t i = gpu_index() * 4;
    if (i < a.n) {
        struct philox r = philox(a.step->seed, a.stream ^ a.step->counter, i / 4);
        for (size_t l = 0; l < 4 && i + l < a.n; l++)
            a.y[i + l] = !a.step->is_training ? a.x[i + l] : r.v[l] < a.below ? 0 : a.x[i + l] * a.keep;
    }
}

GPU_KERNEL(cast, struct cast_args, a)
{
    size_t i = gpu_index();
    union gpu_bits32 v;
    if (i < a.n && a.is_narrowed) {
        v.f = ((const float *)a.x)[i];
        bool is_nan = (v.u & 0x7fffffff) > 0x7f800000;
        ((uint16_t *)a.y)[i] = (uint16_t)(is_nan ? v.u >> 16 | 0x40 : (v.u + 0x7fff + (v.u >> 16 & 1)) >> 16);
    } else if (i < a.n) {
        v.u = (uint32_t)((const uint16_t *)a.x)[i] << 16;
        ((float *)a.y)[i] = v.f;
    }
}
