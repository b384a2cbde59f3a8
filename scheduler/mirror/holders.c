/* SPDX-License-Identifier: Apache-2.0 */
/* holders.c - live attempts by the index of live ones; a checkpoint counts from when it is whole. */
#include "scheduler/mirror/holders.h"
#include "core/db/tx.h"
#include "core/table/schema.h"
#include "scheduler/engine/lease_move.h"

enum { HOLDERS_MAX = 20000 };

struct any_row { bool any; };
SCHEMA_OF(any_row, "Whether a class may be preempted", FIELD(any_row, any, 0, .doc = "One may, by a higher one"));
static const struct stmt holders_any = { .name = "holders_any", .params = "", .row = &any_row_schema, .card = CARD_ONE,
    .sql = "SELECT EXISTS (SELECT FROM priority_class\n"
           " WHERE preemptible AND value < (SELECT max(value) FROM priority_class))\n"
           "    OR EXISTS (SELECT FROM queue WHERE within_cluster_queue <> 'Never' OR reclaim_within_cohort <> 'Never') AS any" };

SCHEMA_OF(snap_holder, "A running attempt whose class may be preempted",
    FIELD(snap_holder, tenant_id, 0), FIELD(snap_holder, job_id, 0), FIELD(snap_holder, attempt_id, 0),
    FIELD(snap_holder, node_id, 0), FIELD(snap_holder, fence, 0), FIELD(snap_holder, slots, 0), FIELD(snap_holder, gpus, 0),
    FIELD(snap_holder, cpu_milli, 0), FIELD(snap_holder, memory_bytes, 0), FIELD(snap_holder, gpu_milli, 0),
    FIELD(snap_holder, devices, 0), FIELD(snap_holder, class_value, 0), FIELD(snap_holder, priority, 0),
    FIELD(snap_holder, grace_s, 0), FIELD(snap_holder, min_runtime_s, 0), FIELD(snap_holder, ran_ms, 0),
    FIELD(snap_holder, lost_ms, 0), FIELD(snap_holder, preempted, 0), FIELD(snap_holder, is_leaving, 0),
    FIELD(snap_holder, leaves_for, 0), FIELD(snap_holder, project_id, 0), FIELD(snap_holder, queue, 0),
    FIELD(snap_holder, submitted_at, 0), FIELD(snap_holder, rank, 0), FIELD(snap_holder, all_slots, 0),
    FIELD(snap_holder, all_gpus, 0));
/* Serving jobs stay: who asks a deployment is not to be cut off by a training. */
static const struct stmt holders_all = { .name = "holders", .params = "i", .row = &snap_holder_schema, .card = CARD_MANY, .sql =
    "SELECT a.tenant_id, a.job_id, a.attempt_id, coalesce(m.node_id, a.node_id) AS node_id, a.fence,\n"
    "       coalesce(m.slots, a.slots) AS slots, coalesce(m.gpus, a.gpus) AS gpus,\n"
    "       coalesce(m.cpu_milli, a.cpu_milli) AS cpu_milli,\n"
    "       coalesce(m.memory_bytes, a.memory_bytes) AS memory_bytes, coalesce(m.gpu_milli, a.gpu_milli) AS gpu_milli,\n"
    "       coalesce(m.devices, a.devices) AS devices, coalesce(m.rank, 0) AS rank,\n"
    "       CASE WHEN a.nodes > 1 THEN a.slots ELSE 0 END AS all_slots,\n"
    "       CASE WHEN a.nodes > 1 THEN a.gpus ELSE 0 END AS all_gpus,\n"
    "       c.value AS class_value, j.priority, c.grace_s, c.min_runtime_s,\n"
    "       (extract(epoch FROM clock_timestamp() - a.started_at) * 1000)::bigint AS ran_ms,\n"
    "       (extract(epoch FROM clock_timestamp() - \n"
    "         greatest(a.started_at, checkpoint_kept_at(a.tenant_id, a.job_id))) * 1000)::bigint AS lost_ms,\n"
    "       (SELECT count(*) FROM attempt p WHERE p.tenant_id = a.tenant_id AND p.job_id = a.job_id\n"
    "           AND " ATTEMPT_MADE_ROOM("p") "\n"
    "           AND p.evict_for IS DISTINCT FROM '00000000-0000-0000-0000-000000000000') AS preempted,\n"
    "       a.evict_until IS NOT NULL AS is_leaving,\n"
    "       coalesce(a.evict_for, a.job_id) AS leaves_for, j.project_id, j.queue, j.submitted_at\n"
    "  FROM attempt a JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id\n"
    "  JOIN priority_class c ON c.class = j.class AND c.preemptible\n"
    "  LEFT JOIN attempt_member m ON a.nodes > 1 AND m.tenant_id = a.tenant_id AND m.attempt_id = a.attempt_id AND m.live\n"
    " WHERE a.live AND a.state = 'RUNNING' AND NOT job_stays(j.kind) AND NOT j.cancel_requested\n"
    " ORDER BY a.attempt_id, rank LIMIT $1" };

const struct stmt *const holders_stmts[] = { &holders_any, &holders_all, NULL };

enum errc holders_read(struct work *w, struct holders *ret, struct err *e)
{
    struct any_row any;
    struct slice rows = { 0 };
    *ret = (struct holders){ 0 };
    TRY(db_one(w->tx, &holders_any, NO_ARGS, &any, e));
    if (any.any)
        TRY(db_many(w->tx, &holders_all, ARGS(A_I64(HOLDERS_MAX)), &rows, HOLDERS_MAX, e));
    *ret = (struct holders){ rows.items, rows.n };
    return ERR_OK;
}
