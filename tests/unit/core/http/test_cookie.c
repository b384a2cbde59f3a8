/* SPDX-License-Identifier: Apache-2.0 */
/* test_cookie.c - the one good spelling of the session cookie, and everything near it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "core/http/cookie.h"

#define V "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNO-_"

static void near_and_far(void **state)
{
    (void)state;
    static const struct { const char *header; enum cookie_found want; } t[] = {
        { "__Host-falaj=" V, COOKIE_ONE },
        { "a=b; __Host-falaj=" V, COOKIE_ONE },
        { "__Host-falaj=" V "; a=\"x;y\"; b", COOKIE_ONE },
        { "a=b;__Host-falaj=" V ";c=d", COOKIE_ONE },
        { " \t__Host-falaj=" V " ", COOKIE_ONE },
        { "", COOKIE_NONE },
        { ";;;", COOKIE_NONE },
        { "a=b", COOKIE_NONE },
        { "__host-falaj=" V, COOKIE_NONE },
        { "__Host-Falaj=" V, COOKIE_NONE },
        { "__Secure-falaj=" V, COOKIE_NONE },
        { "falaj=" V, COOKIE_NONE },
        { "x__Host-falaj=" V, COOKIE_NONE },
        { "__Host-falajx=" V, COOKIE_NONE },
        { "__Host-falaj", COOKIE_NONE },
        { "__Host-falaj =" V, COOKIE_NONE },
        { "a=__Host-falaj=" V, COOKIE_NONE },
        { "__Host-falaj=", COOKIE_BAD },
        { "__Host-falaj=" V "a", COOKIE_BAD },
        { "__Host-falaj=\"" V "\"", COOKIE_BAD },
        { "__Host-falaj= " V, COOKIE_BAD },
        { "__Host-falaj=" V "; __Host-falaj=" V, COOKIE_BAD },
        { "__Host-falaj=" V "; __Host-falaj=", COOKIE_BAD },
        { "__Host-falaj=bcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNO-_%", COOKIE_BAD },
        { "__Host-falaj=bcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNO-_=", COOKIE_BAD },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct str value = STR_NULL;
        enum cookie_found got = cookie_get(str_c(t[i].header), "__Host-falaj", 43, &value);
        if (got != t[i].want)
            fail_msg("%s: %d instead of %d", t[i].header, got, t[i].want);
        if (got == COOKIE_ONE)
            assert_true(str_eq_c(value, V));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(near_and_far) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
