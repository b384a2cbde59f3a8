/* SPDX-License-Identifier: Apache-2.0 */
/* args.h - the argument of each kernel, one struct by value: what the host fills and the kernel reads. Sizes and strides are in
 * numbers, pointers are of device memory; a pointer may be NULL where its comment says so. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "workers/compute/kernels/step.h"

enum cell_fn {
    CELL_ADD, CELL_ADD_BIAS, CELL_COPY, CELL_RELU, CELL_RELU_BACK, CELL_GELU, CELL_GELU_BACK,
    CELL_GELU_QUICK, CELL_GELU_BACK_QUICK, CELL_STANDARDISE
};

/* f32, or bf16: what kernels that take both are given (numbers_int.h). */
struct numbers {
    void *at;                   /* NULL: none */
    bool is_narrow;
};

/* out = fn(x, y, z) by number. A vector for the columns has stride 0. is_wide: all are dense and begin at 16 bytes, z is none;
 * a vector then has a multiple of eight columns. */
struct cells_args {
    struct numbers x, y, z, out;        /* y, z: none where fn has no use for them */
    size_t rows, cols, x_stride, y_stride, z_stride, out_stride;
    enum cell_fn fn;
    bool is_wide;
};
struct swiglu_args {            /* dy none: forward */
    struct numbers x, dy, out;
    size_t rows, cols;
};
struct rotary_args {
    struct numbers x, y;        /* of the same type */
    const float *table;
    size_t tokens, t, row, heads, d;
    float sign;
};
struct dropout_args {
    struct numbers x, y;
    const struct step_scalars *step;
    size_t n;
    float keep;
    uint32_t below;
    uint64_t stream;
};
struct cast_args {
    struct numbers x, y;
    size_t n;
    bool is_wide;               /* both begin at 16 bytes */
};
struct norm_args {              /* shift NULL: from zero (RMS); more: none, or is added to x first, and sum is what that gives */
    const float *x, *scale, *shift;
    struct numbers y, more;
    float *sum;
    size_t rows, cols, x_stride, y_stride, more_stride, sum_stride;
    float eps;
    bool is_rms;
};
struct norm_back_args {
    const float *x, *scale;
    struct numbers dy;
    float *dx;
    size_t cols, x_stride, dy_stride, dx_stride;
    float eps;
    bool is_rms;
};
struct moments_args {           /* ret: mean and 1/√(var + eps) of each row */
    const float *x;
    float *ret;
    size_t cols, stride;
    float eps;
    bool is_rms;
};
struct softmax_args {           /* dy NULL: forward; else x holds the results */
    const float *x, *dy;
    float *y;
    size_t cols, x_stride, dy_stride, y_stride;
};
struct argmax_args {
    struct numbers x;
    int32_t *ret;
    size_t cols, stride;
};
struct xent_args {              /* dx none: the loss alone; step NULL: loss_scale 1 */
    struct numbers x, dx;
    const int32_t *label;
    const struct step_scalars *step;
    double *loss;               /* by row */
    size_t rows, cols, x_stride, dx_stride;
};
struct differ_args {            /* (x - t)², or with is_sigmoid the cross entropy of σ(x) and t */
    const float *x, *t;
    const struct step_scalars *step;
    float *dx;
    double *loss;               /* by row */
    size_t rows, cols, x_stride, t_stride, dx_stride;
    bool is_sigmoid;
};
struct column_part_args {       /* of `chunk` rows each; dy none: Σ x; else Σ dy·(x - mean)·inverse */
    struct numbers x, dy;
    const float *moments;
    float *part;
    size_t rows, cols, x_stride, dy_stride, chunk;
};
struct column_end_args {
    const float *part;
    float *out;
    size_t parts, cols;
    bool accumulate;
};
struct square_args {
    const float *x;
    double *part;               /* by block */
    size_t rows, cols, stride, chunk;   /* numbers of a block */
    bool is_wide;
};
struct total_args {             /* *out = Σ part, or += */
    const double *part;
    double *out;
    size_t n;
    bool accumulate;
};
struct clip_args {
    const double *sum;
    struct step_scalars *step;
};
struct embed_args {
    const float *table;
    const int32_t *token;
    float *out;
    size_t cols, table_stride, out_stride;
    bool is_wide;               /* rows begin at 16 bytes, and have a multiple of four numbers */
};
enum { EMBED_ROWS = 32 };       /* of the table, of a block */
struct embed_back_args {
    const int32_t *token;
    const float *dy;
    float *table;
    size_t tokens, rows, cols, dy_stride, table_stride;
    bool accumulate, is_wide;
};
enum { UPDATE_TURNS = 4 };      /* of adamw: four numbers a thread, so often */
struct adamw_args {
    float *w, *m, *v;
    const float *g;
    const struct step_scalars *step;
    size_t n;
    double beta1, beta2, eps, weight_decay;
    bool is_wide;
};
struct sgd_args {
    float *w, *v;
    const float *g;
    const struct step_scalars *step;
    size_t n;
    double momentum, weight_decay;
    bool is_wide;
};
/* out[m, n] = Σk a[i·a_row + k·a_col]·b[k·b_row + j·b_col], then the epilogue. */
struct product_args {
    const float *a, *b, *bias;          /* bias: NULL for none */
    float *out;
    size_t m, n, k, a_row, a_col, b_row, b_col, out_stride, batch, a_batch, b_batch, out_batch;
    bool accumulate, relu;
};
/* product_wide takes the same: addresses at 16 bytes, strides and extents along memory multiples of four. */
struct product_narrow_args {    /* a and b are bf16, out is where is_narrow; batches as there */
    struct product_args p;
    bool is_narrow;
};
/* The same of bf16 tensors (strip_int.h): a and b lie as their kernel's name says. The depth is cut into pieces of k_each, a
 * multiple of the tile's; where there are several, each is a matrix of fp32 at its number times out_batch. */
