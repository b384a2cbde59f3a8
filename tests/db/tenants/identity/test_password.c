/* SPDX-License-Identifier: Apache-2.0 */
/* test_password.c - whose password is found: by name or by user, never another's, with that person's second factor. */
#include "tests/db/tenants/fixture.h"
#include "tenants/identity/password.h"

#define PHC(hash) "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0c2FsdA$" hash

static struct uuid tenant, other, with, without, elsewhere;

static void give(struct uuid t, struct uuid user, const char *phc)
{
    struct work *w = unit_open(t, NULL);
    OK(password_put(w, user, str_c(phc), STR("ae-dxb-1"), &e));
    unit_commit(w);
}

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { password_stmts, NULL };
    world_new(lists, 4);
    tenant = new_id();
    tenant_make(tenant, "amana");
    other = new_id();
    tenant_make(other, "bahr");
    with = user_make(tenant, "with", NULL);
    without = user_make(tenant, "without", NULL);
    elsewhere = user_make(other, "with", NULL);
    give(tenant, with, PHC("one"));
    give(tenant, without, PHC("two"));
    give(other, elsewhere, PHC("three"));
    sql("INSERT INTO totp (tenant_id, user_id, sealed, zone, confirmed_at) VALUES ('%s', '%s', 'x', 'ae-dxb-1', now())",
        hex(tenant), hex(with));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_free();
    return 0;
}

static void is_account(struct uuid t, struct uuid user, const char *phc, bool has_totp)
{
    struct login_account a;
    bool found = false;
    struct work *w = unit_open(t, NULL);
    OK(password_get(w, user, &a, &found, &e));
    if (found != !!phc)
        fail_msg("found is %d", found);
    if (phc)
        assert_true(str_eq_c(a.phc, phc) && a.has_totp == has_totp && uuid_eq(a.user_id, user) && uuid_eq(a.tenant_id, t)
                    && str_eq_c(a.zone, "ae-dxb-1"));
    unit_drop(w);
}

static void each_has_the_own_password_and_second_factor(void **state)
{
    (void)state;
    is_account(tenant, with, PHC("one"), true);
    is_account(tenant, without, PHC("two"), false);
    is_account(other, elsewhere, PHC("three"), false);
    is_account(other, with, NULL, false);
    is_account(tenant, new_id(), NULL, false);
    give(tenant, without, PHC("another"));                   /* a new one takes the old one's place */
    is_account(tenant, without, PHC("another"), false);
    is_account(tenant, with, PHC("one"), true);
    sql("UPDATE totp SET confirmed_at = NULL");         /* begun and not yet shown */
    is_account(tenant, with, PHC("one"), false);
}

static void a_login_finds_by_tenant_and_name(void **state)
{
    (void)state;
    const struct { const char *tenant, *name, *phc; } rows[] = {
        { "amana", "with", PHC("one") }, { "bahr", "with", PHC("three") }, { "bahr", "without", NULL }, { "none", "with", NULL },
        { "amana", "", NULL }, { "", "with", NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct login_account a;
        bool found = false;
        struct work *w = unit_open(UUID_NIL, NULL);
        OK(login_find(w, str_c(rows[i].tenant), str_c(rows[i].name), &a, &found, &e));
        assert_int_equal(found, !!rows[i].phc);
        assert_true(!found || (str_eq_c(a.phc, rows[i].phc) && str_eq_c(a.user_state, "ACTIVE")));
        unit_drop(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_has_the_own_password_and_second_factor),
                                        cmocka_unit_test(a_login_finds_by_tenant_and_name) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
