/* SPDX-License-Identifier: Apache-2.0 */
/* test_order.c - priority first, then time, then id; total, so the outcome does not depend on the order read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "scheduler/plan/order.h"

static struct snap_job job(int64_t priority, int64_t at, uint8_t id, int64_t tenant)
{
    struct snap_job j = { .priority = priority, .submitted_at = { at }, .tenant = tenant };
    j.job_id.b[0] = id;
    return j;
}

static void compares_by_rule(void **state)
{
    (void)state;
    struct snap_job high = job(5, 9, 9, 0), low = job(1, 1, 1, 0), late = job(1, 2, 0, 0), twin = job(1, 1, 2, 0);
    assert_true(order_compare(&high, &low) < 0);
    assert_true(order_compare(&low, &late) < 0);
    assert_true(order_compare(&low, &twin) < 0);
    assert_true(order_compare(&twin, &low) > 0);
    assert_int_equal(order_compare(&low, &low), 0);
}

static void sorts_the_same_from_any_start(void **state)
{
    (void)state;
    struct snap_job a[64], b[64];
    for (int i = 0; i < 64; i++) {
        a[i] = job(i % 3, i % 5, (uint8_t)i, i % 2);
        b[63 - i] = a[i];
    }
    struct snapshot x = { .jobs = { a, 64 } }, y = { .jobs = { b, 64 } };
    order_jobs(&x);
    order_jobs(&y);
    for (int i = 0; i < 64; i++) {
        assert_int_equal(a[i].job_id.b[0], b[i].job_id.b[0]);
        if (i && a[i].tenant == a[i - 1].tenant)
            assert_true(order_compare(&a[i - 1], &a[i]) < 0);
        else if (i)
            assert_true(a[i].tenant > a[i - 1].tenant);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(compares_by_rule), cmocka_unit_test(sorts_the_same_from_any_start) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
