/* SPDX-License-Identifier: Apache-2.0 */
/* window_int.h - which number a convolution multiplies: the loads of products over an index of a window. */
#pragma once
#include "workers/compute/kernels/cuda/args.h"
#include "workers/compute/kernels/cuda/gpu.h"

/* The number of x that pixel `at` of y meets at place k = (ky·w + kx)·channels + c of its window; 0 in the padding. */
GPU_CALL float window_at(const struct images *s, const float *x, size_t at, size_t k)
{
    size_t c = k % s->xc, kx = k / s->xc % s->w, ky = k / s->xc / s->w;
    size_t ox = at % s->yw, oy = at / s->yw % s->yh, n = at / s->yw / s->yh;
    size_t y = oy * s->stride + ky - s->pad, z = ox * s->stride + kx - s->pad;      /* below 0: huge */
    return y < s->xh && z < s->xw ? x[((n * s->xh + y) * s->xw + z) * s->xc + c] : 0;
}

/* The number of dy that pixel `at` of x had at place k = (ky·w + kx)·out + o of a window. */
GPU_CALL float window_back(const struct images *s, const float *dy, size_t at, size_t k)
{
    size_t o = k % s->yc, kx = k / s->yc % s->w, ky = k / s->yc / s->w;
    size_t ix = at % s->xw + s->pad, iy = at / s->xw % s->xh + s->pad, n = at / s->xw / s->xh;
    if (iy < ky || ix < kx || (iy - ky) % s->stride || (ix - kx) % s->stride)
        return 0;
    size_t oy = (iy - ky) / s->stride, ox = (ix - kx) / s->stride;
    return oy < s->yh && ox < s->yw ? dy[((n * s->yh + oy) * s->yw + ox) * s->yc + o] : 0;
}
