/* SPDX-License-Identifier: Apache-2.0 */
/* text_model.h - a decoder of our own training (train/fam_gpt.c) loaded to make text: small weights, and a planned cache of keys
 * and values.
 *
 * The cache is all the memory that text takes while it grows: max_sequences slots of max_context tokens, planned when the model
 * loads, never more. A step takes rows, each a token of a slot at its place; what came before it in its slot must have been
 * taken by an earlier step or stand before it in this one. A row's results do not depend on what else is in the step, nor on
 * whether it came alone or among others of its slot (kernels/decode.h), so text is the same in any company.
 * Weights of bf16 or i8 answer a little differently than those of fp32; the embedding is the head's weights, as they are kept.
 * Hostile files: sizes are those of tensors that are in the file, proven before memory is asked for by them.
 * Not thread-safe: one thread steps; the pool's help it. Calling order: text_model_load -> text_step* -> text_model_free.
 * Errors: BAD_DATA, UNPROCESSABLE (the backend makes no text), LIMIT (with the figures). */
#pragma once
#include "core/base/pages.h"
#include "core/data/bpe.h"
#include "core/data/safetensors.h"
#include "workers/compute/kernels/decode.h"

enum { TEXT_SEQUENCES = 8, TEXT_SEQUENCES_MAX = 32, TEXT_LAYERS_MAX = 128, TEXT_VOCAB_MAX = 1 << 20 };

#define TEXT_TOKENIZER "tokenizer"      /* metadata of a model file: a vocabulary of core/data/bpe.h as its file */

struct text_options {
    enum decode_type weights;
    size_t max_sequences;               /* at a time; 0: TEXT_SEQUENCES */
    size_t max_context;                 /* tokens of prompt and answer; 0: the model's, which is the most */
    size_t max_bytes;                   /* weights, cache and work together, and the most while it loads; 0: no limit */
    const struct read_once *data;       /* the file's bytes are read once, and told of as they are taken in; NULL: they stay */
};

struct text_info {
    size_t vocab, context, layers, width, heads, kv_heads, inner;
    bool is_rms, is_rotary, is_gated;
    size_t max_sequences, max_context;
    size_t weight_bytes, cache_bytes, work_bytes;       /* planned */
    size_t load_bytes;                  /* most that file and weights take together while it loads, planned */
    enum decode_type weights;
    const struct bpe *vocabulary;       /* NULL: the file has none */
};

struct text_row {
    size_t slot, at;                    /* below max_sequences, max_context */
    int32_t token;                      /* below vocab */
    float *logits;                      /* vocab numbers: what may follow it; NULL: nobody asks */
};

struct text_model;

/* Whether a file is a model of this kind. */
bool text_model_is(const struct st_file *f);
enum errc text_model_load(const struct backend *be, struct pool *pool, const struct st_file *f, const struct text_options *o,
                          struct text_model **ret, struct err *e);
/* For a model that stays, once it answers: large pages for its weights. Steps may run meanwhile. */
void text_model_settle(const struct text_model *m, const _Atomic bool *stop);
void text_model_free(struct text_model *m);
const struct text_info *text_model_info(const struct text_model *m);
/* n: 1 … DECODE_ROWS. */
enum errc text_step(struct text_model *m, const struct text_row *rows, size_t n, struct err *e);
/* The threads that steps are computed by. */
struct pool *text_model_pool(const struct text_model *m);
