/* SPDX-License-Identifier: Apache-2.0 */
/* test_model_show.c - versions that are none; what is shown is in tests/http/bring_model.test.ts. */
#include "with_cli.h"

static void a_version_is_a_number(void **state)
{
    (void)state;
    with_cli_expect(WORDS((char *)"model", (char *)"show", (char *)"mdl_1", (char *)"--version", (char *)"new"), CLI_USAGE,
                    "version");
    with_cli_expect(WORDS((char *)"model", (char *)"show", (char *)"mdl_1", (char *)"--version", (char *)"0"), CLI_USAGE,
                    "version");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_version_is_a_number) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
