/* SPDX-License-Identifier: Apache-2.0 */
/* sums.cu - sums over rows and over everything, the table of an embedding, the clip factor.
 *
 * Two steps: blocks add up pieces that the shape alone cuts, then one block adds the pieces in ascending order. No atomics, so
 * the bits are the same in every run. */
#include "workers/compute/kernels/cuda/numbers_int.h"

/* block: 128 columns by a chunk of rows. */
GPU_KERNEL(column_part, struct column_part_args, a)
{
    struct gpu_place p = gpu_place();
    size_t j = (size_t)p.block[0] * p.threads + p.thread, from = p.block[1] * a.chunk, end = from + a.chunk;
    float sum = 0;
    if (j < a.cols) {
        for (size_t i = from; i < end && i < a.rows; i++) {
            float x = number_at(a.x, i * a.x_stride + j);
            sum += a.dy.at ? number_at(a.dy, i * a.dy_stride + j) * (x - a.moments[2 * i]) * a.moments[2 * i + 1] : x;
        }
        a.part[p.block[1] * a.cols + j] = sum;
    }
}

GPU_KERNEL(column_end, struct column_end_args, a)
{
    size_t j = gpu_index();
    if (j < a.cols) {
        float sum = a.accumulate ? a.out[j] : 0;
        for (size_t i = 0; i < a.parts; i++)
            sum += a.part[i * a.cols + j];
        a.out[j] = sum;
    }
}

GPU_KERNEL(square, struct square_args, a)
{
    GPU_SHARED(double, room, 256);
    struct gpu_place p = gpu_place();
    size_t from = p.block[0] * a.chunk, end = from + a.chunk, count = a.rows * a.cols;
    double sum = 0;
    for (size_t i = from + p.thread; i < end && i < count; i += p.threads) {
        double x = (double)a.x[i / a.cols * a.stride + i % a.cols];
        sum += x * x;
    }
    sum = gpu_block_total(sum, room);
    if (p.thread == 0)
        a.part[p.block[0]] = sum;
}

GPU_KERNEL(total, struct total_args, a)
{
    GPU_SHARED(double, room, 256);
    struct gpu_place p = gpu_place();
    double sum = 0;
    for (size_t i = p.thread; i < a.n; i += p.threads)
        sum += a.part[i];
    sum = gpu_block_total(sum, room);
    if (p.thread == 0)
        *a.out = sum + (a.accumulate ? *a.out : 0);
}

/* A norm that is no number leaves the scale no number, which an update leaves out. */
GPU_KERNEL(clip, struct clip_args, a)
{
    if (gpu_index() == 0) {
        double norm = __builtin_sqrt(*a.sum);
        if (!gpu_is_finite(norm))
            a.step->grad_scale = (double)__builtin_nanf("");
        else
            a.step->grad_scale = a.step->clip_norm > 0 && norm > a.step->clip_norm ? a.step->clip_norm / norm : 1;
    }
}

GPU_KERNEL(embed, struct embed_args, a)
{
    struct gpu_place p = gpu_place();
    size_t token = (size_t)a.token[p.block[0]];
    for (size_t j = p.thread; j < a.cols; j += p.threads)
        a.out[p.block[0] * a.out_stride + j] = a.table[token * a.table_stride + j];
}

/* A block for each row of the table: it looks through the tokens in their order and adds the rows that are its own. */
GPU_KERNEL(embed_back, struct embed_back_args, a)
{
    GPU_SHARED(unsigned char, is_mine, 128);
    struct gpu_place p = gpu_place();
    float *row = a.table + p.block[0] * a.table_stride;
    for (size_t j = p.thread; j < a.cols && !a.accumulate; j += p.threads)
        row[j] = 0;
    for (size_t from = 0; from < a.tokens; from += p.threads) {
        size_t i = from + p.thread;
        bool mine = i < a.tokens && a.token[i] == (int32_t)p.block[0];
        is_mine[p.thread] = mine;
        if (!GPU_BARRIER_OR(mine))
            continue;
        for (unsigned k = 0; k < p.threads; k++)
            if (is_mine[k])
                for (size_t j = p.thread; j < a.cols; j += p.threads)
                    row[j] += a.dy[(from + k) * a.dy_stride + j];
        GPU_BARRIER();
    }
}
