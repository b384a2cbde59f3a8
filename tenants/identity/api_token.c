/* SPDX-License-Identifier: Apache-2.0 */
/* api_token.c - tokens. Who may only see its own gets only its own listed and finds no other. */
#include "tenants/identity/api_token.h"
#include "core/db/tx.h"
#include "tenants/access/authz.h"
#include "tenants/access/cidr.h"
#include "core/db/list_find.h"
#include "tenants/access/credential.h"
#include "tenants/access/principal_load.h"
#include "tenants/identity/service_account.h"
#include "tenants/identity/user.h"

const char *const api_token_states[] = { "active", "expired", "revoked", NULL };

SCHEMA_EXTERN(api_token, "An access token, without its secret",
    FIELD_ID(api_token, token_id, "tok", F_ALWAYS, .doc = "The token"),
    FIELD_ID(api_token, user_id, "usr", F_ALWAYS, .doc = "Whose it is"),
    FIELD(api_token, name, F_ALWAYS, .doc = "What it is for"), FIELD(api_token, hint, F_ALWAYS, .doc = "Its last characters"),
    FIELD(api_token, scopes, F_ALWAYS, .doc = "Permissions it is limited to; empty: all of its user"),
    FIELD(api_token, cidrs, F_ALWAYS, .doc = "Networks it may be used from; empty: any"),
    FIELD(api_token, zones, F_ALWAYS, .doc = "Zones it is limited to; empty: all of the tenant"),
    FIELD(api_token, expires_at, F_ALWAYS, .doc = "When it ends"), FIELD(api_token, revoked_at, 0, .doc = "When it was revoked"),
    FIELD(api_token, last_used_at, 0, .doc = "When it was last seen"), FIELD(api_token, last_used_ip, 0, .doc = "And from where"),
    FIELD_ID(api_token, successor_id, "tok", 0, .doc = "The token that was made by rotating this one"),
    FIELD(api_token, created_at, F_ALWAYS, .doc = "When it was made"));

#define TOKEN_COLUMNS                                                                                                                \
    "token_id, user_id, name, hint, to_jsonb(scopes) AS scopes, to_jsonb(cidrs::text[]) AS cidrs, to_jsonb(zones) AS zones, "        \
    "expires_at, revoked_at, last_used_at, host(last_used_ip) AS last_used_ip, successor_id, created_at"

static const struct stmt token_insert = { .name = "token_insert", .params = "uuusysSSSut", .row = &api_token_schema, .card = CARD_ONE, .sql =
    "INSERT INTO api_token (tenant_id, token_id, user_id, name, hash, hint, scopes, cidrs, zones, created_by, expires_at)\n"
    "VALUES ($1, $2, $3, $4, $5, $6, $7, $8::text[]::cidr[], $9, $10, $11)\n"
    "RETURNING " TOKEN_COLUMNS };
static const struct stmt token_list = { .name = "token_list", .params = LIST_FIND_PARAMS, .row = &api_token_schema, .card = CARD_MANY, .sql =
    "SELECT " TOKEN_COLUMNS " FROM " LIST_FIND("api_token") "  JOIN api_token ON tenant_id = $1 AND token_id = found_id ORDER BY found_place" };
static const struct stmt token_get = { .name = "token_get", .params = "uu", .row = &api_token_schema, .card = CARD_ONE, .sql =
    "SELECT " TOKEN_COLUMNS " FROM api_token WHERE tenant_id = $1 AND token_id = $2 FOR NO KEY UPDATE" };
static const struct stmt token_revoke = { .name = "token_revoke", .params = "uu", .row = &api_token_schema, .card = CARD_ONE, .sql =
    "UPDATE api_token SET revoked_at = coalesce(revoked_at, clock_timestamp()) WHERE tenant_id = $1 AND token_id = $2 RETURNING " TOKEN_COLUMNS };
static const struct stmt token_succeed = { .name = "token_succeed", .params = "uuui", .card = CARD_NONE, .sql =
    "UPDATE api_token SET successor_id = $3, expires_at = least(expires_at, clock_timestamp() + $4 * interval '1 second')\n"
    " WHERE tenant_id = $1 AND token_id = $2" };

