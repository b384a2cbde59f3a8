/* SPDX-License-Identifier: Apache-2.0 */
/* reaper.c - one pass: silent machines are LOST, then what must end is locked, judged and ended as one batch. Rows that a report
 * holds at this moment are skipped: the report decides. Runs may go five minutes over their time before the reaper does what
 * their worker should have done.
 *
 * A machine that still reports an attempt long after its time to make room does not end what it should. Whether the processes are
 * gone is not known, so it is drained before the attempt is fenced: nothing starts beside them. Machines are locked before
 * attempts, as whoever registers one does. */
#include "scheduler/duty/reaper.h"
#include "audit/event.h"
#include "core/base/log.h"
#include "core/db/tx.h"
#include "core/table/config.h"
#include "core/table/schema.h"
#include "scheduler/engine/lease_move.h"
#include "scheduler/engine/node.h"

struct stuck { struct uuid node_id; struct str zone; };
SCHEMA_OF(stuck, "A machine that does not end an attempt", FIELD(stuck, node_id, 0, .doc = "Machine"),
    FIELD(stuck, zone, 0, .doc = "Its zone"));
#define STUCK "An attempt did not end in the time that it had to make room"
static const struct stmt reaper_stuck = { .name = "reaper_stuck", .params = "ii", .row = &stuck_schema, .card = CARD_MANY, .sql =
    "UPDATE node SET state = 'DRAINING', is_drained = true, reason = '" STUCK "'\n"
    " WHERE state = 'READY' AND node_id IN (SELECT DISTINCT n.node_id FROM attempt a\n"
    "         JOIN machine_hold h ON h.tenant_id = a.tenant_id AND h.attempt_id = a.attempt_id\n"
    "         JOIN node n ON n.node_id = h.node_id\n"
    "         WHERE n.state = 'READY' AND a.live AND a.lease_until >= clock_timestamp()\n"
    "           AND a.evict_until < clock_timestamp() - $1 * interval '1 millisecond' LIMIT $2)\n"
    "RETURNING node_id, zone" };

/* Only on a machine that takes no more work: what was told since the machines were drained waits for the next pass. */
#define LATE "(a.evict_until < clock_timestamp() - $2 * interval '1 millisecond' AND n.state <> 'READY')"
/* Of attempts on several machines: those whose members did not all meet in time, and those that lost one of them. */
#define HALF "(a.nodes > 1 AND a.started_at IS NULL AND a.leased_at < clock_timestamp() - $3 * interval '1 millisecond')"
#define MEMBER_LOST                                                                                                          \
    "(a.nodes > 1 AND EXISTS (\n"                                                                                            \
    "      SELECT FROM attempt_member m JOIN node x ON x.node_id = m.node_id\n"                                              \
    "       WHERE m.tenant_id = a.tenant_id AND m.attempt_id = a.attempt_id AND m.rank > 0\n"                                \
    "         AND (m.state = ANY ('{FAILED,LEASE_RETURNED}') OR (m.live AND (m.lease_until < clock_timestamp()\n"            \
    "              OR x.state IN ('LOST', 'QUARANTINED'))))))"
static const struct stmt reaper_overdue = { .name = "reaper_overdue", .params = "iii", .row = &overdue_schema, .card = CARD_MANY,
    .sql =
    "SELECT " OVERDUE_COLUMNS("CASE WHEN a.state = 'LEASED' AND j.cancel_requested THEN 'cancel' WHEN n.state = 'LOST' THEN 'node'\n"
    "       WHEN n.state = 'QUARANTINED' THEN 'quarantine'\n"
    "       WHEN a.lease_until < clock_timestamp() THEN 'lease' WHEN " LATE " THEN 'evict'\n"
    "       WHEN " MEMBER_LOST " THEN 'member' WHEN " HALF " THEN 'start' ELSE 'runtime' END") "\n"
    "  FROM attempt a JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id JOIN node n ON n.node_id = a.node_id\n"
    " WHERE a.live AND (a.lease_until < clock_timestamp() OR n.state IN ('LOST', 'QUARANTINED') OR (a.state = 'LEASED' AND j.cancel_requested)\n"
    "    OR " LATE " OR " HALF " OR " MEMBER_LOST "\n"
    "    OR (NOT job_stays(j.kind) AND a.started_at + (j.max_runtime_s + 300) * interval '1 second' < clock_timestamp()))\n"
    " ORDER BY a.node_id, a.attempt_id LIMIT $1 FOR NO KEY UPDATE OF j, a SKIP LOCKED" };      /* the order of attempt_live */

static const struct stmt reaper_purge_stmt = { .name = "reaper_purge", .params = "i", .card = CARD_NONE, .sql =
    "DELETE FROM idempotency d USING (\n"
    "  SELECT tenant_id, principal_id, route, key FROM idempotency WHERE created_at < clock_timestamp() - interval '24 hours' LIMIT $1) o\n"
    " WHERE d.tenant_id = o.tenant_id AND d.principal_id = o.principal_id AND d.route = o.route AND d.key = o.key" };

const struct stmt *const reaper_stmts[] = { &reaper_stuck, &reaper_overdue, &reaper_purge_stmt, NULL };

static enum errc drain_stuck(struct work *w, int64_t fence_ms, int64_t limit, struct err *e)
{
    struct slice rows = { 0 };
    TRY(db_many(w->tx, &reaper_stuck, ARGS(A_I64(fence_ms), A_I64(limit)), &rows, (size_t)limit, e));
    const struct stuck *s = rows.items;
    for (size_t i = 0; i < rows.n; i++) {
        struct audit_event ev = audit_event_of(w, AUDIT_NODE_DRAIN);
        ev.zone = s[i].zone;
        ev.resource_kind = STR("node");
        ev.resource_prefix = "nod";
        ev.resource_id = s[i].node_id;
        audit_event_detail(&ev, AUDIT_D_STR("state", STR("DRAINING")));
        audit_event_detail(&ev, AUDIT_D_STR("reason", STR(STUCK)));
        TRY(audit_append(w, &ev, e));
        log_event(LOG_ERROR, "reaper.drained", "node", LOG_ID("nod", s[i].node_id), NULL);
    }
    return ERR_OK;
}

enum errc reaper_pass(struct work *w, int64_t limit, struct reaper_result *ret, struct err *e)
{
    struct slice rows = { 0 };
    struct expiry_counts counts;
    int64_t lost = 0;
    TRY(node_mark_lost(w, &lost, e));
    TRY(drain_stuck(w, w->app->config->scheduler_fence_ms, limit, e));
    TRY(db_many(w->tx, &reaper_overdue, ARGS(A_I64(limit), A_I64(w->app->config->scheduler_fence_ms),
                A_I64(w->app->config->scheduler_gang_start_ms)), &rows, (size_t)limit, e));
    const struct overdue *o = rows.items;
    TRY(lease_expire(w, o, rows.n, &counts, e));
    *ret = (struct reaper_result){ .lost_nodes = lost, .expired = counts.expired, .requeued = counts.requeued, .failed = counts.failed,
                                   .cancelled = counts.cancelled, .jobs = ARENA_ARRAY(w->arena, struct uuid, rows.n + 1),
                                   .njobs = rows.n };
    for (size_t i = 0; i < rows.n; i++)
        ret->jobs[i] = o[i].job_id;
    return ERR_OK;
}

enum errc reaper_purge(struct work *w, int64_t limit, int64_t *ret_purged, struct err *e)
{
    return db_exec(w->tx, &reaper_purge_stmt, ARGS(A_I64(limit)), ret_purged, e);
}
