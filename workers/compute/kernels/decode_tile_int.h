/* SPDX-License-Identifier: Apache-2.0 */
/* decode_tile_int.h - rows × some vectors of a panel's columns in registers, for the vector tiers; included by decode_int.h after
 * VEC, WIDTH, V(op), MR, WIDEN16(p) (WIDTH bf16 as numbers) and WIDEN8(p) (WIDTH bytes as numbers). */
enum { DECODE_VECS = DECODE_NR / WIDTH };

static inline __attribute__((always_inline)) VEC decode_load(enum decode_type type, const char *w, size_t at)
{
    return type == DECODE_F32 ? V(loadu)((const float *)(const void *)w + at)
           : type == DECODE_BF16 ? WIDEN16((const uint16_t *)(const void *)w + at)
                                 : WIDEN8((const int8_t *)w + at);
}

/* sum[rows][DECODE_NR] += x·w over `depth` steps of k, in columns v·WIDTH … of the panel; first: from zero. */
static inline __attribute__((always_inline)) void decode_part(enum decode_type type, size_t rows, size_t v, size_t vecs,
                                                              size_t depth, const float *x, size_t x_row, const char *w,
                                                              float *sum, bool first)
{
    VEC s[8][4];
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (size_t j = 0; j < vecs; j++)
            s[i][j] = first ? V(setzero)() : V(loadu)(sum + i * DECODE_NR + (v + j) * WIDTH);
    for (size_t k = 0; k < depth; k++) {
        VEC b[4];
#pragma GCC unroll 4
        for (size_t j = 0; j < vecs; j++)
            b[j] = decode_load(type, w, k * DECODE_NR + (v + j) * WIDTH);
#pragma GCC unroll 8
        for (size_t i = 0; i < rows; i++) {
            VEC a = V(set1)(x[i * x_row + k]);
#pragma GCC unroll 4
            for (size_t j = 0; j < vecs; j++)
                s[i][j] = V(fmadd)(a, b[j], s[i][j]);
        }
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (size_t j = 0; j < vecs; j++)
            V(storeu)(sum + i * DECODE_NR + (v + j) * WIDTH, s[i][j]);
}

static inline __attribute__((always_inline)) void decode_parts(enum decode_type type, size_t rows, size_t depth, const float *x,
                                                               size_t x_row, const char *w, float *sum, bool first)
{
    if (rows <= 2)
        decode_part(type, rows, 0, DECODE_VECS, depth, x, x_row, w, sum, first);
    else
        for (size_t v = 0; v < DECODE_VECS; v += 2)
            decode_part(type, rows, v, 2, depth, x, x_row, w, sum, first);
}

static inline __attribute__((always_inline)) void decode_rows(enum decode_type type, size_t rows, size_t depth, const float *x,
                                                              size_t x_row, const char *w, float *sum, bool first)
{
    switch (rows) {
    case 1: decode_parts(type, 1, depth, x, x_row, w, sum, first); break;
    case 2: decode_parts(type, 2, depth, x, x_row, w, sum, first); break;
    case 3: decode_parts(type, 3, depth, x, x_row, w, sum, first); break;
    case 4: decode_parts(type, 4, depth, x, x_row, w, sum, first); break;
    case 5: decode_parts(type, 5, depth, x, x_row, w, sum, first); break;
    case 6: decode_parts(type, 6, depth, x, x_row, w, sum, first); break;
#if MR > 6
    case 7: decode_parts(type, 7, depth, x, x_row, w, sum, first); break;
    default: decode_parts(type, 8, depth, x, x_row, w, sum, first); break;
#endif
    }
}

/* At most MR rows: one constant form for each number of rows and each type, so that sums stay in registers. */
static void decode_tile(enum decode_type type, size_t rows, size_t depth, const float *x, size_t x_row, const char *w, float *sum,
                        bool first)
{
    if (type == DECODE_F32)
        decode_rows(DECODE_F32, rows, depth, x, x_row, w, sum, first);
    else if (type == DECODE_BF16)
        decode_rows(DECODE_BF16, rows, depth, x, x_row, w, sum, first);
    else
        decode_rows(DECODE_I8, rows, depth, x, x_row, w, sum, first);
}

static float decode_dot(const float *x, const float *y, size_t n)
{
    return dot_row(x, y, n);
}

static float decode_exp(float *x, size_t n)
{
    float top;
    return exp_row(x, x, n, &top);
}
