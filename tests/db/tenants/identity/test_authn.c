/* SPDX-License-Identifier: Apache-2.0 */
/* test_authn.c - who is believed, and for how long. The clock is turned by hand. */
#include "tests/db/tenants/fixture.h"
#include "tenants/identity/authn.h"

static int64_t mono_us = 1000000, wall_ahead_us;
static int64_t test_wall(void *ctx) { (void)ctx; return clock_wall_us(&clock_system) + wall_ahead_us; }
static int64_t test_mono(void *ctx) { (void)ctx; return mono_us; }
static const struct clock turned = { test_wall, test_mono, NULL };

static struct authn *authn;
static struct uuid tenant, user, token_id;
static char token[TOKEN_TEXT];

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { authn_stmts, NULL };
    world_new(lists, 2);
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

static int fresh(void **state)
{
    (void)state;
    static int n;
    char name[32];
    snprintf(name, sizeof name, "user-%d", n++);
    sql("UPDATE tenant SET state = 'ACTIVE' WHERE tenant_id = '%s'", hex(tenant));
    user = user_make(tenant, name, "ml-engineer");
    token_id = token_give(tenant, user, "1 hour", "{}", token);
    wall_ahead_us = 0;
    authn = authn_new(app_pool, &turned, 3000);
    return 0;
}

static int done(void **state)
{
    (void)state;
    authn_free(authn);
    return 0;
}

static enum errc ask(const char *text, struct principal **ret)
{
    struct arena *a = arena_new(1 << 20);
    e = (struct err){ 0 };
    enum errc rc = authn_token(authn, str_c(text), STR_NULL, a, ret, &e);
    arena_free(a);
    return rc;
}

static void believed(const char *text)
{
    struct principal *p = NULL;
    OK(ask(text, &p));
    principal_unref(p);
}

static void a_good_token(void **state)
{
    (void)state;
    struct principal *p = NULL;
    assert_null(authn_cached(authn, str_c(token), STR_NULL));
    OK(ask(token, &p));
    assert_true(uuid_eq(p->tenant_id, tenant) && uuid_eq(p->user_id, user) && uuid_eq(p->token_id, token_id));
    assert_true(str_eq_c(p->tenant_name, "amana") && str_eq_c(p->home_zone, "ae-dxb-1") && principal_zone_allowed(p, STR("ae-dxb-1")));
    assert_int_equal(p->roles, ROLES(ML_ENGINEER));
    assert_true(p->permissions == role_permissions(ROLE_ML_ENGINEER));
    principal_unref(p);
    p = authn_cached(authn, str_c(token), STR_NULL);
    assert_non_null(p);
    principal_unref(p);
}

static void one_message_for_all_that_is_wrong(void **state)
{
    (void)state;
    struct principal *p = NULL;
    char other[TOKEN_TEXT], first[sizeof e.msg];
    OK(token_make("user", other, &e));
    REFUSED(ask(other, &p), UNAUTHENTICATED);                           /* well formed, unknown */
    memcpy(first, e.msg, sizeof first);
    char bent[TOKEN_TEXT];
    memcpy(bent, token, sizeof bent);
    bent[strlen(bent) - 1] ^= 1;                                         /* the checksum does not fit */
    REFUSED(ask(bent, &p), UNAUTHENTICATED);
    assert_string_equal(e.msg, first);
    REFUSED(ask("", &p), UNAUTHENTICATED);
    REFUSED(ask("flj_user_", &p), UNAUTHENTICATED);
    token_give(tenant, user, "-1 second", "{}", other);
    REFUSED(ask(other, &p), UNAUTHENTICATED);                           /* expired */
    assert_string_equal(e.msg, first);
    token_give(tenant, user, "1 hour", "{}", other);
    sql("UPDATE api_token SET revoked_at = now() WHERE tenant_id = '%s'", hex(tenant));
    REFUSED(ask(other, &p), UNAUTHENTICATED);                           /* revoked */
    assert_string_equal(e.msg, first);
    token_give(tenant, user, "1 hour", "{}", other);
    sql("UPDATE app_user SET state = 'DISABLED' WHERE tenant_id = '%s' AND user_id = '%s'", hex(tenant), hex(user));
    REFUSED(ask(other, &p), UNAUTHENTICATED);                           /* disabled user */
    assert_string_equal(e.msg, first);
    assert_null(p);
}

