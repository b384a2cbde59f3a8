/* SPDX-License-Identifier: Apache-2.0 */
/* test_fault.c - named failure points fire when they were told to, and never else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/base/fault.h"

static void nth_and_percent(void **state)
{
    (void)state;
    assert_false(FAULT("a"));
    fault_setup("a:3,b:50%,bad,c:0%");
    int fired = 0;
    for (int i = 1; i <= 10; i++)
        assert_int_equal(FAULT("a"), i == 3);
    for (int i = 0; i < 1000; i++)
        fired += FAULT("b");
    assert_in_range(fired, 350, 650);
    for (int i = 0; i < 100; i++)
        assert_false(FAULT("c") || FAULT("bad") || FAULT("none"));
    fault_setup(NULL);
    assert_false(fault_any || FAULT("a"));
    fault_setup("");
    assert_false(fault_any);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(nth_and_percent) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
