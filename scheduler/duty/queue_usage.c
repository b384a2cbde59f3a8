/* SPDX-License-Identifier: Apache-2.0 */
/* queue_usage.c - one statement. A look that comes late counts two periods at most of what is held now: nobody knows what was
 * held before. */
#include "scheduler/duty/queue_usage.h"
#include "core/db/tx.h"

static const struct stmt usage_sum = { .name = "queue_usage_sum", .params = "ii", .card = CARD_NONE, .sql =
    "WITH h AS MATERIALIZED (\n"
    "  SELECT q.tenant_id, q.queue_id, sum(a.slots) AS slots, sum(a.gpus) AS gpus\n"
    "    FROM queue q JOIN attempt a ON a.tenant_id = q.tenant_id AND a.live\n"
    "    JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id AND j.queue = q.name\n"
    "         AND j.project_id IS NOT DISTINCT FROM q.project_id GROUP BY 1, 2),\n"
    "n AS (\n"
    "  SELECT q.tenant_id, q.queue_id, q.slot_usage, q.gpu_usage, coalesce(h.slots, 0) AS slots, coalesce(h.gpus, 0) AS gpus,\n"
    "         power(0.5, t.s / $2) AS kept, least(t.s, 2 * $1) AS held_s\n"
    "    FROM queue q LEFT JOIN h ON h.tenant_id = q.tenant_id AND h.queue_id = q.queue_id\n"
    "    CROSS JOIN LATERAL (SELECT greatest(0, extract(epoch FROM clock_timestamp() - q.usage_at)) AS s) t\n"
    "   WHERE q.slot_usage > 0 OR q.gpu_usage > 0 OR h.slots > 0 OR h.gpus > 0)\n"
    "UPDATE queue SET slot_usage = round(n.slot_usage * n.kept + n.slots * n.held_s)::bigint,\n"
    "       gpu_usage = round(n.gpu_usage * n.kept + n.gpus * n.held_s)::bigint, usage_at = clock_timestamp()\n"
    "  FROM n WHERE queue.tenant_id = n.tenant_id AND queue.queue_id = n.queue_id" };
const struct stmt *const queue_usage_stmts[] = { &usage_sum, NULL };

enum errc queue_usage_pass(struct work *w, struct err *e)
{
    return db_exec(w->tx, &usage_sum, ARGS(A_I64(QUEUE_USAGE_S), A_I64(QUEUE_HALF_LIFE_S)), NULL, e);
}
