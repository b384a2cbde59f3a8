/* SPDX-License-Identifier: Apache-2.0 */
/* test_live.c - no more than two points a second, and a spike between them is in the next one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "workers/compute/train/live.h"

enum { MS = 1000 };

static void test_points(void **st)
{
    (void)st;
    struct train_live l = { 0 };
    struct train_live_point p;
    int points = 0;
    for (int i = 0; i <= 100; i++) {            /* a step each 30 ms: three seconds */
        const struct train_step s = { .step = i + 1, .loss = i == 10 ? 9 : 1, .grad_norm = i == 40 ? (double)NAN : 2, .items = 32,
                                      .flops = 1e6, .data_wait = 0.006 };
        if (!train_live_add(&l, (1000 + 30 * i) * MS, &s, &p))
            continue;
        points++;
        assert_true(p.loss_peak == (points == 1 ? 9 : 1) && p.grad_norm_peak == 2 && p.at.loss == 1);
        assert_true(fabs(p.items_per_s - 32 / 0.030) < 1 && fabs(p.flops_per_s - 1e6 / 0.030) < 1e4);
        assert_true(fabs(p.data_wait - 0.2) < 0.001);
    }
    assert_int_equal(points, 5);                /* each 510 ms */
}

static void test_nothing_right_behind_another_point(void **st)
{
    (void)st;
    struct train_live l = { 0 };
    struct train_live_point p;
    const struct train_step s = { .loss = (double)NAN, .grad_norm = (double)NAN, .items = 1 };
    assert_false(train_live_add(&l, 1000 * MS, &s, &p));
    train_live_rest(&l, 1400 * MS);
    assert_false(train_live_add(&l, 1600 * MS, &s, &p));
    assert_true(train_live_add(&l, 1900 * MS, &s, &p));
    assert_true(isnan(p.loss_peak) && isnan(p.grad_norm_peak) && p.items_per_s == 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_points),
                                        cmocka_unit_test(test_nothing_right_behind_another_point) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
