/* SPDX-License-Identifier: Apache-2.0 */
/* test_cmd_upload.c - what cannot be sent is told before anything is asked; lines that break are in
 * tests/http/cli_uploads.test.ts. */
#include "with_cli.h"

static void what_cannot_be_sent(void **state)
{
    (void)state;
    with_cli_expect(WORDS((char *)"dataset", (char *)"upload", (char *)"dst_1", (char *)"-", (char *)"--resume",
                          (char *)"upl_1"), CLI_USAGE, "cannot be gone on with");
    with_cli_expect(WORDS((char *)"dataset", (char *)"upload", (char *)"dst_1", (char *)"/nowhere/x.csv"), CLI_USAGE,
                    "/nowhere/x.csv cannot be opened");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_cannot_be_sent) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
