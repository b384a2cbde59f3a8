/* SPDX-License-Identifier: Apache-2.0 */
/* product.cu - products of matrices and convolutions in fp32, all over one tile (product_int.h).
 *
 * A convolution is a product over an index of its window, and nothing is gathered into memory first. The simple form: no tensor
 * cores; factors in bf16 go to those (product_half.cu). */
#include "workers/compute/kernels/cuda/args.h"
#include "workers/compute/kernels/cuda/product_int.h"
#include "workers/compute/kernels/cuda/window_int.h"

/* A grid of ⌈m/64⌉ × ⌈n/64⌉ × batch. What is accumulated stands at the head of the chain. */
GPU_KERNEL(product, struct product_args, a)
{
    TILE_ROOM;
    struct tile t = tile_begin();
    size_t batch = gpu_place().block[2];
    const float *x = a.a + batch * a.a_batch, *w = a.b + batch * a.b_batch;
    float *out = a.out + batch * a.out_batch;
    if (a.accumulate)
        TILE_FIRST(t, a.m, a.n, out[i * a.out_stride + j])
    TILE_RUN(t, a.m, a.n, a.k, a.a_col == 1, a.b_row == 1, x[i * a.a_row + k * a.a_col], w[k * a.b_row + j * a.b_col])
    TILE_END(t, a.m, a.n, sum += a.bias ? a.bias[j] : 0; out[i * a.out_stride + j] = a.relu && sum < 0 ? 0 : sum)
}

GPU_KERNEL(conv, struct conv_args, a)
{
    TILE_ROOM;
    struct tile t = tile_begin();
    size_t m = a.s.n * a.s.yh * a.s.yw, depth = a.s.h * a.s.w * a.s.xc;
    TILE_RUN(t, m, a.s.yc, depth, true, true, window_at(&a.s, a.x, i, k), a.weight[j * depth + k])
    TILE_END(t, m, a.s.yc, sum += a.bias ? a.bias[j] : 0; sum += a.add ? a.add[i * a.s.yc + j] : 0;
             a.y[i * a.s.yc + j] = a.relu && !(sum > 0) ? 0 : sum)
}

GPU_KERNEL(conv_back_x, struct conv_back_x_args, a)
{
    TILE_ROOM;
    struct tile t = tile_begin();
    size_t m = a.s.n * a.s.xh * a.s.xw, depth = a.s.h * a.s.w * a.s.yc, all = a.s.h * a.s.w * a.s.xc;
    TILE_RUN(t, m, a.s.xc, depth, true, false, window_back(&a.s, a.dy, i, k),
             a.weight[k % a.s.yc * all + k / a.s.yc * a.s.xc + j])
    TILE_END(t, m, a.s.xc, a.dx[i * a.s.xc + j] = sum)
}

/* [out, window·in], over all pixels of y. */
GPU_KERNEL(conv_back_w, struct conv_back_w_args, a)
{
    TILE_ROOM;
    struct tile t = tile_begin();
    size_t n = a.s.h * a.s.w * a.s.xc, depth = a.s.n * a.s.yh * a.s.yw;
    if (a.accumulate)
        TILE_FIRST(t, a.s.yc, n, a.dw[i * n + j])
    TILE_RUN(t, a.s.yc, n, depth, false, false, a.dy[k * a.s.yc + i], window_at(&a.s, a.x, k, j))
    TILE_END(t, a.s.yc, n, a.dw[i * n + j] = sum)
}
