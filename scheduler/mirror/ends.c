/* SPDX-License-Identifier: Apache-2.0 */
/* ends.c - one statement over live attempts and their members; how long their like took is looked for once for each tenant. */
#include "scheduler/mirror/ends.h"
#include "core/db/tx.h"
#include "core/table/schema.h"
#include "core/wire/lease_wire.h"
#include "scheduler/plan/expect.h"

_Static_assert((int)GANG_NODES_MAX <= (int)BOOKING_SEATS_MAX, "a booking has room for every job on several machines");

static const int64_t SECOND_US = 1000000;

struct end_row {
    struct uuid tenant_id, project_id, node_id;
    struct str queue, runs;
    int64_t slots, gpus, cpu_milli, memory_bytes, gpu_milli, devices, all_slots, all_gpus, so_far_us, max_runtime_s, leaves_us;
    bool is_first, stays, is_leaving;
};
SCHEMA_OF(end_row, "What a live attempt holds on one machine, and what tells when it ends",
    FIELD(end_row, tenant_id, 0, .doc = "Tenant"), FIELD(end_row, project_id, 0, .doc = "Project"),
    FIELD(end_row, node_id, 0, .doc = "Machine"), FIELD(end_row, queue, 0, .doc = "Queue"),
    FIELD(end_row, runs, 0, .doc = "How long its like took"), FIELD(end_row, slots, 0, .doc = "Held there"),
    FIELD(end_row, gpus, 0, .doc = "Held there"), FIELD(end_row, cpu_milli, 0, .doc = "Held there"),
    FIELD(end_row, memory_bytes, 0, .doc = "Held there"), FIELD(end_row, gpu_milli, 0, .doc = "Held there"),
    FIELD(end_row, devices, 0, .doc = "Held there"), FIELD(end_row, all_slots, 0, .doc = "Of all its machines"),
    FIELD(end_row, all_gpus, 0, .doc = "Of all its machines"), FIELD(end_row, so_far_us, 0, .doc = "It has run"),
    FIELD(end_row, max_runtime_s, 0, .doc = "Limit"), FIELD(end_row, leaves_us, 0, .doc = "Until it must be gone"),
    FIELD(end_row, is_first, 0, .doc = "Its first machine"), FIELD(end_row, stays, 0, .doc = "It has no end of its own"),
    FIELD(end_row, is_leaving, 0, .doc = "It has been told to go"));
static const struct stmt ends_all = { .name = "ends_all", .params = "i", .row = &end_row_schema, .card = CARD_MANY, .sql =
    "WITH l AS MATERIALIZED (\n"
    "  SELECT a.tenant_id, j.project_id, coalesce(m.node_id, a.node_id) AS node_id, j.queue, j.kind, j.shape, j.max_runtime_s,\n"
    "         coalesce(m.slots, a.slots) AS slots, coalesce(m.gpus, a.gpus) AS gpus,\n"
    "         coalesce(m.cpu_milli, a.cpu_milli) AS cpu_milli, coalesce(m.memory_bytes, a.memory_bytes) AS memory_bytes,\n"
    "         coalesce(m.gpu_milli, a.gpu_milli) AS gpu_milli, coalesce(m.devices, a.devices) AS devices,\n"
    "         coalesce(m.rank, 0) = 0 AS is_first, a.slots AS all_slots, a.gpus AS all_gpus,\n"
    "         coalesce(a.started_at, a.leased_at) AS begun_at, a.evict_until\n"
    "    FROM attempt a JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id\n"
    "    LEFT JOIN attempt_member m ON a.nodes > 1 AND m.tenant_id = a.tenant_id AND m.attempt_id = a.attempt_id AND m.live\n"
    "   WHERE a.live ORDER BY a.attempt_id LIMIT $1),\n"
    "r AS MATERIALIZED (\n"
    "  SELECT t.tenant_id, e.shape, string_agg(extract(epoch FROM e.finished_at - e.started_at)::bigint::text, ',') AS runs\n"
    "    FROM (SELECT DISTINCT tenant_id FROM l) t CROSS JOIN LATERAL (\n"
    "      SELECT x.job_id FROM job x WHERE x.tenant_id = t.tenant_id AND x.ended = 'COMPLETED'\n"
    "       ORDER BY x.job_id DESC LIMIT 100) n\n"
    "    JOIN job e ON e.tenant_id = t.tenant_id AND e.job_id = n.job_id AND e.started_at IS NOT NULL\n"
    "   GROUP BY t.tenant_id, e.shape)\n"
    "SELECT l.tenant_id, l.project_id, l.node_id, l.queue, coalesce(r.runs, '') AS runs, l.slots, l.gpus, l.cpu_milli,\n"
    "       l.memory_bytes, l.gpu_milli, l.devices, CASE WHEN l.is_first THEN l.all_slots ELSE 0 END AS all_slots,\n"
    "       CASE WHEN l.is_first THEN l.all_gpus ELSE 0 END AS all_gpus,\n"
    "       greatest(0, extract(epoch FROM now() - l.begun_at) * 1000000)::bigint AS so_far_us, l.max_runtime_s,\n"
    "       greatest(0, coalesce(extract(epoch FROM l.evict_until - now()), 0) * 1000000)::bigint AS leaves_us, l.is_first,\n"
    "       job_stays(l.kind) AS stays, l.evict_until IS NOT NULL AS is_leaving\n"
    "  FROM l LEFT JOIN r ON r.tenant_id = l.tenant_id AND r.shape = l.shape" };

const struct stmt *const ends_stmts[] = { &ends_all, NULL };

static int64_t ends_of(const struct end_row *r, int64_t now_us)
{
    bool is_measured;
    if (r->is_leaving)
        return now_us + r->leaves_us;
    if (r->stays)
        return INT64_MAX;
    const int64_t runs_s = expect_runtime_s(r->runs, r->max_runtime_s, r->so_far_us / SECOND_US, &is_measured);
    return now_us - r->so_far_us + runs_s * SECOND_US;
}

enum errc ends_read(struct work *w, int64_t now_us, struct ends *ret, struct err *e)
{
    struct slice rows = { 0 };
    TRY(db_many(w->tx, &ends_all, ARGS(A_I64(ENDS_MAX)), &rows, ENDS_MAX, e));
    const struct end_row *r = rows.items;
    *ret = (struct ends){ ARENA_ARRAY(w->arena, struct snap_end, rows.n + 1), rows.n };
    for (size_t i = 0; i < rows.n; i++)
        ret->items[i] = (struct snap_end){
            .tenant_id = r[i].tenant_id, .project_id = r[i].project_id, .node_id = r[i].node_id, .queue = r[i].queue,
            .ask = { .slots = r[i].slots, .gpus = (int32_t)r[i].gpus, .cpu_milli = r[i].cpu_milli,
                     .memory_bytes = r[i].memory_bytes, .gpu_milli = (int32_t)r[i].gpu_milli },
            .devices = (uint64_t)r[i].devices, .all_slots = r[i].all_slots, .all_gpus = r[i].all_gpus, .is_first = r[i].is_first,
            .ends_us = ends_of(&r[i], now_us) };
    return ERR_OK;
}
