/* SPDX-License-Identifier: Apache-2.0 */
/* series.c - measurements are read once, in their order and a page at a time, for all names together, and thinned as they come: memory is
 * that of what is shown, and a sort by value in the database would cost several times the reading. */
#include "scheduler/jobs/series.h"
#include "core/base/cleanup.h"
#include "core/db/tx.h"

struct name_row { struct str name; };
SCHEMA_OF(name_row, "A name of a metric", FIELD(name_row, name, 0, .doc = "Name"));
struct point { int64_t metric_id, step, at_ms, nth; double value; };
SCHEMA_OF(point, "A value at a step", FIELD(point, metric_id, 0, .doc = "Its measurement"), FIELD(point, step, 0, .doc = "Step"),
    FIELD(point, at_ms, 0, .doc = "When, in milliseconds since 1970"), FIELD(point, nth, 0, .doc = "Which name, from 1; 0: none"),
    FIELD(point, value, 0, .doc = "Value"));
/* FINER: buckets while reading for each point, so that joining them at the end makes buckets of nearly the same width. */
enum { PAGE_ROWS = 40000, FINER = 2, SCRATCH = FINER * SERIES_ALL * 80 + (1 << 20) };

SCHEMA_EXTERN(job_series, "What a job measured under a name, as columns", FIELD(job_series, name, F_ALWAYS, .doc = "Name"),
    FIELD_I64S(job_series, steps, 0, .max = SERIES_POINTS, .doc = "Step of each value"),
    FIELD_I64S(job_series, at_ms, 0, .max = SERIES_POINTS, .doc = "When each arrived, in milliseconds since 1970"),
    FIELD_F64S(job_series, values, 0, .max = SERIES_POINTS, .doc = "The values, oldest first"),
    FIELD(job_series, total, 0, .doc = "How many there are; more than values: each bucket's least and greatest are shown"));

static const struct stmt series_names = { .name = "series_names", .params = "uui", .row = &name_row_schema, .card = CARD_MANY, .sql =
    "SELECT DISTINCT k.key AS name FROM (\n"
    "  (SELECT values FROM job_metric WHERE tenant_id = $1 AND job_id = $2 ORDER BY metric_id LIMIT 100) UNION ALL\n"
    "  (SELECT values FROM job_metric WHERE tenant_id = $1 AND job_id = $2 ORDER BY metric_id DESC LIMIT 100)) m,\n"
    "  LATERAL jsonb_each(m.values) k WHERE jsonb_typeof(k.value) = 'number' ORDER BY 1 LIMIT $3" };

/* A page of measurements, one row for each name that one has as a number; a measurement with none of the names is one row without. */
static const struct stmt series_page = { .name = "series_page", .params = "uuSii", .row = &point_schema, .card = CARD_MANY, .sql =
    "SELECT m.metric_id, m.step, (extract(epoch FROM m.at) * 1000)::bigint AS at_ms, v.nth, v.value\n"
    "  FROM (SELECT metric_id, step, at, values FROM job_metric WHERE tenant_id = $1 AND job_id = $2 AND metric_id > $4\n"
    "         ORDER BY metric_id LIMIT $5) m\n"
    "  LEFT JOIN LATERAL (SELECT n.nth, (m.values -> n.name)::float8 AS value FROM unnest($3) WITH ORDINALITY n (name, nth)\n"
    "                      WHERE jsonb_typeof(m.values -> n.name) = 'number') v ON true\n"
    " ORDER BY m.metric_id" };

const struct stmt *const series_stmts[] = { &series_names, &series_page, NULL };

/* One name while it is read: up to `room` buckets of `width` values each, in their order; when they are full, neighbours become one. */
struct thinner {
    struct bucket { struct point least, greatest; } *buckets;
    size_t room, n;
    int64_t width, in_last, total;
};

static struct bucket joined(struct bucket a, struct bucket b)
{
    return (struct bucket){ b.least.value < a.least.value ? b.least : a.least, b.greatest.value >= a.greatest.value ? b.greatest : a.greatest };
}

