/* SPDX-License-Identifier: Apache-2.0 */
/* lease_repo.c - SQL of leases, all of it for whole batches. Rows that are written are locked first, by lease_repo_hold or
 * lease_repo_takeable, in one order; what follows is queued and travels with COMMIT, so a report costs two round trips whatever its size. */
#include "scheduler/engine/lease_repo.h"
#include "core/db/tx.h"
#include "core/wire/type_run.h"

SCHEMA_EXTERN(lease, "A lease that is held",
    FIELD(lease, tenant_id, 0, .doc = "Tenant"), FIELD(lease, attempt_id, 0, .doc = "Attempt"), FIELD(lease, job_id, 0, .doc = "Job"),
    FIELD(lease, node_id, 0, .doc = "Machine"), FIELD(lease, fence, 0, .doc = "Number of the attempt"),
    FIELD(lease, rank, 0, .doc = "Which of its machines"), FIELD(lease, nodes, 0, .doc = "How many there are"),
    FIELD(lease, job_state, 0, .doc = "State of the job"), FIELD(lease, kind, 0, .doc = "Kind of the job"),
    FIELD(lease, zone, 0, .doc = "Zone of the machine"), FIELD(lease, data_class, 0, .doc = "Class of its data"),
    FIELD(lease, lease_until, 0, .doc = "End of the lease"));
SCHEMA_OF(held, "An attempt under lock",
    FIELD(held, tenant_id, 0), FIELD(held, attempt_id, 0), FIELD(held, job_id, 0),
    FIELD(held, node_id, 0), FIELD(held, rank, 0),
    FIELD(held, fence, 0), FIELD(held, slots, 0), FIELD(held, gpus, 0), FIELD(held, state, 0),
    FIELD(held, live, 0), FIELD(held, job_state, 0), FIELD(held, kind, 0),
    FIELD(held, job_fence, 0), FIELD(held, max_attempts, 0), FIELD(held, requeue_count, 0),
    FIELD(held, cancel_requested, 0), FIELD(held, preempt_ms, 0), FIELD(held, evict_why, 0),
    FIELD(held, ran_ms, 0));
SCHEMA_OF(output_row, "A complete output",
    FIELD(output_row, tenant_id, 0), FIELD(output_row, object_id, 0), FIELD(output_row, ord, 0),
    FIELD(output_row, stored_bytes, 0), FIELD(output_row, room_bytes, 0), FIELD(output_row, room_objects, 0));

/* Which registry a job may pull from is said to the lease, as it is by then. */
#define SPEC "CASE WHEN j.spec ? 'registry' THEN lease_pull(j.spec, n.zone) ELSE j.spec END"
#define GRANTS                                                                                                             \
    "SELECT a.tenant_id, a.attempt_id, a.job_id, a.fence, j.kind, j.name, n.zone, " SPEC " AS spec,\n"                    \
    "       a.slots / a.nodes AS slots,\n"                                                                                \
    "       a.gpus / a.nodes AS gpus, 0::bigint AS rank, a.nodes, j.max_runtime_s,\n" \
    "       j.cpu_milli, j.memory_bytes, a.gpu_milli, a.devices,\n"                                                          \
    "       greatest(0, extract(epoch FROM a.lease_until - clock_timestamp()) * 1000)::bigint AS lease_ms\n"                 \
    "  FROM attempt a JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id\n"                                     \
    "       JOIN node n ON n.node_id = a.node_id\n"
/* What is left of the time of an attempt that makes room, at least a moment. */
#define PREEMPT_LEFT "greatest(1, extract(epoch FROM a.evict_until - clock_timestamp()) * 1000)::bigint"
#define WAITS "a.live AND a.state = 'LEASED' AND j.state = 'ADMITTED' AND NOT j.cancel_requested"

