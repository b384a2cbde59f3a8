/* SPDX-License-Identifier: Apache-2.0 */
/* identity_provider.c - rows of OpenID providers; the login at one is in oidc.c. */
#include "tenants/identity/identity_provider.h"
#include "core/base/cleanup.h"
#include "core/crypto/seal.h"
#include "core/db/tx.h"
#include "tenants/access/authz.h"
#include "tenants/access/credential.h"
#include "tenants/identity/local_auth.h"
#include "tenants/identity/outside.h"

SCHEMA_EXTERN(group_role, "A group of the provider, and the role it gives",
    FIELD(group_role, group, F_REQ, .min = 1, .max = 255, .check = check_name, .doc = "The group, as the provider names it"),
    FIELD(group_role, role, F_REQ, .min = 1, .max = 63, .doc = "The role it gives in the tenant"));

SCHEMA_EXTERN(identity_provider, "A provider at which people sign in",
    FIELD_ID(identity_provider, provider_id, "idp", F_ALWAYS, .doc = "The provider"),
    FIELD(identity_provider, name, F_ALWAYS, .doc = "Name"),
    FIELD(identity_provider, issuer, F_ALWAYS, .doc = "Its issuer, exactly"),
    FIELD(identity_provider, client_id, F_ALWAYS, .doc = "What Falaj is called there"),
    FIELD(identity_provider, has_secret, 0, .doc = "A client secret is kept"),
    FIELD(identity_provider, scopes, F_ALWAYS, .doc = "Scopes that are asked for"),
    FIELD(identity_provider, name_claim, F_ALWAYS, .doc = "The claim that new users are named by"),
    FIELD(identity_provider, groups_claim, F_ALWAYS, .doc = "The claim with the groups"),
    FIELD(identity_provider, group_roles, F_ALWAYS, .doc = "Roles that groups give"),
    FIELD(identity_provider, mfa_values, F_ALWAYS, .doc = "Values of amr or acr that stand for a second factor"),
    FIELD(identity_provider, create_users, 0, .doc = "Who signs in for the first time becomes a user"),
    FIELD(identity_provider, state, F_ALWAYS, .doc = "ACTIVE or DISABLED"),
    FIELD(identity_provider, version, 0, .doc = "Grows with every change"),
    FIELD_ID(identity_provider, set_by, "usr", F_ALWAYS,
          .doc = "Who set it up last: groups give no role that this user could not grant"),
    FIELD(identity_provider, created_at, F_ALWAYS, .doc = "When"));

#define COLUMNS                                                                                                                       \
    "provider_id, name, issuer, client_id, sealed IS NOT NULL AS has_secret, to_jsonb(scopes) AS scopes, name_claim, groups_claim, "   \
    "group_roles, to_jsonb(mfa_values) AS mfa_values, create_users, state, version, set_by, created_at"

struct sealed_row { struct bytes sealed; struct str zone; };
SCHEMA_OF(sealed_row, "A client's secret", FIELD(sealed_row, sealed, 0, .doc = "Secret"), FIELD(sealed_row, zone, 0, .doc = "Of its key"));
SCHEMA_OF(provider_place, "Where somebody signs in", FIELD(provider_place, tenant_id, 0, .doc = "Tenant"),
    FIELD(provider_place, tenant_state, 0, .doc = "Its state"), FIELD(provider_place, provider_id, 0, .doc = "Provider"));

static const struct stmt provider_insert = { .name = "provider_insert", .params = "uussssSssjSbuys", .row = &identity_provider_schema, .card = CARD_ONE, .sql =
    "INSERT INTO identity_provider (tenant_id, provider_id, name, issuer, client_id, name_claim, scopes, groups_claim, state, group_roles, mfa_values,\n"
    "  create_users, set_by, sealed, zone) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)\n"
    "RETURNING " COLUMNS };
static const struct stmt provider_get_stmt = { .name = "provider_get", .params = "uu", .row = &identity_provider_schema, .card = CARD_ONE, .sql =
    "SELECT " COLUMNS " FROM identity_provider WHERE tenant_id = $1 AND provider_id = $2" };
static const struct stmt provider_list_stmt = { .name = "provider_list", .params = "uui", .row = &identity_provider_schema, .card = CARD_MANY, .sql =
    "SELECT " COLUMNS " FROM identity_provider\n"
    " WHERE tenant_id = $1 AND ($2::uuid IS NULL OR provider_id < $2) ORDER BY provider_id DESC LIMIT $3" };
