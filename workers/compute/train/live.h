/* SPDX-License-Identifier: Apache-2.0 */
/* live.h - what a run says of itself between evaluations: at most two points a second, each with the worst that was seen since
 * the one before, so that a spike of a single step is not lost between two points.
 *
 * The time is given, so a test needs no clock. Calling order: zeroed -> train_live_add after each step; train_live_rest where
 * another point was just told. Rates are over the time since the last point. */
#pragma once
#include "workers/compute/train/engine.h"

enum { LIVE_GAP_US = 500 * 1000 };

struct train_live {
    int64_t since_us;                   /* of the last point; 0: none yet */
    int64_t items;                      /* since then, and the next three */
    double flops, waited, loss_peak, grad_norm_peak;    /* waited: seconds */
};

struct train_live_point {
    struct train_step at;               /* the step that ends it */
    double loss_peak, grad_norm_peak;   /* largest since the last point; NaN: no number among them */
    double items_per_s, flops_per_s;
    double data_wait;                   /* share of the time until rows were there */
};

/* true: a point is due, and *ret is it. The first call only begins. */
bool train_live_add(struct train_live *l, int64_t now_us, const struct train_step *s, struct train_live_point *ret);
void train_live_rest(struct train_live *l, int64_t now_us);
