/* SPDX-License-Identifier: Apache-2.0 */
/* joules.h - a run's budget of energy: what an outer meter says, against max_joules.
 *
 * The run never measures itself: whoever lends the machine does (workers/agent/energy.h), and is asked at a step's end, at most
 * once a second. What attempts before took comes from the checkpoint; what they took after it is lost, as with max_seconds.
 * Where nothing is measured a run with such a budget does not begin (UNPROCESSABLE); where the meter falls silent later, the run
 * ends as if its budget were used up, and keeps what it has learnt.
 * Ranks: a rank that is a machine has a meter of its own, ranks that are threads of one lease have rank 0's. All ranks say what
 * they have read at the end of each step, and rank 0 decides for all, so they end at the same step. Where one of them does not
 * measure none begins; one that falls silent ends the run for all.
 * Calling order: joules_begin -> (joules_are_spent | joules_are_spent_by_all)* ; joules_taken at any time. One thread. */
#pragma once
#include "workers/compute/train/engine.h"

struct joules {
    const struct train_meter *meter;        /* NULL: no budget of joules */
    const struct clock *clock;
    double before, read;                    /* of attempts before; of this one, when it was last asked */
    double others;                          /* of this one, the other ranks */
    int64_t ask_us;                         /* not before */
    bool is_silent;                         /* it was asked in vain */
};

MUST_CHECK enum errc joules_begin(struct joules *j, const struct train_task *t, double before, struct err *e);
/* most: of all attempts. */
bool joules_are_spent(struct joules *j, double most);
/* Of all ranks; collective. comm NULL: as above. Rank 0 alone is told. */
MUST_CHECK enum errc joules_are_spent_by_all(struct joules *j, struct comm *comm, double most, bool *ret, struct err *e);
double joules_taken(const struct joules *j);
/* Why a run ended that joules_are_spent was true of. */
void joules_say(const struct joules *j, const struct train_observer *o);
