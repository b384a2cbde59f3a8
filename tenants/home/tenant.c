/* SPDX-License-Identifier: Apache-2.0 */
/* tenant.c - creating a tenant crosses its own boundary once, in the definer function tenant_create. */
#include "tenants/home/tenant.h"
#include "core/db/tx.h"
#include "keys/client.h"
#include "tenants/access/actor.h"
#include "tenants/access/authz.h"
#include "core/db/list_find.h"
#include "tenants/home/zone.h"

#include <stdio.h>

enum { FIRST_TOKEN_DAYS = 30 };

SCHEMA_EXTERN(tenant, "An organisation on the platform",
    FIELD_ID(tenant, tenant_id, "tnt", F_ALWAYS, .doc = "The tenant"), FIELD(tenant, name, F_ALWAYS, .doc = "Short name"),
    SHOWN_NAME_FIELDS(tenant),
    FIELD(tenant, state, F_ALWAYS, .doc = "ACTIVE, SUSPENDED, DELETING or DELETED"),
    FIELD(tenant, state_reason, F_ALWAYS, .doc = "Why it is not active"),
    FIELD(tenant, delete_after, 0, .doc = "When it will be removed"),
    FIELD(tenant, home_zone, 0, .doc = "Where its data lives"),
    FIELD(tenant, allowed_zones, F_ALWAYS, .doc = "Where its data may be"),
    FIELD(tenant, version, 0, .doc = "Grows with every change"),
    FIELD(tenant, created_at, F_ALWAYS, .doc = "When it was created"));

#define TENANT_COLUMNS \
    "tenant_id, name, display_name, display_name_ar, state, home_zone, to_jsonb(allowed_zones) AS allowed_zones,\n" \
    "       state_reason, delete_after, version, created_at"

static const struct stmt tenant_create_stmt = { .name = "tenant_create", .params = "usssSususuuystyisuys", .card = CARD_NONE, .sql =
    "SELECT FROM tenant_create($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)" };
static const struct stmt tenant_get_stmt = { .name = "tenant_get", .params = "u", .row = &tenant_schema, .card = CARD_ONE, .sql =
    "SELECT " TENANT_COLUMNS " FROM tenant WHERE tenant_id = $1" };
static const struct stmt tenant_list_stmt = { .name = "tenant_list", .params = LIST_FIND_PARAMS, .row = &tenant_schema, .card = CARD_MANY, .sql =
    "SELECT " TENANT_COLUMNS " FROM " LIST_FIND("tenant") "  JOIN tenant ON tenant_id = found_id ORDER BY found_place" };

static const struct stmt tenant_rename_stmt = { .name = "tenant_rename", .params = "ussi", .row = &tenant_schema, .card = CARD_MAYBE,
                                               .sql =
    "UPDATE tenant SET display_name = coalesce($2, display_name), display_name_ar = coalesce($3, display_name_ar),\n"
    "       version = version + 1\n"
    " WHERE tenant_id = $1 AND home_zone IS NOT NULL AND state <> 'DELETED' AND ($4 = -1 OR version = $4)\n"
    " RETURNING " TENANT_COLUMNS };

const struct stmt *const tenant_stmts[] = { &tenant_create_stmt, &tenant_get_stmt, &tenant_list_stmt, &tenant_rename_stmt, NULL };

static enum errc check_zones(struct work *w, const struct tenant_new *in, struct slice *zones, struct err *e)
{
    struct zone z;
    *zones = in->allowed_zones;
    if (!zones->n) {
        struct str *one = ARENA_NEW(w->arena, struct str);
        *one = in->home_zone;
        *zones = (struct slice){ one, 1 };
    }
    bool has_home = false;
    for (size_t i = 0; i < zones->n; i++) {
        struct str code = ((struct str *)zones->items)[i];
        has_home |= str_eq(code, in->home_zone);
        if (zone_get(w, code, &z, e) != ERR_OK)
            return e->code == ERR_NOT_FOUND ? FAIL_AT(e, UNPROCESSABLE, "/allowed_zones", "There is no zone %.*s", STR_ARG(code)) : e->code;
    }
    return has_home ? ERR_OK : FAIL_AT(e, UNPROCESSABLE, "/home_zone", "The home zone must be one of the allowed zones");
}

