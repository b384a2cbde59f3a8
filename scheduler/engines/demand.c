/* SPDX-License-Identifier: Apache-2.0 */
/* demand.c - SQL of who waits for an engine. Tenants are found by steps through the index job_pool_wait, one for each, since a
 * DISTINCT reads all that waits. */
#include "scheduler/engines/demand.h"
#include "core/db/tx.h"
#include "core/table/config.h"
#include "core/wire/job_type.h"
#include "scheduler/engines/deal.h"
#include "scheduler/engines/run.h"

enum { LIMIT_SLACK_S = 600 };

struct seat_row { int64_t seat; };
SCHEMA_OF(seat_row, "A free place", FIELD(seat_row, seat, 0));
struct demand {
    struct uuid tenant_id, job_id;
    int64_t slots, gpus, cpu_milli, memory_bytes, max_runtime_s, nodes, waits_s, tenant_places, tenants;
    bool is_told;
};
SCHEMA_OF(demand, "A job that wants machines",
    FIELD(demand, tenant_id, 0), FIELD(demand, job_id, 0), FIELD(demand, slots, 0), FIELD(demand, gpus, 0),
    FIELD(demand, cpu_milli, 0), FIELD(demand, memory_bytes, 0), FIELD(demand, max_runtime_s, 0), FIELD(demand, nodes, 0),
    FIELD(demand, waits_s, 0), FIELD(demand, tenant_places, 0), FIELD(demand, tenants, 0), FIELD(demand, is_told, 0));
struct held_row { bool is_told; };
SCHEMA_OF(held_row, "The engine", FIELD(held_row, is_told, 0, .doc = "Jobs were told why they wait"));
struct last_row { struct uuid job_id; };
SCHEMA_OF(last_row, "How far was looked", FIELD(last_row, job_id, 0));

/* Who reads which places are free holds the engine until what it wrote is committed: of two that believe they lead one waits, and
 * then reads what the other wrote. */
static const struct stmt hold = { .name = "demand_hold", .params = "u", .row = &held_row_schema, .card = CARD_ONE, .sql =
    "SELECT cardinality(told_jobs) > 0 AS is_told FROM engine WHERE engine_id = $1 FOR NO KEY UPDATE" };
/* A place whose machine still works, left behind by a run that ended, is not free. */
static const struct stmt seats = { .name = "demand_seats", .params = "ui", .row = &seat_row_schema, .card = CARD_MANY, .sql =
    "SELECT s AS seat FROM engine g, generate_series(1, g.machines) s\n"
    " WHERE g.engine_id = $1 AND g.enabled\n"
    "   AND NOT EXISTS (SELECT FROM engine_run r\n"
    "                    WHERE r.engine_id = g.engine_id AND r.state <> 'ENDED' AND s = ANY (r.seats))\n"
    "   AND NOT EXISTS (SELECT FROM node n WHERE n.zone = g.zone AND n.pool = g.pool AND n.name = g.name || '-' || s\n"
    "                      AND (" RUN_MACHINE_HEARD " OR " RUN_MACHINE_HELD "))\n"
    " ORDER BY s LIMIT $2" };

#define WAITS "q.queued AND q.pool = $1 AND q.pool <> 'default'"
/* $1 pool, $2 behind which job, $3 jobs in all, $4 the least of a tenant. */
#define SEEN                                                                                                              \
    "WITH RECURSIVE step AS (\n"                                                                                          \
    "  (SELECT q.tenant_id FROM job q WHERE " WAITS " ORDER BY q.tenant_id LIMIT 1) UNION ALL\n"                          \
    "  SELECT (SELECT q.tenant_id FROM job q WHERE " WAITS " AND q.tenant_id > s.tenant_id ORDER BY q.tenant_id LIMIT 1)\n" \
    "    FROM step s WHERE s.tenant_id IS NOT NULL),\n"                                                                   \
    "t AS (SELECT tenant_id FROM step WHERE tenant_id IS NOT NULL),\n"                                                    \
    "w AS (SELECT greatest($4, $3 / greatest(count(*), 1)) AS most FROM t),\n"                                            \
    "seen AS MATERIALIZED (SELECT j.* FROM t CROSS JOIN LATERAL (\n"                                                      \
    "  SELECT q.tenant_id, q.job_id, q.slots, q.gpus, q.cpu_milli, q.memory_bytes, q.max_runtime_s, q.nodes, q.zone, q.kind,\n" \
    "         q.data_class, q.reason, q.engine, q.not_before, q.submitted_at, q.begin_at\n"                                \
    "    FROM job q WHERE " WAITS " AND q.tenant_id = t.tenant_id AND q.job_id > $2\n"                                       \
    "   ORDER BY q.job_id LIMIT (SELECT most FROM w)) j)\n"
