/* SPDX-License-Identifier: Apache-2.0 */
/* mfa.c - routes of the second factor: set up, confirm, remove; and its removal for somebody who lost it. */
#include "api/signin.h"
#include "api/pipeline.h"
#include "core/db/tx.h"
#include "tenants/access/authz.h"
#include "tenants/identity/login_guard.h"
#include "tenants/identity/totp.h"
#include "tenants/identity/user.h"

struct totp_begin_out { struct uuid user_id; struct str secret, otpauth_uri; };
SCHEMA_OF(totp_begin_out, "A second factor to confirm; the secret is shown this once",
    FIELD_ID(totp_begin_out, user_id, "usr", 0, .doc = "Whose"),
    FIELD(totp_begin_out, secret, F_ALWAYS, .doc = "Base32, to type into the app"),
    FIELD(totp_begin_out, otpauth_uri, F_ALWAYS, .doc = "The same as a URI, for a QR code"));
struct totp_confirm_in { struct str code; };
SCHEMA_OF(totp_confirm_in, "The first code", FIELD(totp_confirm_in, code, F_REQ | F_SECRET, .min = 6, .max = 32, .doc = "What the app shows"));
struct totp_confirm_out { struct uuid session_id; struct slice recovery_codes; struct str csrf_token, stage; };
SCHEMA_OF(totp_confirm_out, "Recovery codes, each good once; shown this once",
    FIELD_ID(totp_confirm_out, session_id, "ses", 0, .doc = "The session, which has a new cookie"),
    FIELD_STRS(totp_confirm_out, recovery_codes, 0, .doc = "Keep them where the telephone is not"),
    FIELD(totp_confirm_out, csrf_token, 0, .doc = "The session's new CSRF token"), FIELD(totp_confirm_out, stage, 0, .doc = "full"));
struct user_mfa_ref { struct uuid user_id; };
SCHEMA_OF(user_mfa_ref, "Whose second factor", FIELD_ID(user_mfa_ref, user_id, "usr", F_PATH, .doc = "The user"));

static enum errc need_session(struct work *w, struct err *e)
{
    return w->principal->method == AUTH_SESSION ? ERR_OK : FAIL(e, INVALID,
                                                                "This call needs a session; it was made with an access token");
}

static enum errc begin(struct work *w, const void *in, void *out, struct err *e)
{
    (void)in;
    struct totp_begin_out *ret = out;
    TRY(need_session(w, e));
    ret->user_id = w->principal->user_id;
    return totp_begin(w, w->principal->user_id, w->principal->name, w->principal->tenant_name, &ret->secret, &ret->otpauth_uri, e);
}

static enum errc confirm(struct work *w, const void *in, void *out, struct err *e)
{
    struct totp_confirm_out *ret = out;
    struct session_out s;
    TRY(need_session(w, e));
    TRY(signin_address(w, e));
    struct uuid tenant = w->principal->tenant_id, user = w->principal->user_id, session = w->principal->session_id;
    struct str tenant_key = str_n((char *)tenant.b, 16), user_key = str_n((char *)user.b, 16);
    struct str *codes = ARENA_ARRAY(w->arena, struct str, RECOVERY_CODES);
    TRY(signin_try(w, tenant, user, "totp", tenant_key, user_key, e));
    TRY(signin_begin(w, tenant, e));
    enum errc rc = totp_confirm(w, user, ((const struct totp_confirm_in *)in)->code, codes, e);
    if (rc == ERR_UNAUTHENTICATED)
        return FAIL_AT(e, MFA_REQUIRED, "/code", "The code is wrong; check that the clock of your phone is right");
    TRY(rc);
    guard_clear(w, "totp", tenant_key, user_key);
    TRY(signin_prove(w, STAGE_FULL, true, &s, e));
    TRY(signin_audit(w, AUDIT_MFA_SET, ERR_OK, user, "set", e));
    TRY(signin_commit(w, e));
    signin_forget(w, session);
    *ret = (struct totp_confirm_out){ s.session_id, { codes, RECOVERY_CODES }, s.csrf_token, s.stage };
    return ERR_OK;
}

static enum errc removal(struct work *w, const void *in, void *out, struct err *e)
{
    (void)in, (void)out;
    TRY(need_session(w, e));
    return totp_remove(w, w->principal->user_id, e);
}

/* Whoever lost the telephone and the codes: an administrator takes the factor away and the sessions with it. */
static enum errc reset(struct work *w, const void *in, void *out, struct err *e)
{
    (void)out;
    struct app_user u;
    struct uuid id = ((const struct user_mfa_ref *)in)->user_id;
    TRY(user_get(w, id, &u, e));
    if (uuid_eq(id, w->principal->user_id))
        return FAIL(e, SEPARATION, "Remove your own second factor at /v1/auth/mfa/totp");
    TRY(totp_remove(w, id, e));
    TRY(session_end_all(w, id, UUID_NIL, "revoked", e));
    pipeline_forget_user(w, w->tenant_id, id);
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/auth/mfa/totp", .lane = LANE_CALLS,
      .op = "mfa_begin", .perm = PERM_SIGNED_IN, .handler = begin, .status = 200,
      .out = &totp_begin_out_schema, .flags = R_SECRET | R_STEP_UP | R_STAGE_ENROL, .rate = RL_WRITE, .resource = "user", .audited = true,
      .audit = AUDIT_MFA_SET, .doc = "Begin to set up an authenticator app; it counts once confirmed" },
    { .method = HTTP_POST, .path = "/v1/auth/mfa/totp/confirm", .lane = LANE_CALLS,
      .op = "mfa_confirm", .perm = PERM_SIGNED_IN, .handler = confirm,
      .in = &totp_confirm_in_schema, .status = 200, .out = &totp_confirm_out_schema, .flags = R_NO_TX | R_SECRET | R_STEP_UP | R_STAGE_ENROL, .rate = RL_WRITE,
      .resource = "session", .audited = true, .audit = AUDIT_MFA_SET, .doc = "Confirm the authenticator app with its first code; gives recovery codes" },
    { .method = HTTP_DELETE, .path = "/v1/auth/mfa/totp", .lane = LANE_CALLS,
      .op = "mfa_remove", .perm = PERM_SIGNED_IN, .handler = removal, .status = 204,
      .flags = R_STEP_UP, .rate = RL_WRITE, .resource = "user", .audited = true, .audit = AUDIT_MFA_SET,
      .doc = "Remove the own second factor" },
    { .method = HTTP_DELETE, .path = "/v1/users/{user_id}/second-factor", .lane = LANE_CALLS,
      .op = "user_mfa_reset", .perm = PERM_SESSION_MANAGE, .handler = reset,
      .in = &user_mfa_ref_schema, .status = 204, .flags = R_STEP_UP, .rate = RL_WRITE, .resource = "user", .audited = true, .audit = AUDIT_MFA_SET,
      .doc = "Remove the second factor of somebody who lost it; all sessions of that user end" },
};
extern const struct route_table mfa_routes;
ROUTE_TABLE(mfa_routes, rows);
