/* SPDX-License-Identifier: Apache-2.0 */
/* test_expect.c - the median of what its like took, of those that took longer than it has; else its limit, and never more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "scheduler/plan/expect.h"

static void an_end_is_the_median_of_its_like(void **state)
{
    static const struct { const char *runs; int64_t limit_s, so_far_s, want_s; bool is_measured; } cases[] = {
        { "", 100, 0, 100, false },
        { "10,20", 100, 0, 100, false },            /* too few */
        { "10,20,30", 100, 0, 20, true },
        { "30,10,20,40", 100, 0, 20, true },        /* the lower middle one */
        { "10,20,30", 100, 10, 20, true },
        { "10,20,30", 100, 20, 30, true },
        { "10,20,30", 100, 30, 100, false },        /* it has outrun all of them */
        { "10,20,30", 15, 0, 15, true },
        { "10,x,20,-1,30,", 100, 0, 20, true },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool is_measured;
        assert_int_equal(expect_runtime_s(str_c(cases[i].runs), cases[i].limit_s, cases[i].so_far_s, &is_measured),
                         cases[i].want_s);
        assert_int_equal(is_measured, cases[i].is_measured);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(an_end_is_the_median_of_its_like) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
