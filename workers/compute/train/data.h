/* SPDX-License-Identifier: Apache-2.0 */
/* data.h - what a run learns from, whatever it was read from: rows by number, split, and how a batch of them is made.
 *
 * Filled by data_rows.h (tables, images as columns) or data_tokens.h (sequences). Immutable; memory in the arena it was read
 * with. */
#pragma once
#include "core/data/data_format.h"
#include "workers/compute/train/columns.h"
#include "workers/compute/train/net.h"

struct train_data {
    struct net_shape shape;
    const uint32_t *train, *holdout;            /* row numbers from 0, ascending */
    size_t train_count, holdout_count;
    /* Rows as the model takes them: x floats, or i32 tokens; target i32 classes (of each token), or floats. */
    void (*fetch)(const struct train_data *d, const uint32_t *rows, size_t n, void *x, void *target);
    struct data_table table;                     /* of a table, words as codes; rows 0: none */
    struct columns columns;                     /* of a table */
    float target_mean, target_scale;            /* of a number: it is learnt as (y - mean) / scale; else 0 and 1 */
    const unsigned char *tokens;                /* of sequences: little-endian u16 or u32 */
    size_t token_bytes;
    struct str vocabulary;                      /* the file of core/data/bpe.h that made the tokens; len 0: not known */
};
