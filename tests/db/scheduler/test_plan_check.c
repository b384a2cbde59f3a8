/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan_check.c - limits that are remembered from plan to plan bind as they are now. */
#include "scheduler/mirror/policies.h"
#include "tests/db/scheduler/fixture.h"

static struct machine m;

FIXTURE_GROUP((machine_up(&f, &m, "ae-dxb-1", "w1", 64, 8), f.scheduler.policies = policies_new()),
              policies_free(f.scheduler.policies))

static void a_limit_that_was_changed_binds_the_next_plan(void **state)
{
    (void)state;
    submit(&f, f.tenant_a, 9, 1, 3, NULL);
    static const int steps[][2] = { { 2, 2 }, { 2, 0 }, { 5, 3 }, { 4, 0 }, { 6, 1 } };     /* limit, then admitted */
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        fixture_exec(&f, "UPDATE quota SET hard_limit = %d WHERE resource = 'slots'", steps[i][0]);
        assert_int_equal(plan(&f), steps[i][1]);
    }
}

static void a_tenant_that_is_not_active_any_more_gets_nothing(void **state)
{
    (void)state;
    fixture_exec(&f, "UPDATE quota SET hard_limit = 100 WHERE resource = 'slots'");
    fixture_exec(&f, "UPDATE tenant SET state = 'SUSPENDED'");
    assert_int_equal(plan(&f), 0);
    fixture_exec(&f, "UPDATE tenant SET state = 'ACTIVE'");
    assert_int_equal(plan(&f), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_limit_that_was_changed_binds_the_next_plan),
                                        cmocka_unit_test(a_tenant_that_is_not_active_any_more_gets_nothing) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
