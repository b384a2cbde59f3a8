/* SPDX-License-Identifier: Apache-2.0 */
/* principal_load.h - from what the database says of a user to a principal: the one way for tokens, sessions and outside JWTs.
 *
 * Whoever authenticates ends with a principal_row: the SQL function authn_principal(tenant, user) returns its columns, and a look-up of
 * its own (a token by its hash, a session by its cookie) joins on that function and has the row as a member:
 *
 *     struct token_row { struct principal_row who; struct uuid token_id; … };
 *     SCHEMA_OF(token_row, "…", PRINCIPAL_ROW_FIELDS(token_row, who), FIELD(token_row, token_id, 0, …));
 *     "SELECT " PRINCIPAL_ROW_COLUMNS ", token_id, … FROM authn_token($1)"
 *
 * Calling order: principal_check (user and tenant are active) -> principal_make -> the caller adds what only it knows (token_id,
 * session_id, expires_us, mfa_us), before anybody else sees the principal.
 * Rules applied here, whoever wrote the rows: a role at a place where it does not fit gives nothing; the compliance officer's role
 * silences every other one; an unknown role gives nothing; at most BINDINGS_MAX bindings count.
 * Errors: UNAUTHENTICATED (user disabled), TENANT_SUSPENDED, INTERNAL (the row cannot be read). */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"
#include "tenants/access/principal.h"

struct db_tx;
struct stmt;

enum { BINDINGS_MAX = 256, BINDING_LIST_MAX = 16 };

struct principal_row {
    struct uuid tenant_id, user_id;
    struct str tenant_name, tenant_state, home_zone, user_name, user_kind, user_state;
    struct json allowed_zones, bindings;
    int64_t authz_rev;
};
#define PRINCIPAL_ROW_FIELDS(T, m)                                                                                                   \
    FIELD_AS(T, m.tenant_id, "tenant_id", 0, .doc = "Tenant"), FIELD_AS(T, m.user_id, "user_id", 0, .doc = "User"),                  \
    FIELD_AS(T, m.tenant_name, "tenant_name", 0, .doc = "Tenant's name"),                                                            \
    FIELD_AS(T, m.tenant_state, "tenant_state", 0, .doc = "Tenant's state"), FIELD_AS(T, m.home_zone, "home_zone", 0, .doc = "Home"), \
    FIELD_AS(T, m.user_name, "user_name", 0, .doc = "User's name"), FIELD_AS(T, m.user_kind, "user_kind", 0, .doc = "User's kind"),  \
    FIELD_AS(T, m.user_state, "user_state", 0, .doc = "User's state"),                                                               \
    FIELD_AS(T, m.allowed_zones, "allowed_zones", 0, .doc = "Zones"), FIELD_AS(T, m.bindings, "bindings", 0, .doc = "Role bindings"), \
    FIELD_AS(T, m.authz_rev, "authz_rev", 0, .doc = "Revision of the tenant's grants")
#define PRINCIPAL_ROW_COLUMNS                                                                                                        \
    "tenant_id, user_id, tenant_name, tenant_state, home_zone, user_name, user_kind, user_state, to_jsonb(allowed_zones) AS "        \
    "allowed_zones, bindings, authz_rev"

/* By user: for who has proved itself by other means than a token of ours. NOT_FOUND: no such user. */
enum errc principal_find(struct db_tx *tx, struct uuid tenant_id, struct uuid user_id, struct principal_row *ret, struct err *e) MUST_CHECK;
enum errc principal_check(const struct principal_row *row, struct err *e) MUST_CHECK;
/* scopes: struct str, wire names of permissions; none: no ceiling. tmp: for the time of the call. *ret: referenced, expires never. */
enum errc principal_make(const struct principal_row *row, enum auth_method method, struct slice scopes, struct arena *tmp,
                         struct principal **ret, struct err *e) MUST_CHECK;
/* The text of a jsonb array of bindings (as authn_principal makes it) to struct binding, unknown roles left out. */
enum errc bindings_read(struct json text, struct arena *a, struct slice *ret, struct err *e) MUST_CHECK;
/* Sets roles, permissions, always and projects from p->bindings and p->scopes by the rules above. */
void principal_settle(struct principal *p);
/* ["a","b"] without escapes, to struct str. */
struct slice string_array(struct arena *a, struct str json);

extern const struct stmt *const principal_stmts[];
