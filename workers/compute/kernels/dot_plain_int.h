/* SPDX-License-Identifier: Apache-2.0 */
/* dot_plain_int.h - dot_cols of tile_int.h in plain C, for the reference and for tests of tiers that a machine lacks; included
 * with QN defined. Sums wrap in no case: their depth is bounded (Q8_DEPTH_MAX). */
static void dot_cols(size_t halves, size_t rows, const uint8_t *const *u, size_t slices, size_t quads, size_t slice_step,
                     const int8_t *panel, int32_t *c)
{
    memset(c, 0, rows * QN * sizeof *c);
    for (size_t i = 0; i < rows; i++)
        for (size_t s = 0; s < slices; s++)
            for (size_t k = 0; k < 4 * quads; k++)
                for (size_t j = 0; j < halves * (QN / 2); j++)
                    c[i * QN + j] += u[i][s * slice_step + k] * panel[((s * quads + k / 4) * QN + j) * 4 + k % 4];
}

#ifdef PAIR_COLS_PLAIN
#define PAIR_COLS
static void pair_cols(size_t halves, size_t rows, const int16_t *v, size_t v_row, size_t pairs, const int16_t *panel, int32_t *c,
                      size_t c_row)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < halves * (QN / 2); j++) {
            c[i * c_row + j] = 0;
            for (size_t k = 0; k < 2 * pairs; k++)
                c[i * c_row + j] += v[i * v_row + k] * panel[(k / 2 * QN + j) * 2 + k % 2];
        }
}
#endif
