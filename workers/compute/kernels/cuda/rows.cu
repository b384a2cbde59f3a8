/* SPDX-License-Identifier: Apache-2.0 */
/* rows.cu - what is made of a whole row: norms, softmax, losses. One block for each row, so a row's bits do not depend on its
 * batch.
 *
 * Threads take the columns in steps of the block; partial sums fold in one order (gpu_block_fold). A row is read again from cache
 * rather than kept: any number of columns will do. Results may lie over the input: a thread writes only what it alone reads,
 * after the block's last fold. */
#include "workers/compute/kernels/cuda/kept_int.h"
#include "workers/compute/kernels/cuda/numbers_int.h"

/* Mean and 1/√(var + eps) of a row, in every thread. */
GPU_CALL float row_mean(const float *x, size_t n, float eps, bool is_rms, float *room, float *ret_inverse)
{
    struct gpu_place p = gpu_place();
    float sum = 0, square = 0, mean = 0;
    for (size_t j = p.thread; j < n && !is_rms; j += p.threads)
        sum += x[j];
    sum = gpu_block_fold(sum, room, false);
    if (!is_rms)
        mean = sum / (float)n;
    for (size_t j = p.thread; j < n; j += p.threads)
        square += (x[j] - mean) * (x[j] - mean);
    square = gpu_block_fold(square, room, false);
    *ret_inverse = 1.0f / __builtin_sqrtf(square / (float)n + eps);
    return mean;
}

GPU_KERNEL(norm, struct norm_args, a)
{
    GPU_SHARED(float, room, GPU_WARP);
    struct gpu_place p = gpu_place();
    const float *x = a.x + p.block[0] * a.x_stride;
    struct numbers y = numbers_from(a.y, p.block[0] * a.y_stride);
    float inverse, mean = row_mean(x, a.cols, a.eps, a.is_rms, room, &inverse);
    for (size_t j = p.thread; j < a.cols; j += p.threads)
        number_put(y, j, (x[j] - mean) * inverse * a.scale[j] + (a.shift ? a.shift[j] : 0));
}

/* A warp for each row, which is read once: at most 128·NUMBERS_KEPT columns, a multiple of four, that begin at 16 bytes. */
GPU_KERNEL(norm_kept, struct norm_args, a)
{
    struct gpu_place p = gpu_place();
    size_t row = (size_t)p.block[0] * (p.threads / GPU_WARP) + p.thread / GPU_WARP, first = p.thread % GPU_WARP * 4;
    bool is_inside = row < a.rows;
    struct kept_row r;
    row = is_inside ? row : 0;
    GPU_UNROLL
    for (unsigned k = 0; k < NUMBERS_KEPT; k++)
        if (first + 128 * k < a.cols)
            r.v[k] = gpu_load4(a.x + row * a.x_stride + first + 128 * k);
    GPU_UNROLL
    for (unsigned k = 0; k < NUMBERS_KEPT; k++)
        if (a.more.at && first + 128 * k < a.cols) {
            struct gpu_four more = four_at(a.more, row * a.more_stride + first + 128 * k);
            for (int l = 0; l < 4; l++)
                r.v[k].v[l] += more.v[l];
            if (is_inside)
                gpu_store4(a.sum + row * a.sum_stride + first + 128 * k, r.v[k]);
        }
    kept_moments(&r, NUMBERS_KEPT, a.cols, a.eps, a.is_rms);
    GPU_UNROLL
    for (unsigned k = 0; k < NUMBERS_KEPT; k++) {
        size_t j = first + 128 * k;
        if (j < a.cols && is_inside) {
            struct gpu_four scale = gpu_load4(a.scale + j), y;
            for (int l = 0; l < 4; l++)
                y.v[l] = (r.v[k].v[l] - r.mean) * r.inverse * scale.v[l];
            if (a.shift) {
                struct gpu_four shift = gpu_load4(a.shift + j);
                for (int l = 0; l < 4; l++)
                    y.v[l] += shift.v[l];
            }
            four_put(a.y, row * a.y_stride + j, y);
        }
    }
}

/* With z = (x - mean)·inverse and g = dy·scale: dx = inverse·(g - mean(g) - z·mean(g·z)). */
GPU_KERNEL(norm_back, struct norm_back_args, a)
{
    GPU_SHARED(float, room, GPU_WARP);
    struct gpu_place p = gpu_place();
    const float *x = a.x + p.block[0] * a.x_stride;
    struct numbers dy = numbers_from(a.dy, p.block[0] * a.dy_stride);
    float *dx = a.dx + p.block[0] * a.dx_stride, inverse, mean = row_mean(x, a.cols, a.eps, a.is_rms, room, &inverse);
    float g = 0, gz = 0;
    for (size_t j = p.thread; j < a.cols; j += p.threads) {
        float d = number_at(dy, j) * a.scale[j];
        g += d;
        gz += d * (x[j] - mean) * inverse;
    }
    g = gpu_block_fold(g, room, false) / (float)a.cols;
    gz = gpu_block_fold(gz, room, false) / (float)a.cols;
    for (size_t j = p.thread; j < a.cols; j += p.threads)
        dx[j] = inverse * (number_at(dy, j) * a.scale[j] - (a.is_rms ? 0 : g) - (x[j] - mean) * inverse * gz);
}

