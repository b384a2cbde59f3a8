/* SPDX-License-Identifier: Apache-2.0 */
/* cursor.h - where a run of the step loop stands, as numbers and as the pairs of a checkpoint's metadata.
 *
 * Doubles travel as the hexadecimal of their bits, so that nothing is lost. Order, dropout and first values are functions of
 * seed, epoch
 * and step (shuffle.h, the scalars of a step), so these numbers are all that the stream of random numbers has for a state. */
#pragma once
#include "workers/compute/train/ckpt.h"
#include "workers/compute/train/engine.h"

struct cursor {                             /* all that a resumed run needs besides numbers in buffers */
    int64_t step, epoch, taken;             /* rows taken in this epoch */
    int64_t rounds, items;                  /* evaluations so far; items since the last one */
    double loss_sum;                        /* over those items */
    int64_t bad_epochs;                     /* evaluations since the best one */
    int64_t skipped, in_a_row, rollbacks;
    double factor, grad_norm, seconds;      /* of the rate, halved by a rollback; of the last step; worked so far */
    double joules;                          /* taken so far, where a budget of them is counted */
    struct train_epoch last, best;          /* best.epoch 0: none yet */
};

/* Everything but the step, which ckpt_write has. Texts in the arena. */
size_t cursor_pairs(struct arena *a, const struct cursor *c, struct st_pair ret[CKPT_PAIRS_MAX]);
/* DAMAGED names the member that is missing or no number. */
MUST_CHECK enum errc cursor_read(const struct ckpt *k, struct cursor *ret, struct err *e);
