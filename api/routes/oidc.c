/* SPDX-License-Identifier: Apache-2.0 */
/* oidc.c - routes of a browser's sign-in at an OpenID provider. Start and callback answer with a redirect; what went wrong lands on /login?error=CODE,
 * where CODE says what a person can do about it and nothing else: the cause is in the log and in the audit event. */
#include "api/signin.h"
#include "core/base/log.h"
#include "core/db/tx.h"
#include "core/http/cookie.h"
#include "core/table/metrics.h"
#include "tenants/identity/oidc.h"
#include "tenants/identity/totp.h"

struct start_in { struct str tenant, provider, return_to; };
SCHEMA_OF(start_in, "Where to sign in", FIELD(start_in, tenant, F_QUERY | F_REQ, .min = 1, .max = 63, .doc = "Name of the tenant; platform: its staff"),
    FIELD(start_in, provider, F_QUERY | F_REQ, .min = 1, .max = 63, .doc = "Name of the provider"),
    FIELD(start_in, return_to, F_QUERY, .min = 1, .max = RETURN_TO_MAX, .dflt = "/", .doc = "Path of this host to go to afterwards"));
struct callback_in { struct str code, state, iss, error; };
SCHEMA_OF(callback_in, "What the provider sends the browser back with", FIELD(callback_in, code, F_QUERY, .max = 2048, .doc = "The authorization code"),
    FIELD(callback_in, state, F_QUERY, .max = 255, .doc = "The state of the login"), FIELD(callback_in, iss, F_QUERY, .max = 512, .doc = "Who answers (RFC 9207)"),
    FIELD(callback_in, error, F_QUERY, .max = 255, .doc = "Why there is no code"));

struct providers_in { struct str tenant; };
SCHEMA_OF(providers_in, "Whose providers", FIELD(providers_in, tenant, F_QUERY | F_REQ, .min = 1, .max = 63, .doc = "Name of the tenant; platform: its staff"));
struct provider_link { struct uuid provider_id; struct str name, start; };
SCHEMA_OF(provider_link, "A way to sign in", FIELD_ID(provider_link, provider_id, "idp", F_ALWAYS, .doc = "The provider"),
    FIELD(provider_link, name, F_ALWAYS, .doc = "Its name"),
    FIELD(provider_link, start, F_ALWAYS, .doc = "Where to send the browser; return_to may be added", .max = 512));

static enum errc providers(struct work *w, const void *vin, void *out, struct err *e)
{
    const struct providers_in *in = vin;
    struct page_out *ret = out;
    struct slice rows = { 0 };
    TRY(signin_look(w, e));
    TRY(signin_begin(w, UUID_NIL, e));
    TRY(provider_names(w, in->tenant, &rows, e));
    TRY(signin_commit(w, e));
    const struct provider_name *names = rows.items;
    struct provider_link *items = ARENA_ARRAY(w->arena, struct provider_link, rows.n + 1);
    for (size_t i = 0; i < rows.n; i++)
        items[i] = (struct provider_link){ names[i].provider_id, names[i].name,
                                           str_fmt(w->arena, "/v1/auth/oidc/start?tenant=%.*s&provider=%.*s", STR_ARG(in->tenant), STR_ARG(names[i].name)) };
    ret->items = (struct slice){ items, rows.n };
    return ERR_OK;
}

static enum errc go(struct work *w, struct str where)
{
    call_of(w)->status = 302;
    call_of(w)->location = where;
    return ERR_OK;
}

static enum errc land(struct work *w, const char *code)
{
    call_of(w)->set_cookie = STR_NULL;
    call_of(w)->set_cookie_too = STR(LOGIN_COOKIE "=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0");
    metrics_inc(M_authn_total, "oidc", code);
    return go(w, str_fmt(w->arena, "/login?error=%s", code));
}

/* What a person is told. */
static const char *code_of(const struct err *e)
{
    switch (e->code) {
    case ERR_UNAUTHENTICATED:
        return !strcmp(e->detail, "unknown_user") ? "unknown_user" : !strcmp(e->detail, "name_taken") ? "name_taken" : "refused";
    case ERR_TENANT_SUSPENDED:
        return "suspended";
    case ERR_RATE:
        return "rate";
    default:
        return "provider";
    }
}

