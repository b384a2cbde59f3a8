/* SPDX-License-Identifier: Apache-2.0 */
/* test_session.c - the life of a session: believed, idle, over, rotated, ended. The clock is turned by hand. About 3 s. */
#include "tests/db/tenants/fixture.h"
#include "core/table/config.h"
#include "tenants/identity/login_guard.h"
#include "tenants/identity/session.h"
#include "tenants/identity/session_authn.h"

static int64_t mono_us = 1000000, ahead_us;
static void (*meanwhile)(void);         /* once, when the time is asked for: a look-up does so between its read and its memory */
static int64_t test_wall(void *ctx)
{
    void (*once)(void) = meanwhile;
    (void)ctx;
    meanwhile = NULL;
    if (once)
        once();
    return clock_wall_us(&clock_system) + ahead_us;
}
static int64_t test_mono(void *ctx) { (void)ctx; return mono_us; }
static const struct clock turned = { test_wall, test_mono, NULL };

static struct config *cfg;
static struct session_authn *sessions;
static struct uuid tenant, user;
static char cookie[COOKIE_TEXT];
static struct uuid session_id;

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { session_stmts, session_authn_stmts, login_guard_stmts, NULL };
    world_new(lists, 2);
    cfg = world_config;
    tenant = new_id();
    tenant_make(tenant, "amana");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_free();
    return 0;
}

static void open_one(enum auth_stage stage)
{
    struct work *w = unit_open(tenant, NULL);
    struct session_new in = { user, "password", stage, false, STR("Browser\x01/1"), 0 };
    w->now_us = test_wall(NULL);
    OK(session_open(w, &in, cookie, &session_id, &e));
    unit_commit(w);
}

static int fresh(void **state)
{
    (void)state;
    static int n;
    char name[32];
    snprintf(name, sizeof name, "person-%d", n++);
    sql("UPDATE tenant SET state = 'ACTIVE' WHERE tenant_id = '%s'", hex(tenant));
    ahead_us = 0;
    user = user_make(tenant, name, "ml-engineer");
    sessions = session_authn_new(app_pool, &turned, cfg);
    open_one(STAGE_FULL);
    return 0;
}

static int done(void **state)
{
    (void)state;
    session_authn_free(sessions);
    return 0;
}

static enum errc ask(const char *text, struct principal **ret)
{
    struct arena *a = arena_new(4 << 20);
    enum errc rc = session_authn(sessions, str_c(text), true, a, ret, &e);
    arena_free(a);
    return rc;
}

static void believed(void)
{
    struct principal *p = NULL;
    OK(ask(cookie, &p));
    principal_unref(p);
}

static void refused(void)
{
    struct principal *p = NULL;
    REFUSED(ask(cookie, &p), UNAUTHENTICATED);
    assert_null(p);
}

static void flush(void)
{
    struct arena *a = arena_new(4 << 20);
    OK(session_authn_flush(sessions, a, &e));
    arena_free(a);
}

static void who_it_is(void **state)
{
    (void)state;
    struct principal *p = NULL;
    OK(ask(cookie, &p));
    assert_true(uuid_eq(p->user_id, user) && uuid_eq(p->tenant_id, tenant) && uuid_eq(p->session_id, session_id));
    assert_true(p->method == AUTH_SESSION && p->stage == STAGE_FULL && p->login_us && !p->mfa_us && !p->is_break_glass);
    assert_true(p->permissions & PERM_BIT(PERM_JOB_SUBMIT));
    principal_unref(p);
    assert_int_equal(NUMBER("SELECT count(*) FROM session s WHERE s::text LIKE '%%%s%%'", cookie), 0);      /* only its digest is kept */
    assert_int_equal(NUMBER("SELECT count(*) FROM session WHERE session_id = '%s' AND user_agent = 'Browser?/1'", hex(session_id)), 1);
}

static void what_is_no_cookie(void **state)
{
    (void)state;
    struct principal *p = NULL;
    char bent[COOKIE_TEXT];
    memcpy(bent, cookie, sizeof bent);
    bent[7] = bent[7] == 'a' ? 'b' : 'a';
    REFUSED(ask(bent, &p), UNAUTHENTICATED);
    REFUSED(ask("", &p), UNAUTHENTICATED);
    REFUSED(ask("short", &p), UNAUTHENTICATED);
}

