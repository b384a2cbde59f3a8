/* SPDX-License-Identifier: Apache-2.0 */
/* people_acts.h - what the accounts of a way do: each act goes through the function that its route calls, and may be refused. */
#pragma once
#include "tests/db/tenants/fixture.h"
#include "tests/lib/share.h"
#include "audit/event.h"
#include "core/table/config.h"
#include "tenants/access/appointment.h"
#include "tenants/access/credential.h"
#include "tenants/access/principal_load.h"
#include "tenants/identity/api_token.h"
#include "tenants/identity/identity_provider.h"
#include "tenants/identity/invitation.h"
#include "tenants/identity/issuer.h"
#include "tenants/identity/oidc.h"
#include "tenants/identity/scim_user.h"
#include "tenants/identity/service_account.h"
#include "tenants/identity/user.h"
#include "tenants/identity/user_group.h"

enum { LETTERS = 26 };

static struct uuid scope, letter[LETTERS];
static bool narrow[LETTERS];
static struct uuid provider, group;
static int serial, tried;
static struct db_session *session;

static enum errc execute(struct work *w, const struct approval *a, struct err *why)
{
    (void)w, (void)a, (void)why;
    return ERR_OK;
}
static const struct approval_kind one_more = { "one.more", PERM_APPROVE_KEY, 1, 24, execute, "One" };
static const struct approval_kind two_more = { "two.more", PERM_APPROVE_KEY, 2, 24, execute, "Two" };
static const struct approval_kind glass = { "glass", PERM_KEY_ROOT, 1, 24, execute, "Glass" };
static const struct approval_kind *const kinds[] = { &one_more, &two_more, &glass, &appointment_kind, NULL };

/* As sql(), through one session: there are a thousand of them. */
static void rows(const char *fmt, ...) PRINTF_LIKE(1, 2);
static void rows(const char *fmt, ...)
{
    char text[2048];
    va_list ap;
    va_start(ap, fmt);
    assert_in_range(vsnprintf(text, sizeof text, fmt, ap), 1, sizeof text - 1);
    va_end(ap);
    OK(db_session_exec_script(session, text, &e));
}

static struct uuid of(char c)
{
    assert_in_range(c, 'A', 'Z');
    return letter[c - 'A'];
}

static const char *fresh_name(void)
{
    static char name[32];
    snprintf(name, sizeof name, "account-%d", ++serial);
    return name;
}

/* Who acts, with what it holds now, as a request would find it. */
static struct work *as(char c)
{
    struct principal_row row;
    struct principal *p;
    struct work *w = unit_open(scope, NULL);
    OK(principal_find(w->tx, scope, of(c), &row, &e));
    OK(principal_make(&row, AUTH_TOKEN, (struct slice){ 0 }, w->arena, &p, &e));
    if (narrow[c - 'A']) {
        p->scopes = PERM_BIT(PERM_USER_MANAGE) | PERM_BIT(PERM_ROLE_GRANT);
        principal_settle(p);
    }
    w->principal = p;
    return w;
}

static void end(struct work *w, enum errc rc)
{
    struct principal *p = (struct principal *)(uintptr_t)w->principal;
    rc == ERR_OK ? unit_commit(w) : unit_drop(w);
    principal_unref(p);
}

/* maker NULL: nobody knows; "": the installation. */
static void root(char c, const char *maker)
{
    struct uuid u = letter[c - 'A'] = new_id();
    if (maker && !*maker)
        maker = hex(u);
    rows("INSERT INTO app_user (tenant_id, user_id, name, created_by) VALUES ('%s', '%s', '%s', %s%s%s)", hex(scope), hex(u),
        fresh_name(),
        maker ? "'" : "", maker ? maker : "NULL", maker ? "'" : "");
}

static void force(char by, char c, const char *role)
{
    rows("INSERT INTO role_binding (tenant_id, binding_id, user_id, role, place, created_by) VALUES ('%s', '%s', '%s', '%s', "
        "'%s', '%s')",
        hex(scope), hex(new_id()), hex(of(c)), role, uuid_is_nil(scope) ? "platform" : "tenant", hex(of(by)));
}

static struct slice roles_of(const char *role, struct str *one)
{
    *one = str_c(role);
    return (struct slice){ one, strcmp(role, "-") != 0 };
}

static void make(char by, char c, const char *role)
{
    struct app_user u;
    struct str one;
    struct work *w = as(by);
    enum errc rc = user_create(w, str_c(fresh_name()), STR("person"), roles_of(role, &one), &u, &e);
    if (rc == ERR_OK)
        letter[c - 'A'] = u.user_id;
    end(w, rc);
    if (rc != ERR_OK)
        root(c, hex(of(by)));
}

