/* SPDX-License-Identifier: Apache-2.0 */
/* text_model_int.h - what text_file.c (reads a file) and text_model.c (plans memory, steps) share. */
#pragma once
#include "core/base/arena.h"
#include "workers/compute/text/text_model.h"

struct text_layer {
    struct decode_weights attn, attn_out, up, down;
    const float *attn_bias, *attn_out_bias, *up_bias, *down_bias;       /* NULL: none */
    const float *norm1, *shift1, *norm2, *shift2;                       /* shift NULL: RMS norm */
};

struct text_model {
    const struct backend *be;
    struct pool *pool;
    struct backend_ctx *ctx;
    struct arena *arena;                /* small tables */
    struct text_info info;
    size_t d;                           /* numbers of a head */
    struct decode_weights table;        /* embedding and head, [vocab, width] */
    const float *places;                /* [context, width]; NULL: rotary */
    float *angles;                      /* [max_context, d]: cosines, then sines */
    const float *last, *last_shift;
    struct text_layer *layers;
    void *weights;                      /* one piece; the tables above point into it */
    float *keys, *values;               /* [layer][slot][kv head][max_context][d] */
    float *x, *h, *qkv, *up, *gate, *out;       /* of DECODE_ROWS rows */
    void *work;
};

/* Sizes, options and vocabulary of a file; all tensors are there in their shapes. */
enum errc text_file_about(struct arena *a, const struct st_file *f, struct text_info *ret, struct err *e);
/* Bytes that the weights take in that type. */
size_t text_file_bytes(const struct text_info *info, enum decode_type type);
/* The most that file and weights take together while they are packed: both, or with `is_once` the larger of them and a piece. */
size_t text_file_load_bytes(const struct text_info *info, enum decode_type type, const struct st_file *f, bool is_once);
/* Packs all of them into m->weights, which has that many. data: told of what was packed; NULL: nobody is. */
void text_file_take(struct text_model *m, const struct st_file *f, const struct read_once *data);
