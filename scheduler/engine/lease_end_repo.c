/* SPDX-License-Identifier: Apache-2.0 */
/* lease_end_repo.c - the statement that ends attempts, whoever says so: a worker's report, the reaper, a machine that started anew.
 *
 * The caller holds the attempts' rows under lock and has seen them live, so each step ends exactly one; what they had booked is given
 * back by lease_repo_give_back, last of all (booking.h). The same statement posts what each used: one transaction of two lines in the
 * ledger, which sum to zero, by the price that was valid when the attempt was leased (docs/adr/0019-usage-ledger.md). */
#include "scheduler/engine/lease_repo.h"
#include "core/db/tx.h"
#include "scheduler/jobs/booking.h"

static const struct stmt quota_turn = { .name = "quota_turn", .params = "U", .card = CARD_NONE, .sql =
    "SELECT FROM quota WHERE tenant_id = ANY ($1) AND resource IN ('objects', 'stored_bytes')\n"
    " ORDER BY tenant_id, resource FOR NO KEY UPDATE" };

static const struct stmt attempt_end_many = { .name = "attempt_end_many", .params = "UUUISSSSBIBBISUY", .card = CARD_NONE, .sql =
    "WITH i AS MATERIALIZED (\n"
    "  SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)\n"
    "    AS u(tenant_id, attempt_id, node_id, fence, attempt_state, job_state, reason, message, is_requeue, delay_ms, started_now,\n"
    "         has_exit, exit_code, result, event_id, event)),\n"
    "a AS (\n"
    "  UPDATE attempt SET state = i.attempt_state, live = false, finished_at = clock_timestamp(), message = i.message,\n"
    "         exit_code = CASE WHEN i.has_exit THEN i.exit_code END,\n"
    "         started_at = coalesce(attempt.started_at, CASE WHEN i.started_now THEN clock_timestamp() END)\n"
    "    FROM i\n"
    "   WHERE attempt.tenant_id = i.tenant_id AND attempt.attempt_id = i.attempt_id AND attempt.node_id = i.node_id\n"
    "     AND attempt.fence = i.fence AND attempt.live\n"
    "  RETURNING attempt.tenant_id, attempt.attempt_id, attempt.job_id, attempt.fence, attempt.node_id, attempt.slots, attempt.gpus,\n"
    "            attempt.leased_at,\n"
    "            greatest(0, extract(epoch FROM attempt.finished_at - CASE WHEN i.started_now THEN attempt.leased_at\n"
    "              ELSE coalesce(attempt.started_at, attempt.leased_at) END) * 1000)::bigint AS wall_ms,\n"
    "            i.job_state, i.reason, i.message, i.is_requeue, i.delay_ms, i.result, i.event_id, i.event),\n"
    "j AS (\n"
    "  UPDATE job SET state = a.job_state, queued = a.job_state = 'PENDING', reason = a.reason, message = a.message,\n"
    "         version = job.version + 1, requeue_count = job.requeue_count + a.is_requeue::int,\n"
    "         result = coalesce(a.result::jsonb, job.result),\n"
    "         not_before = CASE WHEN a.delay_ms > 0 THEN clock_timestamp() + a.delay_ms * interval '1 millisecond' END,\n"
    "         finished_at = CASE WHEN a.job_state <> 'PENDING' THEN clock_timestamp() END\n"
    "    FROM a\n"
    "   WHERE job.tenant_id = a.tenant_id AND job.job_id = a.job_id AND job.fence = a.fence\n"
    "  RETURNING job.tenant_id, job.job_id, job.version, job.state, job.reason, job.message, job.fence, a.event_id, a.event,\n"
    "            job.project_id, job.queue, a.attempt_id, a.node_id, a.slots, a.gpus, a.leased_at, a.wall_ms),\n"
    "e AS (INSERT INTO job_event (tenant_id, job_id, version, state, reason, message, fence)\n"
    "      SELECT tenant_id, job_id, version, state, reason, message, fence FROM j),\n"
    "v AS (INSERT INTO audit_event (tenant_id, event_id, body) SELECT tenant_id, event_id, event FROM j),\n"
    "u AS MATERIALIZED (\n"
    "  SELECT x.*, usage_money_micro(x.slot_ms, x.gpu_ms, x.slot_hour, x.gpu_hour, x.energy_mj, x.kwh) AS money_micro FROM (\n"
    "    SELECT j.tenant_id, j.attempt_id, j.job_id, j.project_id, j.queue, n.zone, n.pool, n.flavor, j.slots, j.gpus, j.wall_ms,\n"
    "           j.wall_ms * j.slots AS slot_ms, j.wall_ms * j.gpus AS gpu_ms, p.slot_hour, p.gpu_hour, p.kwh, coalesce(p.currency, '') AS currency,\n"
    "           usage_energy_mj(j.wall_ms * j.slots, j.wall_ms * j.gpus, p.slot_watts, p.gpu_watts) AS energy_mj\n"
    "      FROM j JOIN node n ON n.node_id = j.node_id LEFT JOIN LATERAL (\n"
    "        SELECT slot_hour, gpu_hour, kwh, slot_watts, gpu_watts, currency FROM price\n"
    "         WHERE price.flavor = n.flavor AND valid_from <= j.leased_at ORDER BY valid_from DESC LIMIT 1) p ON true) x),\n"
    "r AS (\n"
    "  INSERT INTO usage_record (tenant_id, attempt_id, job_id, zone, pool, slots, gpus, wall_ms, slot_ms, gpu_ms)\n"
    "  SELECT tenant_id, attempt_id, job_id, zone, pool, slots, gpus, wall_ms, slot_ms, gpu_ms FROM u)\n"
    "INSERT INTO ledger_entry (tenant_id, transaction_id, line, account, project_id, queue, zone, pool, flavor, slot_ms, gpu_ms, energy_mj,\n"
    "                          money_micro, currency)\n"
    "SELECT tenant_id, attempt_id, l.line, CASE WHEN l.line = 2 THEN 'zone' WHEN project_id IS NULL THEN 'tenant' ELSE 'project' END, project_id,\n"
    "       queue, zone, pool, flavor, l.sign * slot_ms, l.sign * gpu_ms, l.sign * energy_mj, l.sign * money_micro, currency\n"
    "  FROM u CROSS JOIN (VALUES (1, 1), (2, -1)) AS l(line, sign)" };

