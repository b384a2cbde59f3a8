/* SPDX-License-Identifier: Apache-2.0 */
/* test_programs.c - a machine says that it runs programs where a lease of one could begin, and only there. */
#include "run_kit.h"
#include "workers/lease/box_try.h"
#include "workers/lease/programs.h"

static void the_operators_word_comes_first(void **state)
{
    (void)state;
    struct fixture f;
    struct err e = { 0 };
    run_setup(&f, "x");
    struct isolation *i = isolation_new(f.config);
    assert_true(programs_here(f.config, i));
    expect(run_to_end(&f, run_add(&f, 1, "exit 0", "")), "\"event\":\"succeed\"");      /* and what it says is so */
    assert_int_equal(config_set(f.config, "worker.programs", "none", &e), ERR_OK);
    assert_false(programs_here(f.config, i));
    isolation_free(i);
    teardown(&f);
}

static void roots_account_is_none_for_a_program(void **state)
{
    (void)state;
    const char *lacks = box_lacks(0, 0);
    if (geteuid() == 0) {
        assert_non_null(lacks);
        assert_non_null(strstr(lacks, "no account but root's"));
    } else {
        assert_null(lacks);
    }
    if (geteuid() == 0)
        assert_null(box_lacks(65534, 65534));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_operators_word_comes_first),
                                        cmocka_unit_test(roots_account_is_none_for_a_program) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
