/* SPDX-License-Identifier: Apache-2.0 */
/* signin.c - the parts that login, code, step-up, invitation and device share. */
#include "api/signin.h"
#include "api/api_int.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/db/pool.h"
#include "core/db/tx.h"
#include "core/table/config.h"
#include "core/table/metrics.h"
#include "tenants/access/actor.h"
#include "tenants/access/authz.h"
#include "tenants/identity/local_auth.h"
#include "tenants/identity/login_guard.h"
#include "tenants/identity/password.h"
#include "tenants/access/principal_load.h"
#include "tenants/identity/session_authn.h"

SCHEMA_EXTERN(session_out, "A session, and who is signed in",
    FIELD_ID(session_out, session_id, "ses", 0, .doc = "The session"),
    FIELD_ID(session_out, user_id, "usr", F_ALWAYS, .doc = "Who"),
    FIELD(session_out, name, F_ALWAYS, .doc = "Name"),
    FIELD_ID(session_out, tenant_id, "tnt", F_NULLOUT, .doc = "Tenant; null: the platform"),
    FIELD(session_out, tenant, 0, .doc = "Tenant's name"), FIELD(session_out, stage, F_ALWAYS, .doc = "full, code or enrol"),
    FIELD(session_out, mfa_required, 0, .doc = "The sign-in waits for the code of the second factor (/v1/auth/totp)"),
    FIELD(session_out, mfa_enrol_required, 0, .doc = "A second factor must be set up before anything else (/v1/auth/mfa/totp)"),
    FIELD(session_out, csrf_token, 0, .doc = "For the header X-CSRF-Token of every change"), FIELD_STRS(session_out, roles, 0, .doc = "Roles held"),
    FIELD_STRS(session_out, permissions, 0, .doc = "What they allow now"), FIELD(session_out, expires_at, 0, .doc = "Its end at the latest"),
    FIELD(session_out, idle_seconds, 0, .doc = "It ends after so long without a request"),
    FIELD(session_out, proved_at, 0, .doc = "When the person last proved who it is"),
    FIELD(session_out, mfa_at, 0, .doc = "When it last did so with a second factor"));

static const char *const stage_names[] = { "full", "code", "enrol" };

static enum errc take(struct work *w, struct str key, int64_t per_minute, const char *whose, struct err *e)
{
    struct flight *f = flight_of(w);
    struct rate_rule rule = { (double)per_minute / 60.0, per_minute };
    struct rate_result r;
    if (per_minute <= 0 || !f->pipeline->rate || rate_take(f->pipeline->rate, key, rule, 1, &r))
        return ERR_OK;
    metrics_inc(M_rate_denied_total, "signin");
    call_of(w)->retry_after_s = r.reset_s;
    return FAIL(e, RATE, "Too many tries %s; wait %ld s", whose, (long)r.reset_s);
}

enum errc signin_address(struct work *w, struct err *e)
{
    return take(w, str_fmt(w->arena, "sl:%.*s", STR_ARG(w->source_ip)), w->app->config->auth_attempts_per_minute,
                "from this address", e);
}

enum errc signin_tenant(struct work *w, struct str tenant, struct err *e)
{
    return take(w, str_fmt(w->arena, "lt:%.*s", STR_ARG(tenant)), w->app->config->auth_tenant_attempts_per_minute,
                "to sign in to this tenant", e);
}

enum errc signin_look(struct work *w, struct err *e)
{
    return take(w, str_fmt(w->arena, "sll:%.*s", STR_ARG(w->source_ip)), w->app->config->auth_attempts_per_minute,
                "from this address", e);
}

enum errc signin_begin(struct work *w, struct uuid tenant_id, struct err *e)
{
    w->tenant_id = tenant_id;
    return db_begin(w->app->pool, SCOPE_TENANT(tenant_id), 0, w->arena, &w->tx, e);
}

enum errc signin_commit(struct work *w, struct err *e)
{
    return db_commit(TAKE(w->tx), e);
}

