/* SPDX-License-Identifier: Apache-2.0 */
/* test_second_person.c - ways for one person to be two: none succeeds, and two people who are two succeed.
 *
 * A way is a short program over letters, each an account: A is the attacker, H and K are honest people whom the installation
 * made. Acts go through the functions that the routes call and may be refused; `force` writes a role as an older release would
 * have left it, so that the judge is asked even where the door before it holds. At the end everything is two days old but what
 * the way says is young. */
#include "people_acts.h"
#include "people_ways.h"

/* What an account does itself by a function that may refuse. */
static bool act(const char *verb, const char *a, const char *b, const char *c)
{
    struct work *w = strchr("ABCDEFHK", *a) ? as(*a) : NULL;
    enum errc rc = ERR_OK;
    if (!strcmp(verb, "grant"))
        rc = grant(w, *b, c);
    else if (!strcmp(verb, "token"))
        rc = token(w, *b);
    else if (!strcmp(verb, "link"))
        rc = link_to(w, *b);
    else if (!strcmp(verb, "bot"))
        rc = bot(w, *b, c);
    else if (!strcmp(verb, "scim"))
        rc = scim(w, *b);
    else if (!strcmp(verb, "scimgroup"))
        rc = scim_group(w, b);
    else if (!strcmp(verb, "group"))
        rc = provider_group(w, b);
    else if (!strcmp(verb, "subject"))
        rc = subject(w, *b);
    else {
        end(w, ERR_INTERNAL);
        return false;
    }
    end(w, rc);
    return true;
}

static bool done_in_rows(const char *verb, const char *a, const char *b)
{
    const char *t = hex(scope), *u = hex(of(*a));
    if (!strcmp(verb, "unbind"))
        rows("DELETE FROM role_binding WHERE user_id = '%s'", u);
    else if (!strcmp(verb, "unlink"))
        rows("DELETE FROM federated_user WHERE user_id = '%s'", u);
    else if (!strcmp(verb, "revoke"))
        rows("UPDATE api_token SET revoked_at = now() WHERE user_id = '%s'", u);
    else if (!strcmp(verb, "program"))
        rows("UPDATE app_user SET kind = 'service' WHERE user_id = '%s'", u);
    else if (!strcmp(verb, "ownlink"))
        rows("INSERT INTO federated_user (tenant_id, provider_id, subject, user_id) SELECT '%s', '%s', 'own-%d', '%s'", t,
            hex(provider),
            ++serial, u);
    else if (!strcmp(verb, "forcelink"))
        rows("INSERT INTO federated_user (tenant_id, provider_id, subject, user_id, linked_by) VALUES ('%s', '%s', 'by-%d', "
            "'%s', '%s')", t,
            hex(provider), ++serial, hex(of(*b)), u);
    else if (!strcmp(verb, "forcetoken"))
        rows("INSERT INTO api_token (tenant_id, token_id, user_id, name, hash, hint, expires_at, created_by) VALUES ('%s', "
            "'%s', '%s', 't',"
            " sha256('%d'::bytea), 'x', now() + interval '1 d', '%s')", t, hex(new_id()), hex(of(*b)), ++serial, u);
    else if (!strcmp(verb, "young"))
        return true;
    else
        return false;
    return true;
}

static void step(const char *text)
{
    char verb[16] = "", a[32] = "", b[32] = "", c[32] = "", d[8] = "";
    sscanf(text, " %15s %31s %31s %31s %7s", verb, a, b, c, d);
    if (!strcmp(verb, "root"))
        root(*a, "");
    else if (!strcmp(verb, "orphan"))
        root(*a, NULL);
    else if (!strcmp(verb, "scope"))
        narrow[*a - 'A'] = true;
    else if (!strcmp(verb, "make"))
        make(*a, *b, c);
    else if (!strcmp(verb, "invite"))
        invite(*a, *b, c);
    else if (!strcmp(verb, "force"))
        force(*a, *b, c);
    else if (!strcmp(verb, "signin"))
        sign_in(*a, *b);
    else if (!strcmp(verb, "approve"))
        approve_of(*a, *b);
    else if (!strcmp(verb, "appoint"))
        appoint(*a, *b, c, *d);
    else if (!done_in_rows(verb, a, b) && !act(verb, a, b, c))
        fail_msg("the step %s is unknown", text);
}

