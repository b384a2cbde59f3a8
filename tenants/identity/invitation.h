/* SPDX-License-Identifier: Apache-2.0 */
/* invitation.h - how a person comes into a tenant: a token, good once and for a while, for a name and roles that somebody chose.
 *
 * Nobody invites to what they could not grant, and what counts is the moment of acceptance: an inviter who has lost a role, is disabled
 * or gone gives nothing any more. The token is 178 random bits; its SHA-256 is kept.
 * Calling order: invitation_create … invitation_find (in the platform's scope) -> invitation_accept (in the tenant's).
 * Memory: w->arena. Errors: EXISTS (the name), FORBIDDEN (roles), NOT_FOUND; invitation_accept: NOT_FOUND for every token that is not good. */
#pragma once
#include "core/base/work.h"
#include "core/crypto/token.h"
#include "core/table/schema.h"
#include "tenants/identity/user.h"

struct stmt;

struct invitation {
    struct uuid invitation_id;
    struct str name, email_hint;
    struct json roles;
    struct str state;
    struct uuid created_by, user_id;
    struct timestamp created_at, expires_at;
};
extern const struct schema invitation_schema;

enum errc invitation_create(struct work *w, struct str name, struct str email_hint, struct slice roles, int64_t hours, struct invitation *ret,
                            char text[TOKEN_TEXT], struct err *e) MUST_CHECK;
enum errc invitation_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;
enum errc invitation_withdraw(struct work *w, struct uuid invitation_id, struct err *e) MUST_CHECK;
/* The tenant of a token that has the shape of one; nothing else is checked. */
enum errc invitation_find(struct work *w, struct str token, struct uuid *ret_tenant, struct err *e) MUST_CHECK;
/* Makes the user with its roles, granted by the inviter. w->principal is the inviter's afterwards and belongs to the caller. */
enum errc invitation_accept(struct work *w, struct str token, struct principal **ret_inviter, struct invitation *ret, struct app_user *ret_user,
                            struct err *e) MUST_CHECK;

extern const struct stmt *const invitation_stmts[];
