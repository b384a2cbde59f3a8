/* SPDX-License-Identifier: Apache-2.0 */
/* test_second_person.c - ways for one person to be two: none succeeds, and two people who are two succeed.
 *
 * A way is a short program over letters, each an account: A is the attacker, H and K are honest people whom the installation
 * made. Acts go through the functions that the routes call and may be refused; `force` writes a role as an older release would
 * have left it, so that the judge is asked even where the door before it holds. At the end everything is two days old but what
 * the way says is young. */
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

struct way { const char *name, *steps; char asker; const char *approvers; };

static const struct way in_tenant[] = {
    { "invites an officer and accepts it himself", "invite A C compliance-officer", 'A', "C" },
    { "creates a user with the officer's role", "make A C compliance-officer", 'A', "C" },
    { "grants the officer's role to an account of his", "make A C -; grant A C compliance-officer", 'A', "C" },
    { "appoints an account of his and approves it as himself", "make A C -; appoint A C compliance-officer A", 'A', "C" },
    { "appoints an account of his and approves it as that account", "make A C -; appoint A C compliance-officer C", 'A', "C" },
    { "appoints an account of his, approved by an officer he made",
        "make A D -; force D D compliance-officer; make A C -; appoint A C compliance-officer D", 'A', "C" },
    { "appoints through an account of his", "make A D -; force A D tenant-admin; make D C -; appoint D C compliance-officer D",
        'A', "C" },
    { "made the officer's account", "make A C -; force H C compliance-officer", 'A', "C" },
    { "invited the officer's account", "invite A C viewer; unbind C; force H C compliance-officer", 'A', "C" },
    { "gave the officer his role", "root C; force A C compliance-officer", 'A', "C" },
    { "linked the officer to his provider", "root C; link A C; force H C compliance-officer", 'A', "C" },
    { "linked the officer and took the link away", "root C; link A C; unlink C; force H C compliance-officer", 'A', "C" },
    { "made a token for the officer", "root C; token A C; force H C compliance-officer", 'A', "C" },
    { "made a token for the officer and revoked it", "root C; token A C; revoke C; force H C compliance-officer", 'A', "C" },
    { "gave the officer an earlier role", "root C; grant A C viewer; unbind C; force H C compliance-officer", 'A', "C" },
    { "set up the provider at which the officer signs in", "signin A C; force H C compliance-officer", 'A', "C" },
    { "gives the officer's role to a group of his provider", "signin A C; group A compliance-officer; signin A C", 'A', "C" },
    { "gives the officer's role to a provisioned group", "root C; scimgroup A compliance-officer C", 'A', "C" },
    { "provisions the officer by a program of his", "bot A D provisioner; scim D C; force H C compliance-officer", 'A', "C" },
    { "made who made the officer", "make A D -; force H D tenant-admin; make D C -; force H C compliance-officer", 'A', "C" },
    { "made who made who made the officer", "make A D -; force H D tenant-admin; make D E -; force H E tenant-admin; make E C "
        "-; force H C compliance-officer", 'A', "C" },
    { "made who gave the officer his role", "make A D -; force H D tenant-admin; root C; force D C compliance-officer", 'A',
        "C" },
    { "made who made the officer's token", "make A D -; force H D tenant-admin; root C; token D C; force H C compliance-officer",
        'A', "C" },
    { "asks through an account he made beside the officer's",
        "make A D -; force H D tenant-admin; make A C -; force H C compliance-officer", 'D', "C" },
    { "asks through an account he linked, with an officer he made",
        "root D; link A D; force H D tenant-admin; make A C -; force H C compliance-officer", 'D', "C" },
    { "asks through an account he made, as an officer whose token he made",
        "make A D -; force H D tenant-admin; root C; token A C; force H C compliance-officer", 'D', "C" },
    { "as an officer, asks through an account that he made",
        "root C; force H C tenant-admin; make C D -; unbind C; force H C compliance-officer; force H D tenant-admin", 'D', "C" },
    { "as an officer, asks with a token that he made",
        "root C; force H C tenant-admin; root D; force H D tenant-admin; token C D; unbind C; force H C compliance-officer", 'D',
        "C" },
    { "lets a program approve", "bot A C viewer; unbind C; force H C compliance-officer", 'A', "C" },
    { "lets a program that nobody owns approve", "root C; program C; force H C compliance-officer", 'A', "C" },
    { "lets an account approve that nobody knows", "orphan C; force H C compliance-officer", 'A', "C" },
    { "asks as an account that nobody knows", "orphan D; force H D tenant-admin; root C; force H C compliance-officer", 'D',
        "C" },
    { "waits less than a day with a new account", "root C; force H C compliance-officer; young C account", 'A', "C" },
    { "waits less than a day with a new role", "root C; force H C compliance-officer; young C role", 'A', "C" },
    { "waits less than a day with a new link", "root C; ownlink C; force H C compliance-officer; young C link", 'A', "C" },
    { "gives two approvals as two accounts of one person",
        "make A C -; make A D -; force H C compliance-officer; force H D compliance-officer", 'B', "CD" },
    { "gives two approvals, the second by an account of the first",
        "root C; force H C tenant-admin; make C D -; unbind C; force H C compliance-officer; force H D compliance-officer", 'B',
        "CD" },
    { "gives the same approval twice", "root C; force H C compliance-officer", 'B', "CC" },
    { "approves what he asked for", "force H A compliance-officer", 'A', "A" },
    { "links an officer after the appointment", "make A C -; appoint A C compliance-officer H; forcelink A C", 'A', "C" },
    { "makes a token for an officer after the appointment", "make A C -; appoint A C compliance-officer H; forcetoken A C", 'A',
        "C" },
    { "grants a role to an account that is vouched for", "make A C -; appoint A C compliance-officer H; force A C viewer", 'A',
        "C" },
    { "maps a subject of his issuer to an officer program",
        "bot A C viewer; subject A C; unbind C; force H C compliance-officer", 'A', "C" },
    { "with a token of user:manage and role:grant makes himself an officer", "scope A; grant A A compliance-officer", 'B', "A" },
    { "with a token of user:manage and role:grant makes an officer", "scope A; make A C compliance-officer", 'A', "C" },
    { "with a token of user:manage invites an officer", "scope A; invite A C compliance-officer", 'A', "C" },
};
static const struct way at_platform[] = {
    { "makes a second administrator and approves as that one", "make A C platform-admin", 'A', "C" },
    { "grants an account of his the administrator's role", "make A C -; grant A C platform-admin", 'A', "C" },
    { "invites a second administrator and accepts it himself", "invite A C platform-admin", 'A', "C" },
    { "appoints a second administrator and approves it as himself", "make A C -; appoint A C platform-admin A", 'A', "C" },
    { "made the second administrator long ago", "make A C -; force A C platform-admin", 'A', "C" },
    { "makes an operator of the zone", "make A C zone-operator", 'A', "C" },
    { "made the zone's operator long ago", "make A C -; force A C zone-operator", 'A', "C" },
    { "made who made the second administrator", "make A D -; force A D platform-admin; make D C -; force D C platform-admin",
        'A', "C" },
    { "asks through an administrator he made beside another he made",
        "make A C -; force H C platform-admin; make A D -; force H D platform-admin", 'D', "C" },
    { "signs in at a provider of his as an administrator", "signin A C; force H C platform-admin", 'A', "C" },
    { "gives the administrator's role to a group", "signin A C; group A platform-admin; signin A C", 'A', "C" },
};
/* Two people are two: the judge says yes where it should. */
static const struct way honest[] = {
    { "an officer of the installation", "root C; force H C compliance-officer", 'A', "C" },
    { "an officer whom two people appointed", "make A C -; appoint A C compliance-officer H", 'A', "C" },
    { "an officer whom two people appointed after an invitation", "invite A C -; appoint A C compliance-officer H", 'A', "C" },
    { "an officer who was invited as one, once another has approved", "invite A C compliance-officer; approve C H", 'A', "C" },
    { "an officer of the old days who is vouched for",
        "make A C -; force A C compliance-officer; appoint A C compliance-officer H", 'A', "C" },
    { "two officers for what needs two", "make A C -; appoint A C compliance-officer H; make A D -; appoint A D "
        "compliance-officer K", 'B', "CD" },
};

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
