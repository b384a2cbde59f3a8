/* SPDX-License-Identifier: Apache-2.0 */
/* tile_int.h - the tile operations that the matrix product of gemm_int.h is written over, and their sizes by tier.
 *
 *   micro(rows, depth, a, a_row, a_step, panel, c, c_row, has_c)   one tile: c[rows][NR] (+)= a[rows][depth] · panel[depth][NR]
 *   micro_half(…)                                                  the same for the first NR/2 columns of the panel
 *   row_times_panels(depth, x, panel, panel_step, panels, y)       one row by 1 … 4 panels: one stream per panel
 *   depth_tile(lanes, pixels, s, rows, cols, x, w, bias, y)        lanes channels of up to DEPTH_PIXELS pixels: y[p·y_step + j] =
 *       Σ over r < rows, k < cols of x[p·x_step + r·x_row + k·x_tap + j] · w[r·w_row + k·w_tap + j], + bias[j] if it is given,
 *       and max(0, …) if s says so
 *   transpose8(src, src_row, dst, dst_row)                         8 × 8 numbers
 *   dot_cols(halves, rows, u, slices, quads, slice_step, panel, c) whole numbers: c[i][j] = Σ over s < slices, k < 4·quads of
 *       u[i][s·slice_step + k] · panel[s][k / 4][j][k % 4], for the QN columns of 2 halves or those of the first alone; u without
 *       a sign, the panel with one; exact
 *
 *   pair_cols(halves, rows, v, v_row, pairs, panel, c, c_row)      the same of 16 bits with a sign on both sides: c[i][j] = Σ
 *       over k < 2·pairs of v[i][k] · panel[k / 2][j][k % 2]; a tier that has it defines PAIR_COLS (q8_wino_int.h)
 *
 *   pair_micro(…), pair_micro_half(…)   as micro and micro_half, but a "number" of a and of the panel is a pair of bf16, the
 *       one of lower k in the lower half: each step adds the product of the upper halves, then that of the lower ones, in fp32
 *
 * Each element is one chain of fused multiply-adds over ascending k. tile_plain_int.h says the same in plain C, with the
 * same bits, so that the blocking, packing and epilogues of every tier are built and compared on any machine. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define AVX2_MR 6       /* 12 sums, 2 loads of B and a broadcast in 16 registers */
#define AVX2_NR 16
#define AVX512_MR 8
#define AVX512_NR 32

#define AVX2_QR 4       /* of dot_cols: rows of a tile and columns of a panel */
#define AVX2_QN 16
#define AVX512_QR 8
#define AVX512_QN 32

#define AVX2_DEPTH_LANES 8
#define AVX512_DEPTH_LANES 16

enum { DEPTH_PIXELS = 8 };
struct depth_walk {             /* numbers from pixel to pixel, row to row, place to place of the window */
    size_t x_step, x_row, x_tap, w_row, w_tap, y_step;
    bool has_relu;
};
