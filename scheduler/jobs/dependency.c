/* SPDX-License-Identifier: Apache-2.0 */
/* dependency.c - changes of one tenant's dependencies take turns, so that two of them do not make a cycle together. A
 * submission needs no turn: nobody waits for a job yet that is not there. */
#include "scheduler/jobs/dependency.h"
#include "core/db/tx.h"
#include "scheduler/plan/cycle.h"

/* Edges that a job may reach: more are no plan of work, and a search has an end. */
enum { EDGES_MAX = 20000 };

const char *const dependency_type_names[] = { "after", "afterany", "afterok", "afternotok", NULL };

SCHEMA_EXTERN(dependency, "A job or an array of jobs to wait for",
    FIELD_ENUM(dependency, type, F_REQ, dependency_type_names,
               .doc = "after: it has started or ended; afterany: ended; afterok: COMPLETED; afternotok: ended in any other way"),
    FIELD_ID(dependency, job_id, "job", 0, .doc = "That job"),
    FIELD_ID(dependency, array_id, "arr", 0, .doc = "That array instead; when a job is submitted alone"));
SCHEMA_EXTERN(dependency_row, "A job that is waited for",
    FIELD_ENUM(dependency_row, type, 0, dependency_type_names, .doc = "Until when"),
    FIELD_ID(dependency_row, job_id, "job", 0, .doc = "That job"),
    FIELD_ID(dependency_row, array_id, "arr", 0, .doc = "That array, where it is one"),
    FIELD(dependency_row, state, F_ALWAYS, .doc = "Where it is in its life"),
    FIELD(dependency_row, open, 0, .doc = "Not met yet"));
struct known { struct uuid job_id; };
SCHEMA_OF(known, "A job that is there", FIELD(known, job_id, 0, .doc = "The job"));
struct known_array { struct uuid array_id; };
SCHEMA_OF(known_array, "An array that is there", FIELD(known_array, array_id, 0, .doc = "The array"));
struct place { struct str state; };
SCHEMA_OF(place, "Where a job stands", FIELD(place, state, 0, .doc = "State"));
SCHEMA_OF(wait_edge, "Who waits for whom", FIELD(wait_edge, job_id, 0, .doc = "Who"),
    FIELD(wait_edge, on_job_id, 0, .doc = "Whom"));

static const struct stmt dependency_known = { .name = "dependency_known", .params = "uU", .row = &known_schema,
    .card = CARD_MANY, .sql = "SELECT job_id FROM job WHERE tenant_id = $1 AND job_id = ANY ($2)" };
static const struct stmt dependency_rows = { .name = "dependency_rows", .params = "uui", .row = &dependency_row_schema,
    .card = CARD_MANY, .sql =
    "SELECT d.type, d.on_job_id AS job_id, NULL::uuid AS array_id, j.state, d.open FROM job_dependency d\n"
    "  JOIN job j ON j.tenant_id = d.tenant_id AND j.job_id = d.on_job_id\n"
    " WHERE d.tenant_id = $1 AND d.job_id = $2\n"
    "UNION ALL\n"
    "SELECT d.type, NULL, d.array_id, CASE WHEN a.cancelled_at IS NOT NULL THEN 'CANCELLED' WHEN a.ended_at IS NULL THEN 'OPEN'\n"
    "                                      ELSE 'ENDED' END, d.open\n"
    "  FROM array_dependency d JOIN job_array a ON a.tenant_id = d.tenant_id AND a.array_id = d.array_id\n"
    " WHERE d.tenant_id = $1 AND d.job_id = $2 ORDER BY 2, 3, 1 LIMIT $3" };
static const struct stmt dependency_arrays = { .name = "dependency_arrays", .params = "uU", .row = &known_array_schema,
    .card = CARD_MANY, .sql = "SELECT array_id FROM job_array WHERE tenant_id = $1 AND array_id = ANY ($2)" };
static const struct stmt dependency_drop_arrays = { .name = "dependency_drop_arrays", .params = "uu", .card = CARD_NONE, .sql =
    "DELETE FROM array_dependency WHERE tenant_id = $1 AND job_id = $2" };
static const struct stmt dependency_turn = { .name = "dependency_turn", .params = "u", .card = CARD_NONE, .sql =
    "SELECT pg_advisory_xact_lock(hashtextextended('job_dependency', hashtextextended($1::text, 0)))" };
static const struct stmt dependency_hold = { .name = "dependency_hold", .params = "uu", .row = &place_schema,
    .card = CARD_ONE, .sql =
    "SELECT state FROM job WHERE tenant_id = $1 AND job_id = $2 FOR NO KEY UPDATE" };