const struct stmt *const api_token_stmts[] = { &token_insert, &token_list, &token_get, &token_revoke, &token_succeed, NULL };

/* Own, a managed user's, or a service account's of one's own making. *ret_kind: what the user is. */
static enum errc check_whose(struct work *w, struct uuid user_id, bool *ret_service, struct err *e)
{
    struct app_user user;
    bool own = uuid_eq(user_id, w->principal->user_id);
    bool manages = authz_work(w, PERM_TOKEN_MANAGE).allowed;
    bool owns = !own && !manages && service_account_is_own(w, user_id);
    if (!own && !manages && !owns)
        return FAIL(e, FORBIDDEN, "Tokens of other users need the permission %s", perm_row(PERM_TOKEN_MANAGE)->wire);
    TRY(user_get(w, user_id, &user, e));
    *ret_service = str_eq_c(user.kind, "service");
    return ERR_OK;
}

/* Known names only, and from a token that is limited itself only names within its limits. */
static enum errc check_scopes(const struct work *w, struct slice scopes, struct err *e)
{
    const struct principal *p = w->principal;
    bool is_limited = ~p->scopes != 0;      /* what the place of a role does not give, its new token does not get either */
    for (size_t i = 0; i < scopes.n; i++) {
        enum permission perm = perm_by_wire(((struct str *)scopes.items)[i]);
        if (perm == PERM_NONE) {
            FAIL(e, INVALID, "There is no permission with that name");
            return err_field(e, "/scopes/%zu", i);
        }
        if (is_limited && !(p->scopes & PERM_BIT(perm))) {
            FAIL(e, FORBIDDEN, "This token is limited: it cannot create a token with the permission %s", perm_row(perm)->wire);
            return err_field(e, "/scopes/%zu", i);
        }
    }
    if (is_limited && !scopes.n)
        return FAIL_AT(e, FORBIDDEN, "/scopes", "This token is limited: name the scopes of the new one, each within its own");
    return ERR_OK;
}

/* A network lies in another when its first address does and its prefix is no shorter. */
static bool lies_in(const struct cidr *inner, const struct cidr *outer)
{
    int whole = outer->bits / 8, rest = outer->bits % 8;
    return inner->bits >= outer->bits && !memcmp(inner->addr, outer->addr, (size_t)whole)
           && (!rest || !((inner->addr[whole] ^ outer->addr[whole]) >> (8 - rest)));
}

static enum errc check_cidrs(const struct work *w, struct slice cidrs, struct err *e)
{
    const struct slice *own = &w->principal->token_cidrs;
    for (size_t i = 0; i < cidrs.n; i++) {
        struct cidr net;
        bool ok = cidr_parse(((struct str *)cidrs.items)[i], &net), fits = own->n == 0;
        for (size_t k = 0; ok && k < own->n && !fits; k++)
            fits = lies_in(&net, &((const struct cidr *)own->items)[k]);
        if (ok && fits)
            continue;
        (void)(ok ? FAIL(e, FORBIDDEN, "This token is limited to other networks") : FAIL(e, INVALID,
            "Not a network: expected an address and a prefix, such as 192.0.2.0/24"));
        return err_field(e, "/cidrs/%zu", i);
    }
    if (own->n && !cidrs.n)
        return FAIL_AT(e, FORBIDDEN, "/cidrs", "This token is limited: name the networks of the new one, each within its own");
    return ERR_OK;
}

static enum errc check_zones(const struct work *w, struct slice zones, struct err *e)
{
    for (size_t i = 0; i < zones.n; i++)
        if (!principal_is_platform(w->principal) && !principal_zone_allowed(w->principal, ((struct str *)zones.items)[i])) {
            FAIL(e, INVALID, "Not a zone that this tenant and this token may use");
            return err_field(e, "/zones/%zu", i);
        }
    if (w->principal->token_zones.n && !zones.n)
        return FAIL_AT(e, FORBIDDEN, "/zones", "This token is limited: name the zones of the new one, each within its own");
    return ERR_OK;
}