static void before_the_code_it_may_do_nothing(void **state)
{
    (void)state;
    struct principal *p = NULL;
    open_one(STAGE_CODE);
    OK(ask(cookie, &p));
    assert_true(p->stage == STAGE_CODE && p->permissions == 0 && p->always == 0);
    principal_unref(p);
    open_one(STAGE_ENROL);
    OK(ask(cookie, &p));
    assert_true(p->stage == STAGE_ENROL && p->permissions == 0);
    principal_unref(p);
}

static void idle_to_the_second(void **state)
{
    (void)state;
    ahead_us = cfg->auth_session_idle_ms * 1000 - 2000000;
    mono_us += 10000000;
    believed();
    ahead_us += 2000001;
    mono_us += 10000000;                                                 /* forgotten by the memory, never written as seen */
    refused();
    ahead_us = 0;
    mono_us += 10000000;
    believed();
    flush();
    ahead_us = cfg->auth_session_idle_ms * 1000 - 2000000;
    mono_us += 10000000;
    believed();
}

static void over_after_its_time_though_it_is_used(void **state)
{
    (void)state;
    sql("UPDATE session SET until = now() + interval '1 hour' WHERE session_id = '%s'", hex(session_id));
    believed();
    ahead_us = INT64_C(3601) * 1000000;
    refused();                                                           /* by the memory too */
}

static void a_proof_changes_the_cookie(void **state)
{
    (void)state;
    char before[COOKIE_TEXT], csrf_before[CSRF_TEXT], csrf[CSRF_TEXT];
    struct principal *p = NULL;
    memcpy(before, cookie, sizeof before);
    session_csrf(str_c(before), csrf_before);
    believed();
    struct work *w = unit_open(tenant, NULL);
    OK(session_prove(w, session_id, STAGE_FULL, true, cookie, &e));
    unit_commit(w);
    session_forget(sessions, session_id);
    REFUSED(ask(before, &p), UNAUTHENTICATED);
    OK(ask(cookie, &p));
    assert_true(p->mfa_us && uuid_eq(p->session_id, session_id));
    principal_unref(p);
    session_csrf(str_c(cookie), csrf);
    assert_string_not_equal(csrf, csrf_before);
    assert_true(session_csrf_is(str_c(cookie), str_c(csrf)));
    assert_false(session_csrf_is(str_c(cookie), str_c(csrf_before)));
    assert_false(session_csrf_is(str_c(cookie), STR_NULL));
}

static void ended_is_dead_at_once_here_and_soon_elsewhere(void **state)
{
    (void)state;
    struct session_authn *elsewhere = session_authn_new(app_pool, &turned, cfg);
    struct principal *p = NULL;
    struct arena *a = arena_new(4 << 20);
    OK(session_authn(elsewhere, str_c(cookie), true, a, &p, &e));
    principal_unref(p);
    believed();
    struct work *w = unit_open(tenant, NULL);
    REFUSED(session_end(w, session_id, new_id(), "revoked", &e), NOT_FOUND);      /* not of that user */
    OK(session_end(w, session_id, user, "logout", &e));
    REFUSED(session_end(w, session_id, user, "logout", &e), NOT_FOUND);
    unit_commit(w);
    session_forget(sessions, session_id);
    refused();
    mono_us += 5000001;
    REFUSED(session_authn(elsewhere, str_c(cookie), true, a, &p, &e), UNAUTHENTICATED);
    arena_free(a);
    session_authn_free(elsewhere);
}

static void forget_it(void) { session_forget(sessions, session_id); }
static void forget_the_user(void) { session_forget_user(sessions, tenant, user); }

/* It ends after the look-up has read it: this call was let in by what was true then, and nothing is remembered of it. */
static void a_look_up_that_was_overtaken_is_not_remembered(void **state)
{
    (void)state;
    static void (*const ways[])(void) = { forget_it, forget_the_user };
    for (size_t i = 0; i < 2; i++) {
        if (i)
            open_one(STAGE_FULL);
        meanwhile = ways[i];
        believed();
        assert_null(meanwhile);
        sql("UPDATE session SET ended_at = now(), reason = 'logout' WHERE session_id = '%s'", hex(session_id));
        refused();
    }
}

static void all_but_one(void **state)
{
    (void)state;
    char first[COOKIE_TEXT];
    struct principal *p = NULL;
    memcpy(first, cookie, sizeof first);
    open_one(STAGE_FULL);
    struct work *w = unit_open(tenant, NULL);
    OK(session_end_all(w, user, session_id, "password", &e));
    unit_commit(w);
    REFUSED(ask(first, &p), UNAUTHENTICATED);
    believed();
}

