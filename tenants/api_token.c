/* SPDX-License-Identifier: Apache-2.0 */
/* api_token.c - tokens. Who may only see its own gets only its own listed and finds no other. */
#include "tenants/api_token.h"
#include "core/db/tx.h"
#include "tenants/authz.h"
#include "tenants/user.h"

SCHEMA_EXTERN(api_token, "An access token, without its secret",
    FIELD_ID(api_token, token_id, "tok", 0, .doc = "The token"), FIELD_ID(api_token, user_id, "usr", 0, .doc = "Whose it is"),
    FIELD(api_token, name, 0, .doc = "What it is for"), FIELD(api_token, hint, 0, .doc = "Its last characters"),
    FIELD(api_token, scopes, 0, .doc = "Permissions it is limited to; empty: all of its user"),
    FIELD(api_token, expires_at, 0, .doc = "When it ends"), FIELD(api_token, revoked_at, 0, .doc = "When it was revoked"),
    FIELD(api_token, last_used_at, 0, .doc = "When it was last seen"), FIELD(api_token, created_at, 0, .doc = "When it was made"));

#define TOKEN_COLUMNS "token_id, user_id, name, hint, to_jsonb(scopes) AS scopes, expires_at, revoked_at, last_used_at, created_at"

static const struct stmt token_insert = { .name = "token_insert", .params = "uuusysSt", .row = &api_token_schema, .card = CARD_ONE, .sql =
    "INSERT INTO api_token (tenant_id, token_id, user_id, name, hash, hint, scopes, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)\n"
    "RETURNING " TOKEN_COLUMNS };
static const struct stmt token_list = { .name = "token_list", .params = "uuui", .row = &api_token_schema, .card = CARD_MANY, .sql =
    "SELECT " TOKEN_COLUMNS " FROM api_token\n"
    " WHERE tenant_id = $1 AND ($2::uuid IS NULL OR user_id = $2) AND ($3::uuid IS NULL OR token_id < $3) ORDER BY token_id DESC LIMIT $4" };
static const struct stmt token_revoke = { .name = "token_revoke", .params = "uuu", .row = &api_token_schema, .card = CARD_ONE, .sql =
    "UPDATE api_token SET revoked_at = coalesce(revoked_at, clock_timestamp())\n"
    " WHERE tenant_id = $1 AND token_id = $2 AND ($3::uuid IS NULL OR user_id = $3) RETURNING " TOKEN_COLUMNS };

const struct stmt *const api_token_stmts[] = { &token_insert, &token_list, &token_revoke, NULL };

static bool manages(const struct work *w)
{
    return authz_work(w, PERM_TOKEN_MANAGE).allowed;
}

/* Known names only, and from a token that is limited itself only names within its limits. */
static enum errc check_scopes(const struct work *w, struct slice scopes, struct err *e)
{
    const struct principal *p = w->principal;
    bool is_limited = p->permissions != roles_permissions(p->roles);
    for (size_t i = 0; i < scopes.n; i++) {
        enum permission perm = perm_by_wire(((struct str *)scopes.items)[i]);
        if (perm == PERM_NONE) {
            FAIL(e, INVALID, "There is no permission of that name");
            return err_field(e, "/scopes/%zu", i);
        }
        if (is_limited && !(p->permissions & PERM_BIT(perm))) {
            FAIL(e, FORBIDDEN, "This token is limited and makes no token with the permission %s", perm_row(perm)->wire);
            return err_field(e, "/scopes/%zu", i);
        }
    }
    if (is_limited && !scopes.n)
        return FAIL_AT(e, FORBIDDEN, "/scopes", "This token is limited: name the scopes of the new one, each within its own");
    return ERR_OK;
}

enum errc api_token_create(struct work *w, struct uuid user_id, struct str name, int64_t days, struct slice scopes, struct api_token *ret,
                           char *text, struct err *e)
{
    struct app_user user;
    uint8_t hash[32];
    if (uuid_is_nil(user_id))
        user_id = w->principal->user_id;
    bool own = uuid_eq(user_id, w->principal->user_id);
    if (!own && !manages(w))
        return FAIL(e, FORBIDDEN, "Tokens of others need the permission %s", perm_row(PERM_TOKEN_MANAGE)->wire);
    TRY(check_scopes(w, scopes, e));
    TRY(user_get(w, user_id, &user, e));
    TRY(token_make(str_eq_c(user.kind, "service") ? "svc" : "user", text, e));
    struct str token = str_c(text);
    token_hash(token, hash);
    struct str hint = str_fmt(w->arena, "…%.*s", 4, token.ptr + token.len - 4);
    return db_one(w->tx, &token_insert, ARGS(A_UUID(w->tenant_id), A_UUID(uuid_v7(w->now_us)), A_UUID(user_id), A_STR(name), A_BYTES(hash, 32),
        A_STR(hint), A_STRS(scopes.items, scopes.n), A_TIME_US(w->now_us + days * INT64_C(86400000000))), ret, e);
}

enum errc api_token_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    struct uuid whose = manages(w) ? UUID_NIL : w->principal->user_id;
    return db_many(w->tx, &token_list, ARGS(A_UUID(w->tenant_id), A_UUID_OR_NULL(whose), A_UUID_OR_NULL(position), A_I64(limit)), ret,
                   (size_t)limit, e);
}

enum errc api_token_revoke(struct work *w, struct uuid token_id, struct err *e)
{
    struct api_token row;
    struct uuid whose = manages(w) ? UUID_NIL : w->principal->user_id;
    return db_one(w->tx, &token_revoke, ARGS(A_UUID(w->tenant_id), A_UUID(token_id), A_UUID_OR_NULL(whose)), &row, e);
}
