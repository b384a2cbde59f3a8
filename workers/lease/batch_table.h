/* SPDX-License-Identifier: Apache-2.0 */
/* batch_table.h - the rows of a table through a model, a block at a time, and the rows of the result.
 *
 * Columns go to the model's inputs in the order of its signature: numbers to the inputs of numbers, words to the one of words.
 * Where the model knows the names of its columns and the table has names, they must be the same: batch_table_names first says
 * which to read. The result has a column for each number of the outputs that are kept: NAME, or NAME_0, NAME_1 … where there
 * are several in a row. A row has the bits that a call with this row gets (model.h). CSV: RFC 4180, numbers with 9 digits,
 * which read back the same, and nothing for what is not finite. NumPy: two dimensions, f4, or f8 where an output is of whole
 * numbers.
 * Calling order: batch_table_new -> batch_table_head -> batch_table_rows until ret->done is the table's rows -> batch_table_free.
 * Memory: the arena, bounded by BATCH_NUMBERS whatever the table has. Errors: UNPROCESSABLE (table and model do not fit),
 * LIMIT. */
#pragma once
#include "core/data/data_table.h"
#include "core/wire/type_batch.h"
#include "workers/compute/infer/batch.h"

enum { BATCH_ROWS = 1024, BATCH_NUMBERS = 1 << 24 };        /* of a block at most */

struct batch_table {
    const struct infer_model *model;
    const struct data_table *table;
    int result;                             /* enum batch_result */
    size_t columns;                         /* of the result */
    size_t done;                            /* rows of the table */
    size_t right;                           /* rows whose output "label" is the label of the table */
    bool has_labels;                        /* right means something */
    /* its own */
    struct arena *arena;
    struct batcher *batcher;
    struct infer_request *requests;         /* as many as a block has rows */
    size_t block, slice;                    /* rows of a block, and of one request in it */
    int64_t call_us;
    float *codes[TABLE_CATEGORIES_MAX];     /* by column of words: the model's code of each word of the table */
    bool keep[SIG_TENSORS_MAX];
    int label;                              /* the output "label", or -1 */
    bool is_double;
    void *in[SIG_TENSORS_MAX], *out[SIG_TENSORS_MAX];
};

/* The columns that the model names and a table with a header is asked for; none: by their places. In the arena. */
enum errc batch_table_names(struct arena *a, const struct infer_model *m, struct slice *ret, struct err *e) MUST_CHECK;
/* keep: struct str, names of outputs; none: all. threads: cores to use. has_labels: the table's label is a class. call_us: a call
 * of an engine may take so long (batch_compute.h); 0: no limit. */
enum errc batch_table_new(struct arena *a, const struct infer_model *m, const struct data_table *t, struct slice keep, int result,
                          int threads, bool has_labels, int64_t call_us, struct batch_table **ret, struct err *e) MUST_CHECK;
void batch_table_free(struct batch_table *b);
/* What the result begins with. */
void batch_table_head(const struct batch_table *b, struct buf *out);
/* The next block of rows, appended. */
enum errc batch_table_rows(struct batch_table *b, struct buf *out, struct err *e) MUST_CHECK;
