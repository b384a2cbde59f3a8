/* SPDX-License-Identifier: Apache-2.0 */
/* user.h - people and service accounts of a tenant. Their roles are in binding.h.
 *
 *     ACTIVE <-> DISABLED, both -> DEACTIVATED for good: its roles are taken back and its credentials ended in the same transaction
 *
 * A user that is not ACTIVE is refused within 5 s whatever credential it shows (authn.h). The last administrator stays active.
 * Errors: EXISTS, NOT_FOUND, PRECONDITION (version), CONFLICT (last administrator; deactivated), and those of binding_grant. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"
#include "tenants/access/binding.h"

struct stmt;

struct app_user {
    struct uuid user_id;
    struct str name, kind, state;
    struct json roles;
    int64_t version;
    struct timestamp created_at, last_seen_at;
    bool has_second_factor;
};
extern const struct schema app_user_schema;

/* What is known of a user u by its credentials: columns of app_user_schema. A user has few live sessions, so the newest 50 are enough to
 * look at, and the work for a page of users stays bounded. */
#define USER_SEEN_COLUMNS                                                                                                            \
    "greatest((SELECT max(s.last_seen) FROM (SELECT i.last_seen FROM session i WHERE i.tenant_id = u.tenant_id AND i.user_id = u.user_id\n" \
    "    ORDER BY i.session_id DESC LIMIT 50) s),\n"                                                                                   \
    "  (SELECT max(k.last_used_at) FROM api_token k WHERE k.tenant_id = u.tenant_id AND k.user_id = u.user_id)) AS last_seen_at,\n"     \
    "  EXISTS (SELECT FROM totp o WHERE o.tenant_id = u.tenant_id AND o.user_id = u.user_id AND o.confirmed_at IS NOT NULL)"              \
    " AS has_second_factor"

struct user_filter {
    struct str name;                /* begins with; STR_NULL: any */
    struct str state, kind, role;   /* STR_NULL: any */
    struct str q, sort;             /* as in list_find.h */
};

/* roles: granted at once; one that takes two people is asked for in the caller's name (appointment.h). */
enum errc user_create(struct work *w, struct str name, struct str kind, struct slice roles, struct app_user *ret, struct err *e) MUST_CHECK;
enum errc user_get(struct work *w, struct uuid user_id, struct app_user *ret, struct err *e) MUST_CHECK;
/* position: the last user of the page before; nil: from the start. */
enum errc user_list(struct work *w, const struct user_filter *f, struct uuid position, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;
/* name or state STR_NULL: as it is. state: ACTIVE or DISABLED. version -1: any. */
enum errc user_update(struct work *w, struct uuid user_id, struct str name, struct str state, int64_t version, struct app_user *ret,
                      struct err *e) MUST_CHECK;
/* Twice is the same as once. */
enum errc user_deactivate(struct work *w, struct uuid user_id, struct err *e) MUST_CHECK;
/* Ends every credential of a user now: the SQL function user_end_credentials, which each kind of credential extends. */
enum errc user_end_credentials(struct work *w, struct uuid user_id, struct err *e) MUST_CHECK;

extern const struct stmt *const user_stmts[];
