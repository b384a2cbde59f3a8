/* SPDX-License-Identifier: Apache-2.0 */
/* tenant.h - an organisation on the platform: its zones, its first administrator, its quotas and keys from the first moment.
 *
 * tenant_create makes all of it in one transaction, in the platform's scope, with the tenant's first audit event; the first
 * administrator's token is returned once and only its hash is kept. Needs the home zone's falaj-keyd: a tenant without a key is
 * never made. Errors: EXISTS (name), UNPROCESSABLE (unknown zone, home zone not allowed), UNAVAILABLE and SEALED (keys). */
#pragma once
#include "core/base/work.h"
#include "core/crypto/token.h"
#include "core/table/schema.h"
#include "tenants/home/shown_name.h"

struct stmt;

struct tenant {
    struct uuid tenant_id;
    struct str name;
    SHOWN_NAME;
    struct str state, home_zone;
    struct json allowed_zones;
    struct str state_reason;
    struct timestamp delete_after;      /* of a tenant that is being deleted */
    int64_t version;
    struct timestamp created_at;
};
extern const struct schema tenant_schema;

struct tenant_new {
    struct str name;
    SHOWN_NAME;                         /* display_name STR_NULL: as name; display_name_ar STR_NULL: none */
    struct str home_zone, admin_name;
    struct slice allowed_zones;         /* struct str; empty: the home zone */
};

struct tenant_created {
    struct tenant tenant;
    struct uuid admin_user_id;
    char admin_token[TOKEN_TEXT];
};

enum errc tenant_create(struct work *w, const struct tenant_new *in, struct tenant_created *ret, struct err *e) MUST_CHECK;
enum errc tenant_get(struct work *w, struct uuid tenant_id, struct tenant *ret, struct err *e) MUST_CHECK;
struct tenant_filter {
    struct str name, state;             /* name: begins with; STR_NULL: any */
    struct str q, sort;                 /* as in list_find.h; q: also of the names for people */
};
/* What w->tenant_id is called for people. version -1: any. Errors: NOT_FOUND (not w->tenant_id, or deleted), PRECONDITION. */
enum errc tenant_rename(struct work *w, struct uuid tenant_id, const struct shown_name *names, int64_t version,
                        struct tenant *ret, struct err *e) MUST_CHECK;
enum errc tenant_list(struct work *w, const struct tenant_filter *f, struct uuid position, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const tenant_stmts[];
