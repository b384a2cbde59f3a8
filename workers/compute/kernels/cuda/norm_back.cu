/* SPDX-License-Identifier: Apache-2.0 */
/* norm_back.cu - all of a norm's backward form in one pass over memory, with the sums for its parameters, what it is added to, the
 * sum of the result and its copy in bf16. A block has 64 rows, a warp takes one after the other; then the parts of all blocks are
 * added in one order. */
#include "workers/compute/kernels/cuda/kept_int.h"

/* Warp by warp the sums of the block's rows, in their order. */
GPU_CALL void kept_sums_put(const struct gpu_four *sum, unsigned kept, float *room, float *part, size_t cols)
{
    struct gpu_place p = gpu_place();
    unsigned warps = p.threads / GPU_WARP, lane = p.thread % GPU_WARP, warp = p.thread / GPU_WARP;
    GPU_BARRIER();                      /* whoever still reads the sums before these */
    GPU_UNROLL
    for (unsigned k = 0; k < kept; k++)
        if (4 * lane + 128 * k < cols)
            gpu_store4(room + warp * 128 * NUMBERS_KEPT + 4 * lane + 128 * k, sum[k]);
    GPU_BARRIER();
    for (size_t j = p.thread; j < cols; j += p.threads) {
        float all = 0;
        for (unsigned w = 0; w < warps; w++)
            all += room[w * 128 * NUMBERS_KEPT + j];
        part[j] = all;
    }
}

/* All of a norm's backward form in one pass: a warp for each row, held in registers with the sums of its columns. Moments are made
 * again from the row, which is there anyway. */
GPU_CALL void norm_back_rows(struct norm_sums_args a, float *room)
{
    enum { kept = NUMBERS_KEPT };
    struct gpu_place p = gpu_place();
    size_t from = p.block[0] * a.chunk, end = from + a.chunk, first = p.thread % GPU_WARP * 4;
    struct gpu_four scale_sum[NUMBERS_KEPT], shift_sum[NUMBERS_KEPT], dx_sum[NUMBERS_KEPT];
    struct gpu_four dy[NUMBERS_KEPT];
    GPU_UNROLL
    for (unsigned k = 0; k < kept; k++)
        for (int l = 0; l < 4; l++)
            scale_sum[k].v[l] = shift_sum[k].v[l] = dx_sum[k].v[l] = 0;
    end = end < a.rows ? end : a.rows;
    for (size_t row = from + p.thread / GPU_WARP; row < end; row += p.threads / GPU_WARP) {
        struct kept_row z;
        float g = 0, gz = 0;
        GPU_UNROLL
        for (unsigned k = 0; k < kept; k++)
            if (first + 128 * k < a.cols) {
                z.v[k] = gpu_load4(a.x + row * a.x_stride + first + 128 * k);
                dy[k] = four_at(a.dy, row * a.dy_stride + first + 128 * k);
            }
        kept_moments(&z, kept, a.cols, a.eps, a.is_rms);
        GPU_UNROLL
        for (unsigned k = 0; k < kept; k++)
            if (first + 128 * k < a.cols) {
                struct gpu_four scale = gpu_load4(a.scale + first + 128 * k);
                for (int l = 0; l < 4; l++) {
                    z.v[k].v[l] = (z.v[k].v[l] - z.mean) * z.inverse;
                    g += dy[k].v[l] * scale.v[l];
                    gz += dy[k].v[l] * scale.v[l] * z.v[k].v[l];
                    scale_sum[k].v[l] += dy[k].v[l] * z.v[k].v[l];
                    shift_sum[k].v[l] += dy[k].v[l];
                }
            }
        g = a.is_rms ? 0 : numbers_warp_sum(g) / (float)a.cols;
        gz = numbers_warp_sum(gz) / (float)a.cols;
        GPU_UNROLL
        for (unsigned k = 0; k < kept; k++) {
            size_t j = first + 128 * k;
            if (j < a.cols) {
                struct gpu_four scale = gpu_load4(a.scale + j), dx;
                for (int l = 0; l < 4; l++)
                    dx.v[l] = z.inverse * (dy[k].v[l] * scale.v[l] - g - z.v[k].v[l] * gz);
                if (a.more) {
                    struct gpu_four add = gpu_load4(a.more + row * a.more_stride + j);
                    for (int l = 0; l < 4; l++)
                        dx.v[l] += add.v[l];
                }
                gpu_store4(a.dx + row * a.dx_stride + j, dx);
                if (a.copy.at)
                    four_put(a.copy, row * a.copy_stride + j, dx);
                for (int l = 0; l < 4; l++)
                    dx_sum[k].v[l] += dx.v[l];
            }
        }
    }
    float *part = a.part + p.block[0] * 3 * a.cols;
    kept_sums_put(scale_sum, kept, room, part, a.cols);
    kept_sums_put(shift_sum, kept, room, part + a.cols, a.cols);
    kept_sums_put(dx_sum, kept, room, part + 2 * a.cols, a.cols);
}

GPU_KERNEL(norm_back_kept, struct norm_sums_args, a)
{
    GPU_SHARED(float, room, 8 * 128 * NUMBERS_KEPT);
    norm_back_rows(a, room);
}

/* The same of exactly 128·kept columns: nothing that is loaded stands behind a branch of its own, so that all loads of a row are
 * under way together. kept, is_roomy: constants; roomy: registers are left for the scale, and for what is added, which then is
 * asked for with the row. */
