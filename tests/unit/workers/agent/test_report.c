/* SPDX-License-Identifier: Apache-2.0 */
/* test_report.c - a report that the API will never take. */
#include "agent_kit.h"

/* One odd success among a hundred: it is told as a failure, and the others as what they are. */
static void test_a_refused_report_holds_nobody_back(void **state)
{
    (void)state;
    struct fake k = { .to_grant = 1000, .spec = "{}", .refuses = true };
    double rate;
    int64_t stop_us;
    with_agent(&k, 990, &rate, &stop_us);
    assert_int_equal(k.finished, 990);
    assert_int_equal(k.failed, 10);
    assert_int_equal(k.outstanding, 0);
    assert_true(k.refused <= 20);       /* in company, and alone */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_a_refused_report_holds_nobody_back) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
