/* SPDX-License-Identifier: Apache-2.0 */
/* test_box.c - programs that cannot begin: the words of the runtime, and machines that were not told to run any. */
#include "run_kit.h"

static void a_command_that_is_not_there_fails_with_the_runtimes_words(void **state)
{
    (void)state;
    struct fixture f;
    run_setup(&f, "x");
    struct lease_grant g = kit_grant(1, "run", "{\"command\":[\"pyhton3\",\"-V\"]}");
    const char *r = run_to_end(&f, book_add(f.book, &g, true));
    expect(r, "\"event\":\"fail\",\"exit_code\":127");
    expect(r, "the program could not be started: bwrap: execvp pyhton3: No such file or directory");
    teardown(&f);
}

static void a_machine_that_was_not_told_runs_no_program(void **state)
{
    (void)state;
    struct fixture f;
    struct err e = { 0 };
    run_setup(&f, "x");
    assert_int_equal(config_set(f.config, "worker.programs", "none", &e), ERR_OK);
    expect(run_to_end(&f, run_add(&f, 1, "exit 0", "")), "this machine runs no programs: its operator has not set "
        "worker.programs");
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_that_is_not_there_fails_with_the_runtimes_words),
        cmocka_unit_test(a_machine_that_was_not_told_runs_no_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
