/* SPDX-License-Identifier: Apache-2.0 */
/* train_kit.h - the training spec that the tests of the engine change: small, quick, and good enough for 97 % on the digits. */
#pragma once
#include "core/wire/type_train.h"

static inline struct train_job kit_spec(void)
{
    static int64_t hidden[] = { 128 };
    return (struct train_job){ .hidden = { hidden, 1 }, .epochs = 20, .batch_size = 32, .accumulate = 1,
                               .optimizer = TRAIN_ADAMW, .learning_rate = 1e-3,
                               .weight_decay = 1e-2, .schedule = TRAIN_COSINE, .seed = 1, .holdout = 0.2 };
}
