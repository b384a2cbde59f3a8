/* SPDX-License-Identifier: Apache-2.0 */
/* user_group.h - groups of people, and the role that a group gives to its members in the whole tenant.
 *
 * A provider says by SCIM who is in a group (scim_group.h); which role that means only somebody says who holds all of that role's
 * permissions (group_role_set). The bindings of members have the source 'scim' and follow
 * ('group' are those of a sign-on provider's claims, which only that follows): into the group, the role is there; out of
 * it, or the mapping gone, it is taken back, unless another group gives it too. What was granted directly is not touched.
 * A change that would leave a person with the compliance officer's role and another, or the tenant without an administrator, is refused.
 * Errors: NOT_FOUND, INVALID (role), FORBIDDEN (names the missing permission), UNPROCESSABLE, CONFLICT. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

struct user_group {
    struct uuid group_id;
    struct str name, external_id, role;
    struct uuid role_set_by;
    int64_t members, version;
    struct timestamp created_at, updated_at;
};
extern const struct schema user_group_schema;

enum errc user_group_get(struct work *w, struct uuid group_id, struct user_group *ret, struct err *e) MUST_CHECK;
enum errc user_group_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;
/* role STR_NULL: none any more. version -1: any. */
enum errc group_role_set(struct work *w, struct uuid group_id, struct str role, int64_t version, struct user_group *ret, struct err *e) MUST_CHECK;
/* Brings the bindings of these users (struct uuid) into line with their groups. After a change of members, in the same transaction, which
 * has called binding_lock. */
enum errc group_bindings_follow(struct work *w, struct slice users, struct err *e) MUST_CHECK;

extern const struct stmt *const user_group_stmts[];