/* The same for members of attempts on several machines, but rank 0, which is the attempt. */
#define MEMBER_GRANTS                                                                                                      \
    "SELECT a.tenant_id, a.attempt_id, a.job_id, a.fence, j.kind, j.name, n.zone, j.spec, m.slots, m.gpus, m.rank, a.nodes,\n" \
    "       j.max_runtime_s, j.cpu_milli, j.memory_bytes, m.gpu_milli, m.devices,\n"                                         \
    "       greatest(0, extract(epoch FROM m.lease_until - clock_timestamp()) * 1000)::bigint AS lease_ms\n"                 \
    "  FROM attempt_member m JOIN attempt a ON a.tenant_id = m.tenant_id AND a.attempt_id = m.attempt_id\n"                  \
    "       JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id JOIN node n ON n.node_id = m.node_id\n"          \
    " WHERE m.node_id = $1 AND m.live AND m.rank > 0 AND m.state = 'LEASED' AND NOT j.cancel_requested\n"                    \
    "   AND (m.attempt_id > $2 OR " LEASE_IS_LATE("m", "$4") ")\n"
static const struct stmt lease_takeable = { .name = "lease_takeable", .params = "ui", .row = &lease_grant_schema, .card = CARD_MANY, .sql =
    GRANTS " WHERE a.node_id = $1 AND " WAITS "\n"
    " ORDER BY a.attempt_id LIMIT $2 FOR NO KEY UPDATE OF a, j SKIP LOCKED" };
/* Written by nobody: the commit of the plan is what hands them out. The index attempt_live gives those after $2 and no others,
 * and in their order. */
static const struct stmt lease_newer = { .name = "lease_newer", .params = "uui", .row = &lease_grant_schema,
                                         .card = CARD_MANY, .sql =
    GRANTS " WHERE a.node_id = $1 AND a.attempt_id > $2 AND " WAITS "\n"
    " ORDER BY a.attempt_id LIMIT $3" };
static const struct stmt lease_waiting = { .name = "lease_waiting", .params = "uuii", .row = &lease_grant_schema,
                                           .card = CARD_MANY, .sql =
    GRANTS " WHERE a.node_id = $1 AND a.attempt_id > $2 AND " WAITS "\n"
    "UNION ALL\n"
    GRANTS " WHERE a.node_id = $1 AND a.attempt_id <= $2 AND " WAITS "\n"
    "   AND " LEASE_IS_LATE("a", "$4") "\n"
    "UNION ALL\n" MEMBER_GRANTS
    " ORDER BY attempt_id LIMIT $3" };

static const struct stmt lease_take_many = { .name = "lease_take_many", .params = "UUIIi", .card = CARD_NONE, .sql =
    "UPDATE attempt SET state = 'STARTING', taken_at = " TAKEN_AT ",\n"
    "       lease_until = clock_timestamp() + $5 * interval '1 millisecond'\n"
    "  FROM unnest($1, $2, $3, $4) AS i(tenant_id, attempt_id, fence, held_ms)\n"
    " WHERE attempt.tenant_id = i.tenant_id AND attempt.attempt_id = i.attempt_id AND attempt.fence = i.fence AND attempt.state = 'LEASED'" };

static const struct stmt lease_inputs = { .name = "lease_inputs", .params = "UUi", .row = &lease_input_schema, .card = CARD_MANY, .sql =
    "SELECT i.tenant_id, i.job_id, o.name, o.object_id, b.kind, b.version, b.size_bytes, encode(b.sha256, 'hex') AS sha256,\n"
    "       NULL::uuid AS owner_id\n"
    "  FROM unnest($1, $2) AS i(tenant_id, job_id)\n"
    "  CROSS JOIN LATERAL (\n"
    "    SELECT x.object_id, x.name, 0 AS place FROM job_object x\n"
    "     WHERE x.tenant_id = i.tenant_id AND x.job_id = i.job_id AND x.direction = 'input'\n"
    "    UNION ALL SELECT c.object_id, '" LEASE_CHECKPOINT "', c.place FROM checkpoint_inputs(i.tenant_id, i.job_id) c) o\n"
    "  JOIN object b ON b.tenant_id = i.tenant_id AND b.object_id = o.object_id\n"
    " WHERE b.state = 'COMMITTED' ORDER BY o.place, o.name LIMIT $3" };
