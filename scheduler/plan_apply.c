/* SPDX-License-Identifier: Apache-2.0 */
/* plan_apply.c - the statement that admits. The advisory lock is a statement before it, so that its own snapshot is taken after an
 * earlier planner's commit and sees the attempts that one made; job rows are locked, and skipped when somebody else has them, by the
 * statement itself. Quotas are booked last (booking.h): the plan was made within them, only a plan raises them, and should a limit have
 * been lowered meanwhile the table's CHECK ends the transaction and the next round plans anew.
 *
 * Where the data may be is judged again here by the database itself (residency_zone_ok, once for each tenant, class, kind and zone of the
 * plan): a line that it refuses is not admitted, comes back as denied and stands in the tenant's log. */
#include "scheduler/plan_apply.h"
#include "core/base/log.h"
#include "core/db/tx.h"
#include "core/table/metrics.h"
#include "scheduler/jobs/booking.h"
#include "scheduler/mirror/snapshot.h"
#include "scheduler/engine/lease_int.h"

static const struct stmt plan_turn = { .name = "plan_turn", .params = "", .card = CARD_NONE, .sql =
    "SELECT pg_advisory_xact_lock(4630123712)" };

struct admitted_row { int64_t ord; struct uuid node_id; bool denied; };
SCHEMA_OF(admitted_row, "An admitted or denied job", FIELD(admitted_row, ord, 0, .doc = "Which line, from 1"),
    FIELD(admitted_row, node_id, 0, .doc = "Machine"), FIELD(admitted_row, denied, 0, .doc = "Its data may not be there"));

static const struct stmt plan_admit = { .name = "plan_admit", .params = "UUUUIIIIUYi", .row = &admitted_row_schema, .card = CARD_MANY, .sql =
    "WITH i AS MATERIALIZED (\n"
    "  SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) WITH ORDINALITY\n"
    "    AS u(tenant_id, job_id, attempt_id, node_id, version, fence, slots, gpus, event_id, event, ord)),\n"
    "k AS MATERIALIZED (\n"
    "  SELECT job.tenant_id, job.job_id, job.data_class, job.kind FROM job JOIN i ON i.tenant_id = job.tenant_id AND i.job_id = job.job_id\n"
    "   WHERE job.state = 'PENDING' AND job.queued AND job.version = i.version AND job.fence = i.fence - 1 AND NOT job.cancel_requested\n"
    "   ORDER BY job.tenant_id, job.job_id FOR NO KEY UPDATE OF job SKIP LOCKED),\n"
    "c AS MATERIALIZED (\n"
    "  SELECT n.node_id, n.zone, n.slots - coalesce(sum(a.slots), 0) AS slots, n.gpus - coalesce(sum(a.gpus), 0) AS gpus\n"
    "    FROM node n LEFT JOIN attempt a ON a.node_id = n.node_id AND a.live\n"
    "   WHERE n.node_id = ANY ($4) AND n.state = 'READY' GROUP BY n.node_id, n.zone, n.slots, n.gpus),\n"
    "g AS MATERIALIZED (\n"
    "  SELECT i.*, k.data_class, k.kind, c.zone FROM i JOIN k ON k.tenant_id = i.tenant_id AND k.job_id = i.job_id JOIN c ON c.node_id = i.node_id),\n"
    "r AS MATERIALIZED (\n"
    "  SELECT tenant_id, data_class, kind, zone, residency_zone_ok(tenant_id, data_class, zone, job_purpose(kind)) AS ok\n"
    "    FROM (SELECT DISTINCT tenant_id, data_class, kind, zone FROM g) d),\n"
    "f AS MATERIALIZED (\n"
    "  SELECT g.*,\n"
    "         sum(g.slots) OVER n AS node_slots, sum(g.gpus) OVER n AS node_gpus\n"
    "    FROM g JOIN r ON r.tenant_id = g.tenant_id AND r.data_class = g.data_class AND r.kind = g.kind AND r.zone = g.zone AND r.ok\n"
    "  WINDOW n AS (PARTITION BY g.node_id ORDER BY g.ord)),\n"
    "o AS MATERIALIZED (\n"
    "  SELECT f.* FROM f JOIN c ON c.node_id = f.node_id AND f.node_slots <= c.slots AND f.node_gpus <= c.gpus),\n"
    "j AS (\n"
    "  UPDATE job SET state = 'ADMITTED', queued = false, reason = '', message = '', version = job.version + 1, fence = o.fence, not_before = NULL\n"
    "    FROM o WHERE job.tenant_id = o.tenant_id AND job.job_id = o.job_id AND job.queued\n"
    "  RETURNING job.tenant_id, job.job_id, job.version, job.fence, o.attempt_id, o.node_id, o.slots, o.gpus, o.event_id, o.event, o.ord),\n"
    "a AS (INSERT INTO attempt (tenant_id, attempt_id, job_id, fence, node_id, slots, gpus, lease_until)\n"
    "      SELECT tenant_id, attempt_id, job_id, fence, node_id, slots, gpus, clock_timestamp() + $11 * interval '1 millisecond' FROM j),\n"
    "e AS (INSERT INTO job_event (tenant_id, job_id, version, state, fence) SELECT tenant_id, job_id, version, 'ADMITTED', fence FROM j),\n"
    "v AS (INSERT INTO audit_event (tenant_id, event_id, body) SELECT tenant_id, event_id, event FROM j)\n"
    "SELECT ord, node_id, false AS denied FROM j UNION ALL\n"
    "SELECT g.ord, g.node_id, true FROM g JOIN r ON r.tenant_id = g.tenant_id AND r.data_class = g.data_class AND r.kind = g.kind\n"
    "       AND r.zone = g.zone AND NOT r.ok ORDER BY denied, node_id" };