/* A job that waits for anything else, as a quota or another job, waits for no machine. */
#define MAY_BE_SERVED "IN ('Resources', 'NoMatchingFlavor', 'ZoneUnavailable', 'Engine')"

/* A job whose program or model needs what none has that the engine lent lately ($12: kinds of programs) is not asked for: such a
 * machine would leave unused. Where it lent none within an hour it is asked, so what its operator mended is found.
 * After runs that ended and left the job waiting there is a pause that grows. Of those that fit into $10 free places the first $9
 * and of those that do not the first $11: so many of the one hide none of the other. What the judge of residency says is asked
 * once for a tenant and class. */
static const struct stmt wanted = { .name = "demand_wanted", .params = "suiiusiiiiiS", .row = &demand_schema, .card = CARD_MANY,
    .sql = SEEN
    ", k AS MATERIALIZED (SELECT is_known, programs, engines FROM engine_shapes() WHERE engine_id = $5),\n"
    "law AS MATERIALIZED (SELECT tenant_id, data_class, residency_zone_ok(tenant_id, data_class, $6) AS is_ok\n"
    "                         FROM (SELECT DISTINCT tenant_id, data_class FROM seen) d),\n"
    "r AS MATERIALIZED (SELECT for_tenant, count(*) AS runs, sum(cardinality(seats))::bigint AS places FROM engine_run\n"
    "                    WHERE engine_id = $5 AND state <> 'ENDED' GROUP BY for_tenant),\n"
    "x AS (SELECT j.*, coalesce(r.places, 0) AS places,\n"
    "             row_number() OVER (PARTITION BY j.tenant_id ORDER BY j.job_id) + coalesce(r.runs, 0) AS turn\n"
    "        FROM seen j JOIN law USING (tenant_id, data_class) LEFT JOIN r ON r.for_tenant = j.tenant_id\n"
    "       WHERE j.not_before IS NULL AND (j.zone IS NULL OR j.zone = $6) AND NOT job_stays(j.kind) AND law.is_ok\n"
    "         AND j.reason " MAY_BE_SERVED " AND j.max_runtime_s <= $7 AND j.nodes <= $8\n"
    "         AND NOT EXISTS (SELECT FROM k WHERE is_known AND (NOT programs AND j.kind = ANY ($12)\n"
    "                            OR j.engine <> '' AND strpos(', ' || engines, ', ' || j.engine || ' ') = 0))\n"
    "         AND NOT EXISTS (SELECT FROM engine_run r\n"
    "                          WHERE r.for_tenant = j.tenant_id AND r.for_job = j.job_id AND r.state <> 'ENDED')\n"
    "         AND clock_timestamp() > coalesce((\n"
    "               SELECT max(r.ended_at) + least(power(2, count(*)), 300) * interval '1 second' FROM engine_run r\n"
    "                WHERE r.for_tenant = j.tenant_id AND r.for_job = j.job_id AND r.state = 'ENDED'\n"
    "                  AND r.ended_at > clock_timestamp() - interval '1 hour'), '-infinity')),\n"
    "y AS (SELECT x.*, row_number() OVER (PARTITION BY nodes > $10 ORDER BY turn, job_id) AS nth FROM x)\n"
    "SELECT tenant_id, job_id, slots, gpus, cpu_milli, memory_bytes, max_runtime_s, nodes,\n"
    "       greatest(extract(epoch FROM clock_timestamp() - greatest(submitted_at, begin_at)), 0)::bigint AS waits_s,\n"
    "       places AS tenant_places, reason = 'Engine' AS is_told,\n"
    "       (SELECT count(*) FROM (SELECT tenant_id FROM t UNION SELECT for_tenant FROM r) z) AS tenants\n"
    "  FROM y WHERE nth <= CASE WHEN nodes > $10 THEN $11 ELSE $9 END ORDER BY turn, job_id LIMIT $9 + $11" };
/* The least of the ends of windows that may have more behind them. */
static const struct stmt further = { .name = "demand_further", .params = "suii", .row = &last_row_schema, .card = CARD_MAYBE,
    .sql = SEEN
    "SELECT x.job_id FROM (SELECT (array_agg(job_id ORDER BY job_id DESC))[1] AS job_id, count(*) AS n FROM seen\n"
    "                       GROUP BY tenant_id) x WHERE x.n = (SELECT most FROM w) ORDER BY x.job_id LIMIT 1" };
