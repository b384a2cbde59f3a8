/* SPDX-License-Identifier: Apache-2.0 */
/* invitations.c - routes of invitations. */
#include "api/pipeline.h"
#include "api/signin.h"
#include "core/db/tx.h"
#include "tenants/identity/invitation.h"
#include "tenants/identity/password.h"

struct invite_in { struct str name, email_hint; struct slice roles; int64_t hours; };
SCHEMA_OF(invite_in, "An invitation to make",
    FIELD(invite_in, name, F_REQ, .min = 1, .max = 128, .check = check_name, .doc = "Name the user will have, unique in the tenant"),
    FIELD(invite_in, email_hint, 0, .min = 3, .max = 254, .check = check_name, .doc = "Where it is sent, for your own list; nothing is sent from here"),
    FIELD_STRS(invite_in, roles, F_REQ, .max = 8, .doc = "Roles it gives"),
    FIELD(invite_in, hours, 0, .min = 1, .max = 168, .dflt = "72", .doc = "Hours it is good for"));
struct invite_out { struct uuid invitation_id; struct str name, token; struct timestamp expires_at; };
SCHEMA_OF(invite_out, "A new invitation; `token` is shown this once", FIELD_ID(invite_out, invitation_id, "inv", F_ALWAYS,
      .doc = "The invitation"),
    FIELD(invite_out, name, F_ALWAYS, .doc = "Name the user will have"),
    FIELD(invite_out, token, F_ALWAYS, .doc = "The secret to hand over: shown this once"),
    FIELD(invite_out, expires_at, F_ALWAYS, .doc = "Good until"));
struct invite_ref { struct uuid invitation_id; };
SCHEMA_OF(invite_ref, "Which invitation", FIELD_ID(invite_ref, invitation_id, "inv", F_PATH, .doc = "The invitation"));
struct invite_page { PAGE_IN; };
SCHEMA_OF(invite_page, "Which invitations", PAGE_IN_FIELDS(invite_page));
struct accept_in { struct str token, password; };
SCHEMA_OF(accept_in, "An invitation to accept", FIELD(accept_in, token, F_REQ | F_SECRET, .min = 1, .max = 128, .doc = "The invitation's token"),
    FIELD(accept_in, password, F_SECRET, .min = 1, .max = PASSWORD_MAX, .doc = "Password to sign in with; absent: sign in through the tenant's provider"));
struct accept_out { struct uuid user_id; struct str name; struct json roles; };
SCHEMA_OF(accept_out, "The new user", FIELD_ID(accept_out, user_id, "usr", F_ALWAYS, .doc = "The user"),
    FIELD(accept_out, name, F_ALWAYS, .doc = "Name"),
    FIELD(accept_out, roles, 0, .doc = "Roles held"));

static enum errc create(struct work *w, const void *in, void *out, struct err *e)
{
    const struct invite_in *i = in;
    struct invitation made;
    char text[TOKEN_TEXT];
    TRY(invitation_create(w, i->name, i->email_hint, i->roles, i->hours, &made, text, e));
    *(struct invite_out *)out = (struct invite_out){ made.invitation_id, made.name, str_dup(w->arena, str_c(text)), made.expires_at };
    return ERR_OK;
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct invite_page *page = in;
    return PAGE_BY_ID(w, page, out, invitation, invitation_id, invitation_list(w, after, limit, rows, e), e);
}

static enum errc withdrawal(struct work *w, const void *in, void *out, struct err *e)
{
    (void)out;
    return invitation_withdraw(w, ((const struct invite_ref *)in)->invitation_id, e);
}

static enum errc accept(struct work *w, const void *vin, void *out, struct err *e)
{
    const struct accept_in *in = vin;
    struct uuid tenant = UUID_NIL;
    struct principal *inviter = NULL;
    struct invitation i;
    struct app_user u;
    char phc[ARGON_PHC];
    struct str zone;
    TRY(signin_address(w, e));
    if (in->password.ptr)
        TRY(password_is_acceptable(in->password, STR_NULL, "/password", e));
    TRY(signin_begin(w, UUID_NIL, e));
    TRY(invitation_find(w, in->token, &tenant, e));
    TRY(signin_commit(w, e));
    TRY(signin_tenant(w, id_text(w->arena, "tnt", tenant), e));      /* hashing is dear, and an invitation may be tried often */
    if (in->password.ptr)
        TRY(signin_hash(w, tenant, in->password, phc, &zone, e));
    TRY(signin_begin(w, tenant, e));
    enum errc rc = invitation_accept(w, in->token, &inviter, &i, &u, e);
    w->principal = NULL;
    principal_unref(inviter);
    TRY(rc);
    if (in->password.ptr)
        TRY(password_put(w, u.user_id, str_c(phc), zone, e));
    TRY(signin_audit(w, AUDIT_INVITE_ACCEPT, ERR_OK, u.user_id, in->password.ptr ? "password" : "no_password", e));
    TRY(signin_commit(w, e));
    *(struct accept_out *)out = (struct accept_out){ u.user_id, u.name, u.roles };
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/invitations", .lane = LANE_CALLS,
      .op = "invitation_create", .perm = PERM_USER_MANAGE, .handler = create, .in = &invite_in_schema,
      .status = 201, .out = &invite_out_schema, .flags = R_IDEMPOTENT | R_SECRET | R_STEP_UP, .rate = RL_WRITE, .resource = "invitation", .audited = true,
      .audit = AUDIT_INVITE_CREATE, .doc = "Invite a person; the token is shown once" },
    { .method = HTTP_GET, .path = "/v1/invitations", .lane = LANE_CALLS,
      .op = "invitation_list", .perm = PERM_USER_MANAGE, .handler = list, .in = &invite_page_schema,
      .status = 200, .out = &invitation_schema, .flags = R_LIST, .doc = "List invitations" },
    { .method = HTTP_DELETE, .path = "/v1/invitations/{invitation_id}", .lane = LANE_CALLS,
      .op = "invitation_withdraw", .perm = PERM_USER_MANAGE, .handler = withdrawal,
      .in = &invite_ref_schema, .status = 204, .rate = RL_WRITE, .resource = "invitation", .audited = true, .audit = AUDIT_INVITE_REVOKE,
      .doc = "Withdraw an invitation" },
    { .method = HTTP_POST, .path = "/v1/auth/invitations/accept", .lane = LANE_SIGN_IN,
      .op = "invitation_accept", .perm = PERM_PUBLIC, .handler = accept,
      .in = &accept_in_schema, .status = 200, .out = &accept_out_schema, .flags = R_NO_TX | R_SECRET, .rate = RL_WRITE, .resource = "user",
      .audited = true, .audit = AUDIT_INVITE_ACCEPT, .doc = "Accept an invitation: makes the user; then sign in" },
};
extern const struct route_table invitation_routes;
ROUTE_TABLE(invitation_routes, rows);
