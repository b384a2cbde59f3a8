/* SPDX-License-Identifier: Apache-2.0 */
/* test_verify_anchor.c - falaj-verify follows a head proof into the file of anchors. */
#include "tests/unit/audit/anchor_kit.h"

static void a_head_proof_leads_to_the_file_of_anchors(void **state)
{
    (void)state;
    check_program("falaj-verify head-proof proof.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_head_proof_leads_to_the_file_of_anchors) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
