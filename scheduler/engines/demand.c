/* SPDX-License-Identifier: Apache-2.0 */
/* demand.c - SQL of who waits for an engine. Tenants are found by steps through the index job_pool_wait, one for each, since a
 * DISTINCT reads all that waits. */
#include "scheduler/engines/demand.h"
#include "core/db/tx.h"
#include "core/table/config.h"
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
struct last_row { struct uuid job_id; };
SCHEMA_OF(last_row, "How far was looked", FIELD(last_row, job_id, 0));

/* Who reads which places are free holds the engine until what it wrote is committed: of two that believe they lead one waits, and
 * then reads what the other wrote. */
static const struct stmt hold = { .name = "demand_hold", .params = "u", .card = CARD_NONE, .sql =
    "SELECT FROM engine WHERE engine_id = $1 FOR NO KEY UPDATE" };
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
    "         q.data_class, q.reason, q.not_before, q.submitted_at, q.begin_at\n"                                          \
    "    FROM job q WHERE " WAITS " AND q.tenant_id = t.tenant_id AND q.job_id > $2\n"                                       \
    "   ORDER BY q.job_id LIMIT (SELECT most FROM w)) j)\n"
/* A job that waits for anything else, as a quota or another job, waits for no machine. */
#define MAY_BE_SERVED "IN ('Resources', 'NoMatchingFlavor', 'ZoneUnavailable', 'Engine')"

/* After runs that ended and left the job waiting there is a pause that grows. */
static const struct stmt wanted = { .name = "demand_wanted", .params = "suiiusiii", .row = &demand_schema, .card = CARD_MANY,
    .sql = SEEN
    "SELECT x.tenant_id, x.job_id, x.slots, x.gpus, x.cpu_milli, x.memory_bytes, x.max_runtime_s, x.nodes,\n"
    "       greatest(extract(epoch FROM clock_timestamp() - greatest(x.submitted_at, x.begin_at)), 0)::bigint AS waits_s,\n"
    "       x.places AS tenant_places, x.reason = 'Engine' AS is_told,\n"
    "       (SELECT count(*) FROM (SELECT tenant_id FROM t UNION SELECT r.for_tenant FROM engine_run r\n"
    "                               WHERE r.engine_id = $5 AND r.state <> 'ENDED') y) AS tenants\n"
    "  FROM (SELECT j.*, o.places, row_number() OVER (PARTITION BY j.tenant_id ORDER BY j.job_id) + o.runs AS turn\n"
    "          FROM seen j CROSS JOIN LATERAL (\n"
    "               SELECT count(*) AS runs, coalesce(sum(cardinality(r.seats)), 0)::bigint AS places FROM engine_run r\n"
    "                WHERE r.engine_id = $5 AND r.for_tenant = j.tenant_id AND r.state <> 'ENDED') o\n"
    "         WHERE j.not_before IS NULL AND (j.zone IS NULL OR j.zone = $6) AND NOT job_stays(j.kind)\n"
    "           AND j.reason " MAY_BE_SERVED " AND j.max_runtime_s <= $7 AND j.nodes <= $8\n"
    "           AND NOT EXISTS (SELECT FROM engine_run r\n"
    "                            WHERE r.for_tenant = j.tenant_id AND r.for_job = j.job_id AND r.state <> 'ENDED')\n"
    "           AND clock_timestamp() > coalesce((\n"
    "                 SELECT max(r.ended_at) + least(power(2, count(*)), 300) * interval '1 second' FROM engine_run r\n"
    "                  WHERE r.for_tenant = j.tenant_id AND r.for_job = j.job_id AND r.state = 'ENDED'\n"
    "                    AND r.ended_at > clock_timestamp() - interval '1 hour'), '-infinity')) x\n"
    " WHERE residency_zone_ok(x.tenant_id, x.data_class, $6) ORDER BY x.turn, x.job_id LIMIT $9" };
/* The least of the ends of windows that may have more behind them. */
static const struct stmt further = { .name = "demand_further", .params = "suii", .row = &last_row_schema, .card = CARD_MAYBE,
    .sql = SEEN
    "SELECT x.job_id FROM (SELECT (array_agg(job_id ORDER BY job_id DESC))[1] AS job_id, count(*) AS n FROM seen\n"
    "                       GROUP BY tenant_id) x WHERE x.n = (SELECT most FROM w) ORDER BY x.job_id LIMIT 1" };
static const struct stmt insert = { .name = "demand_insert", .params = "uuuuIiiiii", .card = CARD_NONE, .sql =
    "INSERT INTO engine_run (run_id, engine_id, for_tenant, for_job, seats, slots, cpus, gpus, memory_bytes, minutes)\n"
    "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (for_tenant, for_job) WHERE state <> 'ENDED' DO NOTHING" };
