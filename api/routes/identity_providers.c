/* SPDX-License-Identifier: Apache-2.0 */
/* identity_providers.c - routes of the providers at which people of a tenant sign in. */
#include "api/signin.h"
#include "api/api_int.h"
#include "audit/event.h"
#include "core/db/tx.h"
#include "tenants/identity/identity_provider.h"
#include "tenants/identity/oidc.h"
#include "tenants/identity/outside.h"

static const char *const state_names[] = { "ACTIVE", "DISABLED", NULL };

struct provider_in {
    struct str name, issuer, client_id, client_secret, name_claim, groups_claim;
    struct slice scopes, mfa_values, group_roles;
    bool create_users;
};
SCHEMA_OF(provider_in, "A provider to set up",
    FIELD(provider_in, name, F_REQ, .min = 1, .max = 63, .check = check_slug, .doc = "Name, unique in the tenant; stands in the sign-in link", .example = "staff"),
    FIELD(provider_in, issuer, F_REQ, .min = 8, .max = OUTSIDE_URL_MAX, .doc = "Its issuer; /.well-known/openid-configuration is below it",
        .example = "https://login.example"),
    FIELD(provider_in, client_id, F_REQ, .min = 1, .max = 255, .check = check_name, .doc = "What Falaj is called there"),
    FIELD(provider_in, client_secret, F_SECRET, .min = 1, .max = CLIENT_SECRET_MAX, .check = check_name, .doc = "The client's secret; absent: a public client. Never shown again"),
    FIELD(provider_in, name_claim, 0, .min = 1, .max = 63, .check = check_name, .dflt = "preferred_username", .doc = "The claim that new users are named by"),
    FIELD(provider_in, groups_claim, 0, .min = 1, .max = 63, .check = check_name, .dflt = "groups", .doc = "The claim with the groups"),
    FIELD_STRS(provider_in, scopes, 0, .max = 16, .dflt = "openid,profile,email", .doc = "Scopes to ask for; openid must be among them"),
    FIELD_STRS(provider_in, mfa_values, 0, .max = 16, .dflt = "mfa,otp,hwk", .doc = "Values of amr or acr that stand for a second factor"),
    FIELD_LIST(provider_in, group_roles, &group_role_schema, 0, .max = 64, .doc = "Roles that groups give; taken back when the group is gone"),
    FIELD(provider_in, create_users, 0, .dflt = "false", .doc = "Who signs in for the first time becomes a user"));
struct provider_ref { struct uuid provider_id; };
SCHEMA_OF(provider_ref, "Which provider", FIELD_ID(provider_ref, provider_id, "idp", F_PATH, .doc = "The provider"));
struct provider_page { PAGE_IN; };
SCHEMA_OF(provider_page, "Which providers", PAGE_IN_FIELDS(provider_page));
struct provider_patch {
    struct uuid provider_id;
    struct str client_id, client_secret;
    struct slice group_roles;
    bool has_create_users, create_users, keep_group_roles, has_state;
    int state;
};
SCHEMA_OF(provider_patch, "A change of a provider; what is absent stays", FIELD_ID(provider_patch, provider_id, "idp", F_PATH, .doc = "The provider"),
    FIELD(provider_patch, client_id, 0, .min = 1, .max = 255, .check = check_name, .doc = "What Falaj is called there"),
    FIELD(provider_patch, client_secret, F_SECRET, .min = 1, .max = CLIENT_SECRET_MAX, .check = check_name, .doc = "A new secret"),
    FIELD_LIST(provider_patch, group_roles, &group_role_schema, 0, .max = 64, .doc = "All roles that groups give from now on"),
    FIELD(provider_patch, keep_group_roles, 0, .dflt = "true", .doc = "false: group_roles replaces them, even when empty"),
    FIELD_OPT(provider_patch, create_users, 0, .doc = "Who signs in for the first time becomes a user"),
    FIELD_ENUM_OPT(provider_patch, state, 0, state_names, .doc = "DISABLED: nobody signs in there"));
