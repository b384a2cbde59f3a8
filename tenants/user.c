/* SPDX-License-Identifier: Apache-2.0 */
/* user.c - users and role bindings. */
#include "tenants/user.h"
#include "core/db/tx.h"
#include "tenants/authz.h"

SCHEMA_EXTERN(app_user, "A person or a service account",
    FIELD_ID(app_user, user_id, "usr", 0, .doc = "The user"), FIELD(app_user, name, 0, .doc = "Name"),
    FIELD(app_user, kind, 0, .doc = "person or service"), FIELD(app_user, state, 0, .doc = "ACTIVE or DISABLED"),
    FIELD(app_user, roles, 0, .doc = "Roles held"), FIELD(app_user, version, 0, .doc = "Grows with every change"),
    FIELD(app_user, created_at, 0, .doc = "When"));

SCHEMA_EXTERN(role_binding, "A role that a user holds",
    FIELD_ID(role_binding, binding_id, "rlb", 0, .doc = "The binding"), FIELD_ID(role_binding, user_id, "usr", 0, .doc = "The user"),
    FIELD(role_binding, role, 0, .doc = "The role"), FIELD_ID(role_binding, created_by, "usr", 0, .doc = "Who granted it"),
    FIELD(role_binding, created_at, 0, .doc = "When"));

#define USER_COLUMNS                                                                                                      \
    "u.user_id, u.name, u.kind, u.state, (SELECT coalesce(jsonb_agg(b.role ORDER BY b.role), '[]') FROM role_binding b "  \
    "WHERE b.tenant_id = u.tenant_id AND b.user_id = u.user_id) AS roles, u.version, u.created_at"
#define BINDING_COLUMNS "binding_id, user_id, role, created_by, created_at"

static const struct stmt user_insert = { .name = "user_insert", .params = "uuss", .card = CARD_ONE, .sql =
    "INSERT INTO app_user (tenant_id, user_id, name, kind) VALUES ($1, $2, $3, $4)" };
static const struct stmt user_get_stmt = { .name = "user_get", .params = "uu", .row = &app_user_schema, .card = CARD_ONE, .sql =
    "SELECT " USER_COLUMNS " FROM app_user u WHERE u.tenant_id = $1 AND u.user_id = $2" };
static const struct stmt user_list_stmt = { .name = "user_list", .params = "uui", .row = &app_user_schema, .card = CARD_MANY, .sql =
    "SELECT " USER_COLUMNS " FROM app_user u WHERE u.tenant_id = $1 AND ($2::uuid IS NULL OR u.user_id < $2) ORDER BY u.user_id DESC LIMIT $3" };
static const struct stmt binding_insert = { .name = "binding_insert", .params = "uuusu", .row = &role_binding_schema, .card = CARD_ONE, .sql =
    "INSERT INTO role_binding (tenant_id, binding_id, user_id, role, created_by) VALUES ($1, $2, $3, $4, $5) RETURNING " BINDING_COLUMNS };
static const struct stmt binding_delete = { .name = "binding_delete", .params = "uu", .row = &role_binding_schema, .card = CARD_ONE, .sql =
    "DELETE FROM role_binding WHERE tenant_id = $1 AND binding_id = $2 RETURNING " BINDING_COLUMNS };
static const struct stmt binding_list = { .name = "binding_list", .params = "uui", .row = &role_binding_schema, .card = CARD_MANY, .sql =
    "SELECT " BINDING_COLUMNS " FROM role_binding\n"
    " WHERE tenant_id = $1 AND ($2::uuid IS NULL OR binding_id < $2) ORDER BY binding_id DESC LIMIT $3" };
struct held { struct str role; int64_t holders; };
SCHEMA_OF(held, "A role and how many hold it", FIELD(held, role, 0, .doc = "Role"), FIELD(held, holders, 0, .doc = "Holders"));
static const struct stmt binding_of_user = { .name = "binding_of_user", .params = "uu", .row = &held_schema, .card = CARD_MANY, .sql =
    "SELECT role, 1::bigint AS holders FROM role_binding WHERE tenant_id = $1 AND user_id = $2 LIMIT 16" };
static const struct stmt binding_holders = { .name = "binding_holders", .params = "us", .row = &held_schema, .card = CARD_ONE, .sql =
    "SELECT $2::text AS role, count(*) AS holders FROM role_binding WHERE tenant_id = $1 AND role = $2" };
static const struct stmt tenant_rev = { .name = "tenant_rev", .params = "u", .card = CARD_NONE, .sql =
    "UPDATE tenant SET authz_rev = authz_rev + 1 WHERE tenant_id = $1" };

const struct stmt *const user_stmts[] = { &user_insert, &user_get_stmt, &user_list_stmt, &binding_insert, &binding_delete, &binding_list,
                                          &binding_of_user, &binding_holders, &tenant_rev, NULL };

