/* SPDX-License-Identifier: Apache-2.0 */
/* identity_provider.h - the OpenID providers at which people of a tenant sign in; Falaj is their client.
 *
 * The client's secret is sealed under a key of the tenant that is derived from the zone's sign-in secret (tenants/identity/local_auth.h), for the
 * reason given there: a tenant whose data keys are disabled must still let in the people who can undo that. It is never shown again.
 * Groups give roles, at most those that who set the provider up last (set_by) holds at the moment of the login.
 * Acts on w->tenant_id. Memory: w->arena. Errors: EXISTS (name), INVALID, FORBIDDEN (roles), NOT_FOUND, PRECONDITION, SEALED. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

enum { CLIENT_SECRET_MAX = 1024 };

struct group_role { struct str group, role; };
extern const struct schema group_role_schema;

struct identity_provider {
    struct uuid provider_id;
    struct str name, issuer, client_id;
    bool has_secret;
    struct json scopes;
    struct str name_claim, groups_claim;
    struct json group_roles, mfa_values;
    bool create_users;
    struct str state;
    int64_t version;
    struct uuid set_by;
    struct timestamp created_at;
};
extern const struct schema identity_provider_schema;

struct provider_new {
    struct str name, issuer, client_id, client_secret, name_claim, groups_claim;
    struct slice scopes, mfa_values;    /* struct str */
    struct slice group_roles;           /* struct group_role */
    bool create_users;
};
/* A change: what is absent stays. */
struct provider_change {
    struct str client_id, client_secret;
    bool has_group_roles, has_create_users, create_users;
    struct slice group_roles;
    const char *state;
};

enum errc provider_create(struct work *w, const struct provider_new *in, struct identity_provider *ret, struct err *e) MUST_CHECK;
enum errc provider_get(struct work *w, struct uuid provider_id, struct identity_provider *ret, struct err *e) MUST_CHECK;
enum errc provider_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;
enum errc provider_set(struct work *w, struct uuid provider_id, const struct provider_change *in, int64_t if_match, struct identity_provider *ret,
                       struct err *e) MUST_CHECK;
enum errc provider_delete(struct work *w, struct uuid provider_id, struct err *e) MUST_CHECK;

/* Its client's secret; STR_NULL: it has none. Wipe it. */
enum errc provider_secret(struct work *w, struct uuid provider_id, struct str *ret, struct err *e) MUST_CHECK;
/* The active provider of that name of the tenant of that name, which is active; in the platform's scope. found false: none. */
struct provider_place { struct uuid tenant_id; struct str tenant_state; struct uuid provider_id; };
enum errc provider_find(struct work *w, struct str tenant, struct str provider, struct provider_place *ret, bool *ret_found, struct err *e) MUST_CHECK;
/* Those that people of an active tenant may choose from, by name; struct provider_name. None where there is no such tenant. In the platform's scope. */
struct provider_name { struct uuid provider_id; struct str name; };
enum { PROVIDERS_SHOWN = 100 };
enum errc provider_names(struct work *w, struct str tenant, struct slice *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const identity_provider_stmts[];
