/* SPDX-License-Identifier: Apache-2.0 */
/* test_api_token.c - tokens are shown once and kept as a hash; nobody makes one that may more than the own. */
#include "tests/db/tenants/fixture.h"
#include "tenants/identity/api_token.h"
#include "tenants/identity/service_account.h"
#include "tenants/identity/authn.h"
#include "tenants/access/binding.h"
#include "tenants/access/credential.h"
#include "tenants/access/principal_load.h"
#include "tenants/identity/user.h"

static struct uuid tenant, admin, engineer;
static struct principal *boss, *worker;

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { api_token_stmts, credential_stmts, service_account_stmts, user_stmts, binding_stmts, authn_stmts, principal_stmts,
                                                      NULL };
    world_new(lists, 2);
    tenant = new_id();
    tenant_make(tenant, "amana");
    admin = user_make(tenant, "admin", "tenant-admin");
    engineer = user_make(tenant, "engineer", "ml-engineer");
    boss = principal_with(tenant, admin, ROLES(TENANT_ADMIN));
    worker = principal_with(tenant, engineer, ROLES(ML_ENGINEER));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    principal_unref(boss);
    principal_unref(worker);
    world_free();
    return 0;
}

static void shown_once_and_kept_as_a_hash(void **state)
{
    (void)state;
    struct api_token t;
    char text[TOKEN_TEXT], hash_hex[65];
    uint8_t hash[32];
    struct work *w = unit_open(tenant, worker);
    OK(api_token_create(w, &(struct api_token_new){ .user_id = UUID_NIL, .name = STR("laptop"), .days = 30, .scopes = (struct slice){ 0 } }, &t, text, &e));
    assert_true(token_check(str_c(text), NULL));
    assert_true(uuid_eq(t.user_id, engineer));
    assert_int_equal(t.expires_at.us, w->now_us + 30 * INT64_C(86400000000));
    assert_true(str_ends(t.hint, text + strlen(text) - 4));
    unit_commit(w);
    token_hash(str_c(text), hash);
    hex_encode(hash, 32, hash_hex);
    assert_int_equal(NUMBER("SELECT count(*) FROM api_token WHERE hash = '\\x%s'", hash_hex), 1);
    assert_int_equal(NUMBER("SELECT count(*) FROM api_token k WHERE k::text LIKE '%%%s%%'", text + 9), 0);
    struct authn *authn = authn_new(app_pool, &clock_system, 0);
    struct principal *p = NULL;
    struct arena *a = arena_new(1 << 20);
    OK(authn_token(authn, str_c(text), STR_NULL, a, &p, &e));
    assert_true(uuid_eq(p->token_id, t.token_id));
    principal_unref(p);
    authn_free(authn);
    arena_free(a);
}

static void services_have_their_own_prefix(void **state)
{
    (void)state;
    struct api_token t;
    char text[TOKEN_TEXT];
    struct uuid bot = user_make(tenant, "bot", "service-account");
    sql("UPDATE app_user SET kind = 'service' WHERE user_id = '%s'", hex(bot));
    struct str scopes[] = { STR("job:submit"), STR("job:read") };
    struct work *w = unit_open(tenant, boss);
    OK(api_token_create(w, &(struct api_token_new){ .user_id = bot, .name = STR("ci"), .days = 90, .scopes = (struct slice){ scopes, 2 } }, &t, text, &e));
    assert_true(str_starts(str_c(text), "flj_svc_"));
    assert_true(str_eq_c(t.scopes.text, "[\"job:submit\", \"job:read\"]"));
    unit_commit(w);
}

static void of_others_only_with_the_permission(void **state)
{
    (void)state;
    struct api_token t;
    char text[TOKEN_TEXT];
    struct work *w = unit_open(tenant, worker);
    REFUSED(api_token_create(w, &(struct api_token_new){ .user_id = admin, .name = STR("x"), .days = 30, .scopes = (struct slice){ 0 } }, &t, text, &e), FORBIDDEN);
    assert_non_null(strstr(e.msg, "token:manage"));
    unit_drop(w);
    w = unit_open(tenant, boss);
    OK(api_token_create(w, &(struct api_token_new){ .user_id = engineer, .name = STR("x"), .days = 30, .scopes = (struct slice){ 0 } }, &t, text, &e));
    REFUSED(api_token_create(w, &(struct api_token_new){ .user_id = new_id(), .name = STR("x"), .days = 30, .scopes = (struct slice){ 0 } }, &t, text, &e), NOT_FOUND);
    struct str scopes[] = { STR("job:read"), STR("all:of-it") };
    REFUSED(api_token_create(w, &(struct api_token_new){ .user_id = UUID_NIL, .name = STR("x"), .days = 30, .scopes = (struct slice){ scopes, 2 } }, &t, text, &e), INVALID);
    assert_string_equal(e.field, "/scopes/1");
    unit_drop(w);
}

static int64_t live_tokens(struct uuid user_id)
{
    return NUMBER("SELECT count(*) FROM api_token WHERE user_id = '%s' AND revoked_at IS NULL", hex(user_id));
}

