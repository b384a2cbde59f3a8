/* SPDX-License-Identifier: Apache-2.0 */
/* test_residency_remedy.c - each refusal that can be mended names a call, and people who hold the permission for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tenants/home/residency_remedy.h"

static bool has(const struct slice *roles, const char *role)
{
    for (size_t i = 0; i < roles->n; i++)
        if (str_eq_c(((struct str *)roles->items)[i], role))
            return true;
    return false;
}

static void a_refusal_names_who_may_mend_it(void **state)
{
    static const struct { const char *rule, *operation, *asks, *in; bool is_approved; } cases[] = {
        { "zone_class", "zone_law_put", "platform-admin", "platform", true },
        { "worker_address", "zone_law_put", "platform-admin", "platform", true },
        { "not_allowed", "tenant_zones_put", "platform-admin", "tenant", true },
        { "law", "transfer_policy_propose", "tenant-admin", "tenant", true },
        { "no_law", "transfer_policy_propose", "tenant-admin", "tenant", true },
        { "no_copy", "dataset_transfer", "tenant-admin", "tenant", false },
        { "unknown_zone", "zone_create", "platform-admin", "platform", false },
    };
    struct arena *a = arena_new(1 << 16);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct residency_remedy r;
        assert_true(residency_remedy_of(a, str_c(cases[i].rule), STR("health"), STR("ae-dxb-1"), STR_NULL, &r));
        assert_true(str_eq_c(r.operation, cases[i].operation) && str_eq_c(r.approved_in, cases[i].in) && r.missing.len);
        assert_true(has(&r.roles, cases[i].asks));
        assert_int_equal(has(&r.approved_by, "compliance-officer"), cases[i].is_approved);
        assert_true(str_eq_c(r.data_class, "health") && str_eq_c(r.zone, "ae-dxb-1") && !r.from.ptr);
    }
    struct residency_remedy none;
    assert_false(residency_remedy_of(a, STR("unknown_class"), STR_NULL, STR_NULL, STR_NULL, &none));
    assert_false(residency_remedy_of(a, STR("home"), STR_NULL, STR_NULL, STR_NULL, &none));
    assert_false(residency_remedy_of(a, STR_NULL, STR_NULL, STR_NULL, STR_NULL, &none));
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_refusal_names_who_may_mend_it) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