static void gone_with_its_user_and_tenant(void **state)
{
    (void)state;
    struct principal *p = NULL;
    sql("UPDATE tenant SET state = 'SUSPENDED' WHERE tenant_id = '%s'", hex(tenant));
    REFUSED(ask(cookie, &p), TENANT_SUSPENDED);
    sql("UPDATE tenant SET state = 'ACTIVE' WHERE tenant_id = '%s'", hex(tenant));
    believed();
    sql("UPDATE app_user SET state = 'DISABLED' WHERE user_id = '%s'", hex(user));
    mono_us += 5000001;
    refused();
}

static void only_the_live_ones_are_listed(void **state)
{
    (void)state;
    struct uuid old = session_id;
    struct slice list;
    open_one(STAGE_FULL);
    sql("UPDATE session SET last_seen = now() - interval '1 day' WHERE session_id = '%s'", hex(old));
    struct principal *me = principal_with(tenant, user, ROLES(ML_ENGINEER));
    me->session_id = session_id;
    struct work *w = unit_open(tenant, me);
    OK(session_list(w, user, UUID_NIL, 10, &list, &e));
    assert_int_equal(list.n, 1);
    assert_true(((struct session *)list.items)[0].is_current);
    unit_drop(w);
    principal_unref(me);
}

static void tries_are_counted_before_they_are_judged(void **state)
{
    (void)state;
    int64_t wait = 0;
    for (int i = 1; i <= 6; i++) {
        struct work *w = unit_open(UUID_NIL, NULL);
        enum errc rc = guard_try(w, "login", STR("amana"), STR("nobody"), &wait, &e);
        assert_int_equal(rc, i <= 5 ? ERR_OK : ERR_RATE);                /* the fifth failure makes the sixth wait */
        unit_commit(w);
    }
    assert_in_range(wait, 25, 30);
    struct work *w = unit_open(UUID_NIL, NULL);
    OK(guard_try(w, "login", STR("amana"), STR("somebody"), &wait, &e));  /* and nobody else */
    OK(guard_try(w, "login", STR("amananobody"), STR(""), &wait, &e));
    unit_commit(w);
    sql("UPDATE login_guard SET until = now() - interval '1 second'");
    w = unit_open(UUID_NIL, NULL);
    OK(guard_try(w, "login", STR("amana"), STR("nobody"), &wait, &e));
    unit_commit(w);
    w = unit_open(UUID_NIL, NULL);
    REFUSED(guard_try(w, "login", STR("amana"), STR("nobody"), &wait, &e), RATE);
    assert_in_range(wait, 55, 60);                                        /* doubled */
    unit_commit(w);
    w = unit_open(UUID_NIL, NULL);
    guard_clear(w, "login", STR("amana"), STR("nobody"));
    OK(guard_try(w, "login", STR("amana"), STR("nobody"), &wait, &e));
    unit_commit(w);
}

static void who_needs_a_second_factor(void **state)
{
    (void)state;
    struct principal *admin = principal_with(UUID_NIL, user, ROLES(PLATFORM_ADMIN)), *engineer = principal_with(tenant, user, ROLES(ML_ENGINEER));
    assert_false(session_needs_mfa(cfg, admin));                          /* auto, in the dev profile */
    cfg->run_profile = PROFILE_PROD;
    assert_true(session_needs_mfa(cfg, admin));
    assert_false(session_needs_mfa(cfg, engineer));
    OK(config_set(cfg, "auth.require_mfa_roles", "viewer, ml-engineer", &e));
    assert_true(session_needs_mfa(cfg, engineer));
    assert_false(session_needs_mfa(cfg, admin));
    OK(config_set(cfg, "auth.require_mfa_roles", "none", &e));
    assert_false(session_needs_mfa(cfg, engineer));
    cfg->run_profile = PROFILE_DEV;
    principal_unref(admin);
    principal_unref(engineer);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fresh, done)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(who_it_is), TEST(what_is_no_cookie), TEST(before_the_code_it_may_do_nothing), TEST(idle_to_the_second),
        TEST(over_after_its_time_though_it_is_used), TEST(a_proof_changes_the_cookie), TEST(ended_is_dead_at_once_here_and_soon_elsewhere),
        TEST(a_look_up_that_was_overtaken_is_not_remembered), TEST(all_but_one), TEST(gone_with_its_user_and_tenant), TEST(only_the_live_ones_are_listed), TEST(tries_are_counted_before_they_are_judged),
        TEST(who_needs_a_second_factor),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
