/* SPDX-License-Identifier: Apache-2.0 */
/* product_narrow.cu - products of tensors that are bf16, over the tile of product_half.cu: sums are fp32, the result is either. */
#include "workers/compute/kernels/cuda/half_int.h"
#include "workers/compute/kernels/cuda/numbers_int.h"

GPU_KERNEL(product_narrow, struct product_narrow_args, a)
{
    HALF_ROOM;
    struct half_tile t = half_begin();
    size_t batch = gpu_place().block[2];
    const uint16_t *x = (const uint16_t *)(const void *)a.p.a + batch * a.p.a_batch;
    const uint16_t *w = (const uint16_t *)(const void *)a.p.b + batch * a.p.b_batch;
    struct numbers y = { a.p.out, a.is_narrow };
    y = numbers_from(y, batch * a.p.out_batch);
    if (a.p.accumulate)
        HALF_EACH(t, a.p.m, a.p.n, *sum = number_at(y, i * a.p.out_stride + j))
    HALF_RUN(t, a.p.m, a.p.n, a.p.k, a.p.a_col == 1, a.p.b_row == 1, numbers_widen(x[i * a.p.a_row + k * a.p.a_col]),
             numbers_widen(w[k * a.p.b_row + j * a.p.b_col]))
    HALF_EACH(t, a.p.m, a.p.n, *sum += a.p.bias ? a.p.bias[j] : 0;
              number_put(y, i * a.p.out_stride + j, a.p.relu && *sum < 0 ? 0 : *sum))
}
