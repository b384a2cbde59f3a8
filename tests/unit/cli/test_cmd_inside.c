/* SPDX-License-Identifier: Apache-2.0 */
/* test_cmd_inside.c - what is no command and no port is told before anything is asked; the way in is in tests/e2e/inside.py. */
#include "with_cli.h"

#define W(text) (char *)(uintptr_t)(text)

static void a_command_stands_behind_two_dashes(void **state)
{
    (void)state;
    with_cli_expect(WORDS(W("job"), W("exec"), W("job_1")), CLI_USAGE, "the command is missing; it stands behind '--'");
    struct with_cli w;
    with_cli_init(&w);
    assert_int_equal(with_cli_parse(&w, WORDS(W("job"), W("exec"), W("-t"), W("job_1"), W("--"), W("ls"), W("--all"), W("-o"))),
                     CLI_OK);
    assert_int_equal(w.c.nwords, 3);
    assert_string_equal(w.c.words[1], "--all");
    assert_int_equal(w.c.nargs, 1);
    with_cli_release(&w);
}

static void a_port_is_one_number_or_two(void **state)
{
    (void)state;
    static const char *const bad[] = { "0", "x", "1:0", "70000", "8080:", ":80", "-1", "8080:80:1" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        with_cli_expect(WORDS(W("job"), W("forward"), W("--"), W("job_1"), W(bad[i])), CLI_USAGE, "is no port");
}

static void a_rank_is_a_number(void **state)
{
    (void)state;
    static const char *const bad[] = { "-1", "x", "", "1.5" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char rank[32];
        snprintf(rank, sizeof rank, "--rank=%s", bad[i]);
        with_cli_expect(WORDS(W("job"), W("forward"), rank, W("job_1"), W("80")), CLI_USAGE, "--rank");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_stands_behind_two_dashes),
        cmocka_unit_test(a_port_is_one_number_or_two),
        cmocka_unit_test(a_rank_is_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
