/* SPDX-License-Identifier: Apache-2.0 */
/* kept_int.h - a row that a warp holds in registers, four numbers of each thread 128 columns apart, and its moments. */
#pragma once
#include "workers/compute/kernels/cuda/args_norm.h"
#include "workers/compute/kernels/cuda/numbers_int.h"

struct kept_row {               /* of a warp: fours of this thread, 128 columns apart */
    struct gpu_four v[NUMBERS_KEPT];
    float mean, inverse;
};

/* Its moments; kept: a constant, the fours of a thread at most. */
GPU_CALL void kept_moments(struct kept_row *r, unsigned kept, size_t n, float eps, bool is_rms)
{
    unsigned first = gpu_place().thread % GPU_WARP * 4;
    float sum = 0;
    GPU_UNROLL
    for (unsigned k = 0; k < kept; k++)
        if (first + 128 * k < n)
            sum += (r->v[k].v[0] + r->v[k].v[1]) + (r->v[k].v[2] + r->v[k].v[3]);
    r->mean = is_rms ? 0 : numbers_warp_sum(sum) / (float)n;
    sum = 0;
    GPU_UNROLL
    for (unsigned k = 0; k < kept; k++)
        for (unsigned l = 0; l < 4 && first + 128 * k < n; l++)
            sum += (r->v[k].v[l] - r->mean) * (r->v[k].v[l] - r->mean);
    r->inverse = 1.0f / __builtin_sqrtf(numbers_warp_sum(sum) / (float)n + eps);
}
