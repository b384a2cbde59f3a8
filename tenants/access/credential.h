/* SPDX-License-Identifier: Apache-2.0 */
/* credential.h - may the caller make a credential that acts as that user? One rule, asked by every way to make one.
 *
 * A credential is its user's power in the hands of whoever made it: a token, a link to a subject of an identity provider, a subject of an
 * outside issuer, a role that a provider's group gives. So its maker must hold all that it gives, at that place, now and for as long
 * (authz_may_act_as). The exceptions for appointing officers and operators (authz_may_grant) do not count: who appoints does not act for
 * whom it appoints.
 *
 * Calling order: inside the transaction that stores the credential, before it is stored. The tenant's rights are held still from then on
 * (the tenant's row, shared): what was read stays true until the commit. A role that is granted later ends what its granter could not
 * have made (binding.h).
 * Doors: api_token, oidc_user (links), issuer (subjects), identity_provider and user_group (roles of groups), binding (roles that a
 * provider's group gives at a sign-in). tests/lint/credentials.sh refuses a file that stores a credential and asks nobody.
 * Memory: w->arena. Errors: FORBIDDEN naming the missing permission, NOT_FOUND. */
#pragma once
#include "core/base/work.h"
#include "tenants/access/principal.h"

struct stmt;

/* Holds the tenant's rights still. credential_for_user does it by itself; a caller that locks a row of its own first calls this before, in
 * the order in which grants lock. */
void credential_hold_rights(struct work *w);
/* For a user that exists. Oneself is always allowed: the limits of the own token are judged where the new one is made. */
enum errc credential_for_user(struct work *w, struct uuid user_id, struct err *e) MUST_CHECK;
/* For whoever will hold the role in the whole tenant, or platform, through something that the caller controls. */
enum errc credential_for_role(const struct work *w, enum role role, struct err *e) MUST_CHECK;

extern const struct stmt *const credential_stmts[];
