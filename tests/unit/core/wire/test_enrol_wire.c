/* SPDX-License-Identifier: Apache-2.0 */
/* test_enrol_wire.c - names of machines; the messages themselves go through test_lease_wire.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "core/wire/enrol_wire.h"

static void names_of_machines(void **state)
{
    (void)state;
    static const struct { const char *name; bool is_good; } rows[] = {
        { "gpu-01", true }, { "0", true }, { "a.b_c-d", true }, { "", false }, { "-a", false }, { ".a", false }, { "A", false },
        { "a b", false }, { "a/b", false }, { "\xc3\xa9", false },
    };
    char longest[65];
    const char *why;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(check_node_name(str_c(rows[i].name), &why), rows[i].is_good);
    memset(longest, 'a', sizeof longest);
    assert_true(check_node_name(str_n(longest, 63), &why));
    assert_false(check_node_name(str_n(longest, 64), &why));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(names_of_machines) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