static void a_suspended_tenant(void **state)
{
    (void)state;
    struct principal *p = NULL;
    sql("UPDATE tenant SET state = 'SUSPENDED' WHERE tenant_id = '%s'", hex(tenant));
    REFUSED(ask(token, &p), TENANT_SUSPENDED);
    assert_non_null(strstr(e.msg, "suspended"));
    assert_null(authn_cached(authn, str_c(token), STR_NULL));
}

static void believed_no_longer_than_said(void **state)
{
    (void)state;
    struct principal *p = NULL;
    believed(token);
    sql("UPDATE api_token SET revoked_at = now() WHERE token_id = '%s'", hex(token_id));
    mono_us += 2999999;
    believed(token);
    mono_us += 1;
    REFUSED(ask(token, &p), UNAUTHENTICATED);
    assert_null(authn_cached(authn, str_c(token), STR_NULL));
}

static void never_believed_beyond_five_seconds(void **state)
{
    (void)state;
    struct principal *p = NULL;
    authn_free(authn);
    authn = authn_new(app_pool, &turned, 3600000);                       /* whoever sets an hour gets five seconds */
    believed(token);
    sql("UPDATE api_token SET revoked_at = now() WHERE token_id = '%s'", hex(token_id));
    mono_us += 5000000;
    REFUSED(ask(token, &p), UNAUTHENTICATED);
}

static void forgotten_at_once(void **state)
{
    (void)state;
    struct principal *p = NULL;
    char other[TOKEN_TEXT];
    token_give(tenant, user, "1 hour", "{}", other);
    believed(token);
    believed(other);
    sql("UPDATE api_token SET revoked_at = now() WHERE token_id = '%s'", hex(token_id));
    authn_forget(authn, token_id);
    REFUSED(ask(token, &p), UNAUTHENTICATED);
    p = authn_cached(authn, str_c(other), STR_NULL);
    assert_non_null(p);                                                  /* and nobody else */
    principal_unref(p);
}

/* A token of the user whose digest has this second byte, by which the memory puts it in its place. */
static void token_at(uint8_t place, char text[TOKEN_TEXT])
{
    uint8_t hash[32];
    char digits[65];
    do {
        OK(token_make("user", text, &e));
        token_hash(str_c(text), hash);
    } while (hash[1] != place);
    hex_encode(hash, 32, digits);
    sql("INSERT INTO api_token (tenant_id, token_id, user_id, name, hash, hint, scopes, expires_at) VALUES"
        " ('%s', '%s', '%s', 't', '\\x%s', 'x', '{}', now() + interval '1 hour')", hex(tenant), hex(new_id()), hex(user), digits);
}

/* Whoever is switched off is believed nowhere from then on, in the first place of the memory as in the last; others stay. */
static void a_user_is_forgotten_in_every_place(void **state)
{
    (void)state;
    static const uint8_t places[] = { 0, 1, 128, 255 };
    char mine[4][TOKEN_TEXT], theirs[TOKEN_TEXT];
    struct uuid other = user_make(tenant, "somebody-else", "ml-engineer");
    struct principal *p = NULL;
    token_give(tenant, other, "1 hour", "{}", theirs);
    believed(theirs);
    for (int i = 0; i < 4; i++) {
        token_at(places[i], mine[i]);
        believed(mine[i]);
    }
    authn_forget_user(authn, new_id(), user);                            /* of another tenant: nobody's */
    for (int i = 0; i < 4; i++) {
        assert_non_null(p = authn_cached(authn, str_c(mine[i]), STR_NULL));
        principal_unref(p);
    }
    authn_forget_user(authn, tenant, user);
    for (int i = 0; i < 4; i++)
        assert_null(authn_cached(authn, str_c(mine[i]), STR_NULL));
    assert_non_null(p = authn_cached(authn, str_c(theirs), STR_NULL));
    principal_unref(p);
    authn_forget_user(authn, tenant, UUID_NIL);                          /* the whole tenant */
    assert_null(authn_cached(authn, str_c(theirs), STR_NULL));
}

