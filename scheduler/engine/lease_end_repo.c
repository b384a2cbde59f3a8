/* SPDX-License-Identifier: Apache-2.0 */
/* lease_end_repo.c - the statement that ends attempts, whoever says so: a worker's report, the reaper, a machine that started anew.
 *
 * The caller holds the attempts' rows under lock and has seen them live, so each step ends exactly one; what they had booked is given
 * back by lease_repo_give_back, last of all (booking.h). The same statement posts what each used: one row of the ledger, by the
 * price that was valid when the attempt was leased (docs/adr/0019-usage-ledger.md). */
#include "scheduler/engine/lease_repo.h"
#include "core/db/tx.h"
#include "scheduler/engine/lease_wish.h"
#include "scheduler/jobs/booking.h"
#include "scheduler/jobs/job_apply.h"

static const struct stmt quota_turn = { .name = "quota_turn", .params = "U", .card = CARD_NONE, .sql =
    "SELECT FROM quota WHERE tenant_id = ANY ($1) AND resource IN ('objects', 'stored_bytes')\n"
    " ORDER BY tenant_id, resource FOR NO KEY UPDATE" };

/* It went back, was cancelled or ran out while it waited for a slot of its machine. Machines of an attempt on several wait for
 * each other, which is not known of the first alone. */
#define NOBODY_HAD_IT "attempt.nodes = 1 AND attempt.started_at IS NULL AND attempt.taken_at IS NULL"

/* What the other machines of an attempt on several took, as of their last words. One that measured nothing makes all of it
 * unknown: a sum of some would look like a sum of all. */
#define OTHERS(column_)                                                                                                      \
    "CASE WHEN attempt.nodes = 1 THEN 0 ELSE (\n"                                                                            \
    "           SELECT CASE WHEN count(m." column_ ") = attempt.nodes - 1 THEN sum(m." column_ ") END::bigint\n"              \
    "             FROM attempt_member m\n"                                                                                    \
    "           WHERE m.tenant_id = attempt.tenant_id AND m.attempt_id = attempt.attempt_id AND m.rank > 0) END"

static const struct stmt attempt_end_many = { .name = "attempt_end_many", .params = "UUUISSBBIBIBIBI", .card = CARD_NONE, .sql =
    "WITH a AS (\n"
    "  UPDATE attempt SET state = i.attempt_state, live = false, finished_at = clock_timestamp(), message = i.message,\n"
    "         exit_code = CASE WHEN i.has_exit THEN i.exit_code END,\n"
    "         cpu_mj = CASE WHEN i.has_cpu_mj THEN i.cpu_mj + " OTHERS("cpu_mj") " END,\n"
    "         gpu_mj = CASE WHEN i.has_gpu_mj THEN i.gpu_mj + " OTHERS("gpu_mj") " END,\n"
    "         taken_at = CASE WHEN i.takes_too THEN " TAKEN_AT " ELSE attempt.taken_at END,\n"
    "         started_at = coalesce(attempt.started_at, CASE WHEN i.started_now THEN clock_timestamp() END)\n"
    "    FROM (SELECT unnest($1) AS tenant_id, unnest($2) AS attempt_id, unnest($3) AS node_id, unnest($4) AS fence,\n"
    "                 unnest($5) AS attempt_state, unnest($6) AS message, unnest($7) AS started_now, unnest($8) AS has_exit,\n"
    "                 unnest($9) AS exit_code, unnest($10) AS takes_too, unnest($11) AS held_ms, unnest($12) AS has_cpu_mj,\n"
    "                 unnest($13) AS cpu_mj, unnest($14) AS has_gpu_mj, unnest($15) AS gpu_mj) i      -- as in job_apply.c\n"
    "   WHERE attempt.tenant_id = i.tenant_id AND attempt.attempt_id = i.attempt_id AND attempt.node_id = i.node_id\n"
    "     AND attempt.fence = i.fence AND attempt.live\n"
    "  RETURNING attempt.tenant_id, attempt.attempt_id, attempt.job_id, attempt.node_id, attempt.slots, attempt.gpus, attempt.leased_at,\n"
    "            attempt.cpu_mj, attempt.gpu_mj,\n"
    "            greatest(0, extract(epoch FROM attempt.finished_at - CASE\n"
    "              WHEN i.started_now THEN coalesce(attempt.taken_at, attempt.leased_at)\n"
    "              WHEN " NOBODY_HAD_IT " THEN attempt.finished_at\n"
    "              ELSE coalesce(attempt.started_at, attempt.taken_at, attempt.leased_at) END) * 1000)::bigint AS wall_ms),\n"
    "u AS (\n"
    "    SELECT a.tenant_id, a.attempt_id, a.job_id, j.project_id, j.queue, n.zone, n.pool, n.flavor, a.slots, a.gpus, a.wall_ms,\n"
    "           a.wall_ms * a.slots AS slot_ms, a.wall_ms * a.gpus AS gpu_ms, p.slot_hour, p.gpu_hour, p.kwh, coalesce(p.currency, '') AS currency,\n"
    "           usage_energy_measured_mj(a.wall_ms * a.slots, a.wall_ms * a.gpus, p.slot_watts, p.gpu_watts, a.cpu_mj,\n"
    "                                    a.gpu_mj) AS energy_mj\n"
    "      FROM a JOIN node n ON n.node_id = a.node_id CROSS JOIN LATERAL (\n"
    "        SELECT project_id, queue FROM job WHERE job.tenant_id = a.tenant_id AND job.job_id = a.job_id LIMIT 1) j LEFT JOIN LATERAL (\n"
    "        SELECT slot_hour, gpu_hour, kwh, slot_watts, gpu_watts, currency FROM price\n"
    "         WHERE price.flavor = n.flavor AND valid_from <= a.leased_at ORDER BY valid_from DESC LIMIT 1) p ON true)\n"
    "INSERT INTO usage_record (tenant_id, attempt_id, job_id, project_id, queue, zone, pool, flavor, slots, gpus, wall_ms, slot_ms, gpu_ms,\n"
    "                          energy_mj, money_micro, currency)\n"
    "SELECT tenant_id, attempt_id, job_id, project_id, queue, zone, pool, flavor, slots, gpus, wall_ms, slot_ms, gpu_ms, energy_mj,\n"
    "       usage_money_micro(slot_ms, gpu_ms, slot_hour, gpu_hour, energy_mj, kwh), currency FROM u" };

