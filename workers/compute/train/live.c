/* SPDX-License-Identifier: Apache-2.0 */
/* live.c - sums and peaks since the last point. */
#include "workers/compute/train/live.h"

#include <math.h>

void train_live_rest(struct train_live *l, int64_t now_us)
{
    *l = (struct train_live){ .since_us = now_us, .loss_peak = (double)NAN, .grad_norm_peak = (double)NAN };
}

static double larger(double most, double v)
{
    return isfinite(v) && !(v <= most) ? v : most;
}

bool train_live_add(struct train_live *l, int64_t now_us, const struct train_step *s, struct train_live_point *ret)
{
    if (!l->since_us) {                 /* what was before the first step nobody knows */
        train_live_rest(l, now_us);
        return false;
    }
    l->items += s->items;
    l->flops += s->flops;
    l->waited += s->data_wait;
    l->loss_peak = larger(l->loss_peak, s->loss);
    l->grad_norm_peak = larger(l->grad_norm_peak, s->grad_norm);
    if (now_us - l->since_us < LIVE_GAP_US)
        return false;
    double seconds = (double)(now_us - l->since_us) * 1e-6;
    *ret = (struct train_live_point){ *s, l->loss_peak, l->grad_norm_peak, (double)l->items / seconds, l->flops / seconds,
                                       l->waited / seconds };
    train_live_rest(l, now_us);
    return true;
}
