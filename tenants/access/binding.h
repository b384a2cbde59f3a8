/* SPDX-License-Identifier: Apache-2.0 */
/* binding.h - roles given to users: at a place, under conditions, never beyond what the granter holds there.
 *
 * Rules, checked at the grant and again at every use (principal_load.h, authz.h): nobody grants what they do not hold, wider, longer or
 * elsewhere than they hold it; a role fits its place; the compliance officer's role stands alone; the last unconditional administrator
 * keeps the role. Grants of one tenant wait for each other (the tenant's row is locked first), so what is read stays true to the commit.
 * A role that decides for others takes two people: elsewhere than in an appointment (appointment.h) it is refused with
 * SEPARATION.
 * Who appoints an officer or operator does not hold that role; the tokens, hand-made links and mapped subjects of the appointed user end with the grant, because the appointing
 * administrator may have made them before, and would act as the officer with them.
 * Errors: INVALID, UNPROCESSABLE (no such role, place or zone), FORBIDDEN (names the missing permission), CONFLICT (separation, last
 * administrator, user not active), EXISTS, NOT_FOUND (user, project, binding), LIMIT. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

struct role_binding {
    struct uuid binding_id, user_id;
    struct str role, place, zone;
    struct uuid project_id;
    struct timestamp valid_from, valid_until;
    int64_t mfa_age_seconds;
    struct json cidrs, in_zones;
    struct str source;
    struct uuid created_by;
    struct timestamp created_at;
};
extern const struct schema role_binding_schema;

extern const char *const binding_place_names[];         /* of enum binding_place, NULL-ended */

struct binding_new {
    struct uuid user_id;
    struct str role;
    int place;                      /* enum binding_place */
    bool has_place;                 /* false: by what else is given: a zone, a project, else the whole tenant or platform */
    struct str zone;
    struct uuid project_id;
    struct timestamp valid_from, valid_until;
    int64_t mfa_age_seconds;        /* 0: none */
    struct slice cidrs, in_zones;   /* struct str */
    struct str source;              /* STR_NULL: direct */
    bool is_appointed;              /* two people appoint (appointment.h) */
    bool is_own_program;            /* user_id is a service account that the caller is making */
};

/* INVALID at `pointer`: that there is no such role, and which there are for people and programs of where the work is. */
enum errc role_unknown(const struct work *w, const char *pointer, struct str name, struct err *e) MUST_CHECK;
/* All of the granter's part of binding_grant, and nothing is written. */
enum errc binding_check(struct work *w, const struct binding_new *in, struct err *e) MUST_CHECK;
enum errc binding_grant(struct work *w, const struct binding_new *in, struct role_binding *ret, struct err *e) MUST_CHECK;
enum errc role_revoke(struct work *w, struct uuid binding_id, struct err *e) MUST_CHECK;
/* The whole tenant or platform, without conditions. */
enum errc role_grant(struct work *w, struct uuid user_id, struct str role, struct role_binding *ret, struct err *e) MUST_CHECK;
/* CONFLICT when no unconditional, active administrator is left. After a change, in the same transaction. */
enum errc binding_check_last_admin(struct work *w, struct err *e) MUST_CHECK;
/* All changes of rights of a tenant begin with this: it locks them against each other and makes cached principals old. */
void binding_lock(struct work *w);

struct binding_filter {
    struct uuid user_id, project_id;
    struct str role, place, zone;   /* STR_NULL: any */
};
enum errc role_binding_list(struct work *w, const struct binding_filter *f, struct uuid position, int64_t limit, struct slice *ret,
                            struct err *e) MUST_CHECK;

extern const struct stmt *const binding_stmts[];
