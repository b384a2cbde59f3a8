/* SPDX-License-Identifier: Apache-2.0 */
/* test_fairshare.c - the dominant share in millionths, its edges, and its ties. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "scheduler/plan/fairshare.h"

static void takes_the_larger_of_both(void **state)
{
    (void)state;
    struct snap_tenant t = { .slots_used = 10, .slots_limit = 100, .gpus_used = 1, .gpus_limit = 4 };
    assert_int_equal(fairshare_of(&t), 250000);
    t.gpus_used = 0;
    assert_int_equal(fairshare_of(&t), 100000);
    t.slots_used = 0;
    assert_int_equal(fairshare_of(&t), 0);
}

static void survives_extremes(void **state)
{
    (void)state;
    struct snap_tenant none = { .slots_used = 1, .slots_limit = 0 }, huge = { .slots_used = INT64_MAX, .slots_limit = 1 };
    struct snap_tenant exact = { .slots_used = INT64_MAX, .slots_limit = INT64_MAX };
    assert_true(fairshare_of(&none) == INT64_MAX);
    assert_true(fairshare_of(&huge) == INT64_MAX);
    assert_int_equal(fairshare_of(&exact), 1000000);
}

static void ties_go_to_the_oldest_then_the_id(void **state)
{
    (void)state;
    struct snap_tenant a = { .slots_limit = 1 }, b = { .slots_limit = 1 };
    struct snap_job early = { .submitted_at = { 1 } }, late = { .submitted_at = { 2 } };
    b.tenant_id.b[0] = 1;
    assert_true(fairshare_compare(&b, &early, &a, &late) < 0);
    assert_true(fairshare_compare(&a, &early, &b, &early) < 0);
    a.slots_used = 1;
    assert_true(fairshare_compare(&a, &early, &b, &late) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(takes_the_larger_of_both), cmocka_unit_test(survives_extremes),
                                        cmocka_unit_test(ties_go_to_the_oldest_then_the_id) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
