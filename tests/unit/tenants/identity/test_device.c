/* SPDX-License-Identifier: Apache-2.0 */
/* test_device.c - what a person may type for a code; the grant itself is in tests/http/auth_invited.test.ts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tenants/identity/device.h"

static void as_people_type(void **state)
{
    (void)state;
    char plain[USER_CODE_LETTERS + 1];
    static const char *const good[] = { "BCDF-GHJK", "bcdf-ghjk", "BCDFGHJK", " bcdf ghjk ", "b-c-d-f-g-h-j-k" };
    static const char *const bad[] = { "", "BCDF-GHJ", "BCDF-GHJKL", "ACDF-GHJK", "BCDF-GHJ1", "BCDF_GHJK", "BCDF-GHJ\xc3", "B C D F - G H J K L",
                                       "--------------------------------BCDFGHJK" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(user_code_read(str_c(good[i]), plain));
        assert_string_equal(plain, "BCDFGHJK");
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(user_code_read(str_c(bad[i]), plain));
    assert_false(user_code_read(str_n("BCDF\0GHJK", 9), plain));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(as_people_type) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
