/* SPDX-License-Identifier: Apache-2.0 */
/* test_head_proof.c - from any signed head of a tenant to the zone's newest head, and from an earlier head of the zone. */
#include "tests/db/audit/fixture.h"

static enum errc prove(struct uuid tenant, uint64_t size, uint64_t from, struct head_proof *ret)
{
    struct unit *u = unit_open(NULL, SCOPE_TENANT(tenant));
    enum errc rc = audit_prove_head(&u->w, tenant, size, from, ret, &e);
    unit_close(u);
    return rc;
}

static void every_head_leads_to_the_zones(void **state)
{
    (void)state;
    struct head_keys keys = { (const uint8_t(*)[AUDIT_PUB])key->pub, 1 };
    struct head_proof *p = calloc(1, sizeof *p);
    struct audit_head head, zone;
    assert_int_equal(prove(tenant_a, 0, 0, p), ERR_NOT_FOUND);
    for (int i = 1; i <= 7; i++) {
        append_committed(tenant_a, 3);
        append_committed(tenant_b, 2);
        tick(1000);
        assert_int_equal(sign_heads(), 2);
    }
    for (uint64_t i = 1; i <= 7; i++) {
        OK(prove(tenant_a, 3 * i, 2 * i, p));
        assert_null(head_proof_fault(p, keys, &head, &zone));
        assert_true(head.size == 3 * i && zone.size == 14 && p->has_previous);
        OK(prove(tenant_b, 2 * i, 0, p));
        assert_null(head_proof_fault(p, keys, &head, &zone));
        assert_true(head.size == 2 * i && uuid_eq(head.tenant_id, tenant_b));
    }
    OK(prove(tenant_a, 0, 14, p));
    assert_null(head_proof_fault(p, keys, &head, &zone));
    assert_true(head.size == 21 && p->previous_proof_len == 0);
    assert_int_equal(prove(tenant_a, 4, 0, p), ERR_NOT_FOUND);          /* never signed */
    assert_int_equal(prove(tenant_a, 3, 5, p), ERR_NOT_FOUND);          /* nor did the zone sign that */
    assert_int_equal(prove(uuid_v7(77), 0, 0, p), ERR_NOT_FOUND);       /* another's log */
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_head_leads_to_the_zones) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