static enum errc insert(struct work *w, const struct api_token_new *n, bool is_service, struct api_token *ret, char *text, struct err *e)
{
    uint8_t hash[32];
    TRY(credential_for_user(w, n->user_id, e));
    TRY(check_scopes(w, n->scopes, e));
    TRY(check_cidrs(w, n->cidrs, e));
    TRY(check_zones(w, n->zones, e));
    TRY(token_make(is_service ? "svc" : "user", text, e));
    struct str token = str_c(text);
    token_hash(token, hash);
    struct str hint = str_fmt(w->arena, "…%.*s", 4, token.ptr + token.len - 4);
    return db_one(w->tx, &token_insert, ARGS(A_UUID(w->tenant_id), A_UUID(uuid_v7(w->now_us)), A_UUID(n->user_id), A_STR(n->name),
        A_BYTES(hash, 32), A_STR(hint), A_STRS(n->scopes.items, n->scopes.n), A_STRS(n->cidrs.items, n->cidrs.n),
        A_STRS(n->zones.items, n->zones.n), A_UUID_OR_NULL(w->principal->user_id), A_TIME_US(w->now_us + n->days * INT64_C(86400000000))), ret, e);
}

enum errc credential_may_make(struct work *w, struct err *e)
{
    if (w->principal->is_break_glass)
        return FAIL(e, FORBIDDEN, "A break-glass session cannot make credentials");
    return ERR_OK;
}

enum errc api_token_create(struct work *w, const struct api_token_new *n, struct api_token *ret, char *text, struct err *e)
{
    struct api_token_new mine = *n;
    bool is_service;
    TRY(credential_may_make(w, e));
    if (uuid_is_nil(mine.user_id))
        mine.user_id = w->principal->user_id;
    TRY(check_whose(w, mine.user_id, &is_service, e));
    return insert(w, &mine, is_service, ret, text, e);
}

enum errc api_token_list(struct work *w, const struct api_token_filter *f, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    struct uuid whose = f->user_id;
    if (!authz_work(w, PERM_TOKEN_MANAGE).allowed && !service_account_is_own(w, whose))
        whose = w->principal->user_id;
    struct list_find find = { .q = f->q, .sort = f->by_expiry ? STR("expires_at") : STR_NULL };
    list_find_by(&find, "name", f->name);
    list_find_by(&find, "state", f->state);
    list_find_by_id(w, &find, "user_id", whose);
    return list_find(w, &token_list, &find, position, limit, ret, e);
}

/* The token under lock, if the caller may touch it; else it does not exist. */
static enum errc hold(struct work *w, struct uuid token_id, struct api_token *ret, bool *ret_service, struct err *e)
{
    TRY(db_one(w->tx, &token_get, ARGS(A_UUID(w->tenant_id), A_UUID(token_id)), ret, e));
    enum errc rc = check_whose(w, ret->user_id, ret_service, e);
    return rc == ERR_FORBIDDEN ? FAIL(e, NOT_FOUND, "There is no such object") : rc;
}

enum errc api_token_revoke(struct work *w, struct uuid token_id, struct err *e)
{
    struct api_token row;
    bool is_service;
    TRY(hold(w, token_id, &row, &is_service, e));
    return db_one(w->tx, &token_revoke, ARGS(A_UUID(w->tenant_id), A_UUID(token_id)), &row, e);
}

enum errc api_token_rotate(struct work *w, struct uuid token_id, int64_t overlap_s, int64_t days, struct api_token *ret, char *text,
                           struct err *e)
{
    struct api_token was;
    bool is_service;
    credential_hold_rights(w);          /* before the token's row, as grants do */
    TRY(hold(w, token_id, &was, &is_service, e));
    if (was.revoked_at.us || was.expires_at.us <= w->now_us || !uuid_is_nil(was.successor_id))
        return FAIL(e, CONFLICT, "The token has ended or was already rotated");
    const struct api_token_new n = { was.user_id, was.name, days, string_array(w->arena, was.scopes.text), string_array(w->arena, was.cidrs.text),
                                     string_array(w->arena, was.zones.text) };
    TRY(insert(w, &n, is_service, ret, text, e));
    db_queue(w->tx, &token_succeed, ARGS(A_UUID(w->tenant_id), A_UUID(token_id), A_UUID(ret->token_id), A_I64(overlap_s)), true);
    return ERR_OK;
}
