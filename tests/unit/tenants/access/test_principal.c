/* SPDX-License-Identifier: Apache-2.0 */
/* test_principal.c - the last reference frees, from whichever thread; zones are matched whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include "tenants/access/principal.h"

static void *hold_and_drop(void *arg)
{
    for (int i = 0; i < 20000; i++)
        principal_unref(principal_ref(arg));
    principal_unref(arg);
    return NULL;
}

static void references_count_across_threads(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    pthread_t t[THREADS];
    struct principal *p = principal_new();
    assert_int_equal(p->refs, 1);
    p->name = str_dup(p->arena, STR("amal"));
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&t[i], NULL, hold_and_drop, principal_ref(p)), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    assert_int_equal(p->refs, 1);
    assert_true(str_eq_c(p->name, "amal"));
    principal_unref(p);             /* a leak or a double free here is what the sanitizers watch for */
    principal_unref(NULL);
}

static void zones_match_whole(void **state)
{
    (void)state;
    struct str zones[] = { STR("ae-dxb-1"), STR("ae-auh-1") };
    struct principal p = { .allowed_zones = { zones, 2 } };
    assert_true(principal_zone_allowed(&p, STR("ae-dxb-1")));
    assert_true(principal_zone_allowed(&p, STR("ae-auh-1")));
    assert_false(principal_zone_allowed(&p, STR("ae-dxb")));
    assert_false(principal_zone_allowed(&p, STR("ae-dxb-11")));
    assert_false(principal_zone_allowed(&p, STR("AE-DXB-1")));
    assert_false(principal_zone_allowed(&p, STR("")));
    p.allowed_zones.n = 0;
    assert_false(principal_zone_allowed(&p, STR("ae-dxb-1")));
}

static void the_platform_is_the_nil_tenant(void **state)
{
    (void)state;
    struct principal p = { .tenant_id = UUID_NIL };
    assert_true(principal_is_platform(&p));
    p.tenant_id.b[15] = 1;
    assert_false(principal_is_platform(&p));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(references_count_across_threads), cmocka_unit_test(zones_match_whole),
                                        cmocka_unit_test(the_platform_is_the_nil_tenant) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
