/* SPDX-License-Identifier: Apache-2.0 */
/* infer_row.h - one row typed by a person as a request of the Open Inference Protocol: cells with commas, of numbers and words.
 *
 * Cells are either values in the order of the model's inputs and their columns, or each NAME=VALUE by the columns' names; a
 * column that is not named is missing (null), as an empty cell is. A cell in double quotes may hold commas, "" is a quote in it.
 * What a column takes is told by its input's datatype: BYTES words, all else numbers. Pure.
 * meta: the answer of GET /v2/models/NAME; NULL with `input`, the name of the one input of numbers.
 * Errors: INVALID, with the cell and what was expected. */
#pragma once
#include "core/json/jsonvalue.h"

enum { INFER_CELLS_MAX = 65536 };

MUST_CHECK enum errc infer_row(struct arena *a, struct str row, const struct jval *meta, const char *input, struct str *ret,
                               struct err *e);