/* Refused after all: an event in the log of the tenant whose login it was, else in the platform's. */
static enum errc fail(struct work *w, struct uuid tenant_id, const char *code, const struct err *why)
{
    struct err ours;
    db_rollback(w->tx);
    w->tx = NULL;
    principal_unref(call_of(w)->principal);
    call_of(w)->principal = NULL;
    w->principal = NULL;
    if (why)
        log_err(LOG_INFO, "oidc.refused", why);
    if (signin_begin(w, tenant_id, &ours) != ERR_OK || signin_audit(w, AUDIT_LOGIN_FAILED, ERR_UNAUTHENTICATED, UUID_NIL, code, &ours) != ERR_OK
        || signin_commit(w, &ours) != ERR_OK) {
        log_err(LOG_ERROR, "oidc.not_audited", &ours);
        db_rollback(w->tx);
        w->tx = NULL;
    }
    return land(w, code);
}

static enum errc begin(struct work *w, const struct start_in *in, struct provider_place *place, bool *ret_found, struct str *ret_url, struct err *e)
{
    struct identity_provider p;
    struct oidc_metadata m;
    TRY(signin_begin(w, UUID_NIL, e));
    TRY(provider_find(w, in->tenant, in->provider, place, ret_found, e));
    TRY(signin_commit(w, e));
    if (!*ret_found)
        return ERR_OK;
    TRY(signin_begin(w, place->tenant_id, e));
    TRY(provider_get(w, place->provider_id, &p, e));
    TRY(signin_commit(w, e));
    TRY(oidc_discover(w, &p, &m, e));
    struct oidc_login login = { .tenant_id = place->tenant_id, .provider_id = p.provider_id, .return_to = in->return_to,
                                .redirect_uri = signin_redirect_uri(w) };
    TRY(oidc_begin(w, &p, &m, &login, ret_url, e));
    TRY(signin_begin(w, UUID_NIL, e));
    TRY(oidc_store(w, &login, e));
    TRY(signin_commit(w, e));
    call_of(w)->set_cookie = str_fmt(w->arena, LOGIN_COOKIE "=%.*s; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=%d", STR_ARG(login.cookie),
                                     LOGIN_MINUTES * 60);
    return ERR_OK;
}

static enum errc start(struct work *w, const void *vin, void *out, struct err *e)
{
    const struct start_in *in = vin;
    struct provider_place place = { 0 };
    bool found = false;
    struct str url;
    struct err why;
    (void)out;
    if (!oidc_is_local_path(in->return_to))
        return FAIL_AT(e, INVALID, "/return_to", "must be a path of this host");
    if (signin_address(w, &why) != ERR_OK || signin_tenant(w, in->tenant, &why) != ERR_OK)
        return land(w, "rate");
    enum errc rc = begin(w, in, &place, &found, &url, &why);
    if (rc != ERR_OK)
        return fail(w, place.tenant_id, code_of(&why), &why);
    return found ? go(w, url) : fail(w, UUID_NIL, "unknown_provider", NULL);
}

static struct str login_cookie(struct work *w)
{
    struct str value = STR_NULL;
    const struct http_request *r = call_of(w)->request;
    struct str header = http_header_get(r, "Cookie");
    return header.ptr && cookie_get(header, LOGIN_COOKIE, LOGIN_SECRET_LEN, &value) == COOKIE_ONE ? value : STR_NULL;
}

static enum errc exchange(struct work *w, const struct callback_in *in, const struct oidc_login *login, struct identity_provider *p,
                          struct oidc_person *who, struct err *e)
{
    struct oidc_metadata m;
    struct str secret;
    TRY(signin_begin(w, login->tenant_id, e));
    TRY(provider_get(w, login->provider_id, p, e));
    TRY(provider_secret(w, login->provider_id, &secret, e));
    TRY(signin_commit(w, e));
    if (!str_eq_c(p->state, "ACTIVE"))
        return FAIL(e, UNAUTHENTICATED, "The identity provider is disabled");
    TRY(oidc_discover(w, p, &m, e));
    if (in->iss.ptr ? !str_eq(in->iss, p->issuer) : m.says_iss)
        return FAIL(e, UNAUTHENTICATED,
                    "The answer came from another identity provider than the one the sign-in began with; start again");
    return oidc_finish(w, p, &m, login, in->code, secret, who, e);
}

