/* SPDX-License-Identifier: Apache-2.0 */
/* invitation.c - acceptance changes the row first, from OPEN to ACCEPTED: of two people with one token one is too late. */
#include "tenants/identity/invitation.h"
#include "core/db/tx.h"
#include "tenants/access/authz.h"
#include "tenants/access/binding.h"
#include "tenants/access/principal_load.h"

SCHEMA_EXTERN(invitation, "An invitation into a tenant",
    FIELD_ID(invitation, invitation_id, "inv", F_ALWAYS, .doc = "The invitation"),
    FIELD(invitation, name, F_ALWAYS, .doc = "Name the user will have"),
    FIELD(invitation, email_hint, F_ALWAYS, .doc = "Where the inviter wanted to send it"),
    FIELD(invitation, roles, F_ALWAYS, .doc = "Roles it gives"),
    FIELD(invitation, state, F_ALWAYS, .doc = "OPEN, ACCEPTED, WITHDRAWN or EXPIRED"),
    FIELD_ID(invitation, created_by, "usr", F_ALWAYS, .doc = "Who invites"),
    FIELD_ID(invitation, user_id, "usr", 0, .doc = "Who accepted"), FIELD(invitation, created_at, F_ALWAYS, .doc = "When"),
    FIELD(invitation, expires_at, F_ALWAYS, .doc = "Good until"));

#define COLUMNS                                                                                                                       \
    "invitation_id, name, email_hint, to_jsonb(roles) AS roles, CASE WHEN state = 'OPEN' AND expires_at <= now() THEN 'EXPIRED' ELSE " \
    "state END AS state, created_by, user_id, created_at, expires_at"

struct invited { struct uuid tenant_id; struct str tenant_state; };
SCHEMA_OF(invited, "The tenant of an invitation", FIELD(invited, tenant_id, 0, .doc = "Tenant"), FIELD(invited, tenant_state, 0, .doc = "Its state"));

static const struct stmt invitation_insert = { .name = "invitation_insert", .params = "uussSyut", .row = &invitation_schema, .card = CARD_ONE, .sql =
    "INSERT INTO invitation (tenant_id, invitation_id, name, email_hint, roles, hash, created_by, expires_at)\n"
    "VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING " COLUMNS };
static const struct stmt invitation_list_stmt = { .name = "invitation_list", .params = "uui", .row = &invitation_schema, .card = CARD_MANY, .sql =
    "SELECT " COLUMNS " FROM invitation WHERE tenant_id = $1 AND ($2::uuid IS NULL OR invitation_id < $2) ORDER BY invitation_id DESC LIMIT $3" };
static const struct stmt invitation_withdraw_stmt = { .name = "invitation_withdraw", .params = "uu", .card = CARD_ONE, .sql =
    "UPDATE invitation SET state = 'WITHDRAWN' WHERE tenant_id = $1 AND invitation_id = $2 AND state = 'OPEN'" };
static const struct stmt invitation_find_stmt = { .name = "invitation_find", .params = "y", .row = &invited_schema, .card = CARD_MAYBE, .sql =
    "SELECT tenant_id, tenant_state FROM invitation_find($1)" };
static const struct stmt invitation_take = { .name = "invitation_take", .params = "uyu", .row = &invitation_schema, .card = CARD_MAYBE, .sql =
    "UPDATE invitation SET state = 'ACCEPTED', user_id = $3 WHERE tenant_id = $1 AND hash = $2 AND state = 'OPEN' AND expires_at > now()\n"
    "RETURNING " COLUMNS };
static const struct stmt invitation_of = { .name = "invitation_of", .params = "uuu", .card = CARD_ONE, .sql =
    "UPDATE invitation SET user_id = $3 WHERE tenant_id = $1 AND invitation_id = $2" };

const struct stmt *const invitation_stmts[] = { &invitation_insert, &invitation_list_stmt, &invitation_withdraw_stmt, &invitation_find_stmt,
                                                &invitation_take, &invitation_of, NULL };

static enum errc not_good(struct err *e)
{
    return FAIL(e, NOT_FOUND, "The invitation is unknown, used, withdrawn or expired; ask for a new one");
}

