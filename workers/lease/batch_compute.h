/* SPDX-License-Identifier: Apache-2.0 */
/* batch_compute.h - a block of a table's rows through its model: cut into slices that keep every core at work.
 *
 * An engine that is not ours may refuse a row, or never be done with it. A call of it (a slice) ends after call_us; the rows of a
 * slice that failed are then computed one by one, each within call_us, so that the one at fault is named and no other is. A
 * slice whose rows were all right was too long for a slow model: slices are half as long from then on. */
#pragma once
#include "workers/lease/batch_table.h"

/* Rows [0, rows) of b->in into b->out; the first is row b->done of the table. UNPROCESSABLE: the row, and why. */
enum errc batch_compute(struct batch_table *b, size_t rows, struct err *e) MUST_CHECK;