static enum errc open_session(struct work *w, const struct identity_provider *p, const struct oidc_person *who, struct err *e)
{
    struct uuid user_id;
    struct session_out shown;
    bool has_totp;
    TRY(oidc_user(w, p, who, &user_id, e));
    TRY(signin_as(w, user_id, e));
    TRY(totp_is_set(w, user_id, &has_totp, e));
    bool lacks = !who->has_mfa && session_needs_mfa(w->app->config, w->principal);
    TRY(signin_open(w, "oidc", !lacks ? STAGE_FULL : has_totp ? STAGE_CODE : STAGE_ENROL, who->has_mfa, 0, &shown, e));
    return signin_audit(w, AUDIT_LOGIN, ERR_OK, user_id, who->has_mfa ? "oidc_mfa" : "oidc", e);
}

static enum errc callback(struct work *w, const void *vin, void *out, struct err *e)
{
    const struct callback_in *in = vin;
    struct oidc_login login = { 0 };
    struct identity_provider p;
    struct oidc_person *who = ARENA_NEW(w->arena, struct oidc_person);
    struct str cookie = login_cookie(w);
    struct err why;
    bool found;
    (void)out;
    if (signin_address(w, &why) != ERR_OK)
        return land(w, "rate");
    if (!cookie.ptr || in->state.len != LOGIN_SECRET_LEN)
        return fail(w, UUID_NIL, cookie.ptr ? "state" : "cookie", NULL);
    TRY(signin_begin(w, UUID_NIL, e));
    TRY(oidc_take(w, in->state, cookie, &login, &found, e));
    TRY(signin_commit(w, e));
    if (!found)
        return fail(w, UUID_NIL, "state", NULL);
    if (in->error.ptr || !in->code.ptr)
        return fail(w, login.tenant_id, "denied", NULL);
    if (exchange(w, in, &login, &p, who, &why) != ERR_OK)
        return fail(w, login.tenant_id, code_of(&why), &why);
    enum errc rc = signin_begin(w, login.tenant_id, &why);
    if (rc == ERR_OK)
        rc = open_session(w, &p, who, &why);
    if (rc == ERR_OK)
        rc = signin_commit(w, &why);
    if (rc != ERR_OK)
        return fail(w, login.tenant_id, code_of(&why), &why);
    call_of(w)->set_cookie_too = STR(LOGIN_COOKIE "=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0");
    metrics_inc(M_authn_total, "oidc", "ok");
    return go(w, login.return_to);
}

/* Names of tenants and providers are slugs, so the address needs no escaping where there is anything to show. */
static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v1/auth/providers", .lane = LANE_SIGN_IN,
      .op = "auth_providers", .perm = PERM_PUBLIC, .handler = providers, .in = &providers_in_schema,
      .status = 200, .out = &provider_link_schema, .flags = R_NO_TX | R_LIST, .rate = RL_WRITE, .resource = "provider",
      .doc = "OpenID providers at which people of a tenant may sign in; none too where there is no such tenant" },
    { .method = HTTP_GET, .path = "/v1/auth/oidc/start", .lane = LANE_SIGN_IN,
      .op = "oidc_start", .perm = PERM_PUBLIC, .handler = start, .in = &start_in_schema, .status = 302,
      .flags = R_NO_TX | R_SECRET, .rate = RL_WRITE, .resource = "session", .doc = "Send a browser to sign in at a provider; sets a cookie for the login" },
    { .method = HTTP_GET, .path = "/v1/auth/oidc/callback", .lane = LANE_SIGN_IN,
      .op = "oidc_callback", .perm = PERM_PUBLIC, .handler = callback, .in = &callback_in_schema,
      .status = 302, .flags = R_NO_TX | R_SECRET | R_QUERY_EXTRA, .rate = RL_WRITE, .resource = "session", .audited = true, .audit = AUDIT_LOGIN,
      .doc = "Where the provider sends the browser back: opens a session" },
};
extern const struct route_table oidc_routes;
ROUTE_TABLE(oidc_routes, rows);