static void thinner_add(struct thinner *t, const struct point *p)
{
    struct bucket one = { *p, *p };
    t->total++;
    if (t->n && t->in_last < t->width) {
        t->buckets[t->n - 1] = joined(t->buckets[t->n - 1], one);
        t->in_last++;
        return;
    }
    if (t->n == t->room) {
        for (size_t i = 0; i < t->room / 2; i++)
            t->buckets[i] = joined(t->buckets[2 * i], t->buckets[2 * i + 1]);
        t->n = t->room / 2;
        t->width *= 2;
    }
    t->buckets[t->n++] = one;
    t->in_last = 1;
}

struct reader {
    struct thinner *series;
    int64_t last, measurements;             /* metric_id; of the page */
};

static void read_point(void *ctx, const void *item)
{
    struct reader *r = ctx;
    const struct point *p = item;
    r->measurements += p->metric_id != r->last;
    r->last = p->metric_id;
    if (p->nth)
        thinner_add(&r->series[p->nth - 1], p);
}

/* What is to be drawn: every value when they are few, else of each of points / 2 buckets the least and the greatest, in their order. */
static struct job_series columns_of(struct arena *a, struct str name, const struct thinner *t, int64_t points)
{
    bool is_whole = t->total <= points;
    size_t out = is_whole ? t->n : (size_t)points / 2, room = is_whole ? t->n : (size_t)points, n = 0;
    int64_t *steps = ARENA_ARRAY(a, int64_t, room + 1), *at_ms = ARENA_ARRAY(a, int64_t, room + 1);
    double *values = ARENA_ARRAY(a, double, room + 1);
    for (size_t i = 0; i < out; i++) {
        struct bucket b = t->buckets[i * t->n / out];
        for (size_t k = i * t->n / out + 1; k < (i + 1) * t->n / out; k++)
            b = joined(b, t->buckets[k]);
        bool is_one = b.least.metric_id == b.greatest.metric_id, is_falling = b.greatest.metric_id < b.least.metric_id;
        for (int k = 0; k < (is_one ? 1 : 2); k++, n++) {
            const struct point *p = (k == 0) == is_falling ? &b.greatest : &b.least;
            steps[n] = p->step;
            at_ms[n] = p->at_ms;
            values[n] = p->value;
        }
    }
    return (struct job_series){ name, { steps, n }, { at_ms, n }, { values, n }, t->total };
}

static enum errc read_all(struct work *w, struct uuid job_id, const struct str *name, size_t n, int64_t points, struct arena *scratch,
                          struct job_series *ret, struct err *e)
{
    struct thinner *t = ARENA_ARRAY(scratch, struct thinner, n);
    struct reader r = { .series = t };
    int64_t page = PAGE_ROWS / (int64_t)n;
    for (size_t i = 0; i < n; i++)
        t[i] = (struct thinner){ ARENA_ARRAY(scratch, struct bucket, FINER * points), (size_t)(FINER * points), 0, 1, 0, 0 };
    do {
        if (w->deadline_mono_us && clock_mono_us(w->app->clock) > w->deadline_mono_us)
            return FAIL(e, DEADLINE, "There are more measurements than can be read in time");
        int64_t after = r.last;
        r.measurements = 0;
        TRY(db_each(w->tx, &series_page, ARGS(A_UUID(w->tenant_id), A_UUID(job_id), A_STRS(name, n), A_I64(after), A_I64(page)),
                    PAGE_ROWS, read_point, &r, e));
    } while (r.measurements == page);
    for (size_t i = 0; i < n; i++)
        ret[i] = columns_of(w->arena, name[i], &t[i], points);
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
    CLEANUP(arena_freep) struct arena *scratch = arena_new(SCRATCH);
    if (names.n)
        TRY(read_all(w, job_id, name, names.n, points, scratch, all, e));
    *ret = (struct slice){ all, names.n };
    return ERR_OK;
}
