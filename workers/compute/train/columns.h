/* SPDX-License-Identifier: Apache-2.0 */
/* columns.h - the columns of a table as what a model takes: numbers standardised, words as codes, missing values told apart;
 * while it is trained (columns_row) and in the graph with which it is served (columns_served), with the same bits.
 *
 * A net sees, one behind the other: each number as (x - mean) / scale, 0 where it is missing; where a training row had a
 * missing number, as many more: 1 where it is missing and was so in training, too; for each column of categories `codes`
 * numbers: 1 at the code of its word, all 0 for a word without a code. The first layer's weights of a code are thus the
 * embedding of its word. Trees take the numbers as they are, then codes; NaN is missing.
 *
 * Codes have the words that two training rows have at least, the most frequent first (then by their bytes), at most
 * COLUMN_CODES_MAX for a column. All other words, those that nobody had seen and empty cells are one: no word. The model file has
 * them as metadata: `words`, a JSON list of lists by code, and `missing_values`, "true" where the model takes missing numbers
 * (core/data/model_words.h reads both). Memory: the arena. Errors: LIMIT. */
#pragma once
#include "core/data/data_table.h"
#include "core/data/model_sig.h"
#include "core/data/safetensors.h"
#include "workers/compute/graph/graph.h"

enum { COLUMNS_PAIRS_MAX = 2, COLUMNS_TENSORS_MAX = 4, COLUMNS_NODES = 24 };

struct columns {                    /* zeroed: no table */
    size_t numbers, categories;     /* the table's columns, in this order */
    size_t codes;                   /* of the category with most; 0 without one */
    bool takes_missing;             /* the data set says that numbers may be missing */
    float *mean, *scale;            /* numbers each; NULL of trees */
    float *missing;                 /* numbers: 1 where a training row had none; NULL where none was missing */
    float *code;                    /* 0 … codes-1: a constant of the graph */
    struct slice *words;            /* categories: struct str by code */
};

/* Words of the table become codes in place, and what the training rows say of numbers. is_net: mean, scale and missing, too. */
enum errc columns_make(struct arena *a, struct data_table *t, const uint32_t *train, size_t train_count, bool has_missing,
                       bool is_net, struct columns *ret, struct err *e) MUST_CHECK;
/* As the file of a model has them, whose weights a run begins with: its mean and scale, its words. UNPROCESSABLE: other
 * columns. */
enum errc columns_of_model(struct arena *a, struct data_table *t, const struct st_file *f, bool has_missing, struct columns *ret,
                           struct err *e) MUST_CHECK;
/* Numbers that a net sees of a row. */
size_t columns_inputs(const struct columns *c);
/* x: a row of the table; out: columns_inputs numbers. */
void columns_row(const struct columns *c, const float *x, float *out);

/* For the model file. Texts in the arena. The tensors are borrowed. */
enum errc columns_pairs(struct arena *a, const struct columns *c, struct st_pair ret[COLUMNS_PAIRS_MAX], size_t *ret_n,
                        struct err *e) MUST_CHECK;
size_t columns_tensors(const struct columns *c, struct st_tensor ret[COLUMNS_TENSORS_MAX]);
/* "input" FP32 [-1,numbers] and "categories" BYTES [-1,categories], whichever there are. */
void columns_sig(const struct columns *c, struct model_sig *sig);
/* The same as values of a graph, side by side as the table has them; then as a net sees them. */
int columns_inputs_of(struct graph *g, const struct columns *c);
int columns_served(struct graph *g, const struct columns *c);