static const struct stmt say = { .name = "demand_say", .params = "UUss", .card = CARD_NONE, .sql =
    "UPDATE job j SET reason = $3, message = $4 FROM unnest($1, $2) AS i(tenant_id, job_id)\n"
    " WHERE j.tenant_id = i.tenant_id AND j.job_id = i.job_id AND j.queued AND (j.reason, j.message) <> ($3, $4)\n"
    "   AND j.reason " MAY_BE_SERVED };

const struct stmt *const engine_demand_stmts[] = { &hold, &seats, &wanted, &further, &insert, &say, NULL };

static enum errc look(struct work *w, const struct engine *g, struct uuid after, struct slice *ret, struct err *e)
{
    const int64_t most = g->machines < ENGINE_MACHINES ? g->machines : ENGINE_MACHINES;
    return db_many(w->tx, &wanted, ARGS(A_STR(g->pool), A_UUID(after), A_I64(DEMAND_LOOK), A_I64(DEMAND_LEAST),
                   A_UUID(g->engine_id), A_STR(g->zone), A_I64(g->longest_seconds), A_I64(most), A_I64(DEMAND_NEW_MAX)), ret,
                   DEMAND_NEW_MAX, e);
}

static enum errc find(struct work *w, const struct engine *g, struct uuid *after, struct slice *ret, struct err *e)
{
    struct last_row last;
    bool found = false;
    TRY(look(w, g, UUID_NIL, ret, e));
    if (ret->n)
        return ERR_OK;
    TRY(db_maybe(w->tx, &further, ARGS(A_STR(g->pool), A_UUID(*after), A_I64(DEMAND_LOOK), A_I64(DEMAND_LEAST)), &last, &found,
                 e));
    *after = found ? last.job_id : UUID_NIL;
    return found ? look(w, g, *after, ret, e) : ERR_OK;
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

/* Those that wait behind a job that places are kept for say so; when none are kept any more, those that said so do not. */
static void tell(struct work *w, const struct engine *g, const struct demand *d, size_t n, const bool *gets,
                 const struct deal_held *held)
{
    struct uuid tenants[DEMAND_NEW_MAX], jobs[DEMAND_NEW_MAX];
    const bool is_kept = held->job < n;
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (!gets[i] && i != held->job && (is_kept || d[i].is_told)) {
            tenants[k] = d[i].tenant_id;
            jobs[k++] = d[i].job_id;
        }
    struct str says = STR("");
    if (is_kept) {
        const int64_t end_min = round_up(w->now_us / 1000000 + held->left_s, 60) / 60 % 1440;
        says = str_fmt(w->arena, "Engine %.*s keeps its free machines until %02lld:%02lld UTC at most", STR_ARG(g->name),
                       (long long)(end_min / 60), (long long)(end_min % 60));
        const struct str own = str_fmt(w->arena, "%.*s for it; %lld of %lld are free", STR_ARG(says), (long long)held->places,
                                       (long long)d[held->job].nodes);
        db_queue(w->tx, &say, ARGS(A_UUIDS(&d[held->job].tenant_id, 1), A_UUIDS(&d[held->job].job_id, 1), A_TEXT("Engine"),
                 A_STR(own)), false);
        says = str_fmt(w->arena, "%.*s for a job on several that has waited long", STR_ARG(says));
    }
    if (k)
        db_queue(w->tx, &say, ARGS(A_UUIDS(tenants, k), A_UUIDS(jobs, k), A_TEXT(is_kept ? "Engine" : "Resources"), A_STR(says)),
                 false);
}

enum errc engine_demand_serve(struct work *w, const struct engine *g, struct uuid *after, struct err *e)
{
    const struct config *cfg = w->app->config;
    struct slice free = { 0 }, rows = { 0 };
    struct deal_job jobs[DEMAND_NEW_MAX];
    bool gets[DEMAND_NEW_MAX];
    db_queue(w->tx, &hold, ARGS(A_UUID(g->engine_id)), false);
    TRY(db_many(w->tx, &seats, ARGS(A_UUID(g->engine_id), A_I64(ENGINE_RUNS_MAX)), &free, ENGINE_RUNS_MAX, e));
    if (!free.n)
        return ERR_OK;
    TRY(find(w, g, after, &rows, e));
    const struct demand *d = rows.items;
    const struct seat_row *s = free.items;
    if (!rows.n)
        return ERR_OK;
    const struct deal_rule rule = { g->machines, d->tenants, cfg->scheduler_engine_gang_wait_ms / 1000,
                                    cfg->scheduler_engine_gang_hold_ms / 1000 };
    for (size_t i = 0; i < rows.n; i++)
        jobs[i] = (struct deal_job){ d[i].nodes, d[i].waits_s, d[i].tenant_places };
    const struct deal_held held = engine_deal(jobs, rows.n, (int64_t)free.n, &rule, gets);
    for (size_t i = 0; i < rows.n; i++)
        if (gets[i]) {
            write_run(w, g, &d[i], s);
            s += d[i].nodes;
        }
    tell(w, g, d, rows.n, gets, &held);
    return ERR_OK;
}