enum errc tenant_create(struct work *w, const struct tenant_new *in, struct tenant_created *ret, struct err *e)
{
    struct slice zones;
    struct key_blob blob;
    struct keyd_health health;
    struct uuid tenant = uuid_v7(w->now_us), binding = uuid_v7(w->now_us), token_id = uuid_v7(w->now_us);
    uint8_t hash[32];
    TRY(check_zones(w, in, &zones, e));
    struct tkek_ref ref = { in->home_zone, tenant, STR(KEY_PURPOSE_DATA), 1 };
    TRY(keyd_health(w->app->keyd, in->home_zone, &health, e));
    TRY(keyd_tkek_new(w->app->keyd, &ref, &blob, e));
    ret->admin_user_id = uuid_v7(w->now_us);
    TRY(token_make("user", ret->admin_token, e));
    struct str token = str_c(ret->admin_token);
    token_hash(token, hash);

    struct audit_event ev = audit_event_by(w, w->principal, AUDIT_TENANT_CREATE);
    ev.tenant_id = tenant;
    ev.zone = in->home_zone;
    ev.resource_kind = STR("tenant");
    ev.resource_prefix = "tnt";
    ev.resource_id = tenant;
    struct audit_rows rows;
    TRY(audit_encode_many(w->arena, &ev, 1, &rows, e));

    struct str admin = in->admin_name.ptr ? in->admin_name : STR("admin");
    enum errc rc = db_exec(w->tx, &tenant_create_stmt, ARGS(A_UUID(tenant), A_STR(in->name),
        A_STR(in->display_name.ptr ? in->display_name : in->name), A_STR(in->home_zone), A_STRS(zones.items, zones.n), A_UUID(ret->admin_user_id),
        A_STR(admin), A_UUID(binding), A_TEXT(role_row(ROLE_TENANT_ADMIN)->wire), A_UUID(w->principal->user_id), A_UUID(token_id),
        A_BYTES(hash, 32), A_STR(str_fmt(w->arena, "flj_user_…%.*s", 4, token.ptr + token.len - 4)),
        A_TIME_US(w->now_us + FIRST_TOKEN_DAYS * INT64_C(86400000000)), A_BYTES(blob.b, blob.n), A_I64(tkek_root_version(&blob)),
        A_TEXT(health.provider), A_UUID(rows.event_ids[0]), A_BYTES(rows.bodies[0].ptr, rows.bodies[0].len),
        A_STR(in->display_name_ar.ptr ? in->display_name_ar : STR(""))), NULL, e);
    if (rc == ERR_EXISTS)
        return FAIL_AT(e, EXISTS, "/name", "Tenant %.*s already exists", STR_ARG(in->name));
    if (rc != ERR_OK)
        return rc;
    return tenant_get(w, tenant, &ret->tenant, e);
}

enum errc tenant_get(struct work *w, struct uuid tenant_id, struct tenant *ret, struct err *e)
{
    return db_one(w->tx, &tenant_get_stmt, ARGS(A_UUID(tenant_id)), ret, e);
}

enum errc tenant_rename(struct work *w, struct uuid tenant_id, const struct shown_name *names, int64_t version,
                        struct tenant *ret, struct err *e)
{
    struct tenant was;
    bool found;
    if (!uuid_eq(tenant_id, w->tenant_id))
        return FAIL(e, NOT_FOUND, "The tenant does not exist");
    TRY(db_maybe(w->tx, &tenant_rename_stmt, ARGS(A_UUID(tenant_id), A_STR(names->en), A_STR(names->ar), A_I64(version)), ret,
                 &found, e));
    if (found)
        return ERR_OK;
    TRY(tenant_get(w, tenant_id, &was, e));
    if (!was.home_zone.ptr || str_eq_c(was.state, "DELETED"))
        return FAIL(e, NOT_FOUND, "The tenant does not exist");
    return FAIL(e, PRECONDITION, "The tenant has changed since you read it");
}

enum errc tenant_list(struct work *w, const struct tenant_filter *f, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    struct list_find find = { .q = f->q, .sort = f->sort };
    list_find_by(&find, "name", f->name);
    list_find_by(&find, "state", f->state);
    return list_find(w, &tenant_list_stmt, &find, position, limit, ret, e);
}