/* Also of one that was withdrawn meanwhile: the machine asks for its key then, and is told why it gets none. */
static const struct stmt lease_shared_inputs = { .name = "lease_shared_inputs", .params = "UUi", .row = &lease_input_schema,
    .card = CARD_MANY, .sql =
    "SELECT i.tenant_id, i.job_id, '" RUN_IMAGE_INPUT "'::text AS name, s.object_id, b.kind, b.version, b.size_bytes,\n"
    "       encode(b.sha256, 'hex') AS sha256, s.owner_id\n"
    "  FROM unnest($1, $2) AS i(tenant_id, job_id)\n"
    " CROSS JOIN LATERAL shared_environment_of(i.tenant_id, i.job_id) s\n"
    "  JOIN object b ON b.tenant_id = s.owner_id AND b.object_id = s.object_id AND b.state = 'COMMITTED' LIMIT $3" };

#define IS_TOLD LEASE_IS_TOLD("$2")
/* Nearly always the index attempt_notice has none of the machine, and it is no member of anything. */
static const struct stmt lease_notices_stmt = { .name = "lease_notices", .params = "uUi", .row = &lease_notice_schema,
                                                .card = CARD_MANY, .sql =
    "SELECT a.attempt_id, a.cancel_asked AS cancel, a.evict_why AS reason,\n"
    "       CASE WHEN a.evict_until IS NULL THEN 0 ELSE " PREEMPT_LEFT " END AS preempt_ms\n"
    "  FROM attempt a\n"
    " WHERE a.node_id = $1 AND " IS_TOLD "\n"
    "UNION ALL\n"
    "SELECT a.attempt_id, a.cancel_asked, a.evict_why,\n"
    "       CASE WHEN a.evict_until IS NULL THEN 0 ELSE " PREEMPT_LEFT " END\n"
    "  FROM attempt_member m JOIN attempt a ON a.tenant_id = m.tenant_id AND a.attempt_id = m.attempt_id\n"
    " WHERE m.node_id = $1 AND m.live AND m.rank > 0 AND " IS_TOLD "\n"
    " LIMIT $3" };

/* m: what only machines of a gang behind the first run. Of an attempt on one machine its table is not looked at. */
static const struct stmt lease_hold = { .name = "lease_hold", .params = "uUU", .row = &held_schema, .card = CARD_MANY, .sql =
    "SELECT a.tenant_id, a.attempt_id, a.job_id, a.fence, a.slots, a.gpus,\n"
    "       CASE WHEN a.node_id = $1 THEN a.state ELSE m.state END AS state, a.live AND (a.node_id = $1 OR m.live) AS live,\n"
    "       a.node_id, CASE WHEN a.node_id = $1 THEN 0 ELSE m.rank END AS rank, j.state AS job_state, j.kind,\n"
    "       j.fence AS job_fence, j.max_attempts, j.requeue_count, j.cancel_requested, a.evict_why,\n"
    "       CASE WHEN a.evict_until IS NULL THEN 0 ELSE " PREEMPT_LEFT " END AS preempt_ms,\n"
    "       coalesce(extract(epoch FROM clock_timestamp() - a.started_at) * 1000, 0)::bigint AS ran_ms\n"
    "  FROM unnest($2, $3) AS i(tenant_id, attempt_id)\n"
    "  JOIN attempt a ON a.tenant_id = i.tenant_id AND a.attempt_id = i.attempt_id\n"
    "  LEFT JOIN LATERAL (\n"
    "    SELECT rank, state, live FROM attempt_member\n"
    "     WHERE a.nodes > 1 AND tenant_id = a.tenant_id AND attempt_id = a.attempt_id AND node_id = $1 LIMIT 1) m ON true\n"
    "  JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id\n"
    " WHERE a.node_id = $1 OR m.rank > 0\n"
    " ORDER BY j.tenant_id, j.job_id FOR NO KEY UPDATE OF j, a" };

static const struct stmt lease_renew_many = { .name = "lease_renew_many", .params = "uUUi", .card = CARD_NONE, .sql =
    "UPDATE attempt SET lease_until = clock_timestamp() + $4 * interval '1 millisecond'\n"
    "  FROM unnest($2, $3) AS i(tenant_id, attempt_id)\n"
    " WHERE attempt.tenant_id = i.tenant_id AND attempt.attempt_id = i.attempt_id AND attempt.node_id = $1 AND attempt.live" };