static const struct stmt insert = { .name = "demand_insert", .params = "uuuuIiiiii", .card = CARD_NONE, .sql =
    "INSERT INTO engine_run (run_id, engine_id, for_tenant, for_job, seats, slots, cpus, gpus, memory_bytes, minutes)\n"
    "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (for_tenant, for_job) WHERE state <> 'ENDED' DO NOTHING" };
/* Jobs $2, $3 are told $4, and nobody else is told any more: not those of the last time, nor $5, $6. */
static const struct stmt say = { .name = "demand_say", .params = "uUUSUU", .card = CARD_NONE, .sql =
    "WITH i AS MATERIALIZED (SELECT * FROM unnest($2, $3, $4) AS u(tenant_id, job_id, says)),\n"
    "w AS MATERIALIZED (\n"
    "  SELECT u.tenant_id, u.job_id FROM engine, unnest(told_tenants, told_jobs) AS u(tenant_id, job_id) WHERE engine_id = $1\n"
    "   UNION SELECT * FROM unnest($5, $6)),\n"
    "g AS (UPDATE engine SET told_tenants = $2, told_jobs = $3\n"
    "       WHERE engine_id = $1 AND (told_tenants, told_jobs) IS DISTINCT FROM ($2, $3)),\n"
    "n AS (UPDATE job j SET reason = 'Engine', message = i.says FROM i\n"
    "       WHERE j.tenant_id = i.tenant_id AND j.job_id = i.job_id AND j.queued\n"
    "         AND (j.reason, j.message) <> ('Engine', i.says) AND j.reason " MAY_BE_SERVED ")\n"
    "UPDATE job j SET reason = 'Resources', message = '' FROM w\n"
    " WHERE j.tenant_id = w.tenant_id AND j.job_id = w.job_id AND j.queued AND j.reason = 'Engine'\n"
    "   AND (w.tenant_id, w.job_id) NOT IN (SELECT tenant_id, job_id FROM i)\n"
    "   AND NOT EXISTS (SELECT FROM engine_run r WHERE r.for_tenant = j.tenant_id AND r.for_job = j.job_id\n"
    "                      AND r.state <> 'ENDED' AND r.says <> '' AND r.says = j.message)" };

const struct stmt *const engine_demand_stmts[] = { &hold, &seats, &wanted, &further, &insert, &say, NULL };

static enum errc look(struct work *w, const struct engine *g, struct uuid after, size_t free, struct slice *ret, struct err *e)
{
    const int64_t most = g->machines < ENGINE_MACHINES ? g->machines : ENGINE_MACHINES;
    struct str kinds[JOB_KIND_COUNT];
    size_t nkinds = 0;
    for (int i = 0; i < JOB_KIND_COUNT; i++)
        if (job_types[i].traits & JT_PROGRAMS)
            kinds[nkinds++] = str_c(job_types[i].name);
    return db_many(w->tx, &wanted, ARGS(A_STR(g->pool), A_UUID(after), A_I64(DEMAND_LOOK), A_I64(DEMAND_LEAST),
                   A_UUID(g->engine_id), A_STR(g->zone), A_I64(g->longest_seconds), A_I64(most), A_I64(DEMAND_NEW_MAX),
                   A_I64(free), A_I64(DEMAND_LARGE_MAX), A_STRS(kinds, nkinds)), ret, DEMAND_MAX, e);
}

static enum errc find(struct work *w, const struct engine *g, struct uuid *after, size_t free, struct slice *ret, struct err *e)
{
    struct last_row last;
    bool found = false;
    TRY(look(w, g, UUID_NIL, free, ret, e));
    if (ret->n)
        return ERR_OK;
    TRY(db_maybe(w->tx, &further, ARGS(A_STR(g->pool), A_UUID(*after), A_I64(DEMAND_LOOK), A_I64(DEMAND_LEAST)), &last, &found,
                 e));
    *after = found ? last.job_id : UUID_NIL;
    return found ? look(w, g, *after, free, ret, e) : ERR_OK;
}

static int64_t round_up(int64_t n, int64_t by)
{
    return (n + by - 1) / by;
}