static enum errc check_grant(struct work *w, struct str role, enum role *ret, struct err *e)
{
    int r = role_by_wire(role);
    enum permission missing;
    if (r < 0)
        return FAIL_AT(e, INVALID, "/role", "There is no role %.*s", STR_ARG(role));
    if (!role_fits((enum role)r, uuid_is_nil(w->tenant_id)))
        return FAIL_AT(e, UNPROCESSABLE, "/role", "The role %s is not bound %s", role_row((enum role)r)->wire,
                       uuid_is_nil(w->tenant_id) ? "at the platform" : "in a tenant");
    struct binding wanted = { .role = (enum role)r, .place = uuid_is_nil(w->tenant_id) ? BOUND_PLATFORM : BOUND_TENANT };
    struct authz_context ctx = { .now_us = w->now_us, .source_ip = w->source_ip };
    if (!authz_may_grant(w->principal, &wanted, &ctx, &missing))
        return FAIL(e, FORBIDDEN, "Nobody grants what they do not hold: the role %s has %s", role_row((enum role)r)->wire, perm_row(missing)->wire);
    *ret = (enum role)r;
    return ERR_OK;
}

enum errc role_grant(struct work *w, struct uuid user_id, struct str role, struct role_binding *ret, struct err *e)
{
    enum role r;
    struct app_user u;
    struct slice held;
    TRY(check_grant(w, role, &r, e));
    /* The tenant's row first: grants of one tenant wait for each other, so what is read below stays true until the commit. */
    db_queue(w->tx, &tenant_rev, ARGS(A_UUID(w->tenant_id)), false);
    TRY(user_get(w, user_id, &u, e));
    TRY(db_many(w->tx, &binding_of_user, ARGS(A_UUID(w->tenant_id), A_UUID(user_id)), &held, 16, e));
    uint32_t roles = UINT32_C(1) << r;
    for (size_t i = 0; i < held.n; i++) {
        int h = role_by_wire(((struct held *)held.items)[i].role);
        roles |= h >= 0 ? UINT32_C(1) << h : 0;
    }
    if (!roles_are_separate(roles))
        return FAIL_AT(e, CONFLICT, "/role", "compliance-officer excludes every other role");
    enum errc rc = db_one(w->tx, &binding_insert, ARGS(A_UUID(w->tenant_id), A_UUID(uuid_v7(w->now_us)), A_UUID(user_id), A_STR(role),
                          A_UUID(w->principal->user_id)), ret, e);
    if (rc == ERR_EXISTS)
        return FAIL(e, EXISTS, "The user holds that role already");
    return rc;
}

enum errc role_revoke(struct work *w, struct uuid binding_id, struct err *e)
{
    struct role_binding b;
    struct held left;
    /* As in role_grant: two administrators who remove each other at once do it one after the other. */
    db_queue(w->tx, &tenant_rev, ARGS(A_UUID(w->tenant_id)), false);
    TRY(db_one(w->tx, &binding_delete, ARGS(A_UUID(w->tenant_id), A_UUID(binding_id)), &b, e));
    int r = role_by_wire(b.role);
    if (r == ROLE_TENANT_ADMIN || r == ROLE_PLATFORM_ADMIN) {
        TRY(db_one(w->tx, &binding_holders, ARGS(A_UUID(w->tenant_id), A_STR(b.role)), &left, e));
        if (left.holders == 0)
            return FAIL(e, CONFLICT, "The last %.*s cannot be removed", STR_ARG(b.role));
    }
    return ERR_OK;
}

enum errc role_binding_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &binding_list, ARGS(A_UUID(w->tenant_id), A_UUID_OR_NULL(position), A_I64(limit)), ret, (size_t)limit, e);
}

enum errc user_create(struct work *w, struct str name, struct str kind, struct slice roles, struct app_user *ret, struct err *e)
{
    struct uuid id = uuid_v7(w->now_us);
    struct role_binding b;
    enum errc rc = db_exec(w->tx, &user_insert, ARGS(A_UUID(w->tenant_id), A_UUID(id), A_STR(name), A_STR(kind)), NULL, e);
    if (rc == ERR_EXISTS)
        return FAIL_AT(e, EXISTS, "/name", "A user with that name exists");
    if (rc != ERR_OK)
        return rc;
    for (size_t i = 0; i < roles.n; i++)
        TRY(role_grant(w, id, ((struct str *)roles.items)[i], &b, e));
    return user_get(w, id, ret, e);
}

enum errc user_get(struct work *w, struct uuid user_id, struct app_user *ret, struct err *e)
{
    return db_one(w->tx, &user_get_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(user_id)), ret, e);
}

enum errc user_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &user_list_stmt, ARGS(A_UUID(w->tenant_id), A_UUID_OR_NULL(position), A_I64(limit)), ret, (size_t)limit, e);
}
