/* SPDX-License-Identifier: Apache-2.0 */
/* model_file.h - the model as a safetensors file: the tensors that the family names, in PyTorch's layouts, and of tables
 * what is known of the columns (columns.h): input.mean and input.scale, input.missing and input.codes where there are such.
 *
 * x' = (x - input.mean) / input.scale goes into layer 0. __metadata__: family, activation, classes, inputs, format "pt",
 * holdout_accuracy ("" without hold-out), seed, dataset (the digest given), features (a JSON array of column names), backend,
 * falaj (version); of a cnn image and residual, and its graph and signature (core/data/model_graph.h), by which it is
 * served; of a gpt layers, heads, kv_heads, context, and, where the data has
 * it, tokenizer: the vocabulary that made the tokens (core/data/bpe.h, its file). The same run writes the same bytes. */
#pragma once
#include "core/data/safetensors.h"
#include "core/wire/lease_wire.h"
#include "workers/compute/train/data.h"

enum { MODEL_BYTES_MAX = LEASE_OUTPUT_MAX };      /* what can be stored */

struct model_about {
    double holdout_accuracy;        /* NaN: none */
    int64_t seed;
    struct str dataset_digest;
};

/* params: the flat parameters in the order of the net. Appends to out. */
enum errc model_file_write(struct arena *a, const struct net *m, const float *params, const struct train_data *d,
                           const struct model_about *about, struct buf *out, struct err *e);
/* Numbers in the order of the net as tensors of a file, named prefix + the net's names; ret has room for all of them. */
MUST_CHECK enum errc model_file_tensors(struct arena *a, const struct net *m, const float *numbers, const char *prefix,
                                        struct st_tensor *ret, struct err *e);
/* The parameters of a model file to go on learning with: every tensor of the net and no others; numbers in the units of d. */
MUST_CHECK enum errc model_file_start(const struct st_file *f, const struct net *m, const struct train_data *d, float *params,
                                      struct err *e);
/* The parameters of such a file, which must hold every tensor of the net in its shape, into `params`. BAD_DATA names the tensor.
 * */
MUST_CHECK enum errc model_file_read(const struct st_file *f, const struct net *m, const char *prefix, float *params,
                                     struct err *e);
