/* SPDX-License-Identifier: Apache-2.0 */
/* auth.c - routes of a sign-in on a browser: login, code, step-up, logout, password. */
#include "api/signin.h"
#include "core/base/cleanup.h"
#include "core/db/tx.h"
#include "core/table/metrics.h"
#include "tenants/identity/local_auth.h"
#include "tenants/identity/login_guard.h"
#include "tenants/identity/password.h"
#include "tenants/identity/totp.h"

#define PASSWORD_FIELD(T, m, fl, ...) FIELD(T, m, (fl) | F_SECRET, .min = 1, .max = PASSWORD_MAX, __VA_ARGS__)

struct login_in { struct str tenant, name, password, totp; };
SCHEMA_OF(login_in, "A login", FIELD(login_in, tenant, F_REQ, .min = 1, .max = 63, .doc = "Name of the tenant; platform: its staff"),
    FIELD(login_in, name, F_REQ, .min = 1, .max = 128, .doc = "Name of the person"),
    PASSWORD_FIELD(login_in, password, F_REQ, .doc = "Password"),
    FIELD(login_in, totp, F_SECRET, .min = 6, .max = 32, .doc = "Code of the second factor, or a recovery code; may follow at /v1/auth/totp"));
struct code_in { struct str code; };
SCHEMA_OF(code_in, "A code", FIELD(code_in, code, F_REQ | F_SECRET, .min = 6, .max = 32, .doc = "Code of the authenticator app, or a recovery code"));
struct step_up_in { struct str password, code; };
SCHEMA_OF(step_up_in, "A fresh proof: the code where a second factor is set up, else the password",
    PASSWORD_FIELD(step_up_in, password, 0, .doc = "Password"), FIELD(step_up_in, code, F_SECRET, .min = 6, .max = 32, .doc = "Code"));
struct password_in { struct str old, new; };
SCHEMA_OF(password_in, "A new password", PASSWORD_FIELD(password_in, old, F_REQ, .doc = "The present one"),
    PASSWORD_FIELD(password_in, new, F_REQ, .doc = "12 to 1024 bytes, and not one of the commonest"));

static enum errc wrong_login(struct err *e)
{
    return FAIL(e, UNAUTHENTICATED, "The tenant, the name or the password is wrong");
}

/* One event for what failed, in the tenant's log where the account is known, else in the platform's. */
static enum errc note_failure(struct work *w, struct uuid tenant_id, struct uuid user_id, const char *why, struct err *e)
{
    struct err ours;
    metrics_inc(M_authn_total, "password", why);
    if (!w->tx)
        TRY(signin_begin(w, tenant_id, &ours));
    TRY(signin_audit(w, AUDIT_LOGIN_FAILED, ERR_UNAUTHENTICATED, user_id, why, &ours));
    (void)e;
    return signin_commit(w, &ours);
}

static enum errc refuse(struct work *w, const struct login_account *a, const char *why, struct err *e)
{
    if (note_failure(w, a->tenant_id, a->user_id, why, e) != ERR_OK)
        return FAIL(e, UNAVAILABLE, "The sign-in cannot be recorded now; try again");
    return wrong_login(e);
}

/* The account and its pepper, and the try counted, in one transaction; then the judging. */
static enum errc judge(struct work *w, const struct login_in *in, struct login_account *ret, bool *ret_right, struct err *e)
{
    bool found;
    CLEANUP(secret32_wipe) struct secret32 pepper;
    TRY(signin_begin(w, UUID_NIL, e));
    TRY(login_find(w, in->tenant, in->name, ret, &found, e));
    TRY(local_auth_pepper(w, found ? ret->zone : local_auth_zone(w->app->auth), &pepper, e));
    TRY(signin_commit(w, e));
    TRY(signin_try(w, ret->tenant_id, ret->user_id, "login", in->tenant, in->name, e));
    return local_auth_check(w->app, &pepper, found ? ret->phc : STR_NULL, in->password, ret_right, e);
}

static enum errc rehash(struct work *w, const struct login_account *a, struct str password, struct err *e)
{
    char phc[ARGON_PHC];
    struct str zone;
    TRY(signin_hash(w, a->tenant_id, password, phc, &zone, e));
    TRY(signin_begin(w, a->tenant_id, e));
    TRY(password_put(w, a->user_id, str_c(phc), zone, e));
    return signin_commit(w, e);
}

