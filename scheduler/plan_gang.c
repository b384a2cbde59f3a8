/* SPDX-License-Identifier: Apache-2.0 */
/* plan_gang.c - one statement for all gangs of a plan. */
#include "scheduler/plan_gang.h"
#include "core/db/arg.h"
#include "core/db/tx.h"

static const struct stmt gang_write = { .name = "plan_gang_write", .params = "UUIUUIIIIIIi", .card = CARD_NONE, .sql =
    "WITH u AS (\n"
    "  UPDATE attempt SET nodes = i.nodes FROM (\n"
    "    SELECT tenant_id, attempt_id, max(rank) + 1 AS nodes FROM unnest($1, $2, $3) AS x(tenant_id, attempt_id, rank)\n"
    "     GROUP BY 1, 2) i\n"
    "   WHERE attempt.tenant_id = i.tenant_id AND attempt.attempt_id = i.attempt_id)\n"
    "INSERT INTO attempt_member (tenant_id, attempt_id, rank, job_id, node_id, slots, gpus, cpu_milli, memory_bytes, gpu_milli,\n"
    "                            devices, lease_until)\n"
    "SELECT tenant_id, attempt_id, rank, job_id, node_id, slots, gpus, cpu_milli, memory_bytes, gpu_milli, devices,\n"
    "       clock_timestamp() + $12 * interval '1 millisecond'\n"
    "  FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) AS i(tenant_id, attempt_id, rank, job_id, node_id,\n"
    "              slots, gpus, cpu_milli, memory_bytes, gpu_milli, devices)" };

const struct stmt *const plan_gang_stmts[] = { &gang_write, NULL };

struct member {
    struct uuid tenant_id, attempt_id, job_id, node_id;
    int64_t rank, slots, gpus, cpu_milli, memory_bytes, gpu_milli, devices;
};

bool plan_gang_any(const struct plan_line *lines, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (lines[i].nmore)
            return true;
    return false;
}

static struct member member_of(const struct snapshot *s, const struct plan_line *l, size_t rank)
{
    const size_t node = rank ? l->more[rank - 1].node : l->node;
    return (struct member){ .tenant_id = l->step.tenant_id, .attempt_id = l->step.attempt_id, .job_id = l->step.job_id,
                            .node_id = s->nodes.items[node].node_id, .rank = (int64_t)rank, .slots = l->ask.slots,
                            .gpus = l->ask.gpus, .cpu_milli = l->ask.cpu_milli, .memory_bytes = l->ask.memory_bytes,
                            .gpu_milli = l->ask.gpus ? l->ask.gpu_milli : GPU_MILLI,
                            .devices = (int64_t)(rank ? l->more[rank - 1].devices : l->devices) };
}

void plan_gang_write(struct db_tx *tx, const struct snapshot *s, const struct plan_line *lines, size_t n, int64_t lease_ms)
{
    size_t most = 0, k = 0;
    for (size_t i = 0; i < n; i++)
        most += lines[i].nmore + 1;
    struct member *m = ARENA_ARRAY(db_arena(tx), struct member, most + 1);
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; lines[i].nmore && r <= lines[i].nmore; r++)
            m[k++] = member_of(s, &lines[i], r);
    if (k)
        db_queue(tx, &gang_write, ARGS(
            A_UUIDS_OF(m, k, tenant_id), A_UUIDS_OF(m, k, attempt_id), A_I64S_OF(m, k, rank), A_UUIDS_OF(m, k, job_id),
            A_UUIDS_OF(m, k, node_id), A_I64S_OF(m, k, slots), A_I64S_OF(m, k, gpus), A_I64S_OF(m, k, cpu_milli),
            A_I64S_OF(m, k, memory_bytes), A_I64S_OF(m, k, gpu_milli), A_I64S_OF(m, k, devices), A_I64(lease_ms)), false);
}
