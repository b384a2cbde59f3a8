/* SPDX-License-Identifier: Apache-2.0 */
/* test_credential.c - every way to make a credential × every pair of roles: nobody gets a power that they do not hold. */
#include "tests/db/tenants/fixture.h"
#include "audit/event.h"
#include "core/table/config.h"
#include "tenants/access/appointment.h"
#include "tenants/access/binding.h"
#include "tenants/access/credential.h"
#include "tenants/access/principal_load.h"
#include "tenants/identity/api_token.h"
#include "tenants/identity/identity_provider.h"
#include "tenants/identity/invitation.h"
#include "tenants/identity/issuer.h"
#include "tenants/identity/oidc.h"
#include "tenants/identity/service_account.h"
#include "tenants/identity/user.h"
#include "tenants/identity/user_group.h"

static struct uuid tenant, provider, group;
static struct uuid person[ROLE_COUNT], program[ROLE_COUNT];
static struct uuid spare;       /* an account without any role, in the maker's hands */
static int tried, given;

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { api_token_stmts, service_account_stmts, user_stmts, binding_stmts, principal_stmts,
                                                      credential_stmts, oidc_stmts, issuer_stmts, identity_provider_stmts,
                                                          user_group_stmts, invitation_stmts,
                                                      approval_stmts, appointment_stmts, second_person_stmts, audit_event_stmts,
                                                          NULL };
    world_new(lists, 2);
    world_config->approval_separation = SEPARATION_PEOPLE;
    tenant = new_id();
    provider = new_id();
    group = new_id();
    tenant_make(tenant, "amana");
    spare = user_make(tenant, "spare", NULL);
    for (int r = 0; r < ROLE_COUNT; r++) {
        if (!role_fits((enum role)r, false))
            continue;
        char name[64];
        snprintf(name, sizeof name, "person-%d", r);
        person[r] = user_make(tenant, name, role_row((enum role)r)->wire);
        snprintf(name, sizeof name, "program-%d", r);
        program[r] = user_make(tenant, name, role_row((enum role)r)->wire);
        sql("UPDATE app_user SET kind = 'service' WHERE user_id = '%s'", hex(program[r]));
    }
    sql("INSERT INTO identity_provider (tenant_id, provider_id, name, issuer, client_id, scopes, name_claim, groups_claim, mfa_values, create_users, set_by) VALUES ('%s', '%s', 'own', 'https://idp.example',"
        " 'c', '{openid}', 'name', 'groups', '{}', true, '%s')", hex(tenant), hex(provider), hex(person[ROLE_TENANT_ADMIN]));
    sql("INSERT INTO user_group (tenant_id, group_id, name) VALUES ('%s', '%s', 'g')", hex(tenant), hex(group));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_free();
    return 0;
}

static enum errc by_token(struct work *w, enum role target)
{
    struct api_token t;
    char text[TOKEN_TEXT];
    return api_token_create(w, &(struct api_token_new){ .user_id = person[target], .name = STR("x"), .days = 1 }, &t, text, &e);
}

static enum errc by_link(struct work *w, enum role target)
{
    return oidc_link(w, &(struct oidc_link){ provider, STR("my-own-subject"), person[target] }, &e);
}

static enum errc by_subject(struct work *w, enum role target)
{
    struct issuer_subject subject = { .subject = STR("my-own-program"), .user_id = program[target] };
    struct str alg = STR("RS256");
    struct issuer made;
    struct issuer_new in = { .name = STR("mine"), .issuer = STR("https://issuer.example"), .audience = STR("falaj"), .jwks_uri = STR("https://issuer.example/keys"),
                             .algorithms = { &alg, 1 }, .subjects = { &subject, 1 } };
    return issuer_create(w, &in, &made, &e);
}

static enum errc by_provider_group(struct work *w, enum role target)
{
    struct group_role give = { STR("everybody"), str_c(role_row(target)->wire) };
    struct identity_provider ret;
    struct provider_change change = { .has_group_roles = true, .group_roles = { &give, 1 } };
    return provider_set(w, provider, &change, -1, &ret, &e);
}

static enum errc by_scim_group(struct work *w, enum role target)
{
    struct user_group ret;
    return group_role_set(w, group, str_c(role_row(target)->wire), -1, &ret, &e);
}

/* A role of the whole tenant for an account that the maker has: what is only asked for (appointment.h) is not held yet. */
static enum errc holds(struct work *w, struct uuid user_id, enum role target)
{
    struct binding_filter f = { .user_id = user_id, .role = str_c(role_row(target)->wire) };
    struct slice held;
    TRY(role_binding_list(w, &f, UUID_NIL, 1, &held, &e));
    return held.n ? ERR_OK : ERR_SEPARATION;
}

static struct slice one_role(enum role target, struct str *room)
{
    *room = str_c(role_row(target)->wire);
    return (struct slice){ room, 1 };
}

static enum errc by_grant(struct work *w, enum role target)
{
    struct role_binding b;
    return role_grant(w, spare, str_c(role_row(target)->wire), &b, &e);
}

static enum errc by_new_user(struct work *w, enum role target)
{
    struct app_user u;
    struct str role;
    enum errc rc = user_create(w, STR("another me"), STR("person"), one_role(target, &role), &u, &e);
    return rc == ERR_OK ? holds(w, u.user_id, target) : rc;
}