static const struct stmt plan_reasons = { .name = "plan_reasons", .params = "UUISS", .card = CARD_NONE, .sql =
    "UPDATE job SET reason = i.reason, message = i.message\n"
    "  FROM unnest($1, $2, $3, $4, $5) AS i(tenant_id, job_id, version, reason, message)\n"
    " WHERE job.tenant_id = i.tenant_id AND job.job_id = i.job_id AND job.version = i.version AND job.queued" };

const struct stmt *const plan_apply_stmts[] = { &plan_turn, &plan_admit, &plan_reasons, NULL };

struct line {
    struct attempt_step step;
    int64_t version, slots, gpus;
    size_t place;                       /* which of the plan */
};

/* Rules bind here as in the plan: their use is read again under the planners' lock, through which all that raises it and all that changes
 * a rule must go, and the same arithmetic drops the lines that no longer fit. Plans without a tenant that has rules ask nothing. */
static enum errc keep_rules(struct work *w, const struct snapshot *s, const struct plan *p, struct line *lines, struct audit_event *evs,
                            size_t *n, struct err *e)
{
    struct uuid *ids = ARENA_ARRAY(w->arena, struct uuid, s->tenants.n + 1);
    struct rulebook book;
    size_t tenants = 0, kept = 0;
    for (size_t i = 0; i < s->tenants.n; i++)
        if (s->tenants.items[i].guarded)
            ids[tenants++] = s->tenants.items[i].tenant_id;
    if (!tenants)
        return ERR_OK;
    TRY(snapshot_rules(w, ids, tenants, &book, e));
    for (size_t i = 0; i < *n; i++) {
        const struct snap_job *j = &s->jobs.items[p->places.items[i].job];
        const struct snap_node *node = &s->nodes.items[p->places.items[i].node];
        struct rule_ask ask = { j->tenant_id, j->project_id, j->queue, node->flavor, node->zone, j->slots, j->gpus };
        if (rulebook_refuses(&book, &ask))
            continue;
        rulebook_take(&book, &ask);
        evs[kept] = evs[i];
        lines[kept++] = lines[i];
    }
    *n = kept;
    return ERR_OK;
}

/* A refusal stands in the log of the tenant whose data it is about. */
static enum errc note_denied(struct work *w, const struct snap_job *j, struct str zone, const char *rule, const char *act, struct err *e)
{
    struct audit_event ev = audit_event_of(w, AUDIT_RESIDENCY_DENY);
    ev.tenant_id = j->tenant_id;
    ev.zone = zone;
    ev.denied = true;
    ev.error = ERR_RESIDENCY;
    ev.rule = str_c(rule);
    ev.resource_kind = STR("job");
    ev.resource_prefix = "job";
    ev.resource_id = j->job_id;
    audit_event_detail(&ev, AUDIT_D_STR("act", str_c(act)));
    audit_event_detail(&ev, AUDIT_D_STR("class", j->data_class));
    metrics_inc(M_residency_denials_total, rule);
    return audit_append(w, &ev, e);
}

/* The denied lines stand behind the admitted ones; they are noted and cut off. */
static enum errc cut_denied(struct work *w, const struct snapshot *s, const struct plan *p, const struct line *lines, struct slice *rows, struct err *e)
{
    const struct admitted_row *r = rows->items;
    size_t kept = 0;
    while (kept < rows->n && !r[kept].denied)
        kept++;
    for (size_t i = kept; i < rows->n; i++) {
        const struct placement *line = &p->places.items[lines[r[i].ord - 1].place];
        TRY(note_denied(w, &s->jobs.items[line->job], s->nodes.items[line->node].zone, "lease", "lease", e));
        log_event(LOG_ERROR, "residency.lease_denied", "job", LOG_ID("job", s->jobs.items[line->job].job_id), NULL);
    }
    rows->n = kept;
    return ERR_OK;
}