static void each_step(const char *steps, void (*run)(const char *text))
{
    char text[512], *rest = text;
    assert_in_range(snprintf(text, sizeof text, "%s", steps), 1, sizeof text - 1);
    for (char *s; (s = strsep(&rest, ";"));)
        run(s);
}

static void make_young(const char *text)
{
    char c, what[16];
    if (sscanf(text, " young %c %15s", &c, what) != 2)
        return;
    const char *table = !strcmp(what, "account") ? "app_user" : !strcmp(what, "role") ? "role_binding" : "federated_user";
    rows("UPDATE %s SET created_at = now() WHERE user_id = '%s'", table, hex(of(c)));
}

static void begin(struct uuid in)
{
    const char *const roots = "ABHK";
    const bool is_platform = uuid_is_nil(in);
    scope = in;
    memset(letter, 0, sizeof letter);
    memset(narrow, 0, sizeof narrow);
    rows("DELETE FROM approval_decision; DELETE FROM approval; DELETE FROM federated_role; DELETE FROM group_member;"
        "UPDATE identity_provider SET group_roles = '[]'; UPDATE user_group SET role = NULL");
    for (const char *c = roots; *c; c++) {
        root(*c, "");
        force(*c, *c, *c == 'A' || *c == 'B' ? is_platform ? "platform-admin" : "tenant-admin" : "compliance-officer");
    }
    rows("UPDATE app_user SET created_at = now() - interval '2 d'; UPDATE role_binding SET created_at = now() - interval '2 d'");
    provider = new_id();
    serial++;
    group = new_id();
    rows("INSERT INTO identity_provider (tenant_id, provider_id, name, issuer, client_id, scopes, name_claim, groups_claim, "
        "mfa_values, create_users, set_by)"
        " VALUES ('%s', '%s', 'p-%d', 'https://idp.example/%d', 'c', '{openid}', 'name', 'groups', '{}', true, '%s')",
            hex(scope), hex(provider),
        serial, serial, hex(of('A')));
    rows("INSERT INTO user_group (tenant_id, group_id, name) VALUES ('%s', '%s', 'g-%d')", hex(scope), hex(group), ++serial);
}

/* Was the request carried out? */
static bool try_way(const struct way *way, struct uuid in)
{
    struct approval a;
    begin(in);
    each_step(way->steps, step);
    if (strstr(way->steps, "scimgroup"))
        rows("INSERT INTO group_member (tenant_id, group_id, user_id) VALUES ('%s', '%s', '%s')", hex(scope), hex(group),
            hex(of('C')));
    rows("UPDATE app_user SET created_at = now() - interval '2 d'; UPDATE role_binding SET created_at = now() - interval '2 d';"
        "UPDATE federated_user SET created_at = now() - interval '2 d'");
    each_step(way->steps, make_young);
    struct work *w = as(way->asker);
    const struct approval_kind *kind = uuid_is_nil(in) ? &glass : way->approvers[1] ? &two_more : &one_more;
    OK(approval_request(w, kind, UUID_NIL, STR("what is at stake"), STR("{}"), STR("why"), &a, &e));
    end(w, ERR_OK);
    for (const char *c = way->approvers; *c; c++) {
        w = as(*c);
        struct approval shown;
        enum errc rc = approval_get(w, a.approval_id, &shown, &e);
        assert_int_equal(rc, ERR_OK);
        OK(approval_standing(w, kinds, &shown, &e));
        rc = approval_decide(w, kinds, a.approval_id, true, STR_NULL, &a, &e);
        if ((rc == ERR_OK) != shown.counts)
            fail_msg("%s: the page says %s, the approval says %s", way->name, shown.counts ? "counts" : shown.why_not.ptr,
                err_row(rc)->name);
        if (!shown.counts && (!shown.why_not_text.len || (rc != ERR_SEPARATION && rc != ERR_FORBIDDEN)))
            fail_msg("%s: %s without a reason", way->name, err_row(rc)->name);
        end(w, rc);
    }
    tried++;
    return NUMBER("SELECT count(*) FROM approval WHERE kind <> 'role.appoint' AND state = 'EXECUTED'") > 0;
}

