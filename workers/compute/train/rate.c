/* SPDX-License-Identifier: Apache-2.0 */
/* rate.c - the learning-rate schedule. Cosine: Loshchilov & Hutter 2017 without restarts. */
#include "workers/compute/train/rate.h"

#include <math.h>

/* The last fifth of warmup-stable-decay falls as 1 - √ (Hägele et al. 2024). */
static const double WSD_DECAY = 0.2;

double train_rate(const struct train_job *s, int64_t step, int64_t total_steps)
{
    if (step < s->warmup_steps)
        return s->learning_rate * (double)(step + 1) / (double)s->warmup_steps;
    int64_t rest = total_steps - s->warmup_steps;
    double done = rest > 0 ? (double)(step - s->warmup_steps) / (double)rest : 0;
    if (s->schedule == TRAIN_COSINE)
        return s->learning_rate * 0.5 * (1 + cos(3.141592653589793 * done));
    if (s->schedule == TRAIN_WSD)
        return s->learning_rate * (done > 1 - WSD_DECAY ? 1 - sqrt((done - 1 + WSD_DECAY) / WSD_DECAY) : 1);
    return s->schedule == TRAIN_LINEAR ? s->learning_rate * (1 - done) : s->learning_rate;
}
