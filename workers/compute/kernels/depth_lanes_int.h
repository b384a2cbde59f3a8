/* SPDX-License-Identifier: Apache-2.0 */
/* depth_lanes_int.h - a register of channels of a depthwise convolution: depth_tile of tile_int.h for as many channels as a
 * register holds. Included once for each width, after DEPTH_FN (the function's name), VEC (the type of a register) and V(op),
 * which names the operation of that register. */
static inline __attribute__((always_inline)) void DEPTH_FN(size_t pixels, const struct depth_walk *s, size_t rows, size_t cols,
                                                           const float *x, const float *w, const float *bias, float *y)
{
    VEC sum[DEPTH_PIXELS];
#pragma GCC unroll 8
    for (size_t p = 0; p < pixels; p++)
        sum[p] = V(setzero)();
    for (size_t r = 0; r < rows; r++)
        for (size_t k = 0; k < cols; k++) {
            VEC by = V(loadu)(w + r * s->w_row + k * s->w_tap);
            const float *from = x + r * s->x_row + k * s->x_tap;
#pragma GCC unroll 8
            for (size_t p = 0; p < pixels; p++)
                sum[p] = V(fmadd)(V(loadu)(from + p * s->x_step), by, sum[p]);
        }
    if (bias) {
        VEC more = V(loadu)(bias);
#pragma GCC unroll 8
        for (size_t p = 0; p < pixels; p++)
            sum[p] = V(add)(sum[p], more);
    }
    if (s->has_relu) {
#pragma GCC unroll 8
        for (size_t p = 0; p < pixels; p++)
            sum[p] = V(max)(sum[p], V(setzero)());      /* no number: the second one, 0 */
    }
#pragma GCC unroll 8
    for (size_t p = 0; p < pixels; p++)
        V(storeu)(y + p * s->y_step, sum[p]);
}

/* Any number of pixels up to DEPTH_PIXELS: 8, 4, 2 and 1 are constants, so that all sums stay in registers. */
#define DEPTH_CAT(a, b) a##b
#define DEPTH_NAME(a, b) DEPTH_CAT(a, b)
static void DEPTH_NAME(DEPTH_FN, _pixels)(size_t pixels, const struct depth_walk *s, size_t rows, size_t cols, const float *x,
                                          const float *w, const float *bias, float *y)
{
    if (pixels == DEPTH_PIXELS) {
        DEPTH_FN(DEPTH_PIXELS, s, rows, cols, x, w, bias, y);
        return;
    }
    if (pixels & 4) {
        DEPTH_FN(4, s, rows, cols, x, w, bias, y);
        x += 4 * s->x_step, y += 4 * s->y_step;
    }
    if (pixels & 2) {
        DEPTH_FN(2, s, rows, cols, x, w, bias, y);
        x += 2 * s->x_step, y += 2 * s->y_step;
    }
    if (pixels & 1)
        DEPTH_FN(1, s, rows, cols, x, w, bias, y);
}
#undef DEPTH_CAT
#undef DEPTH_NAME
