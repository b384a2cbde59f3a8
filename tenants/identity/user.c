/* SPDX-License-Identifier: Apache-2.0 */
/* user.c - users. */
#include "tenants/identity/user.h"
#include "core/db/tx.h"
#include "core/db/list_find.h"
#include "tenants/access/appointment.h"
#include "tenants/access/authz.h"

SCHEMA_EXTERN(app_user, "A person or a service account",
    FIELD_ID(app_user, user_id, "usr", F_ALWAYS, .doc = "The user"), FIELD(app_user, name, F_ALWAYS, .doc = "Name"),
    FIELD(app_user, kind, F_ALWAYS, .doc = "person or service"),
    FIELD(app_user, state, F_ALWAYS, .doc = "ACTIVE, DISABLED or DEACTIVATED"),
    FIELD(app_user, roles, 0, .doc = "Roles held, wherever"), FIELD(app_user, version, 0, .doc = "Grows with every change"),
    FIELD(app_user, created_at, F_ALWAYS, .doc = "When"),
    FIELD(app_user, last_seen_at, 0, .doc = "When a session or token of this user was last used, to within a minute; absent: never"),
    FIELD(app_user, has_second_factor, 0, .doc = "An authenticator app is set up here; a provider's own second factor is not known"));

#define USER_COLUMNS                                                                                                               \
    "u.user_id, u.name, u.kind, u.state, (SELECT coalesce(jsonb_agg(DISTINCT b.role ORDER BY b.role), '[]') FROM role_binding b "  \
        ""  \
    "WHERE b.tenant_id = u.tenant_id AND b.user_id = u.user_id) AS roles, u.version, u.created_at,\n"                   \
    USER_SEEN_COLUMNS

static const struct stmt user_insert = { .name = "user_insert", .params = "uussu", .card = CARD_ONE, .sql =
    "INSERT INTO app_user (tenant_id, user_id, name, kind, created_by) VALUES ($1, $2, $3, $4, $5)" };
static const struct stmt user_get_stmt = { .name = "user_get", .params = "uu", .row = &app_user_schema, .card = CARD_ONE, .sql =
    "SELECT " USER_COLUMNS " FROM app_user u WHERE u.tenant_id = $1 AND u.user_id = $2" };
static const struct stmt user_list_stmt = { .name = "user_list", .params = LIST_FIND_PARAMS, .row = &app_user_schema, .card = CARD_MANY, .sql =
    "SELECT " USER_COLUMNS " FROM " LIST_FIND("app_user")
    "  JOIN app_user u ON u.tenant_id = $1 AND u.user_id = found_id ORDER BY found_place" };
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

/* A role that takes two people is asked for: the account is there, and waits for its role until somebody else approves. */
static enum errc give_role(struct work *w, struct uuid user_id, struct str role, struct err *e)
{
    struct role_binding b;
    struct approval asked;
    int r = role_by_wire(role);
    if (r < 0 || !role_takes_two((enum role)r) || !second_person_asked(w->app))
        return role_grant(w, user_id, role, &b, e);
    struct appointment_new wanted = { .user_id = user_id, .role = role, .reason = STR("asked for when the account was made") };
    return appointment_request(w, &wanted, &asked, e);
}

enum errc user_create(struct work *w, struct str name, struct str kind, struct slice roles, struct app_user *ret, struct err *e)
{
    struct uuid id = uuid_v7(w->now_us);
    enum errc rc = db_exec(w->tx, &user_insert, ARGS(A_UUID(w->tenant_id), A_UUID(id), A_STR(name), A_STR(kind),
                           A_UUID(w->principal->user_id)), NULL, e);
    if (rc == ERR_EXISTS)
        return FAIL_AT(e, EXISTS, "/name", "A user with that name already exists");
    if (rc != ERR_OK)
        return rc;
    for (size_t i = 0; i < roles.n; i++)
        TRY(give_role(w, id, ((struct str *)roles.items)[i], e));
    return user_get(w, id, ret, e);
}

enum errc user_get(struct work *w, struct uuid user_id, struct app_user *ret, struct err *e)
{
    return db_one(w->tx, &user_get_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(user_id)), ret, e);
}

enum errc user_list(struct work *w, const struct user_filter *f, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    struct list_find find = { .q = f->q, .sort = f->sort };
    list_find_by(&find, "name", f->name);
    list_find_by(&find, "state", f->state);
    list_find_by(&find, "kind", f->kind);
    list_find_by(&find, "role", f->role);
    return list_find(w, &user_list_stmt, &find, position, limit, ret, e);
}

enum errc user_update(struct work *w, struct uuid user_id, struct str name, struct str state, int64_t version, struct app_user *ret,
                      struct err *e)
{
    bool found;
    struct app_user was;
    binding_lock(w);
    TRY(user_get(w, user_id, &was, e));
    if (str_eq_c(was.state, "DEACTIVATED"))
        return FAIL(e, CONFLICT, "The user was deactivated permanently and cannot be changed");
    enum errc rc = db_maybe(w->tx, &user_update_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(user_id), A_STR(name), A_STR(state), A_I64(version)), ret,
                            &found, e);
    if (rc == ERR_EXISTS)
        return FAIL_AT(e, EXISTS, "/name", "A user with that name already exists");
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
