/* SPDX-License-Identifier: Apache-2.0 */
/* test_csv_number.c - decimal numbers as strtod has them, and nothing that strtod takes besides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "core/data/csv.h"

static void test_numbers(void **st)
{
    (void)st;
    static const char *const same[] = { "0", "-0", "1", "0.1", "123456789.125", "1e22", "1e-22", "9007199254740993",
                                        "1.7976931348623157e308", "2.2250738585072014e-308", "3.14159265358979323846",
                                        "1e23", "0000000000000000000001.5", "5e-324" };
    double v;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        assert_true(csv_number(str_c(same[i]), &v));
        if (v != strtod(same[i], NULL) || signbit(v) != signbit(strtod(same[i], NULL)))
            fail_msg("%s", same[i]);
    }
    static const char *const bad[] = { "", "-", "+", ".", "e5", "1e", "1e+", "1.2.3", "--1",
                                       "1_0", "nan", "-inf", "1e400", "1 ", "0x1" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (csv_number(str_c(bad[i]), &v))
            fail_msg("\"%s\" was taken as %g", bad[i], v);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_numbers) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
