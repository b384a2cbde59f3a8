/* SPDX-License-Identifier: Apache-2.0 */
/* project.c - projects. */
#include "tenants/home/project.h"
#include "core/db/tx.h"
#include "core/db/list_find.h"
#include "tenants/access/principal.h"

SCHEMA_EXTERN(project, "A part of a tenant",
    FIELD_ID(project, project_id, "prj", F_ALWAYS, .doc = "The project"),
    FIELD(project, name, F_ALWAYS, .doc = "Short name, unique in the tenant"),
    SHOWN_NAME_FIELDS(project), FIELD(project, state, F_ALWAYS, .doc = "ACTIVE or CLOSED"),
    FIELD(project, version, 0, .doc = "Grows with every change"),
    FIELD_ID(project, created_by, "usr", F_ALWAYS, .doc = "Who made it"),
    FIELD(project, created_at, F_ALWAYS, .doc = "When"));

static const struct stmt project_insert = { .name = "project_insert", .params = "uusssu", .row = &project_schema, .card = CARD_ONE, .sql =
    "INSERT INTO project (tenant_id, project_id, name, display_name, display_name_ar, created_by)\n"
    "VALUES ($1, $2, $3, $4, $5, $6) RETURNING " ROW_COLUMNS };
static const struct stmt project_read = { .name = "project_get", .params = "uu", .row = &project_schema, .card = CARD_ONE, .sql =
    "SELECT " ROW_COLUMNS " FROM project WHERE tenant_id = $1 AND project_id = $2" };
static const struct stmt project_page = { .name = "project_list", .params = LIST_FIND_PARAMS, .row = &project_schema, .card = CARD_MANY, .sql =
    "SELECT " ROW_COLUMNS " FROM " LIST_FIND("project") "  JOIN project ON tenant_id = $1 AND project_id = found_id ORDER BY found_place" };
static const struct stmt project_change = { .name = "project_update", .params = "uussssi", .row = &project_schema, .card = CARD_MAYBE, .sql =
    "UPDATE project SET name = coalesce($3, name), display_name = coalesce($4, display_name),\n"
    "       display_name_ar = coalesce($5, display_name_ar), state = coalesce($6, state), version = version + 1\n"
    " WHERE tenant_id = $1 AND project_id = $2 AND state = 'ACTIVE' AND ($7 = -1 OR version = $7) RETURNING " ROW_COLUMNS };

const struct stmt *const project_stmts[] = { &project_insert, &project_read, &project_page, &project_change, NULL };

enum errc project_create(struct work *w, struct str name, const struct shown_name *names, struct project *ret, struct err *e)
{
    enum errc rc = db_one(w->tx, &project_insert, ARGS(A_UUID(w->tenant_id), A_UUID(uuid_v7(w->now_us)), A_STR(name),
                          A_STR(names->en.ptr ? names->en : name), A_STR(names->ar.ptr ? names->ar : STR("")),
                          A_UUID(w->principal->user_id)), ret, e);
    return rc == ERR_EXISTS ? FAIL_AT(e, EXISTS, "/name", "Project %.*s already exists", STR_ARG(name)) : rc;
}

enum errc project_get(struct work *w, struct uuid project_id, struct project *ret, struct err *e)
{
    return db_one(w->tx, &project_read, ARGS(A_UUID(w->tenant_id), A_UUID(project_id)), ret, e);
}

enum errc project_list(struct work *w, const struct project_filter *f, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    struct list_find find = { .q = f->q, .sort = f->sort };
    list_find_by(&find, "name", f->name);
    list_find_by(&find, "state", f->state);
    return list_find(w, &project_page, &find, position, limit, ret, e);
}

/* state STR_NULL: as it is. */
static enum errc change(struct work *w, struct uuid id, struct str name, const struct shown_name *names, struct str state,
                        int64_t version, struct project *ret, struct err *e)
{
    bool found;
    struct project was;
    enum errc rc = db_maybe(w->tx, &project_change, ARGS(A_UUID(w->tenant_id), A_UUID(id), A_STR(name), A_STR(names->en), A_STR(names->ar),
                            A_STR(state), A_I64(version)), ret, &found, e);
    if (rc == ERR_EXISTS)
        return FAIL_AT(e, EXISTS, "/name", "Project %.*s already exists", STR_ARG(name));
    if (rc != ERR_OK || found)
        return rc;
    TRY(project_get(w, id, &was, e));
    if (str_eq_c(was.state, "ACTIVE"))
        return FAIL(e, PRECONDITION, "The project has changed since you read it");
    *ret = was;
    return state.ptr ? ERR_OK : FAIL(e, CONFLICT, "The project is closed");
}

enum errc project_update(struct work *w, struct uuid project_id, struct str name, const struct shown_name *names, int64_t version,
                         struct project *ret, struct err *e)
{
    return change(w, project_id, name, names, STR_NULL, version, ret, e);
}

enum errc project_close(struct work *w, struct uuid project_id, int64_t version, struct project *ret, struct err *e)
{
    return change(w, project_id, STR_NULL, &(struct shown_name){ 0 }, STR("CLOSED"), version, ret, e);
}

struct uuid project_choice(const struct work *w, struct uuid given)
{
    return uuid_is_nil(given) && w->projects.n == 1 ? *(struct uuid *)w->projects.items : given;
}

enum errc project_take(const struct work *w, struct uuid given, bool is_there, bool is_open, struct err *e)
{
    const struct uuid chosen = project_choice(w, given);
    if (uuid_is_nil(chosen))
        return w->projects.n ? FAIL_AT(e, MISSING_FIELD, "/project_id", "You work in several projects: name one in project_id")
                             : ERR_OK;
    if (!is_there || !project_is_in(w->projects, chosen))
        return FAIL_AT(e, NOT_FOUND, "/project_id", "The project does not exist");
    return is_open ? ERR_OK : FAIL_AT(e, CONFLICT, "/project_id", "The project is closed");
}

enum errc project_for_new(struct work *w, struct db_tx *tx, struct uuid given, struct uuid *ret, struct err *e)
{
    struct project p = { .state = STR("") };
    enum errc rc = ERR_OK;
    *ret = project_choice(w, given);
    if (!uuid_is_nil(*ret))
        rc = db_one(tx, &project_read, ARGS(A_UUID(w->tenant_id), A_UUID(*ret)), &p, e);
    return rc == ERR_OK || rc == ERR_NOT_FOUND ? project_take(w, given, rc == ERR_OK, str_eq_c(p.state, "ACTIVE"), e) : rc;
}

bool project_is_in(struct slice projects, struct uuid project_id)
{
    for (size_t i = 0; i < projects.n; i++)
        if (uuid_eq(((struct uuid *)projects.items)[i], project_id))
            return true;
    return !projects.n;
}