static void invite(char by, char c, const char *role)
{
    struct invitation i;
    struct app_user u;
    struct principal *inviter = NULL;
    struct str one;
    char text[TOKEN_TEXT];
    struct work *w = as(by);
    enum errc rc = invitation_create(w, str_c(fresh_name()), STR_NULL, roles_of(role, &one), 1, &i, text, &e);
    end(w, rc);
    if (rc == ERR_OK) {
        w = unit_open(scope, NULL);
        rc = invitation_accept(w, str_c(text), &inviter, &i, &u, &e);
        rc == ERR_OK ? unit_commit(w) : unit_drop(w);
        principal_unref(inviter);
    }
    if (rc == ERR_OK)
        letter[c - 'A'] = u.user_id;
    else
        root(c, hex(of(by)));
}

/* The pending appointment of somebody is approved. */
static void approve_of(char c, char approver)
{
    struct approval a;
    struct db_text_rows r = rows_of("SELECT approval_id FROM approval WHERE subject_id = '%s' AND state = 'PENDING'", hex(of(c)));
    struct uuid id;
    if (!r.nrows)
        return;
    assert_true(uuid_parse(r.cells[0], &id));
    struct work *w = as(approver);
    enum errc rc = approval_decide(w, kinds, id, true, STR_NULL, &a, &e);
    if (rc == ERR_OK && !str_eq_c(a.state, "EXECUTED"))
        printf("  %.*s: %.*s\n", STR_ARG(a.state), STR_ARG(a.outcome));
    end(w, rc);
}

static void appoint(char by, char c, const char *role, char approver)
{
    struct approval a;
    struct work *w = as(by);
    enum errc rc = appointment_request(w, &(struct appointment_new){ of(c), str_c(role), STR_NULL, STR("needed") }, &a, &e);
    end(w, rc);
    if (rc == ERR_OK)
        approve_of(c, approver);
}

static void sign_in(char by, char c)
{
    struct identity_provider p;
    char name[64];
    struct oidc_person who = { .subject = str_c(name), .name = str_c(fresh_name()) };
    struct uuid made;
    snprintf(name, sizeof name, "subject-%c-%s", c, hex(provider));
    who.subject = str_c(name);
    rows("UPDATE identity_provider SET set_by = '%s' WHERE provider_id = '%s'", hex(of(by)), hex(provider));
    who.groups[0] = STR("g");
    who.n_groups = 1;
    struct work *w = unit_open(scope, NULL);
    OK(provider_get(w, provider, &p, &e));
    OK(oidc_user(w, &p, &who, &made, &e));
    unit_commit(w);
    letter[c - 'A'] = made;
}

static enum errc grant(struct work *w, char c, const char *role)
{
    struct role_binding b;
    return role_grant(w, of(c), str_c(role), &b, &e);
}

static enum errc token(struct work *w, char c)
{
    struct api_token t;
    char text[TOKEN_TEXT];
    return api_token_create(w, &(struct api_token_new){ .user_id = of(c), .name = STR("x"), .days = 1 }, &t, text, &e);
}

static enum errc link_to(struct work *w, char c)
{
    return oidc_link(w, &(struct oidc_link){ provider, str_fmt(w->arena, "linked-%d", ++serial), of(c) }, &e);
}

static enum errc bot(struct work *w, char c, const char *role)
{
    struct app_user u;
    struct str one;
    enum errc rc = service_account_create(w, str_c(fresh_name()), roles_of(role, &one), &u, &e);
    if (rc == ERR_OK)
        letter[c - 'A'] = u.user_id;
    return rc;
}

static enum errc scim(struct work *w, char c)
{
    struct scim_answer made;
    struct scim_write in = { .body = str_fmt(w->arena,
        "{\"schemas\":[\"urn:ietf:params:scim:schemas:core:2.0:User\"],\"userName\":\"%s\"}", fresh_name()) };
    enum errc rc = scim_user_create(w, &in, &made, &e);
    if (rc == ERR_OK)
        letter[c - 'A'] = made.id;
    return rc;
}

static enum errc scim_group(struct work *w, const char *role)
{
    struct user_group ret;
    return group_role_set(w, group, str_c(role), -1, &ret, &e);
}

static enum errc provider_group(struct work *w, const char *role)
{
    struct group_role give = { STR("g"), str_c(role) };
    struct identity_provider ret;
    struct provider_change change = { .has_group_roles = true, .group_roles = { &give, 1 } };
    return provider_set(w, provider, &change, -1, &ret, &e);
}

static enum errc subject(struct work *w, char c)
{
    struct issuer_subject is = { .subject = STR("program"), .user_id = of(c) };
    struct str alg = STR("RS256");
    struct issuer made;
    struct issuer_new in = { .name = str_c(fresh_name()), .issuer = STR("https://issuer.example"), .audience =
        str_c(fresh_name()),
                             .jwks_uri = STR("https://issuer.example/keys"), .algorithms = { &alg, 1 }, .subjects = { &is, 1 } };
    return issuer_create(w, &in, &made, &e);
}