GPU_KERNEL(moments, struct moments_args, a)
{
    GPU_SHARED(float, room, GPU_WARP);
    struct gpu_place p = gpu_place();
    float inverse, mean = row_mean(a.x + p.block[0] * a.stride, a.cols, a.eps, a.is_rms, room, &inverse);
    if (p.thread == 0) {
        a.ret[2 * (size_t)p.block[0]] = mean;
        a.ret[2 * (size_t)p.block[0] + 1] = inverse;
    }
}

/* The largest of a row and Σ exp(x - largest), in every thread. */
GPU_CALL float row_top(struct numbers x, size_t n, float *room, float *ret_sum)
{
    struct gpu_place p = gpu_place();
    float top = -__builtin_inff(), sum = 0;
    for (size_t j = p.thread; j < n; j += p.threads)
        top = number_at(x, j) > top ? number_at(x, j) : top;
    top = gpu_block_fold(top, room, true);
    for (size_t j = p.thread; j < n; j += p.threads)
        sum += gpu_exp(number_at(x, j) - top);
    *ret_sum = gpu_block_fold(sum, room, false);
    return top;
}

GPU_KERNEL(softmax, struct softmax_args, a)
{
    GPU_SHARED(float, room, GPU_WARP);
    struct gpu_place p = gpu_place();
    const float *x = a.x + p.block[0] * a.x_stride, *dy = a.dy ? a.dy + p.block[0] * a.dy_stride : NULL;
    float *y = a.y + p.block[0] * a.y_stride, sum = 0, top = 0;
    if (dy) {
        for (size_t j = p.thread; j < a.cols; j += p.threads)
            sum += x[j] * dy[j];
        sum = gpu_block_fold(sum, room, false);
    } else {
        struct numbers row = { (void *)x, false };
        top = row_top(row, a.cols, room, &sum);
    }
    for (size_t j = p.thread; j < a.cols; j += p.threads)
        y[j] = dy ? x[j] * (dy[j] - sum) : gpu_exp(x[j] - top) / sum;
}

/* The first of the largest: by value, then by place. */
GPU_KERNEL(argmax, struct argmax_args, a)
{
    GPU_SHARED(float, value, 128);
    GPU_SHARED(int32_t, place, 128);
    struct gpu_place p = gpu_place();
    struct numbers x = numbers_from(a.x, p.block[0] * a.stride);
    int32_t best = 0;
    for (size_t j = p.thread; j < a.cols; j += p.threads)
        if (number_at(x, j) > number_at(x, (size_t)best))
            best = (int32_t)j;
    value[p.thread] = number_at(x, (size_t)best);
    place[p.thread] = best;
    GPU_BARRIER();
    for (unsigned by = p.threads / 2; by; by /= 2) {
        if (p.thread < by) {
            unsigned other = p.thread + by;
            if (value[other] > value[p.thread] || (value[other] == value[p.thread] && place[other] < place[p.thread])) {
                value[p.thread] = value[other];
                place[p.thread] = place[other];
            }
        }
        GPU_BARRIER();
    }
    if (p.thread == 0)
        a.ret[p.block[0]] = place[0];
}

/* Loss and gradient over the logits in one pass of three reads and one write. */
GPU_KERNEL(xent, struct xent_args, a)
{
    GPU_SHARED(float, room, GPU_WARP);
    struct gpu_place p = gpu_place();
    struct numbers x = numbers_from(a.x, p.block[0] * a.x_stride);
    size_t label = (size_t)a.label[p.block[0]];
    float sum, top = row_top(x, a.cols, room, &sum), picked = number_at(x, label);
    double weight = (a.step ? a.step->loss_scale : 1.0) / (double)a.rows;
    GPU_BARRIER();                      /* everybody has read the picked one */
    if (p.thread == 0)
        a.loss[p.block[0]] = (double)top + gpu_log((double)sum) - (double)picked;
    if (a.dx.at) {
        struct numbers dx = numbers_from(a.dx, p.block[0] * a.dx_stride);
        for (size_t j = p.thread; j < a.cols; j += p.threads) {
            double share = (double)(gpu_exp(number_at(x, j) - top) / sum) - (j == label ? 1.0 : 0.0);
            number_put(dx, j, (float)(share * weight));
        }
    }
}

GPU_KERNEL(differ, struct differ_args, a)
{
    GPU_SHARED(double, room, 128);
    struct gpu_place p = gpu_place();
    const float *x = a.x + p.block[0] * a.x_stride, *t = a.t + p.block[0] * a.t_stride;
    double weight = (a.step ? a.step->loss_scale : 1.0) / (double)a.rows, loss = 0;
    for (size_t j = p.thread; j < a.cols; j += p.threads) {
        float v = x[j], want = t[j];
        double d = (double)v - (double)want;
        if (a.is_sigmoid) {
            loss += v != v ? (double)v : (double)(v > 0 ? v : 0) - (double)v * (double)want
                                             + gpu_log(1.0 + (double)gpu_exp(v > 0 ? -v : v));
            d = (double)(gpu_sigmoid(v) - want);
        } else {
            loss += d * d;
            d *= 2;
        }
        if (a.dx)
            a.dx[p.block[0] * a.dx_stride + j] = (float)(d * weight);
    }
    loss = gpu_block_total(loss, room);
    if (p.thread == 0)
        a.loss[p.block[0]] = loss;
}
