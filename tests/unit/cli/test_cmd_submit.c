/* SPDX-License-Identifier: Apache-2.0 */
/* test_cmd_submit.c - what is no request is told before anything is asked; what is sent is in tests/http/cli_jobs.test.ts. */
#include "with_cli.h"
#include <stdio.h>
#include <unistd.h>

#define SUBMIT(...) WORDS((char *)"job", (char *)"submit", (char *)"one", __VA_ARGS__)

static void flags_that_make_no_request(void **state)
{
    (void)state;
    with_cli_expect(SUBMIT((char *)"--spec", (char *)"[1]"), CLI_USAGE, "--spec takes a JSON object");
    with_cli_expect(SUBMIT((char *)"--spec", (char *)"{\"a\":"), CLI_USAGE, "--spec takes a JSON object: ");
    with_cli_expect(SUBMIT((char *)"--spec", (char *)"@/nowhere.json"), CLI_USAGE, "/nowhere.json");
    with_cli_expect(SUBMIT((char *)"--spec", (char *)"{}", (char *)"--dependency", (char *)"afterok:job_1:arr_2,after"),
                    CLI_USAGE, "the dependency after names no job");
    with_cli_expect(SUBMIT((char *)"--spec", (char *)"{}", (char *)"--dependency", (char *)"afterok:"), CLI_USAGE,
                    "the dependency afterok names no job");
    with_cli_expect(SUBMIT((char *)"--spec", (char *)"{}", (char *)"--retry-max", (char *)"3"), CLI_USAGE,
                    "--retry says which failures are tried again");
}

static void expect_of_file(const char *text, const char *says)
{
    char path[] = "/tmp/falaj-submit-XXXXXX";
    int fd = mkstemp(path);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    with_cli_expect(WORDS((char *)"job", (char *)"batch", path), CLI_USAGE, says);
    unlink(path);
}

static void a_file_is_told_by_its_line(void **state)
{
    (void)state;
    expect_of_file("{\"name\":\"a\"}\n\n[2]\n", ":3 is no request as JSON");
    expect_of_file("{\"name\":\"a\"}\n{\"name\":\n", ":2 is no request as JSON: ");
    expect_of_file("\n  \n", "holds no request");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(flags_that_make_no_request),
                                        cmocka_unit_test(a_file_is_told_by_its_line) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
