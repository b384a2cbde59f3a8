/* SPDX-License-Identifier: Apache-2.0 */
/* test_cmd_audit_proof.c - `falaj audit head-proof` says of a proof and of the file of anchors what falaj-verify says. */
#include "tests/unit/audit/anchor_kit.h"

static void the_command_says_what_falaj_verify_says(void **state)
{
    (void)state;
    check_program("falaj audit head-proof proof.json");
}

static void without_a_key_nothing_is_believed(void **state)
{
    (void)state;
    char out[4096];
    assert_int_equal(run_program("/tmp", "falaj audit head-proof proof.json", NULL, "", out), 2);
    assert_non_null(strstr(out, "--key"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_command_says_what_falaj_verify_says),
        cmocka_unit_test(without_a_key_nothing_is_believed) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
