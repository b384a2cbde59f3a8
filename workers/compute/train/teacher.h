/* SPDX-License-Identifier: Apache-2.0 */
/* teacher.h - what a teacher says of every row of a table: the probabilities from which a net learns beside the labels
 * (distillation, Hinton, Vinyals & Dean 2015).
 *
 * A teacher is any model file that is served: it has one input of numbers, which are the table's columns as they are, and an
 * output "probabilities". It is asked once, before the first step, so a step costs no more than one without a teacher.
 * A probability p becomes p^(1/T) / Σ p^(1/T), which is softmax(logits / T). Memory: the arena, rows · classes floats.
 * Errors: UNPROCESSABLE names what the teacher lacks; LIMIT; those of infer/model.h. */
#pragma once
#include "workers/compute/train/data.h"

struct pool;

MUST_CHECK enum errc teacher_ask(struct arena *a, const struct backend *be, struct pool *pool, struct str file,
                                 const struct train_data *d, double temperature, const float **ret, struct err *e);