SCHEMA_OF(oidc_link, "A person at the provider, and who that is here", FIELD_ID(oidc_link, provider_id, "idp", F_PATH, .doc = "The provider"),
    FIELD(oidc_link, subject, F_REQ, .min = 1, .max = 255, .check = check_name, .doc = "The claim sub of the person, exactly"),
    FIELD_ID(oidc_link, user_id, "usr", F_REQ, .doc = "The person here"));
struct provider_test { bool ok; struct str issuer, authorization_endpoint, token_endpoint, redirect_uri, problem; int64_t keys; };
SCHEMA_OF(provider_test, "What a provider says of itself now", FIELD(provider_test, ok, 0, .doc = "People could sign in there"),
    FIELD(provider_test, issuer, 0, .doc = "Its issuer"), FIELD(provider_test, authorization_endpoint, 0, .doc = "Where people are sent"),
    FIELD(provider_test, token_endpoint, 0, .doc = "Where codes are exchanged"), FIELD(provider_test, keys, 0, .doc = "Usable keys"),
    FIELD(provider_test, redirect_uri, 0, .doc = "What must be registered there for Falaj"), FIELD(provider_test, problem, 0, .doc = "What is wrong"));

static enum errc create(struct work *w, const void *in, void *out, struct err *e)
{
    const struct provider_in *i = in;
    struct provider_new made = { i->name, i->issuer, i->client_id, i->client_secret, i->name_claim, i->groups_claim, i->scopes, i->mfa_values,
                                 i->group_roles, i->create_users };
    return provider_create(w, &made, out, e);
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct provider_page *page = in;
    return PAGE_BY_ID(w, page, out, identity_provider, provider_id, provider_list(w, after, limit, rows, e), e);
}

static enum errc read_one(struct work *w, const void *in, void *out, struct err *e)
{
    return provider_get(w, ((const struct provider_ref *)in)->provider_id, out, e);
}

static enum errc change(struct work *w, const void *in, void *out, struct err *e)
{
    const struct provider_patch *p = in;
    struct provider_change c = { p->client_id, p->client_secret, p->group_roles.n || !p->keep_group_roles, p->has_create_users, p->create_users,
                                 p->group_roles, p->has_state ? state_names[p->state] : NULL };
    TRY(provider_set(w, p->provider_id, &c, call_of(w)->if_match, out, e));
    return ERR_OK;
}

static enum errc removal(struct work *w, const void *in, void *out, struct err *e)
{
    (void)out;
    return provider_delete(w, ((const struct provider_ref *)in)->provider_id, e);
}

static enum errc link_user(struct work *w, const void *in, void *out, struct err *e)
{
    (void)out;
    return oidc_link(w, in, e);
}

static enum errc look(struct work *w, const struct identity_provider *p, struct provider_test *ret, struct err *e)
{
    struct oidc_metadata m;
    struct jws_key *keys;
    size_t n;
    outside_forget(w->app, p->provider_id);
    TRY(oidc_discover(w, p, &m, e));
    ret->authorization_endpoint = m.authorization_endpoint;
    ret->token_endpoint = m.token_endpoint;
    TRY(outside_keys(w->app, w->arena, (struct outside_owner){ p->provider_id, w->tenant_id }, m.jwks_uri, 1u << JWS_RS256 | 1u << JWS_ES256, STR_NULL, &keys, &n, e));
    ret->keys = (int64_t)n;
    return ERR_OK;
}

