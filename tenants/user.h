/* SPDX-License-Identifier: Apache-2.0 */
/* user.h - people and service accounts of a tenant, and the roles they are given.
 *
 * Rules: nobody grants what they do not hold; a role fits its place (platform or tenant); the compliance officer's role stands
 * alone; the last administrator keeps the role. Errors: EXISTS, NOT_FOUND, FORBIDDEN (names the missing permission), CONFLICT. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

struct app_user {
    struct uuid user_id;
    struct str name, kind, state;
    struct json roles;
    int64_t version;
    struct timestamp created_at;
};
extern const struct schema app_user_schema;

struct role_binding {
    struct uuid binding_id, user_id;
    struct str role;
    struct uuid created_by;
    struct timestamp created_at;
};
extern const struct schema role_binding_schema;

enum errc user_create(struct work *w, struct str name, struct str kind, struct slice roles, struct app_user *ret, struct err *e) MUST_CHECK;
enum errc user_get(struct work *w, struct uuid user_id, struct app_user *ret, struct err *e) MUST_CHECK;
enum errc user_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;

enum errc role_grant(struct work *w, struct uuid user_id, struct str role, struct role_binding *ret, struct err *e) MUST_CHECK;
enum errc role_revoke(struct work *w, struct uuid binding_id, struct err *e) MUST_CHECK;
enum errc role_binding_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const user_stmts[];