static void expiry_counts_in_the_memory_too(void **state)
{
    (void)state;
    struct principal *p = NULL;
    char brief[TOKEN_TEXT];
    token_give(tenant, user, "1 minute", "{}", brief);
    believed(brief);
    wall_ahead_us = 61000000;
    assert_null(authn_cached(authn, str_c(brief), STR_NULL));
    REFUSED(ask(brief, &p), UNAUTHENTICATED);
}

static struct decision decide(const struct principal *p, enum permission perm)
{
    struct authz_context here = { .now_us = clock_wall_us(&clock_system) };
    return authz_decide(p, perm, &here);
}

static void scopes_only_take_away(void **state)
{
    (void)state;
    struct principal *p = NULL;
    char scoped[TOKEN_TEXT];
    token_give(tenant, user, "1 hour", "{job:read,tenant:create,no:such}", scoped);
    OK(ask(scoped, &p));
    assert_true(p->permissions == PERM_BIT(PERM_JOB_READ));
    assert_string_equal(decide(p, PERM_JOB_SUBMIT).rule, "scope:job:submit");
    assert_false(decide(p, PERM_TENANT_CREATE).allowed);
    principal_unref(p);
}

static void bindings_at_the_wrong_place_give_nothing(void **state)
{
    (void)state;
    struct principal *p = NULL;
    char text[TOKEN_TEXT];
    struct uuid odd = user_make(tenant, "odd", "platform-admin");
    token_give(tenant, odd, "1 hour", "{}", text);
    OK(ask(text, &p));
    assert_int_equal(p->roles, 0);
    assert_true(!p->permissions);
    principal_unref(p);
    struct uuid both = user_make(tenant, "both", "compliance-officer");
    sql("INSERT INTO role_binding (tenant_id, binding_id, user_id, role, created_by) VALUES ('%s', '%s', '%s', 'tenant-admin', '%s')",
        hex(tenant), hex(new_id()), hex(both), hex(both));
    token_give(tenant, both, "1 hour", "{}", text);
    OK(ask(text, &p));
    assert_int_equal(p->roles, ROLES(COMPLIANCE_OFFICER));
    principal_unref(p);
}

static void use_is_written_down(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    OK(authn_flush_used(authn, a, &e));
    believed(token);
    OK(authn_flush_used(authn, a, &e));
    assert_int_equal(NUMBER("SELECT count(*) FROM api_token WHERE token_id = '%s' AND last_used_at > now() - interval '1 minute'", hex(token_id)), 1);
    sql("UPDATE api_token SET last_used_at = NULL WHERE token_id = '%s'", hex(token_id));
    OK(authn_flush_used(authn, a, &e));                                  /* not used since: not written again */
    assert_int_equal(NUMBER("SELECT count(*) FROM api_token WHERE token_id = '%s' AND last_used_at IS NULL", hex(token_id)), 1);
    principal_unref(authn_cached(authn, str_c(token), STR_NULL));
    OK(authn_flush_used(authn, a, &e));
    assert_int_equal(NUMBER("SELECT count(*) FROM api_token WHERE token_id = '%s' AND last_used_at IS NULL", hex(token_id)), 0);
    arena_free(a);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fresh, done)
    const struct CMUnitTest tests[] = {
        T(a_good_token), T(one_message_for_all_that_is_wrong), T(a_suspended_tenant), T(believed_no_longer_than_said),
        T(never_believed_beyond_five_seconds), T(forgotten_at_once), T(a_user_is_forgotten_in_every_place),
        T(expiry_counts_in_the_memory_too), T(scopes_only_take_away),
        T(bindings_at_the_wrong_place_give_nothing), T(use_is_written_down),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
