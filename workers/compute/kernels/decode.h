/* SPDX-License-Identifier: Apache-2.0 */
/* decode.h - what making text needs beside the operations of backend.h: products of a few rows with weights that are kept small,
 * and the attention of one token over what came before it.
 *
 * One row of a product reads every weight once and does two operations with it: memory is the limit, so weights are kept as bf16
 * or i8 (a scale for each column) and become fp32 in registers; inputs, sums and results are fp32. Layout, the same for every
 * tier: panels of DECODE_NR columns, k deep, column by column within a step of k, so a panel is read from begin to end.
 *
 * Same bits: an element is one chain over ascending k (vector tiers: fused multiply-add), then · scale, then + bias, whatever
 * rows it is computed with and on however many threads; attention of a token is one task of one order. So a row has the same bits
 * in any batch, and a token the same whether it came by itself or among its prompt. avx2 and avx512 agree bit for bit in
 * products.
 * Errors: none; sizes are the caller's duty. */
#pragma once
#include "workers/compute/kernels/backend.h"

enum decode_type { DECODE_F32, DECODE_BF16, DECODE_I8, DECODE_TYPES };
enum { DECODE_NR = 32, DECODE_ROWS = 64, DECODE_SEEN_MAX = 16384 };

extern const char *const decode_type_names[];       /* "fp32", "bf16", "int8", NULL */

struct decode_weights {                 /* w[n, k]: out by in */
    enum decode_type type;
    size_t n, k;
    void *data;                         /* decode_bytes of it, zeroed, aligned to 64; whose it is, is the caller's affair */
    float *scale;                       /* of i8: n rounded up to panels; else NULL */
};

struct decode_product {
    const struct decode_weights *w;
    const float *x, *bias;              /* x[m, k], m at most DECODE_ROWS; bias[n] or NULL */
    float *y;                           /* [m, n] */
    size_t m, x_row, y_row;             /* numbers from row to row */
};

struct decode_attend {                  /* of one head of one token */
    const float *q, *keys, *values;     /* d numbers; [seen, d] */
    float *out;                         /* d numbers: softmax(q·keysᵀ·scale)·values */
    size_t seen, d;
    float scale;
};

struct decode {                         /* of a backend */
    void (*panel)(const struct decode_product *p, size_t panel);
    void (*attend)(const struct decode_attend *a);
};

size_t decode_bytes(enum decode_type type, size_t n, size_t k);
/* Rows `at` … of w from `rows` rows of fp32 numbers at any address; the number of row r and column c stands at
 * r·row_step + c·col_step. */
void decode_pack(const struct decode_weights *w, size_t at, size_t rows, const void *from, size_t row_step, size_t col_step);
/* Row r of w as numbers: what an embedding is. */
void decode_row(const struct decode_weights *w, size_t r, float *ret);
/* The product on the pool's threads; NULL: here. */
void decode_run(const struct backend *be, struct pool *pool, const struct decode_product *p);