static const struct stmt lease_start_many = { .name = "lease_start_many", .params = "UUISBIi", .card = CARD_NONE, .sql =
    "UPDATE attempt SET state = 'RUNNING', started_at = clock_timestamp(), endpoint = i.endpoint,\n"
    "       taken_at = CASE WHEN i.takes_too THEN " TAKEN_AT " ELSE attempt.taken_at END,\n"
    "       lease_until = clock_timestamp() + $7 * interval '1 millisecond'\n"
    "  FROM unnest($1, $2, $3, $4, $5, $6) AS i(tenant_id, attempt_id, fence, endpoint, takes_too, held_ms)\n"
    " WHERE attempt.tenant_id = i.tenant_id AND attempt.attempt_id = i.attempt_id AND attempt.fence = i.fence AND attempt.live" };

static const struct stmt lease_outputs = { .name = "lease_outputs", .params = "UUIU", .row = &output_row_schema, .card = CARD_MANY, .sql =
    "SELECT i.tenant_id, i.object_id, i.ord, b.stored_bytes, coalesce(qb.hard_limit - qb.used, 0) AS room_bytes,\n"
    "       coalesce(qo.hard_limit - qo.used, 0) AS room_objects\n"
    "  FROM unnest($1, $2, $3, $4) WITH ORDINALITY AS i(tenant_id, job_id, fence, object_id, ord)\n"
    "  JOIN job_object o ON o.tenant_id = i.tenant_id AND o.job_id = i.job_id AND o.direction = 'output' AND o.fence = i.fence\n"
    "       AND o.object_id = i.object_id\n"
    "  JOIN object b ON b.tenant_id = i.tenant_id AND b.object_id = i.object_id AND b.state = 'WRITING'\n"
    "       AND b.sha256 IS NOT NULL AND b.stored_sha256 IS NOT NULL\n"
    "  LEFT JOIN quota qb ON qb.tenant_id = i.tenant_id AND qb.resource = 'stored_bytes'\n"
    "  LEFT JOIN quota qo ON qo.tenant_id = i.tenant_id AND qo.resource = 'objects'" };

static const struct stmt lease_commit_outputs = { .name = "lease_commit_outputs", .params = "UU", .card = CARD_NONE, .sql =
    "WITH b AS (\n"
    "  UPDATE object SET state = 'COMMITTED' FROM unnest($1, $2) AS i(tenant_id, object_id)\n"
    "   WHERE object.tenant_id = i.tenant_id AND object.object_id = i.object_id AND object.state = 'WRITING'\n"
    "  RETURNING object.tenant_id, object.stored_bytes),\n"
    "d AS MATERIALIZED (SELECT tenant_id, 'stored_bytes' AS resource, sum(stored_bytes)::bigint AS n FROM b GROUP BY tenant_id\n"
    "      UNION ALL SELECT tenant_id, 'objects', count(*) FROM b GROUP BY tenant_id)\n"
    "UPDATE quota SET used = used + d.n FROM d WHERE quota.tenant_id = d.tenant_id AND quota.resource = d.resource" };

static const struct stmt lease_log_many = { .name = "lease_log_many", .params = "UUISS", .card = CARD_NONE, .sql =
    "INSERT INTO job_log (tenant_id, job_id, fence, stream, text) SELECT * FROM unnest($1, $2, $3, $4, $5)" };
static const struct stmt lease_metric_many = { .name = "lease_metric_many", .params = "UUIIS", .card = CARD_NONE, .sql =
    "INSERT INTO job_metric (tenant_id, job_id, fence, step, values)\n"
    "SELECT i.tenant_id, i.job_id, i.fence, i.step, i.v::jsonb FROM unnest($1, $2, $3, $4, $5) AS i(tenant_id, job_id, fence, step, v)" };

