/* SPDX-License-Identifier: Apache-2.0 */
/* tile_rows_int.h - from a number of rows and of columns to a tile operation with constants for both; included by gemm_int.h
 * with ROWS(name), which names the functions and the tile operations: over numbers, and in a variant that has them over pairs. */
static inline void ROWS(micro_half_rows)(size_t rows, size_t depth, const float *a, size_t a_row, size_t a_step,
                                         const float *panel, float *c, size_t c_row, bool has_c)
{
    switch (rows) {
    case 1: ROWS(micro_half)(1, depth, a, a_row, a_step, panel, c, c_row, has_c); break;
    case 2: ROWS(micro_half)(2, depth, a, a_row, a_step, panel, c, c_row, has_c); break;
    case 3: ROWS(micro_half)(3, depth, a, a_row, a_step, panel, c, c_row, has_c); break;
    case 4: ROWS(micro_half)(4, depth, a, a_row, a_step, panel, c, c_row, has_c); break;
    case 5: ROWS(micro_half)(5, depth, a, a_row, a_step, panel, c, c_row, has_c); break;
#if MR > 6
    case 6: ROWS(micro_half)(6, depth, a, a_row, a_step, panel, c, c_row, has_c); break;
    case 7: ROWS(micro_half)(7, depth, a, a_row, a_step, panel, c, c_row, has_c); break;
#endif
    default: ROWS(micro_half)(MR, depth, a, a_row, a_step, panel, c, c_row, has_c); break;
    }
}

static inline void ROWS(micro_rows)(size_t rows, size_t depth, const float *a, size_t a_row, size_t a_step,
                                    const float *panel, float *c, size_t c_row, bool has_c)
{
    switch (rows) {     /* a constant per case, so each becomes its own unrolled loop */
    case 1: ROWS(micro)(1, depth, a, a_row, a_step, panel, c, c_row, has_c); break;
    case 2: ROWS(micro)(2, depth, a, a_row, a_step, panel, c, c_row, has_c); break;
    case 3: ROWS(micro)(3, depth, a, a_row, a_step, panel, c, c_row, has_c); break;
    case 4: ROWS(micro)(4, depth, a, a_row, a_step, panel, c, c_row, has_c); break;
    case 5: ROWS(micro)(5, depth, a, a_row, a_step, panel, c, c_row, has_c); break;
#if MR > 6
    case 6: ROWS(micro)(6, depth, a, a_row, a_step, panel, c, c_row, has_c); break;
    case 7: ROWS(micro)(7, depth, a, a_row, a_step, panel, c, c_row, has_c); break;
#endif
    default: ROWS(micro)(MR, depth, a, a_row, a_step, panel, c, c_row, has_c); break;
    }
}

/* Rows of A by `width` columns of a panel over one step of k, to c. Of a panel that is not full half a tile is enough, or the
 * tile goes through the stack. */
static void ROWS(one_tile)(const struct gemm *g, size_t rows, size_t depth, const float *a, const float *panel, float *c,
                           size_t width, bool has_c)
{
    _Alignas(64) float tile[MR * NR];
    if (width == NR) {
        ROWS(micro_rows)(rows, depth, a, g->a_row, g->a_step, panel, c, g->c_row, has_c);
        return;
    }
    if (width == NR / 2) {
        ROWS(micro_half_rows)(rows, depth, a, g->a_row, g->a_step, panel, c, g->c_row, has_c);
        return;
    }
    memset(tile, 0, sizeof tile);
    for (size_t r = 0; has_c && r < rows; r++)
        memcpy(tile + r * NR, c + r * g->c_row, width * sizeof *tile);
    if (width < NR / 2)
        ROWS(micro_half_rows)(rows, depth, a, g->a_row, g->a_step, panel, tile, NR, has_c);
    else
        ROWS(micro_rows)(rows, depth, a, g->a_row, g->a_step, panel, tile, NR, has_c);
    for (size_t r = 0; r < rows; r++)
        memcpy(c + r * g->c_row, tile + r * NR, width * sizeof *tile);
}