static enum errc try_out(struct work *w, const void *in, void *out, struct err *e)
{
    struct provider_test *ret = out;
    struct identity_provider p;
    struct err why = { 0 };
    TRY(signin_begin(w, w->tenant_id, e));
    TRY(provider_get(w, ((const struct provider_ref *)in)->provider_id, &p, e));
    TRY(signin_commit(w, e));
    ret->issuer = p.issuer;
    ret->redirect_uri = signin_redirect_uri(w);
    ret->ok = look(w, &p, ret, &why) == ERR_OK;
    if (!ret->ok)
        ret->problem = str_dup(w->arena, str_c(why.msg));
    struct audit_event ev = flight_audit_event(flight_of(w), AUDIT_IDENTITY_SET);
    TRY(signin_begin(w, w->tenant_id, e));
    audit_event_detail(&ev, AUDIT_D_STR("test", ret->ok ? STR("good") : STR("bad")));
    TRY(audit_append(w, &ev, e));
    return signin_commit(w, e);
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/identity-providers", .lane = LANE_CALLS,
      .op = "identity_provider_create", .perm = PERM_IDENTITY_MANAGE, .handler = create,
      .in = &provider_in_schema, .status = 201, .out = &identity_provider_schema, .flags = R_IDEMPOTENT | R_STEP_UP, .rate = RL_WRITE,
      .resource = "provider", .audited = true, .audit = AUDIT_IDENTITY_SET, .doc = "Let people sign in at an OpenID provider" },
    { .method = HTTP_GET, .path = "/v1/identity-providers", .lane = LANE_CALLS,
      .op = "identity_provider_list", .perm = PERM_IDENTITY_MANAGE, .handler = list,
      .in = &provider_page_schema, .status = 200, .out = &identity_provider_schema, .flags = R_LIST, .doc = "List OpenID providers" },
    { .method = HTTP_GET, .path = "/v1/identity-providers/{provider_id}", .lane = LANE_CALLS,
      .op = "identity_provider_get", .perm = PERM_IDENTITY_MANAGE,
      .handler = read_one, .in = &provider_ref_schema, .status = 200, .out = &identity_provider_schema, .resource = "provider",
      .doc = "Read one OpenID provider" },
    { .method = HTTP_PATCH, .path = "/v1/identity-providers/{provider_id}", .lane = LANE_CALLS,
      .op = "identity_provider_change", .perm = PERM_IDENTITY_MANAGE,
      .handler = change, .in = &provider_patch_schema, .status = 200, .out = &identity_provider_schema, .flags = R_IF_MATCH | R_STEP_UP,
      .rate = RL_WRITE, .resource = "provider", .audited = true, .audit = AUDIT_IDENTITY_SET, .doc = "Change an OpenID provider" },
    { .method = HTTP_DELETE, .path = "/v1/identity-providers/{provider_id}", .lane = LANE_CALLS,
      .op = "identity_provider_delete", .perm = PERM_IDENTITY_MANAGE,
      .handler = removal, .in = &provider_ref_schema, .status = 204, .flags = R_STEP_UP, .rate = RL_WRITE, .resource = "provider", .audited = true,
      .audit = AUDIT_IDENTITY_SET, .doc = "Remove an OpenID provider; the users it made stay" },
    { .method = HTTP_POST, .path = "/v1/identity-providers/{provider_id}/links", .lane = LANE_CALLS,
      .op = "identity_provider_link", .perm = PERM_IDENTITY_MANAGE,
      .handler = link_user, .in = &oidc_link_schema, .status = 204, .flags = R_STEP_UP, .rate = RL_WRITE, .resource = "provider", .audited = true,
      .audit = AUDIT_IDENTITY_SET, .doc = "Say who a person of the provider is here" },
    { .method = HTTP_POST, .path = "/v1/identity-providers/{provider_id}/test", .lane = LANE_SIGN_IN,
      .op = "identity_provider_test", .perm = PERM_IDENTITY_MANAGE,
      .handler = try_out, .in = &provider_ref_schema, .status = 200, .out = &provider_test_schema, .flags = R_NO_TX | R_STEP_UP, .rate = RL_WRITE,
      .resource = "provider", .audited = true, .audit = AUDIT_IDENTITY_SET, .doc = "Ask a provider for its metadata and keys, as a login would" },
};
extern const struct route_table identity_provider_routes;
ROUTE_TABLE(identity_provider_routes, rows);