enum errc signin_audit(struct work *w, enum audit_code code, enum errc outcome, struct uuid user_id, const char *why, struct err *e)
{
    const struct principal *p = w->principal;
    struct audit_event ev = p ? flight_audit_event(flight_of(w), code) : audit_event_by(w, NULL, code);
    ev.resource_kind = STR("user");
    ev.resource_prefix = "usr";
    ev.resource_id = p ? p->user_id : user_id;
    ev.error = outcome;
    ev.http_status = err_row(outcome)->http;
    if (why)
        audit_event_detail(&ev, AUDIT_D_STR("why", str_c(why)));
    return audit_append(w, &ev, e);
}

enum errc signin_try(struct work *w, struct uuid tenant_id, struct uuid user_id, const char *kind, struct str a, struct str b, struct err *e)
{
    struct err ours;
    TRY(signin_begin(w, tenant_id, e));
    enum errc rc = guard_try(w, kind, a, b, &call_of(w)->retry_after_s, e);
    if (rc != ERR_RATE) {
        call_of(w)->retry_after_s = 0;
        return rc == ERR_OK ? signin_commit(w, e) : rc;
    }
    metrics_inc(M_rate_denied_total, "account");
    /* The caller is told to wait either way. */
    if (signin_audit(w, AUDIT_LOGIN_FAILED, ERR_RATE, user_id, "locked", &ours) != ERR_OK || signin_commit(w, &ours) != ERR_OK)
        log_err(LOG_ERROR, "signin.not_audited", &ours);
    return rc;
}

enum errc signin_as(struct work *w, struct uuid user_id, struct err *e)
{
    struct principal_row row;
    struct principal *p;
    TRY(principal_find(w->tx, w->tenant_id, user_id, &row, e));
    TRY(principal_check(&row, e));
    TRY(principal_make(&row, AUTH_SESSION, (struct slice){ 0 }, w->arena, &p, e));
    principal_unref(call_of(w)->principal);
    call_of(w)->principal = p;
    w->principal = p;
    return ERR_OK;
}

static struct str cookie_header(struct work *w, const char *cookie)
{
    return str_fmt(w->arena, SESSION_COOKIE "=%s; Path=/; Secure; HttpOnly; SameSite=Lax", cookie);
}

struct str signin_no_cookie(void)
{
    return STR(SESSION_COOKIE "=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0");
}

struct str signin_redirect_uri(struct work *w)
{
    struct str base = str_c(w->app->config->api_public_url);
    while (base.len && base.ptr[base.len - 1] == '/')
        base.len--;
    return base.len ? str_fmt(w->arena, "%.*s/v1/auth/oidc/callback", STR_ARG(base))
                    : str_fmt(w->arena, "http://%.*s/v1/auth/oidc/callback", STR_ARG(http_header_get(call_of(w)->request, "Host")));
}

static void fill(struct work *w, struct str cookie, struct session_out *ret)
{
    const struct principal *p = w->principal;
    struct str *roles = ARENA_ARRAY(w->arena, struct str, ROLE_COUNT), *perms = ARENA_ARRAY(w->arena, struct str, PERM_COUNT);
    char csrf[CSRF_TEXT];
    session_csrf(cookie, csrf);
    *ret = (struct session_out){ .session_id = p->session_id, .user_id = p->user_id, .name = p->name, .tenant_id = p->tenant_id,
        .tenant = p->tenant_name, .stage = str_c(stage_names[p->stage]), .mfa_required = p->stage == STAGE_CODE,
        .mfa_enrol_required = p->stage == STAGE_ENROL, .csrf_token = str_dup(w->arena, str_c(csrf)), .roles = { roles, 0 }, .permissions = { perms, 0 },
        .expires_at = { p->expires_us }, .idle_seconds = w->app->config->auth_session_idle_ms / 1000, .proved_at = { p->login_us },
        .mfa_at = { p->mfa_us } };
    for (int r = 0; r < ROLE_COUNT && p->stage != STAGE_CODE; r++)
        if (p->roles & UINT32_C(1) << r)
            roles[ret->roles.n++] = str_c(role_row((enum role)r)->wire);
    for (int i = PERM_SIGNED_IN + 1; i < PERM_COUNT && p->stage == STAGE_FULL; i++)
        if (p->permissions & PERM_BIT(i))
            perms[ret->permissions.n++] = str_c(perm_row((enum permission)i)->wire);
}

