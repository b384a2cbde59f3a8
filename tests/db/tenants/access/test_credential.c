/* SPDX-License-Identifier: Apache-2.0 */
/* test_credential.c - every way to make a credential × every pair of roles: nobody gets a power that they do not hold. */
#include "tests/db/tenants/access/doors.h"

static int tried, given;

static bool may_act_as(const struct principal *maker, enum role target)
{
    return !(role_permissions(target) & ~maker->permissions & ~PERM_BIT(PERM_TOKEN_OWN));     /* its own tokens: no power */
}

static const struct way *way_of(const struct route *row)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (!strcmp(ways[i].op, row->op))
            return &ways[i];
    return NULL;
}

static void try_way(struct principal *maker, enum role role, const struct route *row, const struct way *way)
{
    for (int t = 0; t < ROLE_COUNT; t++) {
        if (!role_fits((enum role)t, false) || t == (int)role)
            continue;
        tried++;
        if (way->judged_by_row && !(maker->permissions & PERM_BIT(row->perm)))
            continue;
        struct work *w = unit_open(tenant, maker);
        enum errc rc = way->make(w, (enum role)t);
        given += rc == ERR_OK;
        if (rc == ERR_OK && !may_act_as(maker, (enum role)t))
            fail_msg("a %s gets the power of a %s by %s (%s)", role_row(role)->wire, role_row((enum role)t)->wire, row->op,
                     way->name);
        unit_drop(w);
    }
}

/* The routes that are ways, from the table; all_routes is the product's. */
static struct { const struct route *row; const struct way *way; bool is_first; } found[128];
static size_t nfound;

static perm_set behind_power(void)
{
    perm_set ret = 0;
    for (const struct route_table *const *t = all_routes; *t; t++)
        for (size_t i = 0; i < (*t)->n; i++)
            if (route_makes_power(&(*t)->rows[i]))
                ret |= PERM_BIT((*t)->rows[i].perm);
    return ret & ~PERM_BIT(PERM_SIGNED_IN);     /* what is done to oneself */
}

static void find_ways(void)
{
    perm_set behind = behind_power();
    for (const struct route_table *const *t = all_routes; *t; t++)
        for (size_t i = 0; i < (*t)->n; i++) {
            const struct route *row = &(*t)->rows[i];
            if (!is_way(row, behind))
                continue;
            const struct way *way = way_of(row);
            assert_true(nfound < sizeof found / sizeof *found);
            bool is_first = way && way->make;
            for (size_t k = 0; k < nfound; k++)
                is_first = is_first && !(found[k].way && found[k].way->make == way->make);
            found[nfound].row = row;
            found[nfound].way = way;
            found[nfound++].is_first = is_first;
        }
}

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { api_token_stmts, service_account_stmts, user_stmts, binding_stmts, principal_stmts,
                                                      credential_stmts, oidc_stmts, issuer_stmts, identity_provider_stmts,
                                                          user_group_stmts, invitation_stmts,
                                                      approval_stmts, appointment_stmts, scim_group_stmts, scim_user_stmts, second_person_stmts, audit_event_stmts,
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
        token[r] = new_id();
        sql("INSERT INTO api_token (tenant_id, token_id, user_id, name, hash, hint, expires_at) VALUES ('%s', '%s', '%s', 'own',"
            " sha256('%s'), 'abcd', now() + interval '1 day')", hex(tenant), hex(token[r]), hex(person[r]), hex(token[r]));
        team[r] = new_id();
        sql("INSERT INTO user_group (tenant_id, group_id, name, role, role_set_by) VALUES ('%s', '%s', 'team-%d', '%s', '%s')",
            hex(tenant), hex(team[r]), r, role_row((enum role)r)->wire, hex(person[r]));
    }
    sql("INSERT INTO identity_provider (tenant_id, provider_id, name, issuer, client_id, scopes, name_claim, groups_claim, mfa_values, create_users, set_by) VALUES ('%s', '%s', 'own', 'https://idp.example',"
        " 'c', '{openid}', 'name', 'groups', '{}', true, '%s')", hex(tenant), hex(provider), hex(person[ROLE_TENANT_ADMIN]));
    sql("INSERT INTO user_group (tenant_id, group_id, name) VALUES ('%s', '%s', 'g')", hex(tenant), hex(group));
    find_ways();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_free();
    return 0;
}