/* Neither by a token of the officer, nor by one that was made before the appointment, nor by a role that is narrower than the user's. */
static void nobody_makes_tokens_of_who_may_more(void **state)
{
    (void)state;
    struct api_token t;
    char text[TOKEN_TEXT];
    struct role_binding b;
    struct uuid officer = user_make(tenant, "officer", "compliance-officer"), plain = user_make(tenant, "plain", NULL);
    struct work *w = unit_open(tenant, boss);
    REFUSED(api_token_create(w, &(struct api_token_new){ .user_id = officer, .name = STR("x"), .days = 1 }, &t, text, &e), FORBIDDEN);
    assert_non_null(strstr(e.msg, "tenant:read"));
    OK(api_token_create(w, &(struct api_token_new){ .user_id = plain, .name = STR("early"), .days = 1 }, &t, text, &e));
    unit_commit(w);
    w = unit_open(tenant, boss);
    OK(role_grant(w, plain, STR("viewer"), &b, &e));
    unit_commit(w);
    assert_int_equal(live_tokens(plain), 1);
    sql("DELETE FROM role_binding WHERE user_id = '%s'", hex(plain));
    w = unit_open(tenant, boss);
    OK(role_grant(w, plain, STR("compliance-officer"), &b, &e));
    unit_commit(w);
    assert_int_equal(live_tokens(plain), 0);
    sql("UPDATE api_token SET revoked_at = NULL WHERE user_id = '%s'", hex(plain));
    w = unit_open(tenant, boss);
    REFUSED(api_token_rotate(w, t.token_id, 0, 1, &t, text, &e), FORBIDDEN);
    unit_drop(w);
}

static void a_limited_token_makes_no_wider_one(void **state)
{
    (void)state;
    struct api_token t;
    char text[TOKEN_TEXT];
    struct principal *limited = principal_with(tenant, engineer, ROLES(ML_ENGINEER));
    limited->scopes = PERM_BIT(PERM_TOKEN_OWN) | PERM_BIT(PERM_JOB_READ);
    limited->permissions &= limited->scopes;
    struct str read[] = { STR("job:read") }, wide[] = { STR("job:read"), STR("job:submit") };
    struct work *w = unit_open(tenant, limited);
    REFUSED(api_token_create(w, &(struct api_token_new){ .user_id = UUID_NIL, .name = STR("x"), .days = 30, .scopes = (struct slice){ 0 } }, &t, text, &e), FORBIDDEN);     /* none: all of the roles */
    REFUSED(api_token_create(w, &(struct api_token_new){ .user_id = UUID_NIL, .name = STR("x"), .days = 30, .scopes = (struct slice){ wide, 2 } }, &t, text, &e), FORBIDDEN);
    assert_non_null(strstr(e.msg, "job:submit"));
    OK(api_token_create(w, &(struct api_token_new){ .user_id = UUID_NIL, .name = STR("x"), .days = 30, .scopes = (struct slice){ read, 1 } }, &t, text, &e));
    unit_drop(w);
    principal_unref(limited);
}

/* A role at a zone gives less than the same role at the platform; that limits the tokens by itself. */
static void a_role_at_a_place_makes_tokens(void **state)
{
    (void)state;
    struct api_token t;
    char text[TOKEN_TEXT];
    struct principal *placed = principal_with(tenant, engineer, ROLES(ML_ENGINEER));
    placed->permissions = PERM_BIT(PERM_TOKEN_OWN) | PERM_BIT(PERM_JOB_READ);
    struct work *w = unit_open(tenant, placed);
    OK(api_token_create(w, &(struct api_token_new){ .user_id = UUID_NIL, .name = STR("x"), .days = 30, .scopes = (struct slice){ 0 } }, &t, text, &e));
    unit_drop(w);
    principal_unref(placed);
}

static void revoked_once_and_for_all(void **state)
{
    (void)state;
    struct api_token mine, others;
    char text[TOKEN_TEXT];
    struct work *w = unit_open(tenant, boss);
    OK(api_token_create(w, &(struct api_token_new){ .user_id = UUID_NIL, .name = STR("boss"), .days = 30, .scopes = (struct slice){ 0 } }, &others, text, &e));
    unit_commit(w);
    w = unit_open(tenant, worker);
    OK(api_token_create(w, &(struct api_token_new){ .user_id = UUID_NIL, .name = STR("mine"), .days = 30, .scopes = (struct slice){ 0 } }, &mine, text, &e));
    REFUSED(api_token_revoke(w, others.token_id, &e), NOT_FOUND);       /* what one may not see is not there */
    OK(api_token_revoke(w, mine.token_id, &e));
    OK(api_token_revoke(w, mine.token_id, &e));
    unit_commit(w);
    assert_int_equal(NUMBER("SELECT count(*) FROM api_token WHERE token_id = '%s' AND revoked_at IS NOT NULL", hex(mine.token_id)), 1);
    w = unit_open(tenant, boss);
    OK(api_token_revoke(w, others.token_id, &e));
    unit_commit(w);
}

static void everybody_lists_what_is_theirs(void **state)
{
    (void)state;
    struct slice list = { 0 };
    struct work *w = unit_open(tenant, worker);
    OK(api_token_list(w, &(struct api_token_filter){ .state = STR_NULL }, UUID_NIL, 200, &list, &e));
    assert_true(list.n > 0);
    for (size_t i = 0; i < list.n; i++)
        assert_true(uuid_eq(((struct api_token *)list.items)[i].user_id, engineer));
    size_t own = list.n;
    unit_commit(w);
    w = unit_open(tenant, boss);
    OK(api_token_list(w, &(struct api_token_filter){ .state = STR_NULL }, UUID_NIL, 200, &list, &e));
    assert_true(list.n > own);
    unit_commit(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shown_once_and_kept_as_a_hash), cmocka_unit_test(services_have_their_own_prefix),
        cmocka_unit_test(of_others_only_with_the_permission),
        cmocka_unit_test(nobody_makes_tokens_of_who_may_more), cmocka_unit_test(a_limited_token_makes_no_wider_one),
        cmocka_unit_test(a_role_at_a_place_makes_tokens),
        cmocka_unit_test(revoked_once_and_for_all), cmocka_unit_test(everybody_lists_what_is_theirs),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
