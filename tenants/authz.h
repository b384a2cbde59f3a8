/* SPDX-License-Identifier: Apache-2.0 */
/* authz.h - may this principal do that? Pure: the matrix of roles.def and nothing else.
 *
 * Deny by default. A decision explains itself: `rule` names the role that allowed ("role:ml-engineer") or what is missing
 * ("missing:job:submit", "scope:job:submit" when a role has it and the token's scopes do not). */
#pragma once
#include "tenants/principal.h"

struct perm_row { const char *name, *wire, *doc; };
struct role_row { const char *name, *wire, *doc; enum role_place place; };

const struct perm_row *perm_row(enum permission p);
const struct role_row *role_row(enum role r);
enum permission perm_by_wire(struct str wire);      /* PERM_NONE: no such */
int role_by_wire(struct str wire);                  /* -1: no such */
perm_set role_permissions(enum role r);
perm_set roles_permissions(uint32_t roles);

struct decision {
    bool allowed;
    char rule[80];
};
struct decision authz_decide(const struct principal *p, enum permission perm);
/* May a holder of `granter` give away `role`? Only what it holds itself: role_permissions(role) within granter->permissions. */
bool authz_may_grant(const struct principal *granter, enum role role, enum permission *ret_missing);
/* A role is bound where roles.def says. */
bool role_fits(enum role r, bool is_platform);
/* compliance-officer excludes every other role. */
bool roles_are_separate(uint32_t roles);

/* docs/gen/permissions.md */
void authz_print_markdown(struct buf *out);
