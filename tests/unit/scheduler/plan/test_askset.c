/* SPDX-License-Identifier: Apache-2.0 */
/* test_askset.c - equal asks have one number through growth, and past the maximum a new one has none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "scheduler/plan/askset.h"
#include "tests/unit/scheduler/plan/fleet_cases.h"

static void equal_asks_have_one_number(void **state)
{
    (void)state;
    struct askset s = { 0 };
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 1000; i++) {
            struct ask a = ask_of(1000 + i, 1, 500);
            assert_int_equal(askset_find(&s, &a, 1000), i);
        }
    struct ask other = ask_of(1, 1, 500);
    assert_int_equal(askset_find(&s, &other, 1000), ASK_NONE);
    assert_int_equal(s.n, 1000);
    askset_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(equal_asks_have_one_number) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
