/* SPDX-License-Identifier: Apache-2.0 */
/* panel_int.h - the tile operations of the product (tile_int.h) in vector registers: micro, micro_half, row_times_panels.
 *
 * Included once per variant, after MR, NR, VEC (the type of a register), WIDTH (its numbers; NR is twice that) and V(op), which
 * names the operation of that register. The rows of a tile are a constant wherever it is called, so that all sums stay in
 * registers. */
/* One tile: rows × two vectors of sums, a constant number of rows so that all stay in registers. */
static inline __attribute__((always_inline)) void micro(size_t rows, size_t depth, const float *a, size_t a_row, size_t a_step,
                                                        const float *panel, float *c, size_t c_row, bool has_c)
{
    VEC sum[MR][2];
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++) {
        sum[i][0] = has_c ? V(loadu)(c + i * c_row) : V(setzero)();
        sum[i][1] = has_c ? V(loadu)(c + i * c_row + WIDTH) : V(setzero)();
    }
    for (size_t k = 0; k < depth; k++) {
        VEC b0 = V(load)(panel + k * NR), b1 = V(load)(panel + k * NR + WIDTH);
#pragma GCC unroll 8
        for (size_t i = 0; i < rows; i++) {
            VEC x = V(set1)(a[i * a_row + k * a_step]);
            sum[i][0] = V(fmadd)(x, b0, sum[i][0]);
            sum[i][1] = V(fmadd)(x, b1, sum[i][1]);
        }
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++) {
        V(storeu)(c + i * c_row, sum[i][0]);
        V(storeu)(c + i * c_row + WIDTH, sum[i][1]);
    }
}

/* The first vector of the panel only. */
static inline __attribute__((always_inline)) void micro_half(size_t rows, size_t depth, const float *a, size_t a_row,
                                                             size_t a_step, const float *panel, float *c, size_t c_row,
                                                             bool has_c)
{
    VEC sum[MR];
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++)
        sum[i] = has_c ? V(loadu)(c + i * c_row) : V(setzero)();
    for (size_t k = 0; k < depth; k++) {
        VEC b = V(load)(panel + k * NR);
#pragma GCC unroll 8
        for (size_t i = 0; i < rows; i++)
            sum[i] = V(fmadd)(V(set1)(a[i * a_row + k * a_step]), b, sum[i]);
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++)
        V(storeu)(c + i * c_row, sum[i]);
}

static inline __attribute__((always_inline)) void row_panels(size_t depth, const float *x, const float *panel, size_t panel_step,
                                                             size_t panels, float *y)
{
    VEC sum[4][2];
#pragma GCC unroll 4
    for (size_t p = 0; p < panels; p++)
        sum[p][0] = sum[p][1] = V(setzero)();
    for (size_t k = 0; k < depth; k++) {
        VEC xk = V(set1)(x[k]);
#pragma GCC unroll 4
        for (size_t p = 0; p < panels; p++) {
            const float *b = panel + p * panel_step + k * NR;
            sum[p][0] = V(fmadd)(xk, V(load)(b), sum[p][0]);
            sum[p][1] = V(fmadd)(xk, V(load)(b + WIDTH), sum[p][1]);
        }
    }
#pragma GCC unroll 4
    for (size_t p = 0; p < panels; p++) {
        V(store)(y + p * NR, sum[p][0]);
        V(store)(y + p * NR + WIDTH, sum[p][1]);
    }
}

static void row_times_panels(size_t depth, const float *x, const float *panel, size_t panel_step, size_t panels, float *y)
{
    switch (panels) {
    case 1: row_panels(depth, x, panel, panel_step, 1, y); break;
    case 2: row_panels(depth, x, panel, panel_step, 2, y); break;
    case 3: row_panels(depth, x, panel, panel_step, 3, y); break;
    default: row_panels(depth, x, panel, panel_step, 4, y); break;
    }
}