static enum errc admit(struct work *w, const struct snapshot *s, const struct plan *p, int64_t lease_ms, struct slice *ret, struct err *e)
{
    size_t n = p->places.n;
    struct line *lines = ARENA_ARRAY(w->arena, struct line, n);
    struct audit_event *evs = ARENA_ARRAY(w->arena, struct audit_event, n);
    struct audit_rows rows;
    for (size_t i = 0; i < n; i++) {
        const struct snap_job *j = &s->jobs.items[p->places.items[i].job];
        const struct snap_node *node = &s->nodes.items[p->places.items[i].node];
        lines[i] = (struct line){ .place = i, .version = j->version, .slots = j->slots, .gpus = j->gpus,
            .step = { .tenant_id = j->tenant_id, .job_id = j->job_id, .attempt_id = uuid_v7(w->now_us), .node_id = node->node_id,
                      .fence = j->fence + 1, .job_state = STR("ADMITTED") } };
        evs[i] = lease_step_event(w, AUDIT_JOB_ADMIT, &lines[i].step);
        evs[i].zone = node->zone;
    }
    db_queue(w->tx, &plan_turn, NO_ARGS, false);
    TRY(keep_rules(w, s, p, lines, evs, &n, e));
    *ret = (struct slice){ 0 };
    if (!n)
        return ERR_OK;
    TRY(audit_encode_many(w->arena, evs, n, &rows, e));
    TRY(db_many(w->tx, &plan_admit, ARGS(
        A_UUIDS_OF(lines, n, step.tenant_id), A_UUIDS_OF(lines, n, step.job_id), A_UUIDS_OF(lines, n, step.attempt_id),
        A_UUIDS_OF(lines, n, step.node_id), A_I64S_OF(lines, n, version), A_I64S_OF(lines, n, step.fence), A_I64S_OF(lines, n, slots),
        A_I64S_OF(lines, n, gpus), A_UUIDS(rows.event_ids, n), A_BYTESS(rows.bodies, n), A_I64(lease_ms)), ret, n, e));
    TRY(cut_denied(w, s, p, lines, ret, e));
    struct booking *b = booking_new(w->arena, 2 * ret->n);
    for (size_t i = 0; i < ret->n; i++) {
        const struct line *l = &lines[((const struct admitted_row *)ret->items)[i].ord - 1];
        booking_add(b, l->step.tenant_id, "slots", l->slots);
        booking_add(b, l->step.tenant_id, "gpus", l->gpus);
    }
    booking_write(w->tx, b);
    return ERR_OK;
}

/* Only what changed is written; it makes no event and no new version, for the job did not move. That the judge of residency refused is
 * an event, once for each reason. */
static enum errc explain(struct work *w, const struct snapshot *s, const struct plan *p, int64_t *ret, struct err *e)
{
    struct word { struct uuid tenant_id, job_id; int64_t version; struct str reason, message; };
    struct word *words = ARENA_ARRAY(w->arena, struct word, p->waits.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < p->waits.n; i++) {
        const struct waiting *x = &p->waits.items[i];
        const struct snap_job *j = &s->jobs.items[x->job];
        if (str_eq(j->reason, x->reason) && str_eq(j->message, x->message))
            continue;
        words[n++] = (struct word){ j->tenant_id, j->job_id, j->version, x->reason, x->message };
        if (x->is_denied)
            TRY(note_denied(w, j, j->zone, "plan", "place", e));
    }
    if (n)
        db_queue(w->tx, &plan_reasons, ARGS(A_UUIDS_OF(words, n, tenant_id), A_UUIDS_OF(words, n, job_id), A_I64S_OF(words, n, version),
                                            A_STRS_OF(words, n, reason), A_STRS_OF(words, n, message)), false);
    *ret = (int64_t)n;
    return ERR_OK;
}

enum errc plan_apply(struct work *w, const struct snapshot *s, const struct plan *p, int64_t lease_ms, struct plan_result *ret,
                     struct err *e)
{
    struct slice rows = { 0 };
    int64_t reasons_changed;
    TRY(explain(w, s, p, &reasons_changed, e));
    if (p->places.n)
        TRY(admit(w, s, p, lease_ms, &rows, e));
    const struct admitted_row *r = rows.items;
    struct uuid *nodes = ARENA_ARRAY(w->arena, struct uuid, rows.n + 1);
    size_t k = 0;
    for (size_t i = 0; i < rows.n; i++)
        if (!k || !uuid_eq(nodes[k - 1], r[i].node_id))
            nodes[k++] = r[i].node_id;
    *ret = (struct plan_result){ .admitted = (int64_t)rows.n, .refused = (int64_t)(p->places.n - rows.n), .nodes = { nodes, k } };
    ret->reasons_changed = reasons_changed;
    return ERR_OK;
}
