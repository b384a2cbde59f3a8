/* SPDX-License-Identifier: Apache-2.0 */
/* priority_class.c - a small table of the platform that everybody may read. */
#include "scheduler/jobs/priority_class.h"
#include "core/db/tx.h"

SCHEMA_EXTERN(priority_class, "A priority class",
    FIELD_AS(priority_class, cls, "class", F_ALWAYS, .doc = "Its name, as jobs say it"),
    FIELD(priority_class, value, F_ALWAYS, .doc = "Within a tenant, jobs of a class with a higher value go first"),
    FIELD(priority_class, preemptible, F_ALWAYS, .doc = "Its jobs may be preempted"),
    FIELD(priority_class, grace_s, F_ALWAYS, .doc = "Seconds that a preempted job is given to write a checkpoint"),
    FIELD(priority_class, min_runtime_s, F_ALWAYS, .doc = "Seconds that an attempt runs before it may be preempted"),
    FIELD(priority_class, description, F_ALWAYS, .doc = "What it is for"),
    FIELD(priority_class, created_at, F_ALWAYS, .doc = "When it was made"));

static const struct stmt class_set = { .name = "priority_class_set", .params = "sibiisi", .row = &priority_class_schema,
    .card = CARD_MAYBE, .sql =
    "INSERT INTO priority_class (class, value, preemptible, grace_s, min_runtime_s, description)\n"
    "SELECT $1, $2, $3, $4, $5, $6\n"
    " WHERE (SELECT count(*) FROM priority_class) < $7 OR EXISTS (SELECT FROM priority_class WHERE class = $1)\n"
    "ON CONFLICT (class) DO UPDATE SET value = EXCLUDED.value, preemptible = EXCLUDED.preemptible, grace_s = EXCLUDED.grace_s,\n"
    "   min_runtime_s = EXCLUDED.min_runtime_s, description = EXCLUDED.description\n"
    "RETURNING " ROW_COLUMNS };
static const struct stmt class_delete = { .name = "priority_class_delete", .params = "s", .card = CARD_NONE, .sql =
    "DELETE FROM priority_class WHERE class = $1" };
static const struct stmt class_get = { .name = "priority_class_get", .params = "s", .row = &priority_class_schema,
                                       .card = CARD_ONE,
    .sql = "SELECT " ROW_COLUMNS " FROM priority_class WHERE class = $1" };
static const struct stmt class_list = { .name = "priority_class_list", .params = "si", .row = &priority_class_schema,
    .card = CARD_MANY, .sql = "SELECT " ROW_COLUMNS " FROM priority_class\n"
    " WHERE ($1::text IS NULL OR class > $1) ORDER BY class LIMIT $2" };

const struct stmt *const priority_class_stmts[] = { &class_set, &class_delete, &class_get, &class_list, NULL };

enum errc priority_class_set(struct work *w, const struct priority_class *in, struct priority_class *ret, struct err *e)
{
    bool found;
    if (str_eq(in->cls, STR("default")) && in->value != 0)
        return FAIL_AT(e, INVALID, "/value",
                       "The class default has the value 0, which every other class is measured by; %ld came",
                       (long)in->value);
    TRY(db_maybe(w->tx, &class_set, ARGS(A_STR(in->cls), A_I64(in->value), A_BOOL(in->preemptible), A_I64(in->grace_s),
                 A_I64(in->min_runtime_s), A_STR(in->description), A_I64(PRIORITY_CLASSES_MAX)), ret, &found, e));
    return found ? ERR_OK : FAIL(e, LIMIT, "There are %d priority classes already; remove one first", PRIORITY_CLASSES_MAX);
}

enum errc priority_class_delete(struct work *w, struct str cls, struct err *e)
{
    int64_t n;
    if (str_eq(cls, STR("default")))
        return FAIL(e, CONFLICT, "The class default stays: jobs that name no class belong to it");
    TRY(db_exec(w->tx, &class_delete, ARGS(A_STR(cls)), &n, e));
    return n ? ERR_OK : FAIL(e, NOT_FOUND, "There is no such object");
}

enum errc priority_class_get(struct work *w, struct str cls, struct priority_class *ret, struct err *e)
{
    return db_one(w->tx, &class_get, ARGS(A_STR(cls)), ret, e);
}

enum errc priority_class_list(struct work *w, struct str after, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &class_list, ARGS(A_STR(after), A_I64(limit)), ret, (size_t)limit, e);
}
