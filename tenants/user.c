/* SPDX-License-Identifier: Apache-2.0 */
/* user.c - users. A page goes on behind a user, whatever the order: the statement looks up where that user stands. */
#include "tenants/user.h"
#include "core/db/tx.h"

SCHEMA_EXTERN(app_user, "A person or a service account",
    FIELD_ID(app_user, user_id, "usr", 0, .doc = "The user"), FIELD(app_user, name, 0, .doc = "Name"),
    FIELD(app_user, kind, 0, .doc = "person or service"), FIELD(app_user, state, 0, .doc = "ACTIVE, DISABLED or DEACTIVATED"),
    FIELD(app_user, roles, 0, .doc = "Roles held, wherever"), FIELD(app_user, version, 0, .doc = "Grows with every change"),
    FIELD(app_user, created_at, 0, .doc = "When"),
    FIELD(app_user, last_seen_at, 0, .doc = "When a session or token of this user was last used, to within a minute; absent: never"),
    FIELD(app_user, has_second_factor, 0, .doc = "An authenticator app is set up here; a provider's own second factor is not known"));

const char *const list_sort_names[] = { "-created", "created", "name", "-name", NULL };

#define USER_COLUMNS                                                                                                               \
    "u.user_id, u.name, u.kind, u.state, (SELECT coalesce(jsonb_agg(DISTINCT b.role ORDER BY b.role), '[]') FROM role_binding b "  \
    "WHERE b.tenant_id = u.tenant_id AND b.user_id = u.user_id) AS roles, u.version, u.created_at,\n"                   \
    USER_SEEN_COLUMNS

static const struct stmt user_insert = { .name = "user_insert", .params = "uuss", .card = CARD_ONE, .sql =
    "INSERT INTO app_user (tenant_id, user_id, name, kind) VALUES ($1, $2, $3, $4)" };
static const struct stmt user_get_stmt = { .name = "user_get", .params = "uu", .row = &app_user_schema, .card = CARD_ONE, .sql =
    "SELECT " USER_COLUMNS " FROM app_user u WHERE u.tenant_id = $1 AND u.user_id = $2" };
static const struct stmt user_list_stmt = { .name = "user_list", .params = "uusssssi", .row = &app_user_schema, .card = CARD_MANY, .sql =
    "WITH last AS (SELECT name, user_id FROM app_user WHERE tenant_id = $1 AND user_id = $2)\n"
    "SELECT " USER_COLUMNS " FROM app_user u\n"
    " WHERE u.tenant_id = $1 AND ($3::text IS NULL OR starts_with(u.name, $3)) AND ($4::text IS NULL OR u.state = $4)\n"
    "   AND ($5::text IS NULL OR u.kind = $5)\n"
    "   AND ($6::text IS NULL OR EXISTS (SELECT FROM role_binding b WHERE b.tenant_id = u.tenant_id AND b.user_id = u.user_id AND b.role = $6))\n"
    "   AND ($2::uuid IS NULL OR CASE $7 WHEN 'name' THEN u.name > (SELECT name FROM last) WHEN '-name' THEN u.name < (SELECT name FROM last)\n"
    "        WHEN 'created' THEN u.user_id > $2 ELSE u.user_id < $2 END)\n"
    " ORDER BY CASE WHEN $7 = 'name' THEN u.name END, CASE WHEN $7 = '-name' THEN u.name END DESC, CASE WHEN $7 = 'created' THEN u.user_id END,\n"
    "          u.user_id DESC LIMIT $8" };
static const struct stmt user_update_stmt = { .name = "user_update", .params = "uussi", .row = &app_user_schema, .card = CARD_MAYBE, .sql =
    "UPDATE app_user u SET name = coalesce($3, u.name), state = coalesce($4, u.state), version = u.version + 1\n"
    " WHERE u.tenant_id = $1 AND u.user_id = $2 AND u.state <> 'DEACTIVATED' AND ($5 = -1 OR u.version = $5) RETURNING " USER_COLUMNS };
static const struct stmt user_deactivate_stmt = { .name = "user_deactivate", .params = "uu", .card = CARD_NONE, .sql =
    "UPDATE app_user SET state = 'DEACTIVATED', version = version + 1 WHERE tenant_id = $1 AND user_id = $2 AND state <> 'DEACTIVATED'" };
static const struct stmt user_unbind = { .name = "user_unbind", .params = "uu", .card = CARD_NONE, .sql =
    "DELETE FROM role_binding WHERE tenant_id = $1 AND user_id = $2" };
static const struct stmt user_end = { .name = "user_end_credentials", .params = "uu", .card = CARD_NONE, .sql =
    "SELECT FROM user_end_credentials($1, $2)" };

const struct stmt *const user_stmts[] = { &user_insert, &user_get_stmt, &user_list_stmt, &user_update_stmt, &user_deactivate_stmt, &user_unbind,
                                          &user_end, NULL };

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

enum errc user_list(struct work *w, const struct user_filter *f, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &user_list_stmt, ARGS(A_UUID(w->tenant_id), A_UUID_OR_NULL(position), A_STR(f->name), A_STR(f->state), A_STR(f->kind),
                   A_STR(f->role), A_STR(f->sort.ptr ? f->sort : STR("-created")), A_I64(limit)), ret, (size_t)limit, e);
}

enum errc user_update(struct work *w, struct uuid user_id, struct str name, struct str state, int64_t version, struct app_user *ret,
                      struct err *e)
{
    bool found;
    struct app_user was;
    binding_lock(w);
    TRY(user_get(w, user_id, &was, e));
    if (str_eq_c(was.state, "DEACTIVATED"))
        return FAIL(e, CONFLICT, "The user is deactivated for good");
    enum errc rc = db_maybe(w->tx, &user_update_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(user_id), A_STR(name), A_STR(state), A_I64(version)), ret,
                            &found, e);
    if (rc == ERR_EXISTS)
        return FAIL_AT(e, EXISTS, "/name", "A user with that name exists");
    if (rc != ERR_OK)
        return rc;
    if (!found)
        return FAIL(e, PRECONDITION, "The user has changed since you read it");
    if (str_eq_c(ret->state, "ACTIVE"))
        return ERR_OK;
    TRY(user_end_credentials(w, user_id, e));
    return binding_check_last_admin(w, e);
}

enum errc user_deactivate(struct work *w, struct uuid user_id, struct err *e)
{
    struct app_user was;
    binding_lock(w);
    TRY(user_get(w, user_id, &was, e));
    db_queue(w->tx, &user_unbind, ARGS(A_UUID(w->tenant_id), A_UUID(user_id)), false);
    db_queue(w->tx, &user_deactivate_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(user_id)), false);
    TRY(user_end_credentials(w, user_id, e));
    return binding_check_last_admin(w, e);
}

enum errc user_end_credentials(struct work *w, struct uuid user_id, struct err *e)
{
    return db_exec(w->tx, &user_end, ARGS(A_UUID(w->tenant_id), A_UUID(user_id)), NULL, e);
}
