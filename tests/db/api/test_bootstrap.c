/* SPDX-License-Identifier: Apache-2.0 */
/* test_bootstrap.c - the first administrator: one user, a fresh token each time, written down each time. */
#include "tests/db/tenants/fixture.h"
#include "api/bootstrap.h"
#include "tenants/access/binding.h"
#include "audit/event.h"
#include "tenants/identity/authn.h"

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { bootstrap_stmts, binding_stmts, authn_stmts, audit_event_stmts, NULL };
    world_new(lists, 2);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_free();
    return 0;
}

static void twice_gives_one_operator_and_two_tokens(void **state)
{
    (void)state;
    char text[2][TOKEN_TEXT], password[21];
    struct arena *a = arena_new(4 << 20);
    struct authn *authn = authn_new(app_pool, &clock_system, 0);
    for (int i = 0; i < 2; i++) {
        struct principal *p = NULL;
        OK(bootstrap_person(&app, a, NULL, text[i], password, &e));
        OK(authn_token(authn, str_c(text[i]), STR_NULL, a, &p, &e));
        assert_true(principal_is_platform(p) && p->roles == ROLES(PLATFORM_ADMIN) && str_eq_c(p->name, "operator"));
        principal_unref(p);
    }
    assert_string_not_equal(text[0], text[1]);
    assert_int_equal(NUMBER("SELECT count(*) FROM app_user WHERE tenant_id = '%s'", hex(UUID_NIL)), 1);
    assert_int_equal(NUMBER("SELECT count(*) FROM role_binding WHERE tenant_id = '%s'", hex(UUID_NIL)), 1);
    assert_int_equal(NUMBER("SELECT count(*) FROM api_token WHERE tenant_id = '%s'", hex(UUID_NIL)), 2);
    assert_int_equal(NUMBER("SELECT count(*) FROM audit_event WHERE convert_from(body, 'UTF8') LIKE '%%bootstrap%%'"), 2);
    authn_free(authn);
    arena_free(a);
}

/* Once; then two people appoint. The officer and the operator are two people, since neither made the other. */
static void the_first_officer_is_made_once(void **state)
{
    (void)state;
    char text[TOKEN_TEXT], password[21];
    struct arena *a = arena_new(4 << 20);
    struct principal *p = NULL;
    struct authn *authn = authn_new(app_pool, &clock_system, 0);
    REFUSED(bootstrap_person(&app, a, "operator", text, password, &e), CONFLICT);
    OK(bootstrap_person(&app, a, "Salma", text, password, &e));
    OK(authn_token(authn, str_c(text), STR_NULL, a, &p, &e));
    assert_true(p->roles == ROLES(COMPLIANCE_OFFICER) && str_eq_c(p->name, "Salma"));
    principal_unref(p);
    REFUSED(bootstrap_person(&app, a, "Omar", text, password, &e), CONFLICT);
    assert_int_equal(NUMBER("SELECT count(*) FROM app_user a, app_user b, second_person_facts(a.tenant_id, a.user_id, b.user_id,"
                            " '{compliance-officer}') f WHERE a.name = 'operator' AND b.name = 'Salma' AND f.what IS NULL AND "
                                "f.is_known"
                            " AND f.other_is_known"), 1);
    assert_int_equal(NUMBER("SELECT count(*) FROM audit_event WHERE convert_from(body, 'UTF8') LIKE "
        "'%%bootstrap%%compliance-officer%%'"), 1);
    authn_free(authn);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(twice_gives_one_operator_and_two_tokens),
                                        cmocka_unit_test(the_first_officer_is_made_once) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
