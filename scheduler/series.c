/* SPDX-License-Identifier: Apache-2.0 */
/* series.c - the database thins, so that a million measurements never leave it; the columns are filled here. */
#include "scheduler/series.h"
#include "core/db/tx.h"

struct name_row { struct str name; };
SCHEMA_OF(name_row, "A name of a metric", FIELD(name_row, name, 0, .doc = "Name"));
struct point { int64_t step, at_ms, total; double value; };
SCHEMA_OF(point, "A value at a step", FIELD(point, step, 0, .doc = "Step"), FIELD(point, at_ms, 0, .doc = "When, in milliseconds since 1970"),
    FIELD(point, total, 0, .doc = "How many there are"), FIELD(point, value, 0, .doc = "Value"));

SCHEMA_EXTERN(job_series, "What a job measured under a name, as columns", FIELD(job_series, name, 0, .doc = "Name"),
    FIELD_I64S(job_series, steps, 0, .max = SERIES_POINTS, .doc = "Step of each value"),
    FIELD_I64S(job_series, at_ms, 0, .max = SERIES_POINTS, .doc = "When each arrived, in milliseconds since 1970"),
    FIELD_F64S(job_series, values, 0, .max = SERIES_POINTS, .doc = "The values, oldest first"),
    FIELD(job_series, total, 0, .doc = "How many there are; more than values: each bucket's least and greatest are shown"));

static const struct stmt series_names = { .name = "series_names", .params = "uui", .row = &name_row_schema, .card = CARD_MANY, .sql =
    "SELECT DISTINCT k.key AS name FROM (\n"
    "  (SELECT values FROM job_metric WHERE tenant_id = $1 AND job_id = $2 ORDER BY metric_id LIMIT 100) UNION ALL\n"
    "  (SELECT values FROM job_metric WHERE tenant_id = $1 AND job_id = $2 ORDER BY metric_id DESC LIMIT 100)) m,\n"
    "  LATERAL jsonb_each(m.values) k WHERE jsonb_typeof(k.value) = 'number' ORDER BY 1 LIMIT $3" };

static const struct stmt series_points = { .name = "series_points", .params = "uusi", .row = &point_schema, .card = CARD_MANY, .sql =
    "WITH s AS MATERIALIZED (\n"
    "  SELECT metric_id, step, (extract(epoch FROM at) * 1000)::bigint AS at_ms, (values -> $3)::float8 AS value, row_number() OVER (ORDER BY metric_id) - 1 AS nth\n"
    "    FROM job_metric WHERE tenant_id = $1 AND job_id = $2 AND jsonb_typeof(values -> $3) = 'number'),\n"
    "n AS MATERIALIZED (SELECT count(*) AS total FROM s),\n"
    "b AS (\n"
    "  SELECT s.*, n.total, row_number() OVER (PARTITION BY nth * ($4 / 2) / n.total ORDER BY value, metric_id) AS up,\n"
    "         row_number() OVER (PARTITION BY nth * ($4 / 2) / n.total ORDER BY value DESC, metric_id DESC) AS down\n"
    "    FROM s, n WHERE n.total > $4)\n"
    "SELECT step, at_ms, total, value FROM (\n"
    "  SELECT s.metric_id, s.step, s.at_ms, n.total, s.value FROM s, n WHERE n.total <= $4\n"
    "  UNION ALL\n"
    "  SELECT b.metric_id, b.step, b.at_ms, b.total, b.value FROM b WHERE up = 1 OR down = 1) x ORDER BY metric_id" };

const struct stmt *const series_stmts[] = { &series_names, &series_points, NULL };

static enum errc read_one(struct work *w, struct uuid job_id, struct str name, int64_t points, struct job_series *ret, struct err *e)
{
    struct slice rows = { 0 };
    TRY(db_many(w->tx, &series_points, ARGS(A_UUID(w->tenant_id), A_UUID(job_id), A_STR(name), A_I64(points)), &rows, (size_t)points + 1, e));
    const struct point *p = rows.items;
    int64_t *steps = ARENA_ARRAY(w->arena, int64_t, rows.n + 1), *at_ms = ARENA_ARRAY(w->arena, int64_t, rows.n + 1);
    double *values = ARENA_ARRAY(w->arena, double, rows.n + 1);
    for (size_t i = 0; i < rows.n; i++) {
        steps[i] = p[i].step;
        at_ms[i] = p[i].at_ms;
        values[i] = p[i].value;
    }
    *ret = (struct job_series){ name, { steps, rows.n }, { at_ms, rows.n }, { values, rows.n }, rows.n ? p[0].total : 0 };
    return ERR_OK;
}

enum errc job_series_read(struct work *w, struct uuid job_id, struct slice names, int64_t points, struct slice *ret, struct err *e)
{
    const struct str *name = names.items;
    if (!names.n) {
        struct slice rows = { 0 };
        TRY(db_many(w->tx, &series_names, ARGS(A_UUID(w->tenant_id), A_UUID(job_id), A_I64(SERIES_NAMES)), &rows, SERIES_NAMES, e));
        struct str *found = ARENA_ARRAY(w->arena, struct str, rows.n + 1);
        for (size_t i = 0; i < rows.n; i++)
            found[i] = ((const struct name_row *)rows.items)[i].name;
        name = found;
        names.n = rows.n;
    }
    if ((int64_t)names.n * points > SERIES_ALL)
        return FAIL_AT(e, INVALID, "/points", "%zu series of %ld points are more than %d together", names.n, (long)points, SERIES_ALL);
    struct job_series *all = ARENA_ARRAY(w->arena, struct job_series, names.n + 1);
    for (size_t i = 0; i < names.n; i++)
        TRY(read_one(w, job_id, name[i], points, &all[i], e));
    *ret = (struct slice){ all, names.n };
    return ERR_OK;
}
