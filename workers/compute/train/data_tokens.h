/* SPDX-License-Identifier: Apache-2.0 */
/* data_tokens.h - sequences of tokens ready to train on: row i holds tokens i·context … (i+1)·context-1, and each token's answer
 * is the next.
 *
 * The last rows are held out, the spec's share and at least one, so nothing that is held out was seen as context. Tokens were
 * checked against the vocabulary when the shard was read. Memory: the row numbers in the arena; tokens are borrowed.
 * Errors: those of core/data/tokens.h; BAD_DATA: fewer than two sequences. */
#pragma once
#include "workers/compute/train/data.h"

enum errc train_data_tokens(struct arena *a, struct str shard, const struct train_job *spec, struct train_data *ret,
                            struct err *e);
