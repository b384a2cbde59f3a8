/* SPDX-License-Identifier: Apache-2.0 */
/* test_zone.c - zones are made once, read by all, and listed in order. */
#include "tests/db/tenants/fixture.h"
#include "tenants/home/zone.h"

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { zone_stmts, NULL };
    world_new(lists, 2);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_free();
    return 0;
}

static void made_once(void **state)
{
    (void)state;
    struct zone z;
    struct str laws[] = { STR("PDPL"), STR("GDPR") };
    struct work *w = unit_open(UUID_NIL, NULL);
    OK(zone_create(w, STR("de-fra-1"), STR("Frankfurt"), STR("DE"), (struct slice){ laws, 2 }, &z, &e));
    assert_true(str_eq_c(z.legal_regimes.text, "[\"PDPL\", \"GDPR\"]"));
    unit_commit(w);
    w = unit_open(UUID_NIL, NULL);
    REFUSED(zone_create(w, STR("de-fra-1"), STR("x"), STR("DE"), (struct slice){ 0 }, &z, &e), EXISTS);
    assert_string_equal(e.field, "/code");
    unit_drop(w);
    w = unit_open(UUID_NIL, NULL);
    assert_int_not_equal(zone_create(w, STR("De Fra"), STR("x"), STR("DE"), (struct slice){ 0 }, &z, &e), ERR_OK);
    unit_drop(w);
}

static void read_and_listed(void **state)
{
    (void)state;
    struct zone z;
    struct slice list = { 0 };
    struct work *w = unit_open(UUID_NIL, NULL);
    OK(zone_get(w, STR("ae-dxb-1"), &z, &e));
    assert_true(str_eq_c(z.country, "AE"));
    REFUSED(zone_get(w, STR("xx-yyy-1"), &z, &e), NOT_FOUND);
    OK(zone_list(w, STR_NULL, 10, &list, &e));
    assert_int_equal(list.n, 3);
    assert_true(str_eq_c(((struct zone *)list.items)[0].code, "ae-auh-1"));
    OK(zone_list(w, STR("ae-auh-1"), 1, &list, &e));
    assert_int_equal(list.n, 1);
    assert_true(str_eq_c(((struct zone *)list.items)[0].code, "ae-dxb-1"));
    unit_commit(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(made_once), cmocka_unit_test(read_and_listed) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