enum errc signin_open(struct work *w, const char *method, enum auth_stage stage, bool has_mfa, int64_t max_ms, struct session_out *ret,
                      struct err *e)
{
    char cookie[COOKIE_TEXT];
    struct principal *p = call_of(w)->principal;        /* made by signin_as in this call: nobody else sees it yet */
    struct session_new in = { p->user_id, method, stage, has_mfa, http_header_get(call_of(w)->request, "User-Agent"), max_ms };
    TRY(session_open(w, &in, cookie, &p->session_id, e));
    p->stage = stage;
    p->login_us = w->now_us;
    p->mfa_us = has_mfa ? w->now_us : 0;
    p->is_break_glass = !strcmp(method, "break-glass");
    p->expires_us = w->now_us + (max_ms ? max_ms : w->app->config->auth_session_max_ms) * 1000;
    call_of(w)->set_cookie = cookie_header(w, cookie);
    fill(w, str_n(cookie, COOKIE_LEN), ret);
    return ERR_OK;
}

enum errc signin_prove(struct work *w, enum auth_stage stage, bool with_mfa, struct session_out *ret, struct err *e)
{
    char cookie[COOKIE_TEXT];
    const struct principal was = *w->principal;
    TRY(session_prove(w, was.session_id, stage, with_mfa, cookie, e));
    TRY(signin_as(w, was.user_id, e));
    struct principal *p = call_of(w)->principal;
    p->session_id = was.session_id;
    p->is_break_glass = was.is_break_glass;
    p->stage = stage;
    p->login_us = w->now_us;
    p->mfa_us = with_mfa ? w->now_us : was.mfa_us;
    p->expires_us = was.expires_us;
    call_of(w)->set_cookie = cookie_header(w, cookie);
    fill(w, str_n(cookie, COOKIE_LEN), ret);
    return ERR_OK;
}

enum errc signin_show(struct work *w, struct session_out *ret, struct err *e)
{
    if (!call_of(w)->session_cookie.ptr)
        return FAIL(e, INVALID, "This call needs a session; it was made with an access token");
    fill(w, call_of(w)->session_cookie, ret);
    return ERR_OK;
}

void signin_forget(struct work *w, struct uuid session_id)
{
    struct session_authn *sessions = flight_of(w)->pipeline->sessions;
    if (uuid_is_nil(session_id))
        session_forget_user(sessions, w->principal->tenant_id, w->principal->user_id);
    else
        session_forget(sessions, session_id);
}

enum errc signin_password_is(struct work *w, struct uuid tenant_id, struct uuid user_id, struct str password, bool *ret, bool *ret_found, struct err *e)
{
    struct login_account account;
    CLEANUP(secret32_wipe) struct secret32 pepper;
    TRY(signin_begin(w, tenant_id, e));
    TRY(password_get(w, user_id, &account, ret_found, e));
    TRY(local_auth_pepper(w, *ret_found ? account.zone : local_auth_zone(w->app->auth), &pepper, e));
    struct str phc = *ret_found ? account.phc : STR_NULL;
    TRY(signin_commit(w, e));
    return local_auth_check(w->app, &pepper, phc, password, ret, e);
}

enum errc signin_hash(struct work *w, struct uuid tenant_id, struct str password, char phc[ARGON_PHC], struct str *ret_zone, struct err *e)
{
    CLEANUP(secret32_wipe) struct secret32 pepper;
    *ret_zone = w->app->auth ? local_auth_zone(w->app->auth) : STR("");
    TRY(signin_begin(w, tenant_id, e));
    TRY(local_auth_pepper(w, *ret_zone, &pepper, e));
    TRY(signin_commit(w, e));
    return local_auth_hash(w->app, &pepper, password, phc, e);
}
