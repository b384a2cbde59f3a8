/* SPDX-License-Identifier: Apache-2.0 */
/* saved_view.c - one row a view. The row of the owner is locked while one is saved, so that the limits hold for several at
 * once. */
#include "tenants/identity/saved_view.h"
#include "core/db/tx.h"
#include "tenants/access/authz.h"
#include "tenants/access/principal.h"

SCHEMA_EXTERN(saved_view, "A view of a list under a name", FIELD_ID(saved_view, view_id, "viw", F_ALWAYS, .doc = "The view"),
    FIELD_ID(saved_view, owner_id, "usr", F_ALWAYS, .doc = "Whose it is"),
    FIELD(saved_view, owner_name, 0, .doc = "The owner's name"),
    FIELD(saved_view, list, F_ALWAYS, .doc = "The list it is of"), FIELD(saved_view, name, F_ALWAYS, .doc = "Its name"),
    FIELD(saved_view, query, F_ALWAYS, .max = 4096, .doc = "Filters, order and columns, as the query of the list's address"),
    FIELD(saved_view, shared, 0, .doc = "Everybody of the tenant sees it"),
    FIELD(saved_view, created_at, F_ALWAYS, .doc = "When it was saved first"),
    FIELD(saved_view, updated_at, F_ALWAYS, .doc = "When it was saved last"));

#define FROM_VIEWS                                                                                                            \
    " FROM saved_view JOIN (SELECT tenant_id AS of, user_id AS who, name AS owner_name FROM app_user) u\n"                    \
    "                      ON u.of = saved_view.tenant_id AND u.who = saved_view.owner_id\n"                                  \
    " WHERE tenant_id = $1 AND (owner_id = $2 OR shared)"

static const struct stmt view_lock = { .name = "saved_view_lock", .params = "uu", .card = CARD_NONE, .sql =
    "SELECT FROM app_user WHERE tenant_id = $1 AND user_id = $2 FOR NO KEY UPDATE" };
struct view_count { int64_t of_list, of_person; };
SCHEMA_OF(view_count, "How many views a person has", FIELD(view_count, of_list, 0,
                                                           .doc = "Of that list, but for one of that name"),
    FIELD(view_count, of_person, 0, .doc = "In all, but for that one"));
static const struct stmt view_count_stmt = { .name = "saved_view_count", .params = "uuss", .row = &view_count_schema,
    .card = CARD_ONE, .sql =
    "SELECT count(*) FILTER (WHERE list = $3) AS of_list, count(*) AS of_person FROM saved_view\n"
    " WHERE tenant_id = $1 AND owner_id = $2 AND NOT (list = $3 AND name = $4)" };
struct view_id { struct uuid view_id; };
SCHEMA_OF(view_id, "Which view", FIELD(view_id, view_id, 0, .doc = "The view"));
static const struct stmt view_put = { .name = "saved_view_put", .params = "uuusssb", .row = &view_id_schema, .card = CARD_ONE,
    .sql =
    "INSERT INTO saved_view (tenant_id, view_id, owner_id, list, name, query, shared) VALUES ($1, $2, $3, $4, $5, $6, $7)\n"
    "    ON CONFLICT (tenant_id, owner_id, list, name)\n"
    "    DO UPDATE SET query = EXCLUDED.query, shared = EXCLUDED.shared, updated_at = clock_timestamp() RETURNING view_id" };
static const struct stmt view_list = { .name = "saved_view_list", .params = "uusui", .row = &saved_view_schema, .card = CARD_MANY,
    .sql =
    "SELECT " ROW_COLUMNS FROM_VIEWS " AND ($3::text IS NULL OR list = $3)\n"
    "   AND ($4::uuid IS NULL OR view_id < $4) ORDER BY view_id DESC LIMIT $5" };
static const struct stmt view_get = { .name = "saved_view_get", .params = "uuu", .row = &saved_view_schema, .card = CARD_ONE,
    .sql = "SELECT " ROW_COLUMNS FROM_VIEWS " AND view_id = $3" };
static const struct stmt view_delete = { .name = "saved_view_delete", .params = "uu", .card = CARD_NONE, .sql =
    "DELETE FROM saved_view WHERE tenant_id = $1 AND view_id = $2" };

const struct stmt *const saved_view_stmts[] = { &view_lock, &view_count_stmt, &view_put, &view_list, &view_get, &view_delete,
                                                NULL };

enum errc saved_view_put(struct work *w, const struct saved_view *in, struct saved_view *ret, struct err *e)
{
    const struct uuid owner = w->principal->user_id;
    struct view_count n;
    struct view_id id;
    TRY(db_exec(w->tx, &view_lock, ARGS(A_UUID(w->tenant_id), A_UUID(owner)), NULL, e));
    TRY(db_one(w->tx, &view_count_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(owner), A_STR(in->list), A_STR(in->name)), &n, e));
    if (n.of_list >= VIEWS_OF_LIST)
        return FAIL_AT(e, LIMIT, "/name", "A person keeps at most %d views of a list; remove one first", VIEWS_OF_LIST);
    if (n.of_person >= VIEWS_OF_PERSON)
        return FAIL_AT(e, LIMIT, "/name", "A person keeps at most %d views in all; remove one first", VIEWS_OF_PERSON);
    TRY(db_one(w->tx, &view_put, ARGS(A_UUID(w->tenant_id), A_UUID(uuid_v7(w->now_us)), A_UUID(owner), A_STR(in->list),
               A_STR(in->name), A_STR(in->query), A_BOOL(in->shared)), &id, e));
    return db_one(w->tx, &view_get, ARGS(A_UUID(w->tenant_id), A_UUID(owner), A_UUID(id.view_id)), ret, e);
}

enum errc saved_view_list(struct work *w, struct str list, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &view_list, ARGS(A_UUID(w->tenant_id), A_UUID(w->principal->user_id), A_STR(list),
                   A_UUID_OR_NULL(position), A_I64(limit)), ret, (size_t)limit, e);
}

enum errc saved_view_delete(struct work *w, struct uuid view_id, struct err *e)
{
    struct saved_view v;
    TRY(db_one(w->tx, &view_get, ARGS(A_UUID(w->tenant_id), A_UUID(w->principal->user_id), A_UUID(view_id)), &v, e));
    if (!uuid_eq(v.owner_id, w->principal->user_id)) {
        const struct decision d = authz_work(w, PERM_USER_MANAGE);
        if (!d.allowed)
            return authz_refuse(&d, PERM_USER_MANAGE, e);
    }
    return db_exec(w->tx, &view_delete, ARGS(A_UUID(w->tenant_id), A_UUID(view_id)), NULL, e);
}
