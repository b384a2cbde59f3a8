/* SPDX-License-Identifier: Apache-2.0 */
/* optimise.h - a model made smaller after training, and what that costs: weights and activations of eight bits, or weights of
 * bf16.
 *
 * The table's rows go two ways: one in four (at most `calibration_rows`) shows what ranges the activations have, the others are
 * classified by the model before and after. The model takes rows of the table's columns and gives classes: the output "label",
 * or the largest of its one output with a number for each class. Latency is that of single rows, both models in turns, the
 * median of rounds. The report is complete whatever the accuracy: the caller judges it (max_accuracy_drop).
 * Memory: the arena, and a loaded model of each. Errors: UNPROCESSABLE (no such model, nothing to make smaller), BAD_DATA,
 * LIMIT. */
#pragma once
#include "core/data/data_table.h"
#include "workers/compute/infer/model.h"
#include "workers/compute/optimise/range.h"

enum optimise_precision { OPTIMISE_INT8, OPTIMISE_BF16 };

struct optimise_task {
    const struct backend *backend;
    struct pool *pool;
    struct str model;               /* the file's bytes; aligned as safetensors asks */
    const struct data_table *table;
    enum optimise_precision precision;
    enum range_rule rule;
    double percentile;
    size_t calibration_rows;
    struct str parent;              /* what the file says it was made of */
};

struct optimise_report {
    double accuracy_before, accuracy_after;     /* share of rows labelled rightly */
    double agreement;                           /* share of rows that both models give the same class */
    double latency_us_before, latency_us_after;
    size_t bytes_before, bytes_after;           /* of the files */
    size_t memory_before, memory_after;         /* of packed weights and other constants */
    size_t calibration_rows, evaluation_rows, changed;      /* changed: products and convolutions */
};

enum errc optimise_run(struct arena *a, const struct optimise_task *t, struct buf *file, struct optimise_report *ret,
                       struct err *e);
/* The same change without rows: in eight bits what comes into a product is quantised by the range of each row (of each image).
 * Nothing judges it. The bytes as above. */
enum errc optimise_direct(struct arena *a, struct str model, enum optimise_precision precision, struct buf *file, struct err *e);
