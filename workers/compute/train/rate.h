/* SPDX-License-Identifier: Apache-2.0 */
/* rate.h - the learning rate of a step, and what no spec chooses. What a tenant may ask is struct train_job (core/wire/type_train.h): the
 * engine takes it as the schema has read and judged it, and knows no limit or default of its own. */
#pragma once
#include "core/wire/type_train.h"

#define TRAIN_MOMENTUM 0.9          /* of sgd */
#define TRAIN_BETA1 0.9             /* of adamw */
#define TRAIN_BETA2 0.999

/* Of step 0 … total-1. Warm-up rises linearly over warmup_steps; cosine and linear end at 0 after the last step. */
double train_rate(const struct train_job *s, int64_t step, int64_t total_steps);
