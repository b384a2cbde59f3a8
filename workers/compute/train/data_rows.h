/* SPDX-License-Identifier: Apache-2.0 */
/* data_rows.h - a table of numbers, of the format that the spec names, ready to train on: rows, labels, the split, and the
 * input's mean and scale.
 *
 * The split is a pure function of (seed, rows, labels): the hold-out rows are the first of the keyed order, within every
 * class, and at least one row stays on each side (of each class with two rows or more). Mean, scale and codes of words come from
 * the training rows alone (columns.h); scale 1 for a constant column (what scikit-learn's StandardScaler does).
 * Memory: all in the arena. Errors: those of data_format.h; BAD_DATA when the split leaves nothing to train on, or when the
 * columns are
 * not the
 * numbers of the spec's image. */
#pragma once
#include "workers/compute/train/data.h"

enum errc train_data_rows(struct arena *a, struct str text, const struct data_schema *schema, const struct train_job *spec,
                         struct train_data *ret, struct err *e);
/* start: the file of a model whose weights the run begins with, and whose columns it therefore has; NULL: as the rows are. */
enum errc train_data_rows_from(struct arena *a, struct str text, const struct data_schema *schema, const struct train_job *spec,
                               const struct st_file *start, struct train_data *ret, struct err *e);
/* Row r as a net sees it, into out[shape.inputs]. The server does the same sum, so the same row gives the same bits. */
void train_data_row(const struct train_data *d, uint32_t r, float *out);
