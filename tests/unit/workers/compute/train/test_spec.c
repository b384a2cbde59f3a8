/* SPDX-License-Identifier: Apache-2.0 */
/* test_spec.c - the member at fault is named; the schedule at its corners. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workers/compute/train/spec.h"

static void test_spec(void **st)
{
    (void)st;
    struct err e;
    struct train_spec s = train_spec_defaults();
    assert_int_equal(train_spec_check(&s, &e), ERR_OK);
    s.hidden_count = 3;
    s.hidden[1] = s.hidden[2] = 8;
    s.hidden[2] = 0;
    assert_int_equal(train_spec_check(&s, &e), ERR_INVALID);
    assert_string_equal(e.field, "/hidden/2");
    s = train_spec_defaults();
    s.lr = (double)NAN;
    assert_int_equal(train_spec_check(&s, &e), ERR_INVALID);
    assert_string_equal(e.field, "/lr");
    s = train_spec_defaults();
    s.holdout = 0;
    s.early_stop_patience = 2;
    assert_int_equal(train_spec_check(&s, &e), ERR_INVALID);
    assert_string_equal(e.field, "/early_stop_patience");
    s = train_spec_defaults();
    s.warmup_steps = 10;
    assert_true(fabs(train_spec_lr(&s, 0, 110) - s.lr / 10) < 1e-12 && fabs(train_spec_lr(&s, 10, 110) - s.lr) < 1e-12);
    assert_true(fabs(train_spec_lr(&s, 60, 110) - s.lr / 2) < 1e-12);
    s.schedule = SCHEDULE_LINEAR;
    assert_true(fabs(train_spec_lr(&s, 85, 110) - s.lr / 4) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spec),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
