/* SPDX-License-Identifier: Apache-2.0 */
/* product_strip.cu - products of bf16 tensors over one tile (strip_int.h), in the four ways that two factors can lie; and the end
 * of those whose depth was cut. */
#include "workers/compute/kernels/cuda/args.h"
#include "workers/compute/kernels/cuda/strip_int.h"

/* A grid of tiles × parts of the depth × batch. A part of the depth goes to a matrix of its own, as it is. */
#define STRIP_KERNEL(name, a_across, b_across)                                                                      \
    GPU_KERNEL(name, struct product_strip_args, a)                                                                  \
    {                                                                                                               \
        struct strip_sums sums;                                                                                     \
        struct strip_place p = strip_place_of(gpu_place().block[0], a.m, a.n);                                      \
        uint32_t from = gpu_place().block[1] * a.k_each, end = a.k - from < a.k_each ? a.k : from + a.k_each;       \
        strip_run(&sums, p, &a, from, end, a_across, b_across);                                                     \
        strip_put(&a, &sums, p, (gpu_place().block[1] + gpu_place().block[2]) * a.out_batch);                       \
    }
STRIP_KERNEL(strip_rows_cols, false, false)
STRIP_KERNEL(strip_rows_rows, false, true)
STRIP_KERNEL(strip_cols_cols, true, false)
STRIP_KERNEL(strip_cols_rows, true, true)

/* Four results of a thread: their parts in ascending order. */
GPU_KERNEL(strip_end, struct strip_end_args, a)
{
    size_t at = 4 * gpu_index();
    if (at >= a.m * a.n)
        return;
    size_t row = at / a.n, col = at % a.n;
    struct gpu_four sum = gpu_load4(a.part + at);
    for (size_t p = 1; p < a.parts; p++) {
        struct gpu_four more = gpu_load4(a.part + p * a.m * a.n + at);
        for (int e = 0; e < 4; e++)
            sum.v[e] += more.v[e];
    }
    for (int e = 0; e < 4; e++) {
        size_t to = row * a.out_stride + col + e;
        float before = a.accumulate ? ((const float *)a.out)[to] : 0, v = before + sum.v[e] + (a.bias ? a.bias[col + e] : 0);
        v = a.relu && v < 0 ? 0 : v;
        if (a.is_narrow)
            ((uint16_t *)a.out)[to] = gpu_bf16(v);
        else
            ((float *)a.out)[to] = v;
    }
}
