/* SPDX-License-Identifier: Apache-2.0 */
/* principal.h - who is calling, and what they may do, as one immutable value.
 *
 * Made by authn from a token (or by the worker listener from a certificate), shared by reference count between requests, never
 * changed. `permissions` is already the intersection of what the roles grant and what the token's scopes allow.
 * A principal belongs to exactly one tenant; platform staff to the platform's own (nil id). */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include "core/base/id.h"
#include "core/base/str.h"
#include "core/table/schema.h"

enum permission {
    PERM_NONE,              /* a row that forgot its permission: falaj-api refuses to start */
    PERM_PUBLIC,            /* anybody */
    PERM_SIGNED_IN,         /* anybody who is known */
#define PERM(name, wire, doc) PERM_##name,
#include "tenants/permissions.def"
#undef PERM
    PERM_COUNT
};

enum role {
#define ROLE(name, wire, where, doc) ROLE_##name,
#define GRANT(role, perm)
#include "tenants/roles.def"
#undef ROLE
#undef GRANT
    ROLE_COUNT
};

enum role_place { ROLE_AT_PLATFORM = 1, ROLE_AT_TENANT = 2, ROLE_AT_BOTH = 3, ROLE_AT_WORKER = 4 };

/* bit p: enum permission p */
__extension__ typedef unsigned __int128 perm_set;
#define PERM_BIT(p) ((perm_set)1 << (p))
_Static_assert(PERM_COUNT <= 128, "permissions are a 128-bit set");

/* How the caller proved who it is. */
enum auth_method { AUTH_TOKEN, AUTH_SESSION, AUTH_JWT, AUTH_CERTIFICATE };

struct principal {
    _Atomic int refs;
    bool is_worker;
    struct uuid user_id;            /* workers: the node's id once registered */
    struct str name;
    struct uuid tenant_id;
    struct str tenant_name;
    struct str tenant_state;
    struct str home_zone;
    struct slice allowed_zones;     /* struct str */
    struct uuid token_id;
    int64_t expires_us;
    int64_t authz_rev;
    uint32_t roles;                 /* bit r: enum role r */
    perm_set permissions;
    enum auth_method method;
    struct uuid session_id;         /* AUTH_SESSION */
    int64_t mfa_us;                 /* when a second factor was last proved; 0: never */
    bool is_break_glass;
    struct arena *arena;            /* holds the strings */
};

struct principal *principal_new(void);
struct principal *principal_ref(struct principal *p);
void principal_unref(struct principal *p);          /* NULL is fine */

static inline bool principal_is_platform(const struct principal *p) { return uuid_is_nil(p->tenant_id); }
bool principal_zone_allowed(const struct principal *p, struct str zone);