struct product_strip_args {
    const uint16_t *a, *b;
    const float *bias;                  /* NULL for none */
    void *out;
    size_t a_stride, b_stride, out_stride, a_batch, b_batch, out_batch;
    uint32_t m, n, k, k_each;
    bool is_narrow, is_wide, accumulate, relu;  /* out is bf16; it begins at 16 bytes, and n and its stride are multiples of 8 */
};
struct product_hopper_args {            /* is_wide, one batch; blocks, each with every blocks'th of count tiles times parts */
    struct product_strip_args p;
    uint32_t count, blocks;
};
struct strip_end_args {                 /* n is a multiple of 4 */
    const float *part, *bias;
    void *out;
    size_t m, n, parts, out_stride;
    bool is_narrow, accumulate, relu;
};
struct images {                 /* a window that walks over images x and makes images y */
    size_t n, xh, xw, xc, yh, yw, yc, h, w, stride, pad;
};
struct conv_args {
    const float *x, *weight, *bias, *add;
    float *y;
    struct images s;
    bool relu;
};
struct conv_back_x_args {
    const float *weight, *dy;
    float *dx;
    struct images s;
};
struct conv_back_w_args {
    const float *x, *dy;
    float *dw;
    struct images s;
    bool accumulate;
};
struct gather_args {            /* windows as rows of a matrix of bf16; at most 2^31 numbers of it and of an image */
    const float *from;          /* x; is_back: dy, and the windows are those that a pixel of x lay in */
    uint16_t *to;
    struct images s;
    uint32_t rows, depth, pitch;        /* pixels; numbers of a window, channels innermost; a multiple of 8, zeros behind depth */
    bool is_back, is_wide;      /* is_wide: channels are a multiple of 8 */
};
struct gather_weight_args {     /* [out, places, in] as rows of `pitch` bf16: [out], or is_back: [places, out] */
    const float *weight;
    uint16_t *to;
    uint32_t out, places, in, rows, cols, pitch;
    bool is_back;
};
struct heads {                  /* of ATTENTION: row = (heads + 2·kv)·d numbers a token; is_wide: every head begins at 16 bytes */
    size_t n, t, heads, kv, d, row;
    float scale;
    bool is_causal, is_wide;
};
struct attention_args {         /* sums NULL: not asked for */
    const float *qkv;
    float *y, *sums;
    struct heads s;
};
struct attention_mean_args {    /* ret: dy·y of each token and head, [n, heads, t] */
    const float *y, *dy;
    float *ret;
    struct heads s;
};
struct attention_back_q_args {
    const float *qkv, *sums, *dy, *mean;
    float *dqkv;
    struct heads s;
};
struct attention_back_kv_args {
    const float *qkv, *sums, *dy, *mean;
    float *dqkv;
    struct heads s;
};
/* Attention over bf16; d is the kernel's, and every head begins at 16 bytes. */
struct flash_args {             /* sums NULL: not asked for */
    const uint16_t *qkv;
    uint16_t *y;
    float *sums;
    struct heads s;
};
struct flash_back_args {        /* mean: dy·y of each token and head, [n, heads, t]; made by the kernel for the queries */
    const uint16_t *qkv, *y, *dy;
    const float *sums;
    float *mean;
    uint16_t *dqkv;
    struct heads s;
};
struct pool_args {
    const float *x;
    float *y;
    struct images s;
    bool is_max;
};
struct pool_back_args {         /* x NULL: of the mean */
    const float *x, *dy;
    float *dx;
    struct images s;
};
struct group_moments_args {     /* ret: mean and 1/√(var + eps) of each group of each image */
    const float *x;
    float *ret;
    size_t pixels, channels, groups;
    float eps;
};
struct group_norm_args {
    const float *x, *scale, *shift, *moments;
    float *y;
    size_t pixels, channels, groups;
};
struct group_norm_back_args {
    const float *x, *scale, *dy, *moments;
    float *dx;
    size_t pixels, channels, groups;
};
struct group_scale_back_args {
    const float *x, *dy, *moments;
    float *out;
    size_t n, pixels, channels, groups;
    bool accumulate;
};