static struct uuid tenant;

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { api_token_stmts, service_account_stmts, user_stmts, binding_stmts,
        principal_stmts,
        credential_stmts, oidc_stmts, issuer_stmts, identity_provider_stmts, user_group_stmts, approval_stmts,
            second_person_stmts,
        appointment_stmts, invitation_stmts, scim_user_stmts, audit_event_stmts, NULL };
    world_new(lists, 2);
    world_config->approval_separation = SEPARATION_PEOPLE;
    tenant = new_id();
    tenant_make(tenant, "amana");
    OK(db_session_new(pg_harness_conninfo(pg, "postgres", DB), "test", 0, &session, &e));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    db_session_free(session);
    world_free();
    return 0;
}

static void nobody_is_two_people(void **state)
{
    (void)state;
    tried = 0;
    for (size_t i = 0; i < sizeof in_tenant / sizeof *in_tenant; i++)
        if (try_way(&in_tenant[i], tenant))
            fail_msg("one person is two when it %s", in_tenant[i].name);
    for (size_t i = 0; i < sizeof at_platform / sizeof *at_platform; i++)
        if (try_way(&at_platform[i], UUID_NIL))
            fail_msg("at the platform one person is two when it %s", at_platform[i].name);
    printf("foureyes: %d ways for one person to be two, 0 succeed\n", tried);
    assert_true(tried >= 40);
}

static void two_people_are_two(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof honest / sizeof *honest; i++)
        if (!try_way(&honest[i], tenant))
            fail_msg("%s does not count", honest[i].name);
}

/* The same accounts, with the setting of development: so it is the judge that holds the ways, and not a door that is broken. */
static void development_counts_accounts(void **state)
{
    (void)state;
    static const struct way made = { "made the officer's account", "make A C -; force A C compliance-officer", 'A', "C" };
    const int stride = 57 / share_of("ways tried where any two accounts count", 14, 57);
    int open = 0;
    tried = 0;
    world_config->approval_separation = SEPARATION_ACCOUNTS;
    for (size_t i = 0; i < sizeof in_tenant / sizeof *in_tenant; i += (size_t)stride)
        open += try_way(&in_tenant[i], tenant);
    for (size_t i = 0; i < sizeof at_platform / sizeof *at_platform; i += (size_t)stride)
        open += try_way(&at_platform[i], UUID_NIL);
    printf("foureyes: %d of %d succeed where any two accounts count\n", open, tried);
    assert_true(open >= 40 / stride);
    rows("DELETE FROM audit_event WHERE convert_from(body, 'UTF8') LIKE '%%\"separation\":\"accounts\"%%'");
    assert_true(try_way(&made, tenant));
    assert_int_equal(NUMBER("SELECT count(*) FROM audit_event WHERE convert_from(body, 'UTF8') LIKE "
        "'%%\"separation\":\"accounts\"%%'"), 1);
    world_config->approval_separation = SEPARATION_PEOPLE;
    assert_false(try_way(&made, tenant));
}

static void production_asks_for_people(void **state)
{
    (void)state;
    struct config *c = config_new_default();
    OK(second_person_config(c, &e));
    c->run_profile = PROFILE_PROD;
    OK(second_person_config(c, &e));
    c->approval_age_ms = 3599999;
    REFUSED(second_person_config(c, &e), INVALID);
    c->approval_age_ms = 3600000;
    OK(second_person_config(c, &e));
    c->approval_separation = SEPARATION_ACCOUNTS;
    REFUSED(second_person_config(c, &e), INVALID);
    config_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(nobody_is_two_people), cmocka_unit_test(two_people_are_two),
                                        cmocka_unit_test(development_counts_accounts),
                                            cmocka_unit_test(production_asks_for_people) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