static const struct stmt provider_update = { .name = "provider_update", .params = "uuisjbsysu", .card = CARD_NONE, .sql =
    "UPDATE identity_provider SET client_id = coalesce($4, client_id), group_roles = coalesce($5, group_roles), create_users = coalesce($6, create_users),\n"
    "       state = coalesce($7, state), sealed = coalesce($8, sealed), zone = coalesce($9, zone), set_by = $10, version = version + 1\n"
    " WHERE tenant_id = $1 AND provider_id = $2 AND $3 IN (-1, version)" };
static const struct stmt provider_remove = { .name = "provider_remove", .params = "uu", .card = CARD_ONE, .sql =
    "DELETE FROM identity_provider WHERE tenant_id = $1 AND provider_id = $2" };
static const struct stmt provider_sealed = { .name = "provider_sealed", .params = "uu", .row = &sealed_row_schema, .card = CARD_ONE, .sql =
    "SELECT sealed, zone FROM identity_provider WHERE tenant_id = $1 AND provider_id = $2" };
static const struct stmt provider_find_stmt = { .name = "provider_find", .params = "ss", .row = &provider_place_schema, .card = CARD_MAYBE, .sql =
    "SELECT tenant_id, tenant_state, provider_id FROM provider_find($1, $2)" };
SCHEMA_OF(provider_name, "A provider by name", FIELD(provider_name, provider_id, 0, .doc = "The provider"), FIELD(provider_name, name, 0, .doc = "Its name"));
static const struct stmt provider_names_stmt = { .name = "provider_names", .params = "s", .row = &provider_name_schema, .card = CARD_MANY, .sql =
    "SELECT provider_id, name FROM provider_names($1)" };

const struct stmt *const identity_provider_stmts[] = { &provider_insert, &provider_get_stmt, &provider_list_stmt, &provider_update, &provider_remove,
                                                       &provider_sealed, &provider_find_stmt, &provider_names_stmt, NULL };

static void place_of(struct work *w, struct str zone, struct uuid provider_id, struct blob_head *head, struct aad *aad)
{
    *head = (struct blob_head){ .zone = zone_tag(zone), .tenant = w->tenant_id, .version = 1 };
    aad_init(aad, "falaj-client-secret-v1");
    aad_str(aad, zone);
    aad_uuid(aad, w->tenant_id);
    aad_uuid(aad, provider_id);
}

static enum errc seal(struct work *w, struct uuid provider_id, struct str secret, struct str *ret, struct str *ret_zone, struct err *e)
{
    CLEANUP(secret32_wipe) struct secret32 key;
    struct blob_head head;
    struct aad aad;
    size_t n, cap = secret.len + BLOB_OVERHEAD;
    struct str zone = local_auth_zone(w->app->auth);
    uint8_t *sealed = arena_alloc(w->arena, cap);
    TRY(local_auth_key(w, zone, "falaj-oidc-v1", w->tenant_id, &key, e));
    place_of(w, zone, provider_id, &head, &aad);
    TRY(blob_seal(&key, &head, &aad, secret.ptr, secret.len, sealed, cap, &n, e));
    *ret = str_n((char *)sealed, n);
    *ret_zone = zone;
    return ERR_OK;
}

enum errc provider_secret(struct work *w, struct uuid provider_id, struct str *ret, struct err *e)
{
    CLEANUP(secret32_wipe) struct secret32 key;
    struct sealed_row row;
    struct blob_head head;
    struct aad aad;
    size_t n;
    *ret = STR_NULL;
    TRY(db_one(w->tx, &provider_sealed, ARGS(A_UUID(w->tenant_id), A_UUID(provider_id)), &row, e));
    if (!row.sealed.data.ptr)
        return ERR_OK;
    char *plain = arena_alloc(w->arena, CLIENT_SECRET_MAX);
    TRY(local_auth_key(w, row.zone, "falaj-oidc-v1", w->tenant_id, &key, e));
    place_of(w, row.zone, provider_id, &head, &aad);
    TRY(blob_open(&key, &head, &aad, row.sealed.data.ptr, row.sealed.data.len, plain, CLIENT_SECRET_MAX, &n, e));
    *ret = str_n(plain, n);
    return ERR_OK;
}

/* Who controls a provider controls who is in its groups: their roles are credentials in the maker's hands. */
static enum errc check_group_role(struct work *w, struct str wire, struct err *e)
{
    int r = role_by_wire(wire);
    if (r < 0 || !role_fits((enum role)r, uuid_is_nil(w->tenant_id)))
        return FAIL_AT(e, UNPROCESSABLE, "/group_roles", "The role %.*s cannot be granted here", STR_ARG(wire));
    return credential_for_role(w, (enum role)r, e);
}

