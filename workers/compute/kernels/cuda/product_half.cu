/* SPDX-License-Identifier: Apache-2.0 */
/* product_half.cu - products of matrices and convolutions whose factors are bf16 (OP_BF16), on tensor cores, over one tile
 * (half_int.h): the kernels of product.cu with the same arguments and grids. */
#include "workers/compute/kernels/cuda/args.h"
#include "workers/compute/kernels/cuda/half_int.h"
#include "workers/compute/kernels/cuda/window_int.h"

GPU_KERNEL(product_half, struct product_args, a)
{
    HALF_ROOM;
    struct half_tile t = half_begin();
    const float *x = a.a, *w = a.b;
    if (a.accumulate)
        HALF_EACH(t, a.m, a.n, *sum = a.out[i * a.out_stride + j])
    HALF_RUN(t, a.m, a.n, a.k, a.a_col == 1, a.b_row == 1, x[i * a.a_row + k * a.a_col], w[k * a.b_row + j * a.b_col])
    HALF_EACH(t, a.m, a.n, *sum += a.bias ? a.bias[j] : 0; a.out[i * a.out_stride + j] = a.relu && *sum < 0 ? 0 : *sum)
}

GPU_KERNEL(conv_half, struct conv_args, a)
{
    HALF_ROOM;
    struct half_tile t = half_begin();
    size_t m = a.s.n * a.s.yh * a.s.yw, depth = a.s.h * a.s.w * a.s.xc;
    HALF_RUN(t, m, a.s.yc, depth, true, true, window_at(&a.s, a.x, i, k), a.weight[j * depth + k])
    HALF_EACH(t, m, a.s.yc, *sum += a.bias ? a.bias[j] : 0; *sum += a.add ? a.add[i * a.s.yc + j] : 0;
              a.y[i * a.s.yc + j] = a.relu && !(*sum > 0) ? 0 : *sum)
}

GPU_KERNEL(conv_back_x_half, struct conv_back_x_args, a)
{
    HALF_ROOM;
    struct half_tile t = half_begin();
    size_t m = a.s.n * a.s.xh * a.s.xw, depth = a.s.h * a.s.w * a.s.yc, all = a.s.h * a.s.w * a.s.xc;
    HALF_RUN(t, m, a.s.xc, depth, true, false, window_back(&a.s, a.dy, i, k),
             a.weight[k % a.s.yc * all + k / a.s.yc * a.s.xc + j])
    HALF_EACH(t, m, a.s.xc, a.dx[i * a.s.xc + j] = *sum)
}

GPU_KERNEL(conv_back_w_half, struct conv_back_w_args, a)
{
    HALF_ROOM;
    struct half_tile t = half_begin();
    size_t n = a.s.h * a.s.w * a.s.xc, depth = a.s.n * a.s.yh * a.s.yw;
    if (a.accumulate)
        HALF_EACH(t, a.s.yc, n, *sum = a.dw[i * n + j])
    HALF_RUN(t, a.s.yc, n, depth, false, false, a.dy[k * a.s.yc + i], window_at(&a.s, a.x, k, j))
    HALF_EACH(t, a.s.yc, n, a.dw[i * n + j] = *sum)
}
