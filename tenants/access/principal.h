/* SPDX-License-Identifier: Apache-2.0 */
/* principal.h - who is calling, and what they may do, as one immutable value.
 *
 * Made by principal_make (principal_load.h) from a token, a session or an outside JWT, or by the worker listener from a certificate;
 * shared by reference count between requests, never changed. A principal belongs to exactly one tenant; platform staff to the
 * platform's own (nil id).
 *
 * Two sets say what it may do, both already cut to what the token's scopes allow: `permissions` is what it may do somewhere, at some
 * time, from some place; `always` is the part that no condition and no place limits. What is in the first and not in the second is
 * judged at every use, by its bindings (authz.h). Never ask the sets for a permission: ask authz_decide. */
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
#define PERM(name, ...) PERM_##name,
#include "tenants/access/permissions.def"
#undef PERM
    PERM_COUNT
};

enum role {
#define ROLE(name, ...) ROLE_##name,
#include "tenants/access/roles.def"
#undef ROLE
    ROLE_COUNT
};

enum role_place { ROLE_AT_PLATFORM = 1, ROLE_AT_TENANT = 2, ROLE_AT_BOTH = 3, ROLE_AT_WORKER = 4 };

/* Where a binding holds: the whole platform (and what it may do in tenants), the machines and keys of one zone, a tenant, a project. */
enum binding_place { BOUND_PLATFORM, BOUND_ZONE, BOUND_TENANT, BOUND_PROJECT };

/* A role as it is held: at a place, under conditions that must all be true at the moment of use. */
struct binding {
    struct uuid binding_id;
    enum role role;
    enum binding_place place;
    struct str zone;                /* BOUND_ZONE */
    struct uuid project_id;         /* BOUND_PROJECT */
    int64_t valid_from_us, valid_until_us;      /* 0: open */
    int64_t mfa_age_s;              /* 0: none asked; else the second factor is at most so old */
    struct slice cidrs;             /* struct cidr; empty: from anywhere */
    struct slice in_zones;          /* struct str; empty: on resources of every zone */
};
static inline bool binding_is_conditional(const struct binding *b)
{
    return b->valid_from_us || b->valid_until_us || b->mfa_age_s || b->cidrs.n || b->in_zones.n;
}

/* bit p: enum permission p */
__extension__ typedef unsigned __int128 perm_set;
#define PERM_BIT(p) ((perm_set)1 << (p))
_Static_assert(PERM_COUNT <= 128, "permissions are a 128-bit set");

/* How the caller proved who it is. */
enum auth_method { AUTH_TOKEN, AUTH_SESSION, AUTH_JWT, AUTH_CERTIFICATE };
/* How far a sign-in has come: done; the code is still missing; a second factor must be set up first. */
enum auth_stage { STAGE_FULL, STAGE_CODE, STAGE_ENROL };

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
    struct uuid token_id;           /* AUTH_TOKEN; AUTH_JWT: the issuer, iss_… */
    int64_t expires_us;
    int64_t authz_rev;
    uint32_t roles;                 /* bit r: enum role r */
    perm_set permissions;           /* at most, whatever the conditions */
    perm_set always;                /* in spite of all conditions and everywhere in the tenant */
    perm_set scopes;                /* ceiling of the token; all bits: none */
    struct slice bindings;          /* struct binding; empty for workers */
    struct slice projects;          /* struct uuid: all that this principal holds roles in, when it holds none anywhere else; else empty */
    enum auth_method method;
    struct uuid session_id;         /* AUTH_SESSION */
    enum auth_stage stage;          /* AUTH_SESSION; before STAGE_FULL there are no permissions */
    int64_t login_us;               /* AUTH_SESSION: when a password or an identity provider last vouched */
    int64_t mfa_us;                 /* when a second factor was last proved; 0: never */
    bool is_break_glass;
    struct slice token_cidrs;       /* struct cidr: where the token may be used from; empty: anywhere */
    struct slice token_zones;       /* struct str: what the token limits allowed_zones to; empty: nothing */
    struct arena *arena;            /* holds the strings */
};

struct principal *principal_new(void);
struct principal *principal_ref(struct principal *p);
void principal_unref(struct principal *p);          /* NULL is fine */

static inline bool principal_is_platform(const struct principal *p) { return uuid_is_nil(p->tenant_id); }
bool principal_zone_allowed(const struct principal *p, struct str zone);