static void write_run(struct work *w, const struct engine *g, const struct demand *d, const struct seat_row *free)
{
    const int64_t cpus = round_up(d->cpu_milli, 1000);
    db_queue(w->tx, &insert, ARGS(A_UUID(uuid_v7(w->now_us)), A_UUID(g->engine_id), A_UUID(d->tenant_id), A_UUID(d->job_id),
             A_I64S_OF(free, (size_t)d->nodes, seat), A_I64(d->slots), A_I64(cpus > d->slots ? cpus : d->slots), A_I64(d->gpus),
             A_I64(d->memory_bytes), A_I64(round_up(d->max_runtime_s + LIMIT_SLACK_S, 60))), false);
}

struct told { struct uuid tenant_id, job_id; struct str says; };

/* The jobs of a turn that got nothing: those that wait behind a job that places are kept for, and itself, say so. Who said so the
 * last time and is not among them says nothing of it any more. */
static void tell(struct work *w, const struct engine *g, const struct demand *d, size_t n, const bool *gets,
                 const struct deal_held *held)
{
    struct told *t = ARENA_ARRAY(w->arena, struct told, n + 1), *was = ARENA_ARRAY(w->arena, struct told, n + 1);
    const bool is_kept = held->job < n;
    struct str says = STR(""), own = STR("");
    size_t k = 0, before = 0;
    if (is_kept) {
        const int64_t end_min = round_up(w->now_us / 1000000 + held->left_s, 60) / 60 % 1440;
        says = str_fmt(w->arena, "Engine %.*s keeps its free machines until %02lld:%02lld UTC at most", STR_ARG(g->name),
                       (long long)(end_min / 60), (long long)(end_min % 60));
        own = str_fmt(w->arena, "%.*s for it; %lld of %lld are free", STR_ARG(says), (long long)held->places,
                      (long long)d[held->job].nodes);
        says = str_fmt(w->arena, "%.*s for a job on several that has waited long", STR_ARG(says));
    }
    for (size_t i = 0; i < n; i++) {
        if (is_kept && !gets[i])
            t[k++] = (struct told){ d[i].tenant_id, d[i].job_id, i == held->job ? own : says };
        else if (d[i].is_told)
            was[before++] = (struct told){ d[i].tenant_id, d[i].job_id, STR("") };
    }
    db_queue(w->tx, &say, ARGS(A_UUID(g->engine_id), A_UUIDS_OF(t, k, tenant_id), A_UUIDS_OF(t, k, job_id), A_STRS_OF(t, k, says),
             A_UUIDS_OF(was, before, tenant_id), A_UUIDS_OF(was, before, job_id)), false);
}

static enum errc deal(struct work *w, const struct engine *g, struct uuid *after, struct slice free, bool is_told, struct err *e)
{
    const struct config *cfg = w->app->config;
    struct slice rows = { 0 };
    if (free.n)
        TRY(find(w, g, after, free.n, &rows, e));
    const struct demand *d = rows.items;
    const struct seat_row *s = free.items;
    struct deal_job *jobs = ARENA_ARRAY(w->arena, struct deal_job, rows.n + 1);
    bool *gets = ARENA_ARRAY(w->arena, bool, rows.n + 1), says = is_told;
    const struct deal_rule rule = { g->machines, rows.n ? d->tenants : 0, cfg->scheduler_engine_gang_wait_ms / 1000,
                                    cfg->scheduler_engine_gang_hold_ms / 1000 };
    for (size_t i = 0; i < rows.n; i++) {
        jobs[i] = (struct deal_job){ d[i].nodes, d[i].waits_s, d[i].tenant_places };
        says |= d[i].is_told;
    }
    const struct deal_held held = engine_deal(jobs, rows.n, (int64_t)free.n, &rule, gets);
    for (size_t i = 0; i < rows.n; i++)
        if (gets[i]) {
            write_run(w, g, &d[i], s);
            s += d[i].nodes;
        }
    if (says || held.job < rows.n)
        tell(w, g, d, rows.n, gets, &held);
    return ERR_OK;
}

enum errc engine_demand_serve(struct work *w, const struct engine *g, struct uuid *after, struct err *e)
{
    struct held_row row;
    struct slice free = { 0 };
    TRY(db_one(w->tx, &hold, ARGS(A_UUID(g->engine_id)), &row, e));
    TRY(db_many(w->tx, &seats, ARGS(A_UUID(g->engine_id), A_I64(ENGINE_RUNS_MAX)), &free, ENGINE_RUNS_MAX, e));
    return free.n || row.is_told ? deal(w, g, after, free, row.is_told, e) : ERR_OK;
}