static enum errc login(struct work *w, const void *vin, void *out, struct err *e)
{
    const struct login_in *in = vin;
    struct login_account a = { 0 };
    bool is_right, has_mfa = false;
    TRY(signin_address(w, e));
    TRY(signin_tenant(w, in->tenant, e));
    TRY(judge(w, in, &a, &is_right, e));
    if (!is_right)
        return refuse(w, &a, "password", e);
    if (!str_eq_c(a.user_state, "ACTIVE"))
        return refuse(w, &a, "disabled", e);
    if (local_auth_is_other_cost(w->app, a.phc))
        TRY(rehash(w, &a, in->password, e));
    if (a.has_totp && in->totp.ptr)
        TRY(signin_try(w, a.tenant_id, a.user_id, "totp", str_n((char *)a.tenant_id.b, 16), str_n((char *)a.user_id.b, 16), e));
    TRY(signin_begin(w, a.tenant_id, e));
    if (a.has_totp && in->totp.ptr) {
        TRY(totp_prove(w, a.user_id, in->totp, &has_mfa, e));
        if (!has_mfa)
            return refuse(w, &a, "code", e);
        guard_clear(w, "totp", str_n((char *)a.tenant_id.b, 16), str_n((char *)a.user_id.b, 16));
    }
    TRY(signin_as(w, a.user_id, e));
    guard_clear(w, "login", in->tenant, in->name);
    enum auth_stage stage = a.has_totp && !has_mfa ? STAGE_CODE : !a.has_totp && session_needs_mfa(w->app->config, w->principal) ? STAGE_ENROL : STAGE_FULL;
    TRY(signin_open(w, "password", stage, has_mfa, 0, out, e));
    TRY(signin_audit(w, AUDIT_LOGIN, ERR_OK, a.user_id, stage == STAGE_CODE ? "password" : has_mfa ? "password_and_code" : "password_only", e));
    metrics_inc(M_authn_total, "password", "ok");
    return signin_commit(w, e);
}

static enum errc need_session(struct work *w, struct err *e)
{
    return w->principal->method == AUTH_SESSION ? ERR_OK : FAIL(e, INVALID,
                                                                "This call needs a session; it was made with an access token");
}

static enum errc wrong_proof(struct work *w, struct uuid session_id, const char *why, struct err *e)
{
    struct err ours;
    (void)session_id;
    metrics_inc(M_authn_total, "step-up", why);
    if (!w->tx && signin_begin(w, w->principal->tenant_id, &ours) != ERR_OK)
        return FAIL(e, UNAVAILABLE, "The proof cannot be recorded now; try again");
    if (signin_audit(w, AUDIT_LOGIN_FAILED, ERR_MFA_REQUIRED, w->principal->user_id, why, &ours) != ERR_OK || signin_commit(w, &ours) != ERR_OK)
        return FAIL(e, UNAVAILABLE, "The proof cannot be recorded now; try again");
    return FAIL(e, MFA_REQUIRED, "%s", !strcmp(why, "code") ? "The code is wrong, or was used already" : "The password is wrong");
}

/* A code finishes a login or steps up; either way the session gets a new cookie. */
static enum errc prove_code(struct work *w, struct str code, struct session_out *out, struct err *e)
{
    const struct principal *p = w->principal;
    struct uuid tenant = p->tenant_id, user = p->user_id, session = p->session_id;
    struct str tenant_key = str_n((char *)tenant.b, 16), user_key = str_n((char *)user.b, 16);
    bool is_right;
    TRY(signin_try(w, tenant, user, "totp", tenant_key, user_key, e));
    TRY(signin_begin(w, tenant, e));
    TRY(totp_prove(w, user, code, &is_right, e));
    if (!is_right)
        return wrong_proof(w, session, "code", e);
    guard_clear(w, "totp", tenant_key, user_key);
    TRY(signin_prove(w, STAGE_FULL, true, out, e));
    TRY(signin_audit(w, AUDIT_STEP_UP, ERR_OK, user, "code", e));
    TRY(signin_commit(w, e));
    signin_forget(w, session);
    metrics_inc(M_authn_total, "step-up", "ok");
    return ERR_OK;
}

static enum errc totp(struct work *w, const void *in, void *out, struct err *e)
{
    TRY(need_session(w, e));
    TRY(signin_address(w, e));
    return prove_code(w, ((const struct code_in *)in)->code, out, e);
}

static enum errc step_up(struct work *w, const void *vin, void *out, struct err *e)
{
    const struct step_up_in *in = vin;
    bool has_totp, is_right, found;
    TRY(need_session(w, e));
    TRY(signin_address(w, e));
    struct uuid tenant = w->principal->tenant_id, user = w->principal->user_id, session = w->principal->session_id;
    struct str tenant_name = w->principal->tenant_name, name = w->principal->name;
    TRY(signin_begin(w, tenant, e));
    TRY(totp_is_set(w, user, &has_totp, e));
    TRY(signin_commit(w, e));
    if (in->code.ptr)
        return prove_code(w, in->code, out, e);
    if (has_totp || !in->password.ptr)
        return FAIL_AT(e, MISSING_FIELD, has_totp ? "/code" : "/password", has_totp ? "Send the code of the second factor" : "Send the password");
    TRY(signin_try(w, tenant, user, "login", tenant_name, name, e));
    TRY(signin_password_is(w, tenant, user, in->password, &is_right, &found, e));
    if (!is_right)
        return wrong_proof(w, session, "password", e);
    TRY(signin_begin(w, tenant, e));
    guard_clear(w, "login", tenant_name, name);
    TRY(signin_prove(w, STAGE_FULL, false, out, e));
    TRY(signin_audit(w, AUDIT_STEP_UP, ERR_OK, user, "password", e));
    TRY(signin_commit(w, e));
    signin_forget(w, session);
    return ERR_OK;
}

