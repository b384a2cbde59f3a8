/* SPDX-License-Identifier: Apache-2.0 */
/* test_sending.c - files that are none; what is sent over lines that break is in tests/http/cli_uploads.test.ts. */
#include "with_cli.h"
#include "cli/sending.h"

static void expect(const char *path, const char *says)
{
    struct with_cli w;
    int64_t version;
    with_cli_init(&w);
    assert_int_equal(send_in_parts(&w.c, "dst_1", path, NULL, NULL, &version), CLI_USAGE);
    assert_non_null(strstr(with_cli_err(&w), says));
    with_cli_release(&w);
}

static void what_is_no_file_is_not_sent(void **state)
{
    (void)state;
    expect("/nowhere/x", "/nowhere/x cannot be opened");
    expect("/", "/ is empty, or no file");
    expect("/dev/null", "/dev/null is empty, or no file");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_no_file_is_not_sent) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
