/* SPDX-License-Identifier: Apache-2.0 */
/* args_norm.h - as args.h: the arguments of what is made of rows and sums of columns in one pass. */
#pragma once
#include "workers/compute/kernels/cuda/args.h"

/* dx = the norm's backward form + more; copy: of dx; part: of each block of `chunk` rows Σ dy·z, Σ dy, Σ dx by column. */
struct norm_sums_args {
    const float *x, *scale, *more;      /* more, copy: none where nobody asked */
    struct numbers dy, copy;
    float *dx, *part;
    size_t rows, cols, x_stride, dy_stride, more_stride, dx_stride, copy_stride, chunk;
    float eps;
    bool is_rms;
};
struct norm_end_args {          /* out: NULL where nobody asked */
    const float *part;
    float *out[3];
    size_t parts, cols;
    bool accumulate;
};
/* dx = dy·GELU'(x); part: Σ dx of `chunk` rows by column. is_wide: eights of all three begin at 16 bytes. */
struct gelu_sums_args {
    struct numbers x, dy, dx;
    float *part;
    size_t rows, cols, x_stride, dy_stride, dx_stride, chunk;
    bool is_wide;
};
