/* SPDX-License-Identifier: Apache-2.0 */
/* depth_lanes_int.h - a register of channels of a depthwise convolution: depth_tile of tile_int.h for as many channels as a
 * register holds. Included once for each width, after DEPTH_FN (the function's name), VEC (the type of a register) and V(op),
 * which names the operation of that register. */
static inline __attribute__((always_inline)) void DEPTH_FN(size_t pixels, const float *x, size_t x_step, size_t rows,
                                                           size_t x_row, size_t cols, size_t step, const float *w,
                                                           size_t w_row, float *y)
{
    VEC sum[DEPTH_PIXELS];
#pragma GCC unroll 8
    for (size_t p = 0; p < pixels; p++)
        sum[p] = V(setzero)();
    for (size_t r = 0; r < rows; r++)
        for (size_t k = 0; k < cols; k++) {
            VEC by = V(loadu)(w + r * w_row + k * step);
            const float *from = x + r * x_row + k * step;
#pragma GCC unroll 8
            for (size_t p = 0; p < pixels; p++)
                sum[p] = V(fmadd)(V(loadu)(from + p * x_step), by, sum[p]);
        }
#pragma GCC unroll 8
    for (size_t p = 0; p < pixels; p++)
        V(storeu)(y + p * step, sum[p]);
}
