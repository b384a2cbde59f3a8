/* SPDX-License-Identifier: Apache-2.0 */
/* test_oidc_user.c - a login on its way to a provider: taken once, in time, and by the browser that began it. */
#include "tests/db/tenants/fixture.h"
#include "tenants/identity/oidc.h"

#define STATE "state-of-forty-three-characters-aaaaaaaaaaa"
#define COOKIE "cookie-of-forty-three-characters-aaaaaaaaaa"

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { oidc_stmts, NULL };
    world_new(lists, 4);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_free();
    return 0;
}

static void begin(struct oidc_login *l)
{
    *l = (struct oidc_login){ new_id(), new_id(), STR("/jobs"), STR("https://falaj.example/v1/auth/callback"), STR(STATE),
                              STR(COOKIE) };
    struct work *w = unit_open(UUID_NIL, NULL);
    OK(oidc_store(w, l, &e));
    unit_commit(w);
}

static bool take(const char *state, const char *cookie, int64_t later_us, struct oidc_login *ret)
{
    bool found = false;
    struct work *w = unit_open(UUID_NIL, NULL);
    w->now_us += later_us;
    OK(oidc_take(w, str_c(state), str_c(cookie), ret, &found, &e));
    if (found)
        assert_true(str_eq_c(ret->return_to, "/jobs") && str_eq_c(ret->redirect_uri, "https://falaj.example/v1/auth/callback"));
    unit_commit(w);
    return found;
}

static void a_login_ends_once_in_its_browser_and_in_time(void **state)
{
    (void)state;
    struct oidc_login l, got;
    begin(&l);
    assert_true(take(STATE, COOKIE, 0, &got));
    assert_true(uuid_eq(got.tenant_id, l.tenant_id) && uuid_eq(got.provider_id, l.provider_id));
    assert_false(take(STATE, COOKIE, 0, &got));                        /* once */
    begin(&l);
    assert_false(take("another-state", COOKIE, 0, &got));
    assert_true(take(STATE, COOKIE, 0, &got));
    /* In another browser: somebody was sent a link that logs him in as somebody else. The login is gone for both. */
    begin(&l);
    assert_false(take(STATE, "cookie-of-another-browser", 0, &got));
    assert_false(take(STATE, COOKIE, 0, &got));
    begin(&l);
    assert_false(take(STATE, "", 0, &got));
    begin(&l);
    assert_false(take(STATE, COOKIE, INT64_C(86400000000), &got));      /* too late */
}

static void only_paths_of_this_console_are_gone_back_to(void **state)
{
    (void)state;
    const struct { const char *path; bool is_local; } rows[] = {
        { "/", true }, { "/jobs?x=1", true }, { "//evil.example", false }, { "https://evil.example", false }, { "", false },
        { "/\\evil.example", false }, { "jobs", false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (oidc_is_local_path(str_c(rows[i].path)) != rows[i].is_local)
            fail_msg("\"%s\"", rows[i].path);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_login_ends_once_in_its_browser_and_in_time),
                                        cmocka_unit_test(only_paths_of_this_console_are_gone_back_to) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
