/* SPDX-License-Identifier: Apache-2.0 */
/* test_cmd_environment.c - what is no key, signature or rule is told before anything is asked; the way to the platform and
 * back is in tests/e2e/program.py. */
#include "with_cli.h"

static void what_is_told_before_anything_is_asked(void **state)
{
    (void)state;
    with_cli_expect(WORDS((char *)"environment", (char *)"trust", (char *)"builds", (char *)"/nowhere/key.pub"), CLI_USAGE,
                    "/nowhere/key.pub");
    with_cli_expect(WORDS((char *)"environment", (char *)"require", (char *)"seals"), CLI_USAGE,
                    "seals is neither signed nor any");
    with_cli_expect(WORDS((char *)"environment", (char *)"allow", (char *)"others"), CLI_USAGE,
                    "others is neither shared nor own");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_told_before_anything_is_asked) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