static enum errc by_service_account(struct work *w, enum role target)
{
    struct app_user u;
    struct str role;
    return service_account_create(w, STR("my program"), one_role(target, &role), &u, &e);
}

static enum errc by_invitation(struct work *w, enum role target)
{
    struct invitation i;
    struct app_user u;
    struct principal *inviter = NULL;
    const struct principal *maker = w->principal;
    struct str role;
    char text[TOKEN_TEXT];
    TRY(invitation_create(w, STR("myself"), STR_NULL, one_role(target, &role), 1, &i, text, &e));
    enum errc rc = invitation_accept(w, str_c(text), &inviter, &i, &u, &e);
    w->principal = maker;
    principal_unref(inviter);
    return rc == ERR_OK ? holds(w, u.user_id, target) : rc;
}

static const struct { const char *name; enum errc (*make)(struct work *w, enum role target); } doors[] = {
    { "token", by_token }, { "link to a provider", by_link }, { "subject of an issuer", by_subject }, { "group of a provider", by_provider_group },
    { "provisioned group", by_scim_group }, { "grant", by_grant }, { "new user", by_new_user }, { "service account",
        by_service_account },
    { "invitation", by_invitation },
};

static bool may_act_as(const struct principal *maker, enum role target)
{
    return !(role_permissions(target) & ~maker->permissions & ~PERM_BIT(PERM_TOKEN_OWN));     /* its own tokens: no power */
}

/* With the maker's whole powers, and again with a token of a single permission. */
static void try_all(struct principal *maker, enum role role)
{
    for (size_t d = 0; d < sizeof doors / sizeof *doors; d++)
        for (int t = 0; t < ROLE_COUNT; t++) {
            if (!role_fits((enum role)t, false) || t == (int)role)
                continue;
            struct work *w = unit_open(tenant, maker);
            enum errc rc = doors[d].make(w, (enum role)t);
            tried++;
            given += rc == ERR_OK;
            if (rc == ERR_OK && !may_act_as(maker, (enum role)t))
                fail_msg("a %s gets the power of a %s by a %s", role_row(role)->wire, role_row((enum role)t)->wire, doors[d].name);
            unit_drop(w);
        }
}

static void nobody_gets_a_power_that_they_do_not_hold(void **state)
{
    (void)state;
    for (int r = 0; r < ROLE_COUNT; r++) {
        if (!role_fits((enum role)r, false))
            continue;
        struct principal *maker = principal_with(tenant, person[r], UINT32_C(1) << r);
        try_all(maker, (enum role)r);
        for (int p = PERM_SIGNED_IN + 1; p < PERM_COUNT; p++) {
            maker->scopes = PERM_BIT(p) | PERM_BIT(PERM_TOKEN_MANAGE) | PERM_BIT(PERM_IDENTITY_MANAGE);
            maker->permissions = role_permissions((enum role)r) & maker->scopes;
            try_all(maker, (enum role)r);
        }
        principal_unref(maker);
    }
    printf("takeover: %d vectors, %d allowed, each within the maker's own powers\n", tried, given);
    assert_in_range(given, 1, tried - 1);
}

/* A tenant administrator may act as an engineer: the five doors open, so that the refusals above are not those of broken doors. */
static void who_holds_it_all_may(void **state)
{
    (void)state;
    struct principal *admin = principal_with(tenant, person[ROLE_TENANT_ADMIN], ROLES(TENANT_ADMIN));
    for (size_t d = 0; d < sizeof doors / sizeof *doors; d++) {
        struct work *w = unit_open(tenant, admin);
        OK(doors[d].make(w, ROLE_ML_ENGINEER));
        unit_drop(w);
    }
    principal_unref(admin);
}

/* Made while the user had no power, and then the officer's role comes: nothing made before acts as the officer. */
static void a_later_role_ends_what_its_granter_made(void **state)
{
    (void)state;
    struct uuid plain = user_make(tenant, "plain", NULL), bot = user_make(tenant, "bot", NULL);
    struct principal *admin = principal_with(tenant, person[ROLE_TENANT_ADMIN], ROLES(TENANT_ADMIN));
    struct role_binding b;
    struct work *w = unit_open(tenant, admin);
    sql("UPDATE app_user SET kind = 'service' WHERE user_id = '%s'", hex(bot));
    OK(oidc_link(w, &(struct oidc_link){ provider, STR("early"), plain }, &e));
    program[ROLE_VIEWER] = bot;
    OK(by_subject(w, ROLE_VIEWER));
    unit_commit(w);
    assert_int_equal(NUMBER("SELECT count(*) FROM federated_user WHERE user_id = '%s'", hex(plain)), 1);
    w = unit_open(tenant, admin);
    world_config->approval_separation = SEPARATION_ACCOUNTS;
    OK(role_grant(w, plain, STR("compliance-officer"), &b, &e));
    OK(role_grant(w, bot, STR("compliance-officer"), &b, &e));
    unit_commit(w);
    world_config->approval_separation = SEPARATION_PEOPLE;
    assert_int_equal(NUMBER("SELECT count(*) FROM federated_user WHERE user_id = '%s'", hex(plain)), 0);
    assert_int_equal(NUMBER("SELECT count(*) FROM issuer_subject WHERE user_id = '%s'", hex(bot)), 0);
    principal_unref(admin);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(nobody_gets_a_power_that_they_do_not_hold), cmocka_unit_test(who_holds_it_all_may),
                                        cmocka_unit_test(a_later_role_ends_what_its_granter_made) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
