/* SPDX-License-Identifier: Apache-2.0 */
/* share.h - how much more than its own a line of jobs holds: who holds least of it goes next, who holds most makes room first.
 *
 * After Kueue's dominant resource share: borrowed = max over slots and gpus of 1 000 000 * (sum of max(0, used - nominal)) /
 * (what the cohort lends) / weight; 0 while nothing is borrowed. Among those that borrow the same, filled = max over the
 * rules of 1 000 000 * used / nominal / weight decides. A project is compared with projects before its queues are with
 * queues; a place without a rule has share 0. The weight of a queue moves by what it used before (KAI's term with k = 1,
 * half-life one week): with W its part of the cohort's weights and U its part of their usage, P = W + (W - U), within a
 * thousandth and twice of W. So who used more than its part for a while goes behind until that is even again; the balance lies
 * where usage is in proportion to weights, whoever else is idle.
 * Integers only, so that replay is exact. Pure. */
#pragma once
#include "scheduler/plan/rulebook.h"

struct lane_share {
    int64_t project_borrowed, project_filled, queue_borrowed, queue_filled;
};

/* One place of the ask alone: *ret_filled may be NULL. */
int64_t share_borrowed(const struct rulebook *b, const struct rule_ask *ask, enum rule_place place, int64_t *ret_filled);
/* Flavor and zone of the ask do not matter. */
struct lane_share share_of(const struct rulebook *b, const struct rule_ask *ask);
/* Less than 0: a goes before b. */
int share_compare(const struct lane_share *a, const struct lane_share *b);
/* The weight of a rule in thousandths, moved by usage; 0 stays 0. */
int64_t share_weight(const struct rulebook *b, const struct rule *r);
