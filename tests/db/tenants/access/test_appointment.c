/* SPDX-License-Identifier: Apache-2.0 */
/* test_appointment.c - appointing: by whom, to what, what becomes of the appointed account, the first officer of a tenant. */
#include "tests/db/tenants/fixture.h"
#include "audit/event.h"
#include "tenants/access/appointment.h"
#include "tenants/access/binding.h"
#include "tenants/access/principal_load.h"
#include "tenants/access/second_person.h"

static struct uuid tenant, admin, officer, plain;
static const struct approval_kind *const kinds[] = { &appointment_kind, &tenant_officer_kind, NULL };

/* An account that the installation made, two days ago. */
static struct uuid person(struct uuid t, const char *name, const char *role)
{
    struct uuid u = user_make(t, name, role);
    sql("UPDATE app_user SET created_by = user_id, created_at = now() - interval '2 d' WHERE user_id = '%s';"
        "UPDATE role_binding SET created_at = now() - interval '2 d', place = '%s' WHERE user_id = '%s'", hex(u),
        uuid_is_nil(t) ? "platform" : "tenant", hex(u));
    return u;
}

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { approval_stmts, appointment_stmts, second_person_stmts, binding_stmts,
            principal_stmts,
                                                       audit_event_stmts, NULL };
    world_new(lists, 2);
    world_config->approval_separation = SEPARATION_PEOPLE;
    tenant = new_id();
    tenant_make(tenant, "amana");
    admin = person(tenant, "admin", "tenant-admin");
    officer = person(tenant, "officer", "compliance-officer");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_free();
    return 0;
}

/* A new account of the administrator's, with a token that he made. */
static int fresh(void **state)
{
    (void)state;
    static int n;
    char name[32], text[TOKEN_TEXT];
    snprintf(name, sizeof name, "plain-%d", ++n);
    sql("DELETE FROM approval_decision; DELETE FROM approval");
    plain = user_make(tenant, name, NULL);
    sql("UPDATE app_user SET created_by = '%s' WHERE user_id = '%s'", hex(admin), hex(plain));
    token_give(tenant, plain, "1 day", "{}", text);
    return 0;
}

static struct work *as(struct uuid scope, struct uuid user)
{
    struct principal_row row;
    struct principal *p;
    struct work *w = unit_open(scope, NULL);
    OK(principal_find(w->tx, scope, user, &row, &e));
    OK(principal_make(&row, AUTH_TOKEN, (struct slice){ 0 }, w->arena, &p, &e));
    w->principal = p;
    return w;
}

static void end(struct work *w, bool keep)
{
    struct principal *p = (struct principal *)(uintptr_t)w->principal;
    keep ? unit_commit(w) : unit_drop(w);
    principal_unref(p);
}

static struct approval ask(const char *role)
{
    struct approval a;
    struct work *w = as(tenant, admin);
    OK(appointment_request(w, &(struct appointment_new){ plain, str_c(role), STR_NULL, STR("needed") }, &a, &e));
    end(w, true);
    return a;
}

static struct approval decide(struct uuid scope, struct uuid by, struct uuid id)
{
    struct approval a;
    struct work *w = as(scope, by);
    OK(approval_decide(w, kinds, id, true, STR_NULL, &a, &e));
    a.state = str_eq_c(a.state, "EXECUTED") ? STR("EXECUTED") : STR("FAILED");
    end(w, true);
    return a;
}

static void the_appointed_account_starts_anew(void **state)
{
    (void)state;
    struct approval a = ask("compliance-officer");
    assert_true(str_eq_c(decide(tenant, officer, a.approval_id).state, "EXECUTED"));
    assert_int_equal(NUMBER("SELECT count(*) FROM role_binding WHERE user_id = '%s' AND role = 'compliance-officer' AND "
        "created_by = '%s'",
                            hex(plain), hex(admin)), 1);
    assert_int_equal(NUMBER("SELECT count(*) FROM api_token WHERE user_id = '%s' AND revoked_at IS NULL", hex(plain)), 0);
    assert_int_equal(NUMBER("SELECT count(*) FROM app_user WHERE user_id = '%s' AND vouched_by = '%s'", hex(plain), hex(officer)),
            1);
    assert_int_equal(NUMBER("SELECT count(*) FROM audit_event WHERE convert_from(body, 'UTF8') LIKE "
        "'%%\"rule\":\"appointed\"%%%s%%'",
                            "compliance-officer"), 1);
    struct work *w = as(tenant, admin);                 /* again: the binding stays, the account is vouched for */
    OK(appointment_request(w, &(struct appointment_new){ plain, STR("compliance-officer"), STR_NULL, STR("again") }, &a, &e));
    end(w, true);
    assert_true(str_eq_c(decide(tenant, officer, a.approval_id).state, "EXECUTED"));
    assert_int_equal(NUMBER("SELECT count(*) FROM role_binding WHERE user_id = '%s'", hex(plain)), 1);
}

