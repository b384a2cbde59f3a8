/* SPDX-License-Identifier: Apache-2.0 */
/* cells.cu - number by number: sums, activations, gates, rotation, dropout, types.
 *
 * A dense matrix is taken eight numbers at a time where all its operands begin at 16 bytes; the formula is one for both ways.
 * Each operand is f32 or bf16; what is computed is f32. */
#include "workers/compute/kernels/cuda/gelu_int.h"
#include "workers/compute/kernels/cuda/numbers_int.h"
#define RNG_CALL GPU_CALL
#include "workers/compute/rng.h"

GPU_CALL float cell_of(enum cell_fn fn, float x, float y, float z)
{
    float slope;
    switch (fn) {
    case CELL_ADD: case CELL_ADD_BIAS: return x + y;
    case CELL_RELU: return x > 0 ? x : 0;
    case CELL_RELU_BACK: return x > 0 ? y : 0;
    case CELL_GELU: return gelu_at(x, &slope);
    case CELL_GELU_BACK: gelu_at(x, &slope); return y * slope;
    case CELL_GELU_QUICK: return gelu_quick(x, &slope);
    case CELL_GELU_BACK_QUICK: gelu_quick(x, &slope); return y * slope;
    case CELL_STANDARDISE: return (x - y) / z;
    default: return x;
    }
}

/* One function for all eight. */
GPU_CALL struct eight cells_of(enum cell_fn fn, struct eight x, struct eight y)
{
#define EIGHT(FN)                                           \
    case FN:                                                \
        GPU_UNROLL                                          \
        for (int l = 0; l < 8; l++)                         \
            x.v[l] = cell_of(FN, x.v[l], y.v[l], 0);        \
        return x;
    switch (fn) {
    EIGHT(CELL_ADD) EIGHT(CELL_ADD_BIAS) EIGHT(CELL_RELU) EIGHT(CELL_RELU_BACK) EIGHT(CELL_GELU) EIGHT(CELL_GELU_BACK)
    EIGHT(CELL_GELU_QUICK) EIGHT(CELL_GELU_BACK_QUICK)
    default: return x;
    }
#undef EIGHT
}

GPU_KERNEL(cells, struct cells_args, a)
{
    size_t i = gpu_index(), count = a.rows * a.cols;
    if (a.is_wide) {
        if ((i *= 8) + 8 <= count) {
            struct eight x = eight_at(a.x, i), y = a.y.at ? eight_at(a.y, a.y_stride ? i : i % a.cols) : x;
            eight_put(a.out, i, cells_of(a.fn, x, y));
        } else {
            for (; i < count; i++)
                number_put(a.out, i, cell_of(a.fn, number_at(a.x, i), a.y.at ? number_at(a.y, i) : 0, 0));
        }
    } else if (i < count) {
        size_t r = i / a.cols, c = i % a.cols;
        number_put(a.out, r * a.out_stride + c,
                   cell_of(a.fn, number_at(a.x, r * a.x_stride + c), a.y.at ? number_at(a.y, r * a.y_stride + c) : 0,
                           a.z.at ? number_at(a.z, r * a.z_stride + c) : 0));
    }
}

/* silu(x[..n])·x[n..], or its gradient. */
GPU_KERNEL(swiglu, struct swiglu_args, a)
{
    size_t i = gpu_index();
    if (i < a.rows * a.cols) {
        size_t at = i / a.cols * 2 * a.cols + i % a.cols;
        float v = number_at(a.x, at), gate = number_at(a.x, at + a.cols), sigma = gpu_sigmoid(v);
        if (a.dy.at) {
            float d = number_at(a.dy, i);
            number_put(a.out, at, d * gate * sigma * (1.0f + v * (1.0f - sigma)));
            number_put(a.out, at + a.cols, d * v * sigma);
        } else {
            number_put(a.out, i, v * sigma * gate);
        }
    }
}

/* One number of a token: it is the first of a pair, the second, or behind the heads that turn. */
GPU_KERNEL(rotary, struct rotary_args, a)
{
    size_t i = gpu_index(), token = i / a.row, c = i % a.row, half = a.d / 2;
    const float *cosine = a.table + token % a.t * a.d;
    if (token < a.tokens && c >= a.heads * a.d && a.x.at != a.y.at)
        number_put(a.y, i, number_at(a.x, i));
    if (token < a.tokens && c < a.heads * a.d && c % a.d < half) {      /* both of the pair: they may lie over what is read */
        size_t k = c % a.d;
        float u = number_at(a.x, i), v = number_at(a.x, i + half), s = cosine[half + k] * a.sign;
        number_put(a.y, i, u * cosine[k] - v * s);
        number_put(a.y, i + half, v * cosine[k] + u * s);
    }
}

/* Four numbers of one draw. */
GPU_KERNEL(dropout, struct dropout_args, a)
{
    size_t i = gpu_index() * 4;
    if (i < a.n) {
        struct philox r = philox(a.step->seed, a.stream ^ a.step->counter, i / 4);
        for (size_t l = 0; l < 4 && i + l < a.n; l++) {
            float x = number_at(a.x, i + l);
            number_put(a.y, i + l, !a.step->is_training ? x : r.v[l] < a.below ? 0 : x * a.keep);
        }
    }
}

GPU_KERNEL(cast, struct cast_args, a)
{
    size_t i = gpu_index() * (a.is_wide ? 8 : 1), end = i + (a.is_wide ? 8 : 1);
    if (a.is_wide && end <= a.n)
        eight_put(a.y, i, eight_at(a.x, i));
    else
        for (; i < end && i < a.n; i++)
            number_put(a.y, i, number_at(a.x, i));
}
