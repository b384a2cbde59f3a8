/* SPDX-License-Identifier: Apache-2.0 */
/* image.cu - pooling and group norm of images [n, height, width, channels].
 *
 * A gradient of a pool is asked for by the pixel: each looks at the windows that it lies in, so nobody adds to what another
 * writes. Group norm: a block for each group of each image, or for each channel. */
#include "workers/compute/kernels/cuda/args.h"
#include "workers/compute/kernels/cuda/gpu_math.h"

struct span {                   /* of the input that a window meets, in one direction */
    size_t first, end;
};
GPU_CALL struct span span_of(size_t at, size_t stride, size_t pad, size_t window, size_t size)
{
    size_t begin = at * stride, end = begin + window;
    struct span s = { begin < pad ? 0 : begin - pad, end > size + pad ? size : end - pad };
    return s;
}

/* A thread for each number of y. */
GPU_KERNEL(pool, struct pool_args, a)
{
    size_t at = gpu_index();
    if (at < a.s.n * a.s.yh * a.s.yw * a.s.yc) {
        size_t c = at % a.s.yc, ox = at / a.s.yc % a.s.yw, oy = at / a.s.yc / a.s.yw % a.s.yh, n = at / a.s.yc / a.s.yw / a.s.yh;
        struct span y = span_of(oy, a.s.stride, a.s.pad, a.s.h, a.s.xh), x = span_of(ox, a.s.stride, a.s.pad, a.s.w, a.s.xw);
        float out = a.is_max ? -__builtin_inff() : 0, count = (float)((y.end - y.first) * (x.end - x.first));
        for (size_t i = y.first; i < y.end; i++)
            for (size_t j = x.first; j < x.end; j++) {
                float in = a.x[((n * a.s.xh + i) * a.s.xw + j) * a.s.xc + c];
                if (a.is_max)
                    out = in > out || in != in ? in : out;
                else
                    out += in / count;
            }
        a.y[at] = out;
    }
}

/* A thread for each number of x: what each of its windows gives it, in the order of the windows. */
GPU_KERNEL(pool_back, struct pool_back_args, a)
{
    size_t at = gpu_index();
    if (at < a.s.n * a.s.xh * a.s.xw * a.s.xc) {
        size_t c = at % a.s.xc, ix = at / a.s.xc % a.s.xw, iy = at / a.s.xc / a.s.xw % a.s.xh, n = at / a.s.xc / a.s.xw / a.s.xh;
        size_t item = n * a.s.xh, oy = iy + a.s.pad < a.s.h ? 0 : (iy + a.s.pad - a.s.h) / a.s.stride + 1;
        float sum = 0;
        for (; oy < a.s.yh && oy * a.s.stride <= iy + a.s.pad; oy++)
            for (size_t ox = ix + a.s.pad < a.s.w ? 0 : (ix + a.s.pad - a.s.w) / a.s.stride + 1;
                 ox < a.s.yw && ox * a.s.stride <= ix + a.s.pad; ox++) {
                struct span y = span_of(oy, a.s.stride, a.s.pad, a.s.h, a.s.xh);
                struct span x = span_of(ox, a.s.stride, a.s.pad, a.s.w, a.s.xw);
                float d = a.dy[((n * a.s.yh + oy) * a.s.yw + ox) * a.s.yc + c];
                if (!a.x) {
                    sum += d / (float)((y.end - y.first) * (x.end - x.first));
                    continue;
                }
                size_t best = ((item + y.first) * a.s.xw + x.first) * a.s.xc + c;
                for (size_t i = y.first; i < y.end; i++)
                    for (size_t j = x.first; j < x.end; j++) {
                        size_t place = ((item + i) * a.s.xw + j) * a.s.xc + c;
                        best = a.x[place] > a.x[best] ? place : best;
                    }
                sum += best == at ? d : 0;
            }
        a.dx[at] = sum;
    }
}

/* block: group, image. */
GPU_KERNEL(group_moments, struct group_moments_args, a)
{
    GPU_SHARED(float, room, GPU_WARP);
    struct gpu_place p = gpu_place();
    size_t width = a.channels / a.groups, count = a.pixels * width;
    const float *x = a.x + p.block[1] * a.pixels * a.channels + p.block[0] * width;
    float sum = 0, square = 0;
    for (size_t i = p.thread; i < count; i += p.threads)
        sum += x[i / width * a.channels + i % width];
    float mean = gpu_block_fold(sum, room, false) / (float)count;
    for (size_t i = p.thread; i < count; i += p.threads) {
        float off = x[i / width * a.channels + i % width] - mean;
        square += off * off;
    }
    square = gpu_block_fold(square, room, false);
    if (p.thread == 0) {
        float *ret = a.ret + 2 * (p.block[1] * a.groups + p.block[0]);
        ret[0] = mean;
        ret[1] = 1.0f / __builtin_sqrtf(square / (float)count + a.eps);
    }
}

GPU_KERNEL(group_norm, struct group_norm_args, a)
{
    struct gpu_place p = gpu_place();
    size_t width = a.channels / a.groups, first = p.block[0] * width, item = p.block[1] * a.pixels * a.channels;
    const float *m = a.moments + 2 * (p.block[1] * a.groups + p.block[0]);
    for (size_t i = p.thread; i < a.pixels * width; i += p.threads) {
        size_t k = first + i % width, at = item + i / width * a.channels + k;
        a.y[at] = (a.x[at] - m[0]) * m[1] * a.scale[k] + a.shift[k];
    }
}

GPU_KERNEL(group_norm_back, struct group_norm_back_args, a)
{
    GPU_SHARED(float, room, GPU_WARP);
    struct gpu_place p = gpu_place();
    size_t width = a.channels / a.groups, first = p.block[0] * width, item = p.block[1] * a.pixels * a.channels;
    size_t count = a.pixels * width;
    const float *m = a.moments + 2 * (p.block[1] * a.groups + p.block[0]);
    float g = 0, gz = 0;
    for (size_t i = p.thread; i < count; i += p.threads) {
        size_t k = first + i % width, at = item + i / width * a.channels + k;
        g += a.dy[at] * a.scale[k];
        gz += a.dy[at] * a.scale[k] * (a.x[at] - m[0]) * m[1];
    }
    g = gpu_block_fold(g, room, false) / (float)count;
    gz = gpu_block_fold(gz, room, false) / (float)count;
    for (size_t i = p.thread; i < count; i += p.threads) {
        size_t k = first + i % width, at = item + i / width * a.channels + k;
        a.dx[at] = m[1] * (a.dy[at] * a.scale[k] - g - (a.x[at] - m[0]) * m[1] * gz);
    }
}

/* block: a channel, over all images. */
GPU_KERNEL(group_scale_back, struct group_scale_back_args, a)
{
    GPU_SHARED(float, room, GPU_WARP);
    struct gpu_place p = gpu_place();
    size_t k = p.block[0], group = k / (a.channels / a.groups);
    float sum = 0;
    for (size_t i = p.thread; i < a.n * a.pixels; i += p.threads) {
        const float *m = a.moments + 2 * (i / a.pixels * a.groups + group);
        sum += a.dy[i * a.channels + k] * (a.x[i * a.channels + k] - m[0]) * m[1];
    }
    sum = gpu_block_fold(sum, room, false);
    if (p.thread == 0)
        a.out[k] = sum + (a.accumulate ? a.out[k] : 0);
}
