/* SPDX-License-Identifier: Apache-2.0 */
/* test_cmd_people.c - an invitation is accepted with what standard input says, and with nothing else. */
#include "with_cli.h"
#include <unistd.h>

/* Whether it is accepted on a platform is told in tests/http/cli_interfaces.test.ts. */
static int accept_with(const char *input, struct with_cli *w)
{
    char path[] = "/tmp/falaj-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, input, strlen(input)), strlen(input));
    close(fd);
    assert_non_null(freopen(path, "r", stdin));
    unlink(path);
    with_cli_init(w);
    w->c.cmd = command_find("invitation", "accept");
    return cmd_invitation_accept(&w->c);
}

static void input_is_token_and_password(void **state)
{
    (void)state;
    struct with_cli w;
    assert_int_equal(accept_with("", &w), CLI_USAGE);
    with_cli_release(&w);
    assert_int_equal(accept_with("\nsecret word\n", &w), CLI_USAGE);
    assert_null(strstr(with_cli_err(&w), "secret word"));
    with_cli_release(&w);
    assert_int_equal(accept_with("flj_inv_\xff\n", &w), CLI_USAGE);
    assert_non_null(strstr(with_cli_err(&w), "UTF-8"));
    with_cli_release(&w);
    assert_int_equal(accept_with("flj_inv_x\nsecret word\n", &w), CLI_NETWORK);     /* asked, and nobody there */
    assert_null(strstr(with_cli_err(&w), "secret word"));
    with_cli_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(input_is_token_and_password) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
