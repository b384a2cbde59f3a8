/* SPDX-License-Identifier: Apache-2.0 */
/* test_parse.c - words to commands: flags, advice, counts; and the exit codes, frozen. */
#include "with_cli.h"

static void exit_codes_never_change(void **state)
{
    (void)state;
    assert_int_equal(CLI_OK, 0);
    assert_int_equal(CLI_FAILED, 1);
    assert_int_equal(CLI_USAGE, 2);
    assert_int_equal(CLI_LOGIN, 3);
    assert_int_equal(CLI_FORBIDDEN, 4);
    assert_int_equal(CLI_NOT_FOUND, 5);
    assert_int_equal(CLI_CONFLICT, 6);
    assert_int_equal(CLI_RATE, 7);
    assert_int_equal(CLI_QUOTA, 8);
    assert_int_equal(CLI_TIMEOUT, 9);
    assert_int_equal(CLI_NETWORK, 10);
    assert_int_equal(CLI_JOB_FAILED, 11);
    assert_int_equal(CLI_VERIFY, 2);
    assert_int_equal(CLI_INTERRUPTED, 130);
}

static void every_error_has_an_exit_code(void **state)
{
    (void)state;
    for (int i = 1; i < ERR_COUNT; i++) {
        int code = cli_exit_of((enum errc)i);
        assert_true(code >= CLI_FAILED && code <= CLI_NETWORK);
    }
    assert_int_equal(cli_exit_of(ERR_QUOTA), CLI_QUOTA);
    assert_int_equal(cli_exit_of(ERR_RATE), CLI_RATE);
    assert_int_equal(cli_exit_of(ERR_UNAUTHENTICATED), CLI_LOGIN);
    assert_int_equal(cli_exit_of(ERR_EXISTS), CLI_CONFLICT);
}

static void flags_stand_anywhere(void **state)
{
    (void)state;
    struct with_cli w;
    with_cli_init(&w);
    assert_int_equal(with_cli_parse(&w, WORDS((char *)"-ojson", (char *)"job", (char *)"list", (char *)"--state=RUNNING", (char *)"--limit", (char *)"0")), CLI_OK);
    assert_string_equal(w.c.cmd->name, "list");
    assert_string_equal(cli_flag(&w.c, "state"), "RUNNING");
    assert_string_equal(cli_flag(&w.c, "limit"), "0");
    assert_int_equal(w.c.format, OUT_JSON);
    assert_null(cli_flag(&w.c, "kind"));
    with_cli_release(&w);
}

static void a_number_below_zero_is_no_flag(void **state)
{
    (void)state;
    struct with_cli w;
    with_cli_init(&w);
    assert_int_equal(with_cli_parse(&w, WORDS((char *)"class", (char *)"set", (char *)"batch", (char *)"-10",
                                              (char *)"--grace", (char *)"60")), CLI_OK);
    assert_int_equal(w.c.nargs, 2);
    assert_string_equal(w.c.args[1], "-10");
    assert_string_equal(cli_flag(&w.c, "grace"), "60");
    with_cli_release(&w);
}

static void double_dash_ends_flags(void **state)
{
    (void)state;
    struct with_cli w;
    with_cli_init(&w);
    assert_int_equal(with_cli_parse(&w, WORDS((char *)"job", (char *)"get", (char *)"--", (char *)"--odd")), CLI_OK);
    assert_int_equal(w.c.nargs, 1);
    assert_string_equal(w.c.args[0], "--odd");
    with_cli_release(&w);
}

static void refuses(char **words, const char *says)
{
    struct with_cli w;
    with_cli_init(&w);
    assert_int_equal(with_cli_parse(&w, words), CLI_USAGE);
    if (!strstr(with_cli_err(&w), says))
        fail_msg("\"%s\" is not in: %s", says, w.err);
    assert_string_equal(with_cli_out(&w) ? w.out : "", "");
    with_cli_release(&w);
}

static void wrong_words_get_advice(void **state)
{
    (void)state;
    refuses(WORDS((char *)"jbo"), "did you mean 'falaj job'?");
    refuses(WORDS((char *)"job", (char *)"sumbit"), "did you mean 'falaj job submit'?");
    refuses(WORDS((char *)"job", (char *)"list", (char *)"--stat", (char *)"x"), "did you mean --state?");
    refuses(WORDS((char *)"job", (char *)"list", (char *)"-o", (char *)"xml"), "one of: table|wide|json");
    refuses(WORDS((char *)"job", (char *)"get"), "usage: falaj job get JOB");
    refuses(WORDS((char *)"job", (char *)"get", (char *)"a", (char *)"b"), "'b' is one argument too many");
    refuses(WORDS((char *)"job", (char *)"list", (char *)"--limit"), "--limit needs a value");
    refuses(WORDS((char *)"version", (char *)"--quiet=1"), "--quiet takes no value");
}

static void groups_and_commands_of_one_name(void **state)
{
    (void)state;
    struct with_cli w;
    with_cli_init(&w);
    assert_int_equal(with_cli_parse(&w, WORDS((char *)"dev", (char *)"--ephemeral")), CLI_OK);
    assert_null(w.c.cmd->group);
    assert_true(cli_has(&w.c, "ephemeral"));
    with_cli_release(&w);
    with_cli_init(&w);
    assert_int_equal(with_cli_parse(&w, WORDS((char *)"dev", (char *)"stop")), CLI_OK);
    assert_string_equal(w.c.cmd->group, "dev");
    with_cli_release(&w);
    with_cli_init(&w);
    assert_int_equal(with_cli_parse(&w, WORDS((char *)"job")), CLI_OK);
    assert_null(w.c.cmd);
    assert_non_null(strstr(with_cli_out(&w), "falaj job COMMAND"));
    with_cli_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_codes_never_change), cmocka_unit_test(every_error_has_an_exit_code), cmocka_unit_test(flags_stand_anywhere),
        cmocka_unit_test(double_dash_ends_flags), cmocka_unit_test(a_number_below_zero_is_no_flag),  cmocka_unit_test(wrong_words_get_advice),       cmocka_unit_test(groups_and_commands_of_one_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
