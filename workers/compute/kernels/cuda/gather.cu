/* SPDX-License-Identifier: Apache-2.0 */
/* gather.cu - a convolution's windows as rows of a matrix of bf16, so that its product is one of matrices (cuda_conv.c).
 *
 * A thread for eight numbers of a row: with channels in eights they lie side by side in one pixel. */
#include "workers/compute/kernels/cuda/numbers_int.h"

/* Where number k of a row's window lies; NULL: outside of the image, or between the strides. */
GPU_CALL const float *gather_from(const struct gather_args *a, uint32_t row, uint32_t k)
{
    const struct images *s = &a->s;
    uint32_t channels = (uint32_t)(a->is_back ? s->yc : s->xc), w = (uint32_t)s->w, stride = (uint32_t)s->stride;
    uint32_t pad = (uint32_t)s->pad, c = k % channels, kx = k / channels % w, ky = k / channels / w;
    uint32_t width = (uint32_t)(a->is_back ? s->xw : s->yw), height = (uint32_t)(a->is_back ? s->xh : s->yh);
    uint32_t x = row % width, y = row / width % height, n = row / width / height;
    if (a->is_back) {
        x += pad, y += pad;
        if (y < ky || x < kx || (y - ky) % stride || (x - kx) % stride)
            return 0;
        y = (y - ky) / stride, x = (x - kx) / stride;
        return y < s->yh && x < s->yw ? a->from + ((n * s->yh + y) * s->yw + x) * s->yc + c : 0;
    }
    y = y * stride + ky - pad, x = x * stride + kx - pad;           /* below 0: huge */
    return y < s->xh && x < s->xw ? a->from + ((n * s->xh + y) * s->xw + x) * s->xc + c : 0;
}

GPU_KERNEL(gather, struct gather_args, a)
{
    uint32_t each = a.pitch / 8, at = (uint32_t)gpu_index();
    if (at < a.rows * each) {
        uint32_t row = at / each, k = at % each * 8;
        struct numbers to = { a.to, true };
        struct eight v = { { 0, 0, 0, 0, 0, 0, 0, 0 } };
        if (a.is_wide) {
            struct numbers x = { (void *)gather_from(&a, row, k), false };
            if (x.at)
                v = eight_at(x, 0);
        } else {
            GPU_UNROLL
            for (uint32_t l = 0; l < 8; l++) {
                const float *from = k + l < a.depth ? gather_from(&a, row, k + l) : 0;
                v.v[l] = from ? *from : 0;
            }
        }
        eight_put(to, (size_t)row * a.pitch + k, v);
    }
}

GPU_KERNEL(gather_weight, struct gather_weight_args, a)
{
    size_t at = gpu_index();
    if (at < (size_t)a.rows * a.pitch) {
        uint32_t row = (uint32_t)(at / a.pitch), col = (uint32_t)(at % a.pitch);
        size_t from = a.is_back ? ((size_t)(row % a.out) * a.places + row / a.out) * a.in + col : (size_t)row * a.cols + col;
        a.to[at] = gpu_bf16(col < a.cols ? a.weight[from] : 0);
    }
}