/* Judged now and again at the acceptance, by what the inviter holds at that moment. */
static enum errc role_may_be_given(struct work *w, struct str role, struct err *e)
{
    int r = role_by_wire(role);
    enum permission missing;
    bool at_platform = uuid_is_nil(w->tenant_id);
    if (r < 0)
        return role_unknown(w, "/roles", role, e);
    if (!role_fits((enum role)r, at_platform))
        return FAIL_AT(e, UNPROCESSABLE, "/roles", "The role %s cannot be bound %s", role_row((enum role)r)->wire,
            at_platform ? "at the platform" : "in a tenant");
    struct binding wanted = { .role = (enum role)r, .place = at_platform ? BOUND_PLATFORM : BOUND_TENANT };
    struct authz_context ctx = { .now_us = w->now_us, .source_ip = w->source_ip };
    if (!authz_may_grant(w->principal, &wanted, &ctx, &missing))
        return FAIL(e, FORBIDDEN, "You cannot grant the role %s: it includes the permission %s, which you do not hold",
            role_row((enum role)r)->wire, perm_row(missing)->wire);
    return ERR_OK;
}

enum errc invitation_create(struct work *w, struct str name, struct str email_hint, struct slice roles, int64_t hours, struct invitation *ret,
                            char text[TOKEN_TEXT], struct err *e)
{
    uint8_t hash[32];
    for (size_t i = 0; i < roles.n; i++)
        TRY(role_may_be_given(w, ((struct str *)roles.items)[i], e));
    TRY(token_make("inv", text, e));
    token_hash(str_c(text), hash);
    return db_one(w->tx, &invitation_insert, ARGS(A_UUID(w->tenant_id), A_UUID(uuid_v7(w->now_us)), A_STR(name),
                  A_STR(email_hint.ptr ? email_hint : STR("")), A_STRS(roles.items, roles.n), A_BYTES(hash, sizeof hash), A_UUID(w->principal->user_id),
                  A_TIME_US(w->now_us + hours * INT64_C(3600000000))), ret, e);
}

enum errc invitation_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &invitation_list_stmt, ARGS(A_UUID(w->tenant_id), A_UUID_OR_NULL(position), A_I64(limit)), ret, (size_t)limit, e);
}

enum errc invitation_withdraw(struct work *w, struct uuid invitation_id, struct err *e)
{
    return db_exec(w->tx, &invitation_withdraw_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(invitation_id)), NULL, e);
}

enum errc invitation_find(struct work *w, struct str token, struct uuid *ret_tenant, struct err *e)
{
    uint8_t hash[32];
    struct str kind;
    struct invited row;
    bool found;
    if (!token_check(token, &kind) || !str_eq_c(kind, "inv"))
        return not_good(e);
    token_hash(token, hash);
    TRY(db_maybe(w->tx, &invitation_find_stmt, ARGS(A_BYTES(hash, sizeof hash)), &row, &found, e));
    if (!found || !str_eq_c(row.tenant_state, "ACTIVE"))
        return not_good(e);
    *ret_tenant = row.tenant_id;
    return ERR_OK;
}

enum errc invitation_accept(struct work *w, struct str token, struct principal **ret_inviter, struct invitation *ret, struct app_user *ret_user,
                            struct err *e)
{
    uint8_t hash[32];
    bool found;
    struct principal_row inviter;
    struct invitation i;
    token_hash(token, hash);
    TRY(db_maybe(w->tx, &invitation_take, ARGS(A_UUID(w->tenant_id), A_BYTES(hash, sizeof hash), A_UUID(uuid_v7(w->now_us))), &i, &found, e));
    if (!found)
        return not_good(e);
    TRY(principal_find(w->tx, w->tenant_id, i.created_by, &inviter, e));
    if (principal_check(&inviter, e) != ERR_OK)
        return not_good(e);
    TRY(principal_make(&inviter, AUTH_TOKEN, (struct slice){ 0 }, w->arena, ret_inviter, e));
    w->principal = *ret_inviter;
    if (!authz_work(w, PERM_USER_MANAGE).allowed)
        return not_good(e);
    struct slice roles = string_array(w->arena, i.roles.text);
    for (size_t r = 0; r < roles.n; r++)
        if (role_may_be_given(w, ((struct str *)roles.items)[r], e) != ERR_OK)
            return FAIL(e, FORBIDDEN, "The person who invited you may no longer grant the role %.*s; ask for a new invitation",
                STR_ARG(((struct str *)roles.items)[r]));
    TRY(user_create(w, i.name, STR("person"), roles, ret_user, e));
    TRY(db_exec(w->tx, &invitation_of, ARGS(A_UUID(w->tenant_id), A_UUID(i.invitation_id), A_UUID(ret_user->user_id)), NULL, e));
    *ret = i;
    ret->user_id = ret_user->user_id;
    return ERR_OK;
}