static enum errc roles_text(struct work *w, struct slice list, struct str *ret, struct err *e)
{
    const struct group_role *g = list.items;
    CLEANUP(buf_releasep) struct buf b = BUF(256 << 10);
    buf_add_char(&b, '[');
    for (size_t i = 0; i < list.n; i++) {
        TRY(check_group_role(w, g[i].role, e));
        buf_add_c(&b, i ? ",{\"group\":" : "{\"group\":");
        buf_add_json(&b, g[i].group);
        buf_add_c(&b, ",\"role\":");
        buf_add_json(&b, g[i].role);
        buf_add_char(&b, '}');
    }
    buf_add_char(&b, ']');
    *ret = str_dup(w->arena, buf_str(&b));
    return ERR_OK;
}

enum errc provider_create(struct work *w, const struct provider_new *in, struct identity_provider *ret, struct err *e)
{
    struct uuid id = uuid_v7(w->now_us);
    struct str roles, sealed = STR_NULL, zone = STR_NULL;
    bool has_openid = false;
    for (size_t i = 0; i < in->scopes.n; i++)
        has_openid |= str_eq_c(((struct str *)in->scopes.items)[i], "openid");
    if (!has_openid)
        return FAIL_AT(e, INVALID, "/scopes", "must have openid");
    TRY(outside_url_check(w->app->config, in->issuer, "/issuer", e));
    if (str_find(in->issuer, '?') >= 0)
        return FAIL_AT(e, INVALID, "/issuer", "must be a URL without a query");
    TRY(roles_text(w, in->group_roles, &roles, e));
    if (in->client_secret.ptr)
        TRY(seal(w, id, in->client_secret, &sealed, &zone, e));
    enum errc rc = db_one(w->tx, &provider_insert, ARGS(A_UUID(w->tenant_id), A_UUID(id), A_STR(in->name), A_STR(in->issuer), A_STR(in->client_id),
                          A_STR(in->name_claim), A_STRS(in->scopes.items, in->scopes.n), A_STR(in->groups_claim), A_TEXT("ACTIVE"), A_JSON(roles),
                          A_STRS(in->mfa_values.items, in->mfa_values.n), A_BOOL(in->create_users), A_UUID(w->principal->user_id),
                          A_BYTES(sealed.ptr, sealed.len), A_STR(zone)), ret, e);
    return rc == ERR_EXISTS ? FAIL_AT(e, EXISTS, "/name", "A provider with that name already exists") : rc;
}

enum errc provider_get(struct work *w, struct uuid provider_id, struct identity_provider *ret, struct err *e)
{
    return db_one(w->tx, &provider_get_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(provider_id)), ret, e);
}

enum errc provider_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &provider_list_stmt, ARGS(A_UUID(w->tenant_id), A_UUID_OR_NULL(position), A_I64(limit)), ret, (size_t)limit, e);
}

enum errc provider_set(struct work *w, struct uuid provider_id, const struct provider_change *in, int64_t if_match, struct identity_provider *ret,
                       struct err *e)
{
    struct str roles = STR_NULL, sealed = STR_NULL, zone = STR_NULL;
    int64_t changed;
    if (in->has_group_roles)
        TRY(roles_text(w, in->group_roles, &roles, e));
    if (in->client_secret.ptr)
        TRY(seal(w, provider_id, in->client_secret, &sealed, &zone, e));
    TRY(db_exec(w->tx, &provider_update, ARGS(A_UUID(w->tenant_id), A_UUID(provider_id), A_I64(if_match), A_STR(in->client_id), A_JSON(roles),
                in->has_create_users ? A_BOOL(in->create_users) : A_NULL('b'), A_TEXT(in->state), A_BYTES(sealed.ptr, sealed.len), A_STR(zone),
                A_UUID(w->principal->user_id)), &changed, e));
    TRY(provider_get(w, provider_id, ret, e));
    return changed ? ERR_OK : FAIL(e, PRECONDITION, "The provider has changed since you read it");
}

enum errc provider_delete(struct work *w, struct uuid provider_id, struct err *e)
{
    return db_exec(w->tx, &provider_remove, ARGS(A_UUID(w->tenant_id), A_UUID(provider_id)), NULL, e);
}

enum errc provider_find(struct work *w, struct str tenant, struct str provider, struct provider_place *ret, bool *ret_found, struct err *e)
{
    TRY(db_maybe(w->tx, &provider_find_stmt, ARGS(A_STR(tenant), A_STR(provider)), ret, ret_found, e));
    *ret_found = *ret_found && str_eq_c(ret->tenant_state, "ACTIVE");
    return ERR_OK;
}

enum errc provider_names(struct work *w, struct str tenant, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &provider_names_stmt, ARGS(A_STR(tenant)), ret, PROVIDERS_SHOWN, e);
}