const struct stmt *const lease_end_stmts[] = { &quota_turn, &attempt_end_many, &lease_wishes_stmt, &attempt_causes_stmt,
                                               &job_parked_stmt, NULL };

void quota_repo_turn(struct db_tx *tx, struct arg tenants)
{
    db_queue(tx, &quota_turn, &tenants, 1, false);
}

enum errc lease_repo_move(struct db_tx *tx, const struct attempt_step *s, size_t n, struct err *e)
{
    struct job_move *m = ARENA_ARRAY(db_arena(tx), struct job_move, n + 1);
    for (size_t i = 0; i < n; i++)
        m[i] = (struct job_move){ .tenant_id = s[i].tenant_id, .job_id = s[i].job_id, .event = s[i].event, .fence = s[i].fence,
                                  .reason = s[i].reason, .message = s[i].message, .result = s[i].result, .delay_ms = s[i].delay_ms,
                                  .starts_too = s[i].started_now, .takes_too = s[i].takes_too,
                                  .is_quiet = s[i].event == JE_TAKE || job_state_is_terminal(job_event_goal(s[i].event)),
                                  .audit_id = s[i].event_id, .audit_body = s[i].audit };
    return job_apply(tx, m, n, NULL, e);
}

enum errc lease_repo_end(struct db_tx *tx, const struct attempt_step *s, size_t n, struct err *e)
{
    if (!n)
        return ERR_OK;
    db_queue(tx, &attempt_end_many, ARGS(
            A_UUIDS_OF(s, n, tenant_id), A_UUIDS_OF(s, n, attempt_id), A_UUIDS_OF(s, n, node_id), A_I64S_OF(s, n, fence),
            A_STRS_OF(s, n, attempt_state), A_STRS_OF(s, n, message), A_BOOLS_OF(s, n, started_now), A_BOOLS_OF(s, n, has_exit_code),
            A_I64S_OF(s, n, exit_code), A_BOOLS_OF(s, n, takes_too), A_I64S_OF(s, n, held_ms), A_BOOLS_OF(s, n, has_cpu_mj),
            A_I64S_OF(s, n, cpu_mj), A_BOOLS_OF(s, n, has_gpu_mj), A_I64S_OF(s, n, gpu_mj)), false);
    lease_repo_causes(tx, s, n);
    lease_repo_parked(tx, s, n);
    return lease_repo_move(tx, s, n, e);
}

void lease_repo_give_back(struct db_tx *tx, const struct attempt_step *s, size_t n)
{
    struct booking *b = booking_new(db_arena(tx), n);
    for (size_t i = 0; i < n; i++)
        if (job_state_is_terminal(job_event_goal(s[i].event)))
            booking_add(b, s[i].tenant_id);
    booking_write(tx, b);
}
