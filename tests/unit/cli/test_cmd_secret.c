/* SPDX-License-Identifier: Apache-2.0 */
/* test_cmd_secret.c - what is no value is told before anything is asked; the way to the platform and back is in
 * tests/http/routes/secrets.test.ts. */
#include "with_cli.h"

static void what_is_no_value(void **state)
{
    (void)state;
    with_cli_expect(WORDS((char *)"secret", (char *)"set", (char *)"hub", (char *)"--from-file", (char *)"/nowhere/token"),
        CLI_USAGE,
                    "/nowhere/token");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_no_value) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
