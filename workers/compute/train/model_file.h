/* SPDX-License-Identifier: Apache-2.0 */
/* model_file.h - the model as a safetensors file: mlp.N.weight [out, in], mlp.N.bias, input.mean, input.scale.
 *
 * x' = (x - input.mean) / input.scale goes into layer 0. __metadata__: family "mlp", activation "relu", classes, inputs, format "pt",
 * holdout_accuracy ("" without hold-out), seed, dataset (the digest given), features (a JSON array of column names), backend,
 * falaj (version). The same run writes the same bytes. */
#pragma once
#include "core/data/safetensors.h"
#include "core/wire/lease_wire.h"
#include "workers/compute/train/data_csv.h"
#include "workers/compute/train/fam_mlp.h"

enum { MODEL_BYTES_MAX = LEASE_OUTPUT_MAX };      /* what can be stored */

struct model_about {
    double holdout_accuracy;        /* NaN: none */
    int64_t seed;
    struct str dataset_digest;
};

/* params: the flat parameters in the order of struct mlp. Appends to out. */
enum errc model_file_write(struct arena *a, const struct mlp *m, const float *params, const struct train_data *d,
                           const struct model_about *about, struct buf *out, struct err *e);
