/* SPDX-License-Identifier: Apache-2.0 */
/* service_account.c - programs as users. */
#include "tenants/identity/service_account.h"
#include "core/db/tx.h"
#include "tenants/access/authz.h"

struct own_row { bool is_own; };
SCHEMA_OF(own_row, "Whose", FIELD(own_row, is_own, 0, .doc = "The caller's"));

static const struct stmt service_own = { .name = "service_own", .params = "uuu", .card = CARD_NONE, .sql =
    "UPDATE app_user SET owner_id = $3 WHERE tenant_id = $1 AND user_id = $2" };
static const struct stmt service_is_own = { .name = "service_is_own", .params = "uuu", .row = &own_row_schema, .card = CARD_ONE, .sql =
    "SELECT EXISTS (SELECT FROM app_user WHERE tenant_id = $1 AND user_id = $2 AND kind = 'service' AND owner_id = $3) AS is_own" };
static const struct stmt service_list = { .name = "service_list", .params = "uuui", .row = &app_user_schema, .card = CARD_MANY, .sql =
    "SELECT u.user_id, u.name, u.kind, u.state, (SELECT coalesce(jsonb_agg(b.role ORDER BY b.role), '[]') FROM role_binding b\n"
    "         WHERE b.tenant_id = u.tenant_id AND b.user_id = u.user_id) AS roles, u.version, u.created_at,\n" USER_SEEN_COLUMNS "\n"
    "  FROM app_user u WHERE u.tenant_id = $1 AND u.kind = 'service' AND ($2::uuid IS NULL OR u.owner_id = $2)\n"
    "   AND ($3::uuid IS NULL OR u.user_id < $3) ORDER BY u.user_id DESC LIMIT $4" };

const struct stmt *const service_account_stmts[] = { &service_own, &service_is_own, &service_list, NULL };

enum errc service_account_create(struct work *w, struct str name, struct slice roles, struct app_user *ret, struct err *e)
{
    struct role_binding b;
    TRY(user_create(w, name, STR("service"), (struct slice){ 0 }, ret, e));
    for (size_t i = 0; i < roles.n; i++)
        TRY(binding_grant(w, &(struct binding_new){ .user_id = ret->user_id, .role = ((struct str *)roles.items)[i], .is_own_program = true }, &b, e));
    TRY(user_get(w, ret->user_id, ret, e));
    return db_exec(w->tx, &service_own, ARGS(A_UUID(w->tenant_id), A_UUID(ret->user_id), A_UUID(w->principal->user_id)), NULL, e);
}

bool service_account_is_own(struct work *w, struct uuid user_id)
{
    struct own_row row = { false };
    struct err e;
    if (uuid_is_nil(user_id) || !authz_work(w, PERM_TOKEN_SERVICE).allowed)
        return false;
    return db_one(w->tx, &service_is_own, ARGS(A_UUID(w->tenant_id), A_UUID(user_id), A_UUID(w->principal->user_id)), &row, &e) == ERR_OK && row.is_own;
}

enum errc service_account_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    struct uuid owner = authz_work(w, PERM_USER_MANAGE).allowed ? UUID_NIL : w->principal->user_id;
    return db_many(w->tx, &service_list, ARGS(A_UUID(w->tenant_id), A_UUID_OR_NULL(owner), A_UUID_OR_NULL(position), A_I64(limit)), ret,
                   (size_t)limit, e);
}

enum errc service_account_end(struct work *w, struct uuid user_id, struct err *e)
{
    struct app_user user;
    TRY(user_get(w, user_id, &user, e));
    if (!str_eq_c(user.kind, "service") || !(authz_work(w, PERM_USER_MANAGE).allowed || service_account_is_own(w, user_id)))
        return FAIL(e, NOT_FOUND, "There is no such object");
    return user_deactivate(w, user_id, e);
}