static void every_way_of_the_route_table_is_known(void **state)
{
    (void)state;
    int unknown = 0, doors = 0;
    for (size_t i = 0; i < nfound; i++) {
        doors += found[i].is_first;
        if (found[i].way)
            continue;
        print_error("%s (%s %s) may give power: it wants a row in doors.h, a door or why it gives nothing\n",
                    found[i].row->op, http_method_name(found[i].row->method), found[i].row->path);
        unknown++;
    }
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        bool is_found = false;
        for (size_t k = 0; k < nfound; k++)
            is_found |= found[k].way == &ways[i];
        if (!is_found)
            fail_msg("doors.h has %s, which is no way of the route table", ways[i].op);
    }
    assert_int_equal(unknown, 0);
    printf("takeover: %zu routes make, widen or approve power, through %d doors; the others say why they give nothing\n", nfound,
           doors);
}

/* Does what a call says have a member of that name, however deep? */
static bool can_name(const struct schema *in, const char *name)
{
    for (size_t i = 0; in && i < in->nfields; i++)
        if (!strcmp(in->fields[i].name, name) || can_name(in->fields[i].sub, name))
            return true;
    return false;
}

static const char *power_of(const struct route *row)
{
    static const char *const powers[] = { "role", "roles", "group_roles", "scopes", "subject", "subjects", "members",
                                          "permissions" };
    for (size_t i = 0; i < sizeof powers / sizeof *powers; i++)
        if (can_name(row->in, powers[i]) || can_name(row->body, powers[i]))
            return powers[i];
    return NULL;
}

/* Why a claim does not hold of the row; NULL: it does. */
static const char *against(const struct route *row, enum claim claim)
{
    bool has_account = can_name(row->in, "user_id") || can_name(row->body, "user_id");
    const char *power = power_of(row);
    switch (claim) {
    case CLAIM_TOLD:
        return NULL;
    case CLAIM_TWO:
        return row->status == 202 ? NULL : "it answers otherwise than 202";
    case CLAIM_MACHINE:
        return row->flags & R_NODE ? NULL : "it is not on the machines' listener";
    case CLAIM_SELF:
        if (row->perm != PERM_PUBLIC && row->perm != PERM_SIGNED_IN && row->perm != PERM_TOKEN_OWN)
            return "it is behind a permission that is given";
        break;
    case CLAIM_ACCOUNT:
        return power;
    case CLAIM_THING:
        break;
    }
    return has_account ? "user_id" : power;
}

static void what_is_no_door_can_name_no_power(void **state)
{
    (void)state;
    int wrong = 0, held = 0;
    for (size_t i = 0; i < nfound; i++) {
        const struct way *way = found[i].way;
        if (!way || way->make)
            continue;
        const char *why = against(found[i].row, way->claim);
        if (why)
            print_error("%s \"%s\": the row says otherwise: %s\n", way->op, way->why, why);
        wrong += why != NULL;
        held += !why && way->claim != CLAIM_TOLD;
    }
    printf("takeover: %d reasons held against the route table\n", held);
    assert_int_equal(wrong, 0);
}

static void try_all(struct principal *maker, enum role role)
{
    for (size_t i = 0; i < nfound; i++)
        if (found[i].is_first)
            try_way(maker, role, found[i].row, found[i].way);
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

/* A tenant administrator may act as an engineer: the doors open, so that the refusals above are not those of broken doors. */
static void who_holds_it_all_may(void **state)
{
    (void)state;
    struct principal *admin = principal_with(tenant, person[ROLE_TENANT_ADMIN], ROLES(TENANT_ADMIN));
    for (size_t i = 0; i < nfound; i++) {
        if (!found[i].is_first)
            continue;
        struct work *w = unit_open(tenant, admin);
        OK(found[i].way->make(w, ROLE_ML_ENGINEER));
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
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_way_of_the_route_table_is_known),
                                        cmocka_unit_test(what_is_no_door_can_name_no_power),
                                        cmocka_unit_test(nobody_gets_a_power_that_they_do_not_hold), cmocka_unit_test(who_holds_it_all_may),
                                        cmocka_unit_test(a_later_role_ends_what_its_granter_made) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
