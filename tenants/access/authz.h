/* SPDX-License-Identifier: Apache-2.0 */
/* authz.h - may this principal do that, here and now? Pure: the matrix of permissions.def, the principal's bindings and the context.
 *
 * Deny by default. A decision explains itself: `rule` names the role that allowed ("role:ml-engineer") or what is missing
 * ("missing:job:submit", "scope:job:submit" when a role has it and the token's scopes do not, "condition:mfa" when a role has it under a
 * condition that is not true now).
 * Cost: what no condition and no place limits is one AND of two sets; only the rest walks the bindings, of which a principal has at most
 * BINDINGS_MAX (principal_load.h).
 * A principal without bindings (a worker) holds its permissions everywhere. */
#pragma once
#include "core/base/work.h"
#include "tenants/access/principal.h"

struct perm_row { const char *name, *wire, *doc; int roles, places; };
struct role_row { const char *name, *wire, *doc; enum role_place place; };

const struct perm_row *perm_row(enum permission p);
const struct role_row *role_row(enum role r);
enum permission perm_by_wire(struct str wire);      /* PERM_NONE: no such */
int role_by_wire(struct str wire);                  /* -1: no such */
perm_set role_permissions(enum role r);
perm_set roles_permissions(uint32_t roles);

/* What a use of a permission is judged by, besides who asks. */
struct authz_context {
    int64_t now_us;
    struct str source_ip;           /* STR_NULL: not known; passes no condition on addresses */
    struct str zone;                /* of what is acted on; STR_NULL: not known; passes no zone binding and no condition on zones */
    struct uuid project_id;         /* of what is acted on; nil: not known yet; row-level security then shows the granted projects only */
    bool zone_later;                /* the zone is judged by a second call, once the request is read */
};

struct decision {
    bool allowed;
    bool in_projects;               /* allowed in some projects only: authz_projects says which */
    bool zone_later;                /* allowed so far; ask again with the zone */
    bool needs_mfa;                 /* denied, and a fresh second factor is all that is missing */
    char rule[80];
};
struct decision authz_decide(const struct principal *p, enum permission perm, const struct authz_context *ctx);
/* The projects in which `perm` is allowed now (struct uuid), when it is allowed in projects only. */
struct slice authz_projects(const struct principal *p, enum permission perm, const struct authz_context *ctx, struct arena *a);
/* For services: judged by the time and the address of the unit of work. */
struct decision authz_work(const struct work *w, enum permission perm);
/* The same with the zone of what is acted on. FORBIDDEN naming the permission, or MFA_REQUIRED. */
enum errc authz_require_zone(const struct work *w, enum permission perm, struct str zone, struct err *e) MUST_CHECK;
/* How a denial is told: FORBIDDEN with the permission, or what condition failed, or MFA_REQUIRED. */
enum errc authz_refuse(const struct decision *d, enum permission perm, struct err *e);

/* Why a binding gives a permission, or does not. */
enum binding_verdict {
    BINDING_APPLIES,
    BINDING_APPLIES_IN_PROJECT,     /* in its project, which the context does not name */
    BINDING_LACKS,                  /* the role does not have the permission, or not at this place */
    BINDING_NOT_YET,
    BINDING_ENDED,
    BINDING_MFA,
    BINDING_ADDRESS,
    BINDING_ZONE,
    BINDING_ZONE_UNKNOWN,
    BINDING_PROJECT,
    BINDING_VERDICT_COUNT
};
extern const char *const binding_verdict_names[];       /* "applies", …, NULL-ended */
enum binding_verdict binding_judge(const struct binding *b, enum permission perm, int64_t mfa_us, const struct authz_context *ctx);
/* What a binding can give at all: of a role bound at a zone only what is done to the zone's machines and keys, of one bound at a
 * project only what is done to things that belong to projects. */
perm_set binding_permissions(const struct binding *b);
/* The part of it that needs neither zone nor project. */
perm_set binding_always(const struct binding *b);

/* May the granter give away the binding `wanted`? Only what it holds itself, at that place, now, and not for longer or for more zones
 * than it holds it. *ret_missing: the first permission that it does not hold so. */
bool authz_may_grant(const struct principal *granter, const struct binding *wanted, const struct authz_context *ctx,
                     enum permission *ret_missing);
/* May the maker hold a credential of someone who has the binding `wanted`? Only with all that it gives, held as above. The exceptions for
 * appointing officers and operators do not count here: who appoints does not act for whom it appoints. */
bool authz_may_act_as(const struct principal *maker, const struct binding *wanted, const struct authz_context *ctx,
                      enum permission *ret_missing);
/* A role is bound where roles.def says. */
bool role_fits(enum role r, bool is_platform);
bool role_fits_place(enum role r, enum binding_place place, bool is_platform);
/* compliance-officer excludes every other role. */
bool roles_are_separate(uint32_t roles);

/* docs/gen/permissions.md */
void authz_print_markdown(struct buf *out);