static const struct stmt lease_check_stmt = { .name = "lease_check", .params = "uuis", .row = &lease_schema, .card = CARD_MAYBE, .sql =
    "SELECT a.tenant_id, a.attempt_id, a.job_id, a.node_id, a.fence, 0::bigint AS rank, a.nodes, j.state AS job_state,\n"
    "       j.kind, n.zone, j.data_class, a.lease_until\n"
    "  FROM attempt a JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id AND j.fence = a.fence\n"
    "  JOIN node n ON n.node_id = a.node_id\n"
    " WHERE a.tenant_id = $1 AND a.attempt_id = $2 AND a.fence = $3 AND n.identity = $4 AND a.live\n"
    "   AND a.lease_until > clock_timestamp() AND n.state IN ('READY', 'DRAINING')" };

static const struct stmt lease_had_stmt = { .name = "lease_had", .params = "uus", .row = &lease_schema, .card = CARD_MAYBE,
    .sql =
    "SELECT a.tenant_id, a.attempt_id, a.job_id, n.node_id, a.fence, coalesce(m.rank, 0) AS rank, a.nodes,\n"
    "       j.state AS job_state, j.kind, n.zone, j.data_class, a.lease_until\n"
    "  FROM node n JOIN attempt a ON a.tenant_id = $1 AND a.job_id = $2\n"
    "  LEFT JOIN attempt_member m ON m.tenant_id = a.tenant_id AND m.attempt_id = a.attempt_id AND m.node_id = n.node_id\n"
    "       AND m.rank > 0\n"
    "  JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id\n"
    " WHERE n.identity = $3 AND n.state IN ('READY', 'DRAINING') AND (a.node_id = n.node_id OR m.rank IS NOT NULL)\n"
    " ORDER BY a.fence DESC LIMIT 1" };

const struct stmt *const lease_stmts[] = { &lease_takeable, &lease_newer, &lease_waiting, &lease_take_many,
    &lease_inputs, &lease_shared_inputs,
                                           &lease_hold, &lease_renew_many, &lease_start_many,
                                           &lease_outputs, &lease_commit_outputs, &lease_log_many, &lease_metric_many, &lease_check_stmt,
                                           &lease_notices_stmt, &lease_had_stmt, NULL };

enum { INPUTS_MAX = 8192 };

enum errc lease_repo_takeable(struct db_tx *tx, struct uuid node_id, int64_t max, struct slice *ret, struct err *e)
{
    return db_many(tx, &lease_takeable, ARGS(A_UUID(node_id), A_I64(max)), ret, (size_t)max, e);
}

struct db_ask *lease_repo_newer(struct db_tx *tx, struct uuid node_id, struct uuid after, int64_t max)
{
    return db_ask(tx, &lease_newer, ARGS(A_UUID(node_id), A_UUID(after), A_I64(max)));
}

enum errc lease_repo_waiting(struct db_tx *tx, struct uuid node_id, struct uuid after, int64_t max, int64_t late_ms,
                             struct slice *ret, struct err *e)
{
    return db_many(tx, &lease_waiting, ARGS(A_UUID(node_id), A_UUID(after), A_I64(max), A_I64(late_ms)), ret, (size_t)max, e);
}

struct db_ask *lease_repo_notices(struct db_tx *tx, struct uuid node_id, struct slice told)
{
    return db_ask(tx, &lease_notices_stmt, ARGS(A_UUID(node_id), A_UUIDS(told.items, told.n), A_I64(LEASE_NOTICES_MAX)));
}

enum errc lease_repo_take(struct db_tx *tx, const struct attempt_step *s, size_t n, int64_t lease_ms, struct err *e)
{
    if (!n)
        return ERR_OK;
    db_queue(tx, &lease_take_many, ARGS(A_UUIDS_OF(s, n, tenant_id), A_UUIDS_OF(s, n, attempt_id), A_I64S_OF(s, n, fence),
                                        A_I64S_OF(s, n, held_ms), A_I64(lease_ms)), false);
    return lease_repo_move(tx, s, n, e);
}

enum errc lease_repo_inputs(struct db_tx *tx, const struct uuid *tenants, const struct uuid *jobs, size_t n, struct slice *ret, struct err *e)
{
    return db_many(tx, &lease_inputs, ARGS(A_UUIDS(tenants, n), A_UUIDS(jobs, n), A_I64(INPUTS_MAX)), ret, INPUTS_MAX, e);
}