const struct stmt *const lease_end_stmts[] = { &quota_turn, &attempt_end_many, &booking_turn_stmt, &booking_write_stmt, NULL };

void quota_repo_turn(struct db_tx *tx, struct arg tenants)
{
    db_queue(tx, &quota_turn, &tenants, 1, false);
}

void lease_repo_end(struct db_tx *tx, const struct attempt_step *s, size_t n)
{
    if (!n)
        return;
    db_queue(tx, &attempt_end_many, ARGS(
            A_UUIDS_OF(s, n, tenant_id), A_UUIDS_OF(s, n, attempt_id), A_UUIDS_OF(s, n, node_id), A_I64S_OF(s, n, fence),
            A_STRS_OF(s, n, attempt_state), A_STRS_OF(s, n, job_state), A_STRS_OF(s, n, reason), A_STRS_OF(s, n, message),
            A_BOOLS_OF(s, n, is_requeue), A_I64S_OF(s, n, delay_ms), A_BOOLS_OF(s, n, started_now), A_BOOLS_OF(s, n, has_exit_code),
            A_I64S_OF(s, n, exit_code), A_STRS_OF(s, n, result), A_UUIDS_OF(s, n, event_id), A_BYTESS_OF(s, n, event)), false);
}

void lease_repo_give_back(struct db_tx *tx, const struct attempt_step *s, size_t n)
{
    struct booking *b = booking_new(db_arena(tx), 3 * n);
    for (size_t i = 0; i < n; i++) {
        booking_add(b, s[i].tenant_id, "slots", -s[i].slots);
        booking_add(b, s[i].tenant_id, "gpus", -s[i].gpus);
        booking_add(b, s[i].tenant_id, "jobs", str_eq_c(s[i].job_state, "PENDING") ? 0 : -1);
    }
    booking_write(tx, b);
}