static const struct stmt dependency_reach = { .name = "dependency_reach", .params = "uUi", .row = &wait_edge_schema,
    .card = CARD_MANY, .sql =
    "WITH RECURSIVE r(job_id) AS (\n"
    "  SELECT unnest($2) UNION\n"
    "  SELECT d.on_job_id FROM r JOIN job_dependency d ON d.tenant_id = $1 AND d.job_id = r.job_id AND d.open)\n"
    "SELECT d.job_id, d.on_job_id FROM r JOIN job_dependency d ON d.tenant_id = $1 AND d.job_id = r.job_id AND d.open\n"
    " LIMIT $3" };
static const struct stmt dependency_drop = { .name = "dependency_drop", .params = "uu", .card = CARD_NONE, .sql =
    "DELETE FROM job_dependency WHERE tenant_id = $1 AND job_id = $2" };
static const struct stmt dependency_add = { .name = "dependency_add", .params = "uuUS", .card = CARD_NONE, .sql =
    "INSERT INTO job_dependency (tenant_id, job_id, on_job_id, type)\n"
    "SELECT DISTINCT $1, $2, d.on_job_id, d.type FROM unnest($3, $4) AS d(on_job_id, type)" };
/* A job that a person holds keeps that reason. */
static const struct stmt dependency_wait = { .name = "dependency_wait", .params = "uub", .card = CARD_NONE, .sql =
    "UPDATE job SET not_before = CASE WHEN $3 THEN 'infinity' WHEN begin_at > clock_timestamp() THEN begin_at END,\n"
    "       message = CASE WHEN queued THEN '' ELSE message END,\n"
    "       reason = CASE WHEN NOT queued THEN reason WHEN $3 THEN 'Dependency'\n"
    "                     WHEN begin_at > clock_timestamp() THEN 'BeginTime' ELSE 'Resources' END\n"
    " WHERE tenant_id = $1 AND job_id = $2" };

const struct stmt *const dependency_stmts[] = { &dependency_known, &dependency_rows, &dependency_turn, &dependency_hold,
                                                &dependency_reach, &dependency_drop, &dependency_add, &dependency_wait,
                                                &dependency_arrays, &dependency_drop_arrays, NULL };

/* One of the two is named, and an array is there. */
static enum errc check_named(struct work *w, const struct dependency *d, size_t n, struct err *e)
{
    struct slice rows = { 0 };
    size_t narrays = 0;
    for (size_t i = 0; i < n; i++) {
        narrays += !uuid_is_nil(d[i].array_id);
        if (uuid_is_nil(d[i].job_id) != uuid_is_nil(d[i].array_id))
            continue;
        FAIL(e, INVALID, "names either a job or an array to wait for");
        return err_field(e, "/dependencies/%zu/job_id", i);
    }
    if (!narrays)
        return ERR_OK;
    TRY(db_many(w->tx, &dependency_arrays, ARGS(A_UUID(w->tenant_id), A_UUIDS_OF(d, n, array_id)), &rows, n, e));
    const struct known_array *k = rows.items;
    for (size_t i = 0; i < n; i++) {
        bool is_there = uuid_is_nil(d[i].array_id);
        for (size_t j = 0; j < rows.n; j++)
            is_there |= uuid_eq(k[j].array_id, d[i].array_id);
        if (!is_there) {
            FAIL(e, INVALID, "There is no array %.*s to wait for", STR_ARG(id_text(w->arena, "arr", d[i].array_id)));
            return err_field(e, "/dependencies/%zu/array_id", i);
        }
    }
    return ERR_OK;
}

enum errc dependency_check(struct work *w, const struct slice *list, struct err *e)
{
    const struct dependency *d = list->items;
    struct slice rows = { 0 };
    if (!list->n)
        return ERR_OK;
    TRY(check_named(w, d, list->n, e));
    TRY(db_many(w->tx, &dependency_known, ARGS(A_UUID(w->tenant_id), A_UUIDS_OF(d, list->n, job_id)), &rows, list->n, e));
    const struct known *k = rows.items;
    for (size_t i = 0; i < list->n; i++) {
        bool is_there = !uuid_is_nil(d[i].array_id);
        for (size_t j = 0; j < rows.n; j++)
            is_there |= uuid_eq(k[j].job_id, d[i].job_id);
        if (!is_there) {
            FAIL(e, INVALID, "There is no job %.*s to wait for", STR_ARG(id_text(w->arena, "job", d[i].job_id)));
            return err_field(e, "/dependencies/%zu/job_id", i);
        }
    }
    return ERR_OK;
}

