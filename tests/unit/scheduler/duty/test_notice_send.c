/* SPDX-License-Identifier: Apache-2.0 */
/* test_notice_send.c - pauses grow and have an end. What is sent, and to whom it is not: tests/e2e/notifications.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "scheduler/duty/notice_send.h"

static void pauses(void **state)
{
    (void)state;
    static const int64_t s[] = { 5, 300, 1800, 7200, 18000, 36000, 36000, 36000 };
    for (int i = 0; i < 8; i++)
        assert_int_equal(notice_pause_ms(i + 1, 5000), s[i] * 1000);
    assert_int_equal(notice_pause_ms(0, 5000), 5000);
    assert_int_equal(notice_pause_ms(INT64_MAX, 3600000), INT64_C(604800000));
    assert_int_equal(notice_pause_ms(3, INT64_MAX), INT64_C(604800000));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(pauses) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
