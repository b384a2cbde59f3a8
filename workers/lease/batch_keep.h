/* SPDX-License-Identifier: Apache-2.0 */
/* batch_keep.h - the rows that a batch has done, as checkpoints of its job: the next attempt goes on behind them, and its
 * result has the same bytes.
 *
 * A checkpoint (compute/train/ckpt.h) holds the result so far, how many rows that is, and a digest of all that decides its
 * bytes: specification, inputs, backend, version. One is due when the last is kept and as many seconds are over as it has MiB, so
 * that a long result is not sent again and again; and once more when the job is told to stop. The result so far lies in memory
 * for it: a quarter of what the lease has left; a longer one is kept no more, which the log says, and what was kept counts.
 * Calling order: batch_keep_new -> batch_keep_restore -> (batch_keep_add -> batch_keep_look)* -> batch_keep_last, when told to
 * stop -> batch_keep_free. On NULL every call does nothing. */
#pragma once
#include "workers/lease/child.h"

struct batch_keep;
struct batch_kept {
    size_t rows, right;             /* of batch_table.h */
};

/* *ret NULL without a keeper. backend and inputs are the child's. */
MUST_CHECK enum errc batch_keep_new(struct child *c, struct batch_keep **ret, struct err *e);
/* The newest that can be used; rows 0: there is none, or only those of another backend or version. rows_max: the table's.
 * DAMAGED: there are some, and none can be read. */
MUST_CHECK enum errc batch_keep_restore(struct batch_keep *k, size_t rows_max, struct batch_kept *ret, struct err *e);
/* What was restored, to begin the result with. */
struct str batch_keep_text(const struct batch_keep *k);
void batch_keep_add(struct batch_keep *k, struct str rows);
void batch_keep_look(struct batch_keep *k, struct batch_kept at);
void batch_keep_last(struct batch_keep *k, struct batch_kept at);       /* waits until it is kept or lost */
void batch_keep_free(struct batch_keep *k);
void batch_keep_freep(struct batch_keep **k);