static void what_cannot_be_appointed_is_refused(void **state)
{
    (void)state;
    struct approval a;
    static const struct { const char *role; enum errc rc; } cases[] = {
        { "no-such-role", ERR_INVALID }, { "viewer", ERR_UNPROCESSABLE }, { "tenant-admin", ERR_UNPROCESSABLE },
        { "platform-admin", ERR_UNPROCESSABLE },        /* not in a tenant */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct work *w = as(tenant, admin);
        assert_int_equal(appointment_request(w, &(struct appointment_new){ plain, str_c(cases[i].role), STR_NULL, STR("x") }, &a,
                &e), cases[i].rc);
        end(w, false);
    }
    sql("UPDATE app_user SET kind = 'service' WHERE user_id = '%s'", hex(plain));
    struct work *w = as(tenant, admin);
    REFUSED(appointment_request(w, &(struct appointment_new){ plain, STR("compliance-officer"), STR_NULL, STR("x") }, &a, &e),
            UNPROCESSABLE);
    end(w, false);
    w = as(tenant, officer);                            /* who may not grant may not ask */
    REFUSED(appointment_request(w, &(struct appointment_new){ officer, STR("compliance-officer"), STR_NULL, STR("x") }, &a, &e),
            FORBIDDEN);
    end(w, false);
}

/* Judged again when it is carried out: who asked may have lost the right. */
static void a_requester_who_lost_the_right_appoints_nobody(void **state)
{
    (void)state;
    struct approval a = ask("compliance-officer");
    sql("UPDATE role_binding SET role = 'viewer' WHERE user_id = '%s'", hex(admin));
    assert_true(str_eq_c(decide(tenant, officer, a.approval_id).state, "FAILED"));
    assert_int_equal(NUMBER("SELECT count(*) FROM role_binding WHERE user_id = '%s'", hex(plain)), 0);
    sql("UPDATE role_binding SET role = 'tenant-admin' WHERE user_id = '%s'", hex(admin));
}

/* It comes from two people of the platform, and counts beside the administrator whom one of them made. */
static void the_platform_appoints_the_first_officer(void **state)
{
    (void)state;
    struct approval a;
    struct uuid chief = person(UUID_NIL, "chief", "platform-admin"), watcher = person(UUID_NIL, "watcher", "compliance-officer");
    sql("UPDATE app_user SET created_by = '%s' WHERE user_id = '%s'", hex(chief), hex(admin));
    struct work *w = as(UUID_NIL, chief);
    OK(tenant_officer_request(w, tenant, plain, STR("a new tenant"), &a, &e));
    end(w, true);
    w = as(UUID_NIL, chief);
    REFUSED(approval_decide(w, kinds, a.approval_id, true, STR_NULL, &a, &e), SEPARATION);
    end(w, false);
    w = as(tenant, admin);
    REFUSED(tenant_officer_request(w, tenant, plain, STR("by himself"), &a, &e), FORBIDDEN);
    end(w, false);
    assert_true(str_eq_c(decide(UUID_NIL, watcher, a.approval_id).state, "EXECUTED"));
    assert_int_equal(NUMBER("SELECT count(*) FROM role_binding WHERE user_id = '%s' AND role = 'compliance-officer'", hex(plain)),
            1);
    assert_int_equal(NUMBER("SELECT count(*) FROM audit_event WHERE tenant_id = '%s' AND convert_from(body, 'UTF8') LIKE "
        "'%%appointed%%'",
                            hex(tenant)) > 0, 1);
    assert_int_equal(NUMBER("SELECT count(*) FROM second_person_facts('%s', '%s', '%s', '{compliance-officer}') WHERE what IS "
        "NULL AND"
                            " is_known AND other_is_known", hex(tenant), hex(admin), hex(plain)), 1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup(name, fresh)
    const struct CMUnitTest tests[] = { T(the_appointed_account_starts_anew), T(what_cannot_be_appointed_is_refused),
                                        T(a_requester_who_lost_the_right_appoints_nobody),
                                                T(the_platform_appoints_the_first_officer) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