enum errc lease_repo_shared(struct db_tx *tx, const struct uuid *tenants, const struct uuid *jobs, size_t n, struct slice *ret,
                            struct err *e)
{
    return db_many(tx, &lease_shared_inputs, ARGS(A_UUIDS(tenants, n), A_UUIDS(jobs, n), A_I64(INPUTS_MAX)), ret, INPUTS_MAX, e);
}

struct db_ask *lease_repo_hold(struct db_tx *tx, struct uuid node_id, const struct uuid *tenants, const struct uuid *attempts,
                               size_t n)
{
    return db_ask(tx, &lease_hold, ARGS(A_UUID(node_id), A_UUIDS(tenants, n), A_UUIDS(attempts, n)));
}

void lease_repo_renew(struct db_tx *tx, struct uuid node_id, const struct uuid *tenants, const struct uuid *attempts, size_t n, int64_t lease_ms)
{
    if (n)
        db_queue(tx, &lease_renew_many, ARGS(A_UUID(node_id), A_UUIDS(tenants, n), A_UUIDS(attempts, n), A_I64(lease_ms)), false);
}

enum errc lease_repo_start(struct db_tx *tx, const struct attempt_step *s, size_t n, int64_t lease_ms, struct err *e)
{
    if (n)
        db_queue(tx, &lease_start_many, ARGS(A_UUIDS_OF(s, n, tenant_id), A_UUIDS_OF(s, n, attempt_id), A_I64S_OF(s, n, fence),
                                             A_STRS_OF(s, n, endpoint), A_BOOLS_OF(s, n, takes_too), A_I64S_OF(s, n, held_ms),
                                             A_I64(lease_ms)), false);
    return lease_repo_move(tx, s, n, e);
}

enum errc lease_repo_outputs(struct db_tx *tx, const struct uuid *tenants, const struct uuid *jobs, const int64_t *fences,
                             const struct uuid *objects, size_t n, struct slice *ret, struct err *e)
{
    quota_repo_turn(tx, A_UUIDS(tenants, n));       /* the room that is read here is still there when it is booked */
    return db_many(tx, &lease_outputs, ARGS(A_UUIDS(tenants, n), A_UUIDS(jobs, n), A_I64S(fences, n), A_UUIDS(objects, n)), ret, n, e);
}

void lease_repo_commit_outputs(struct db_tx *tx, const struct uuid *tenants, const struct uuid *objects, size_t n)
{
    if (n)
        db_queue(tx, &lease_commit_outputs, ARGS(A_UUIDS(tenants, n), A_UUIDS(objects, n)), false);
}

void lease_repo_logs(struct db_tx *tx, const struct log_line *l, size_t n)
{
    if (n)
        db_queue(tx, &lease_log_many, ARGS(A_UUIDS_OF(l, n, tenant_id), A_UUIDS_OF(l, n, job_id), A_I64S_OF(l, n, fence),
                                           A_STRS_OF(l, n, stream), A_STRS_OF(l, n, text)), false);
}

void lease_repo_metrics(struct db_tx *tx, const struct metric_line *m, size_t n)
{
    if (n)
        db_queue(tx, &lease_metric_many, ARGS(A_UUIDS_OF(m, n, tenant_id), A_UUIDS_OF(m, n, job_id), A_I64S_OF(m, n, fence),
                                              A_I64S_OF(m, n, step), A_STRS_OF(m, n, values)), false);
}

enum errc lease_repo_check(struct db_tx *tx, struct uuid tenant, struct uuid attempt, int64_t fence, struct str identity, struct lease *ret,
                           bool *found, struct err *e)
{
    return db_maybe(tx, &lease_check_stmt, ARGS(A_UUID(tenant), A_UUID(attempt), A_I64(fence), A_STR(identity)), ret, found, e);
}

enum errc lease_repo_had(struct db_tx *tx, struct uuid tenant, struct uuid job, struct str identity, struct lease *ret,
                         bool *found, struct err *e)
{
    return db_maybe(tx, &lease_had_stmt, ARGS(A_UUID(tenant), A_UUID(job), A_STR(identity)), ret, found, e);
}
