/* SPDX-License-Identifier: Apache-2.0 */
/* test_export_proof.c - proofs of every shape, made in one pass over the leaves. */
#include "tests/db/audit/fixture.h"

static void every_range_and_selection_verifies(void **state)
{
    (void)state;
    enum { N = 45 };
    append_committed(tenant_a, 19);
    assert_int_equal(tick(100), 19);
    assert_int_equal(sign_heads(), 1);
    append_committed(tenant_a, N - 19);
    assert_int_equal(tick(100), N - 19);
    assert_int_equal(sign_heads(), 1);
    for (uint64_t from = 1; from <= N; from += 4) {
        for (uint64_t to = from; to <= N; to += 5)
            export_and_verify((struct audit_export_opts){ .tenant_id = tenant_a, .from = from, .to = to, .prev_size = 19 }, NULL);
        uint64_t some[] = { from, from + 1, N };
        export_and_verify((struct audit_export_opts){ .tenant_id = tenant_a, .only = some, .only_count = from + 1 < N ? 3 : 1 }, NULL);
    }
}

static void a_large_selection_takes_one_pass(void **state)
{
    (void)state;
    static uint64_t some[AUDIT_SELECT_MAX];
    append_committed(tenant_b, 25000);
    assert_int_equal(tick(30000), 25000);
    assert_int_equal(sign_heads(), 1);
    for (size_t i = 0; i < AUDIT_SELECT_MAX; i++)
        some[i] = 1 + i * 25;
    export_and_verify((struct audit_export_opts){ .tenant_id = tenant_b, .only = some, .only_count = AUDIT_SELECT_MAX }, NULL);
    export_and_verify((struct audit_export_opts){ .tenant_id = tenant_b, .from = 24990, .to = 24995 }, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_range_and_selection_verifies), cmocka_unit_test(a_large_selection_takes_one_pass) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