static enum errc logout(struct work *w, const void *in, void *out, struct err *e)
{
    (void)in, (void)out;
    TRY(need_session(w, e));
    struct uuid session = w->principal->session_id;
    TRY(signin_begin(w, w->principal->tenant_id, e));
    TRY(session_end(w, session, w->principal->user_id, "logout", e));
    TRY(signin_audit(w, AUDIT_LOGOUT, ERR_OK, w->principal->user_id, NULL, e));
    TRY(signin_commit(w, e));
    signin_forget(w, session);
    call_of(w)->set_cookie = signin_no_cookie();
    return ERR_OK;
}

static enum errc show(struct work *w, const void *in, void *out, struct err *e)
{
    (void)in;
    return signin_show(w, out, e);
}

static enum errc set_password(struct work *w, const void *vin, void *out, struct err *e)
{
    const struct password_in *in = vin;
    bool is_right, found;
    char phc[ARGON_PHC];
    struct str zone;
    TRY(need_session(w, e));
    TRY(signin_address(w, e));
    struct uuid tenant = w->principal->tenant_id, user = w->principal->user_id, session = w->principal->session_id;
    struct str tenant_name = w->principal->tenant_name, name = w->principal->name;
    enum auth_stage stage = w->principal->stage;
    TRY(password_is_acceptable(in->new, name, "/new", e));
    TRY(signin_try(w, tenant, user, "login", tenant_name, name, e));
    TRY(signin_password_is(w, tenant, user, in->old, &is_right, &found, e));
    if (!is_right)
        return wrong_proof(w, session, "password", e);
    TRY(signin_hash(w, tenant, in->new, phc, &zone, e));
    TRY(signin_begin(w, tenant, e));
    guard_clear(w, "login", tenant_name, name);
    TRY(password_put(w, user, str_c(phc), zone, e));
    TRY(session_end_all(w, user, session, "password", e));
    TRY(signin_prove(w, stage, false, out, e));
    TRY(signin_audit(w, AUDIT_PASSWORD_SET, ERR_OK, user, NULL, e));
    TRY(signin_commit(w, e));
    signin_forget(w, UUID_NIL);
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/auth/login", .lane = LANE_SIGN_IN,
      .op = "auth_login", .perm = PERM_PUBLIC, .handler = login, .in = &login_in_schema, .status = 200,
      .out = &session_out_schema, .flags = R_NO_TX | R_SECRET, .rate = RL_WRITE, .resource = "session", .audited = true, .audit = AUDIT_LOGIN,
      .doc = "Sign in on a browser: sets the session cookie" },
    { .method = HTTP_POST, .path = "/v1/auth/totp", .lane = LANE_SIGN_IN,
      .op = "auth_totp", .perm = PERM_SIGNED_IN, .handler = totp, .in = &code_in_schema, .status = 200,
      .out = &session_out_schema, .flags = R_NO_TX | R_SECRET | R_STAGE_CODE, .rate = RL_WRITE, .resource = "session", .audited = true,
      .audit = AUDIT_STEP_UP, .doc = "Finish a sign-in, or step up, with a code; the cookie changes" },
    { .method = HTTP_POST, .path = "/v1/auth/step-up", .lane = LANE_SIGN_IN,
      .op = "auth_step_up", .perm = PERM_SIGNED_IN, .handler = step_up, .in = &step_up_in_schema,
      .status = 200, .out = &session_out_schema, .flags = R_NO_TX | R_SECRET, .rate = RL_WRITE, .resource = "session", .audited = true,
      .audit = AUDIT_STEP_UP, .doc = "Prove again who is there, before an act that asks for it; the cookie changes" },
    { .method = HTTP_POST, .path = "/v1/auth/logout", .lane = LANE_CALLS,
      .op = "auth_logout", .perm = PERM_SIGNED_IN, .handler = logout, .status = 204,
      .flags = R_NO_TX | R_STAGE_CODE | R_STAGE_ENROL, .rate = RL_WRITE, .resource = "session", .audited = true, .audit = AUDIT_LOGOUT,
      .doc = "End the session" },
    { .method = HTTP_GET, .path = "/v1/auth/session", .lane = LANE_CALLS,
      .op = "auth_session", .perm = PERM_SIGNED_IN, .handler = show, .status = 200,
      .out = &session_out_schema, .flags = R_NO_TX | R_STAGE_CODE | R_STAGE_ENROL, .doc = "The own session, its CSRF token and its end" },
    { .method = HTTP_POST, .path = "/v1/auth/password", .lane = LANE_SIGN_IN,
      .op = "auth_password", .perm = PERM_SIGNED_IN, .handler = set_password, .in = &password_in_schema,
      .status = 200, .out = &session_out_schema, .flags = R_NO_TX | R_SECRET | R_STAGE_ENROL, .rate = RL_WRITE, .resource = "session", .audited = true,
      .audit = AUDIT_PASSWORD_SET, .doc = "Change the own password; every other session ends" },
};
extern const struct route_table auth_routes;
ROUTE_TABLE(auth_routes, rows);
