/* SPDX-License-Identifier: Apache-2.0 */
/* test_rate.c - the learning-rate schedule at its corners. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "workers/compute/train/rate.h"

static void rises_then_falls_to_nothing(void **st)
{
    (void)st;
    struct train_job s = { .learning_rate = 1e-3, .schedule = TRAIN_COSINE, .warmup_steps = 10 };
    assert_true(fabs(train_rate(&s, 0, 110) - s.learning_rate / 10) < 1e-12 && fabs(train_rate(&s, 10, 110) - s.learning_rate) < 1e-12);
    assert_true(fabs(train_rate(&s, 60, 110) - s.learning_rate / 2) < 1e-12);
    s.schedule = TRAIN_LINEAR;
    assert_true(fabs(train_rate(&s, 85, 110) - s.learning_rate / 4) < 1e-12);
    s.schedule = TRAIN_WSD;
    assert_true(train_rate(&s, 89, 110) == s.learning_rate && fabs(train_rate(&s, 95, 110) - s.learning_rate / 2) < 1e-12);
    assert_true(train_rate(&s, 109, 110) < s.learning_rate / 20);
    s.schedule = TRAIN_CONST;
    assert_true(fabs(train_rate(&s, 109, 110) - s.learning_rate) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rises_then_falls_to_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