enum errc dependency_list(struct work *w, struct uuid job_id, struct slice *ret, struct err *e)
{
    *ret = (struct slice){ 0 };
    return db_many(w->tx, &dependency_rows, ARGS(A_UUID(w->tenant_id), A_UUID(job_id), A_I64(DEPENDENCIES_MAX)), ret,
                   DEPENDENCIES_MAX, e);
}

static enum errc refuse_cycle(struct work *w, struct uuid job_id, const struct slice *list, struct err *e)
{
    const struct dependency *d = list->items;
    struct slice rows = { 0 };
    struct uuid *way;
    TRY(db_many(w->tx, &dependency_reach, ARGS(A_UUID(w->tenant_id), A_UUIDS_OF(d, list->n, job_id), A_I64(EDGES_MAX)), &rows,
                EDGES_MAX, e));
    if (rows.n == EDGES_MAX)
        return FAIL(e, LIMIT, "The jobs that are waited for wait for more than %d others in all", EDGES_MAX);
    struct wait_edge *all = ARENA_ARRAY(w->arena, struct wait_edge, rows.n + list->n);
    for (size_t i = 0; i < list->n; i++)
        all[i] = (struct wait_edge){ job_id, d[i].job_id };
    for (size_t i = 0; i < rows.n; i++)
        all[list->n + i] = ((const struct wait_edge *)rows.items)[i];
    const size_t n = cycle_find(all, list->n + rows.n, job_id, w->arena, &way);
    if (!n)
        return ERR_OK;
    struct str words = STR("");
    for (size_t i = 0; i < n && i < 8; i++)
        words = str_fmt(w->arena, "%.*s%.*s -> ", STR_ARG(words), STR_ARG(id_text(w->arena, "job", way[i])));
    return FAIL_AT(e, INVALID, "/dependencies", "The job would wait for itself: %.*s%s%.*s", STR_ARG(words),
                   n > 8 ? "... -> " : "", STR_ARG(id_text(w->arena, "job", job_id)));
}

enum errc dependency_set(struct work *w, struct uuid job_id, const struct slice *list, struct err *e)
{
    const struct dependency *d = list->items;
    struct place at;
    struct str *types = ARENA_ARRAY(w->arena, struct str, list->n + 1);
    for (size_t i = 0; i < list->n; i++)
        types[i] = str_c(dependency_type_names[d[i].type]);
    db_queue(w->tx, &dependency_turn, ARGS(A_UUID(w->tenant_id)), false);
    TRY(db_one(w->tx, &dependency_hold, ARGS(A_UUID(w->tenant_id), A_UUID(job_id)), &at, e));
    const int stands = name_index(job_state_names, at.state);
    if (stands < 0 || !job_state_waits((enum job_state)stands))
        return FAIL(e, CONFLICT, "The job waits no more (%.*s)", STR_ARG(at.state));
    TRY(dependency_check(w, list, e));
    for (size_t i = 0; i < list->n; i++)
        if (!uuid_is_nil(d[i].array_id)) {
            FAIL(e, INVALID, "A job is told to wait for an array when it is submitted, and not later");
            return err_field(e, "/dependencies/%zu/array_id", i);
        }
    if (list->n)
        TRY(refuse_cycle(w, job_id, list, e));
    db_queue(w->tx, &dependency_drop, ARGS(A_UUID(w->tenant_id), A_UUID(job_id)), false);
    db_queue(w->tx, &dependency_drop_arrays, ARGS(A_UUID(w->tenant_id), A_UUID(job_id)), false);
    if (list->n)
        db_queue(w->tx, &dependency_add, ARGS(A_UUID(w->tenant_id), A_UUID(job_id), A_UUIDS_OF(d, list->n, job_id),
                                              A_STRS(types, list->n)), false);
    return db_exec(w->tx, &dependency_wait, ARGS(A_UUID(w->tenant_id), A_UUID(job_id), A_BOOL(list->n > 0)), NULL, e);
}

struct str dependency_words(const struct slice *rows, struct arena *a)
{
    const struct dependency_row *r = rows->items;
    struct str all = STR("");
    for (size_t i = 0; i < rows->n; i++)
        if (r[i].open)
            all = str_fmt(a, "%.*s%s%s %.*s (%.*s)", STR_ARG(all), all.len ? "; " : "", dependency_type_names[r[i].type],
                          STR_ARG(uuid_is_nil(r[i].job_id) ? id_text(a, "arr", r[i].array_id) : id_text(a, "job", r[i].job_id)),
                          STR_ARG(r[i].state));
    return all;
}
