/* SPDX-License-Identifier: Apache-2.0 */
/* test_inside.c - a process without sessions: a machine that comes is sent on, and the end waits for nobody. What sessions do
 * is in tests/unit/api/test_inside_relay.c and, with every process there is, in tests/e2e/inside.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "api/inside.h"

static void a_machine_that_nobody_waits_for_is_sent_on(void **state)
{
    (void)state;
    struct inside *k = inside_new(NULL);
    struct call c = { 0 };
    struct err e = { 0 };
    assert_false(inside_waits(k, uuid_v7(1)));
    assert_int_equal(inside_meet(k, &c, uuid_v7(1), STR("dGhlIHNhbXBsZSBub25jZQ=="), &e), ERR_UNAVAILABLE);
    assert_non_null(strstr(e.msg, "another falaj-api may have it"));
    inside_stop(k);
    inside_free(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_machine_that_nobody_waits_for_is_sent_on) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
