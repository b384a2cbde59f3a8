/* SPDX-License-Identifier: Apache-2.0 */
/* test_password.c - lengths at their edges, what everybody would try, and generated ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tenants/identity/password.h"

static enum errc judge(struct str p)
{
    struct err e;
    return password_is_acceptable(p, STR("Fatima Al Mansoori"), "/password", &e);
}

static void lengths(void **state)
{
    (void)state;
    static char text[PASSWORD_MAX + 2];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)('a' + i % 23);
    assert_int_equal(judge(str_n(text, PASSWORD_MIN - 1)), ERR_INVALID);
    assert_int_equal(judge(str_n(text, PASSWORD_MAX)), ERR_OK);
    assert_int_equal(judge(str_n(text, PASSWORD_MAX + 1)), ERR_INVALID);
    assert_int_equal(judge(STR("fig tree dew")), ERR_OK);
    assert_int_equal(judge(STR("نخلة على الفلج")), ERR_OK);
}

static void what_everybody_would_try(void **state)
{
    (void)state;
    static const char *const bad[] = { "password1234", "PassWord1234", "123456789012", "aaaaaaaaaaaaaaaa", "            ", "correcthorsebatterystaple",
                                       "fatima al mansoori", "zxcvbnmasdfg" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(judge(str_c(bad[i])), ERR_INVALID);
}

static void generated_ones_are_good_and_different(void **state)
{
    (void)state;
    char a[21], b[21];
    struct err e;
    assert_int_equal(password_make(a, &e), ERR_OK);
    assert_int_equal(password_make(b, &e), ERR_OK);
    assert_int_equal(strlen(a), 20);
    assert_string_not_equal(a, b);
    assert_int_equal(judge(str_c(a)), ERR_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(lengths), cmocka_unit_test(what_everybody_would_try),
                                        cmocka_unit_test(generated_ones_are_good_and_different) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