GPU_CALL void norm_back_full(struct norm_sums_args a, unsigned kept, bool is_roomy, float *room)
{
    struct gpu_place p = gpu_place();
    size_t from = p.block[0] * a.chunk, end = from + a.chunk, first = p.thread % GPU_WARP * 4;
    struct gpu_four scale_sum[NUMBERS_KEPT], shift_sum[NUMBERS_KEPT], dx_sum[NUMBERS_KEPT], scale[NUMBERS_KEPT];
    GPU_UNROLL
    for (unsigned k = 0; k < kept; k++) {
        for (int l = 0; l < 4; l++)
            scale_sum[k].v[l] = shift_sum[k].v[l] = dx_sum[k].v[l] = 0;
        if (is_roomy)
            scale[k] = gpu_load4(a.scale + first + 128 * k);
    }
    end = end < a.rows ? end : a.rows;
    for (size_t row = from + p.thread / GPU_WARP; row < end; row += p.threads / GPU_WARP) {
        struct gpu_four z[NUMBERS_KEPT], dy[NUMBERS_KEPT], more[NUMBERS_KEPT];
        struct numbers_pairs2 pairs[NUMBERS_KEPT];
        float g = 0, gz = 0, sum = 0, square = 0;
        GPU_UNROLL
        for (unsigned k = 0; k < kept; k++)
            z[k] = gpu_load4(a.x + row * a.x_stride + first + 128 * k);
        if (is_roomy && a.more) {
            GPU_UNROLL
            for (unsigned k = 0; k < kept; k++)
                more[k] = gpu_load4(a.more + row * a.more_stride + first + 128 * k);
        }
        if (a.dy.is_narrow) {
            const uint16_t *d = (const uint16_t *)a.dy.at + row * a.dy_stride;
            GPU_UNROLL
            for (unsigned k = 0; k < kept; k++)
                pairs[k] = *(const struct numbers_pairs2 *)(const void *)(d + first + 128 * k);
            GPU_UNROLL
            for (unsigned k = 0; k < kept; k++) {
                dy[k].v[0] = gpu_low(pairs[k].v[0]);
                dy[k].v[1] = gpu_high(pairs[k].v[0]);
                dy[k].v[2] = gpu_low(pairs[k].v[1]);
                dy[k].v[3] = gpu_high(pairs[k].v[1]);
            }
        } else {
            GPU_UNROLL
            for (unsigned k = 0; k < kept; k++)
                dy[k] = gpu_load4((const float *)a.dy.at + row * a.dy_stride + first + 128 * k);
        }
        GPU_UNROLL
        for (unsigned k = 0; k < kept; k++)
            sum += (z[k].v[0] + z[k].v[1]) + (z[k].v[2] + z[k].v[3]);
        float mean = a.is_rms ? 0 : numbers_warp_sum(sum) / (float)a.cols;
        GPU_UNROLL
        for (unsigned k = 0; k < kept; k++)
            for (int l = 0; l < 4; l++) {
                z[k].v[l] -= mean;
                square += z[k].v[l] * z[k].v[l];
            }
        float inverse = 1.0f / __builtin_sqrtf(numbers_warp_sum(square) / (float)a.cols + a.eps);
        if (!is_roomy) {
            GPU_UNROLL
            for (unsigned k = 0; k < kept; k++)
                scale[k] = gpu_load4(a.scale + first + 128 * k);
        }
        GPU_UNROLL
        for (unsigned k = 0; k < kept; k++)
            for (int l = 0; l < 4; l++) {
                z[k].v[l] *= inverse;
                scale_sum[k].v[l] += dy[k].v[l] * z[k].v[l];
                shift_sum[k].v[l] += dy[k].v[l];
                dy[k].v[l] *= scale[k].v[l];
                g += dy[k].v[l];
                gz += dy[k].v[l] * z[k].v[l];
            }
        g = a.is_rms ? 0 : numbers_warp_sum(g) / (float)a.cols;
        gz = numbers_warp_sum(gz) / (float)a.cols;
        if (!is_roomy && a.more) {
            GPU_UNROLL
            for (unsigned k = 0; k < kept; k++)
                more[k] = gpu_load4(a.more + row * a.more_stride + first + 128 * k);
        }
        GPU_UNROLL
        for (unsigned k = 0; k < kept; k++)
            for (int l = 0; l < 4; l++) {
                z[k].v[l] = inverse * (dy[k].v[l] - g - z[k].v[l] * gz) + (a.more ? more[k].v[l] : 0);
                dx_sum[k].v[l] += z[k].v[l];
            }
        GPU_UNROLL
        for (unsigned k = 0; k < kept; k++) {
            gpu_store4(a.dx + row * a.dx_stride + first + 128 * k, z[k]);
            if (a.copy.at)
                four_put(a.copy, row * a.copy_stride + first + 128 * k, z[k]);
        }
    }
    float *part = a.part + p.block[0] * 3 * a.cols;
    kept_sums_put(scale_sum, kept, room, part, a.cols);
    kept_sums_put(shift_sum, kept, room, part + a.cols, a.cols);
    kept_sums_put(dx_sum, kept, room, part + 2 * a.cols, a.cols);
}

GPU_KERNEL(norm_back_768, struct norm_sums_args, a)
{
    GPU_SHARED(float, room, 8 * 128 * NUMBERS_KEPT);
    norm_back_full(a, 6, true, room);
}

GPU_KERNEL(norm_back_1024, struct norm_sums_args, a)
{
    GPU_SHARED(float, room, 8 * 128 * NUMBERS_KEPT);
    norm_back_full(a, NUMBERS_KEPT, false, room);
}

/* block: 32 columns of one of the three sums. */
GPU_KERNEL(norm_end, struct norm_end_args, a)
{
    GPU_SHARED(float, room, 256);
    struct gpu_place p = gpu_place();
    float *out = p.block[1] == 0 ? a.out[0] : p.block[1] == 1 ? a.out[1] : a.out[2];
    if (out)
        numbers_end(a.part + p.block[1] * a.cols, 3 * a.cols, a.parts, a.cols, out, a.accumulate, room);
}
