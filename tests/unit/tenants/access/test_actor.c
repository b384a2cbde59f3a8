/* SPDX-License-Identifier: Apache-2.0 */
/* test_actor.c - what an event keeps of each kind of caller; a caller is kept as bytes that compare equal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "core/base/arena.h"
#include "core/base/work.h"
#include "tenants/access/actor.h"
#include "tenants/access/authz.h"

static const struct uuid user = { { 1 } }, token = { { 2 } }, session = { { 3 } }, tenant = { { 4 } };

static struct principal who(enum auth_method method)
{
    return (struct principal){ .user_id = user, .tenant_id = tenant, .token_id = method == AUTH_SESSION ? UUID_NIL : token, .session_id = session,
                               .home_zone = STR("ae-dxb-1"), .method = method, .roles = 1u << ROLE_VIEWER | 1u << ROLE_ML_ENGINEER };
}

/* "name=text" or "name=number" of each detail, with spaces between. */
static struct str details(struct arena *a, const struct audit_event *ev)
{
    struct str all = STR("");
    for (int i = 0; i < ev->detail_count; i++) {
        const struct audit_detail *d = &ev->details[i];
        all = d->text.ptr ? str_fmt(a, "%.*s%s=%.*s ", STR_ARG(all), d->name, STR_ARG(d->text)) : str_fmt(a, "%.*s%s=%ld ", STR_ARG(all), d->name, (long)d->number);
    }
    return all;
}

static void expect(const struct principal *p, enum audit_actor kind, struct uuid token_id, const char *what)
{
    struct arena *a = arena_new(1 << 16);
    struct work w = { .arena = a, .now_us = 1, .tenant_id = tenant };
    struct audit_event ev = audit_event_by(&w, p, AUDIT_JOB_SUBMIT);
    assert_int_equal(ev.code, AUDIT_JOB_SUBMIT);
    assert_int_equal(ev.actor, kind);
    assert_true(uuid_eq(ev.actor_id, p ? user : UUID_NIL));
    assert_true(uuid_eq(ev.token_id, token_id));
    assert_int_equal(ev.role_count, p && !p->is_worker ? 2 : 0);
    assert_true(p ? str_eq_c(ev.zone, "ae-dxb-1") : !ev.zone.ptr);
    assert_string_equal(str_z(a, details(a, &ev)), what);
    arena_free(a);
}

static void each_caller_leaves_its_members(void **state)
{
    (void)state;
    struct principal p = who(AUTH_TOKEN);
    expect(&p, AUDIT_USER, token, "");
    p = who(AUTH_JWT);
    expect(&p, AUDIT_USER, UUID_NIL, "issuer=iss_02000000000000000000000000000000 ");
    p = who(AUTH_SESSION);
    expect(&p, AUDIT_USER, UUID_NIL, "session=ses_03000000000000000000000000000000 ");
    p.is_break_glass = true;
    expect(&p, AUDIT_USER, UUID_NIL, "break_glass=1 session=ses_03000000000000000000000000000000 ");
    p = who(AUTH_CERTIFICATE);
    p.is_worker = true;
    p.roles = 0;
    expect(&p, AUDIT_WORKER, token, "");
    expect(NULL, AUDIT_ANONYMOUS, UUID_NIL, "");
}

static void roles_have_their_names(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 16);
    struct work w = { .arena = a, .now_us = 1 };
    struct principal p = who(AUTH_TOKEN);
    struct audit_event ev = audit_event_by(&w, &p, AUDIT_JOB_SUBMIT);
    bool viewer = false, engineer = false;
    for (int i = 0; i < ev.role_count; i++) {
        viewer |= str_eq_c(ev.roles[i], role_row(ROLE_VIEWER)->wire);
        engineer |= str_eq_c(ev.roles[i], role_row(ROLE_ML_ENGINEER)->wire);
    }
    assert_true(viewer && engineer);
    p.roles = UINT32_MAX;                   /* more than an event has room for: cut, not overrun */
    ev = audit_event_by(&w, &p, AUDIT_JOB_SUBMIT);
    assert_true(ev.role_count <= AUDIT_ROLES_MAX && ev.role_count > 2);
    arena_free(a);
}

static void callers_compare_as_bytes(void **state)
{
    (void)state;
    struct principal p = who(AUTH_JWT), q = who(AUTH_JWT);
    struct actor a, b;
    memset(&a, 0xaa, sizeof a);
    memset(&b, 0x55, sizeof b);
    a = actor_of(&p);
    b = actor_of(&q);
    assert_memory_equal(&a, &b, sizeof a);
    q.roles |= 1u << ROLE_TENANT_ADMIN;
    b = actor_of(&q);
    assert_memory_not_equal(&a, &b, sizeof a);
}

static void a_machine_acts_for_itself(void **state)
{
    (void)state;
    struct work w = { .now_us = 1 };
    struct audit_event ev = audit_event_of(&w, AUDIT_JOB_LEASE);
    audit_event_by_node(&ev, user, STR("ae-dxb-1"));
    assert_int_equal(ev.actor, AUDIT_WORKER);
    assert_true(uuid_eq(ev.actor_id, user));
    assert_true(str_eq_c(ev.zone, "ae-dxb-1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_caller_leaves_its_members), cmocka_unit_test(roles_have_their_names),
                                        cmocka_unit_test(callers_compare_as_bytes), cmocka_unit_test(a_machine_acts_for_itself) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
