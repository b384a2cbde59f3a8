/* SPDX-License-Identifier: Apache-2.0 */
/* plan_apply.c - what a plan becomes. The advisory lock is a statement before all else, so that what is read after it sees the attempts of
 * an earlier planner's commit. Each line is checked again against the room of its machine and the rules; job_admit moves the jobs that
 * still wait as the plan saw them, and those get an attempt. Slots and GPUs of quotas have no counter: what live attempts of the tenant
 * hold is counted under the same lock, which whoever changes a limit takes too, and only a plan raises it.
 *
 * Where the data may be is judged again here by the database itself (residency_zone_ok), once for each class, kind, zone and policy of the
 * plan: a line that it refuses is not admitted and stands in the tenant's log. Tenants whose facts are the same to the letter share a
 * judgement; the trigger attempt_residency, which knows nothing of this, judges what is written. */
#include "scheduler/plan_apply.h"
#include "scheduler/plan_check.h"
#include "scheduler/plan_gang.h"
#include "core/base/log.h"
#include "core/db/tx.h"
#include "core/table/metrics.h"
#include "scheduler/engines/lent.h"
#include "scheduler/jobs/job_apply.h"
#include "scheduler/mirror/rules.h"
#include "scheduler/mirror/snapshot.h"
#include "scheduler/mirror/waiting.h"
#include "scheduler/engine/lease_move.h"

#include <stdlib.h>

static const struct stmt plan_turn = { .name = "plan_turn", .params = "", .card = CARD_NONE, .sql =
    "SELECT pg_advisory_xact_lock(4630123712)" };

static const struct stmt plan_reasons = { .name = "plan_reasons", .params = "UUISSi", .card = CARD_NONE, .sql =
    "WITH t AS (\n"
    "  UPDATE job SET reason = i.reason, message = i.message\n"
    "    FROM unnest($1, $2, $3, $4, $5) AS i(tenant_id, job_id, version, reason, message)\n"
    "   WHERE job.tenant_id = i.tenant_id AND job.job_id = i.job_id AND job.version = i.version AND job.queued\n"
    "     AND NOT (job.reason = 'Engine' AND i.reason IN ('Resources', 'NoMatchingFlavor', 'ZoneUnavailable'))\n"
    "  RETURNING job.tenant_id, job.job_id)\n"
    "INSERT INTO plan_change (changed_xid, writer, tenants, jobs)\n"
    "SELECT pg_current_xact_id(), $6, array_agg(tenant_id), array_agg(job_id) FROM t HAVING count(*) > 0" };

const struct stmt *const plan_apply_stmts[] = { &plan_turn, &plan_reasons, NULL };

void plan_turn_take(struct db_tx *tx)
{
    db_queue(tx, &plan_turn, NO_ARGS, false);
}

/* Rules bind here as in the plan: their use is read again under the planners' lock, through which all that raises it and all that changes
 * a rule or a queue must go, and the same arithmetic drops the lines that no longer fit. Plans without a tenant that has rules
 * ask nothing. */
static enum errc keep_rules(struct work *w, const struct snapshot *s, struct plan_line *lines, size_t *n, struct err *e)
{
    struct uuid *ids = ARENA_ARRAY(w->arena, struct uuid, s->tenants.n + 1);
    struct rulebook book;
    size_t tenants = 0, kept = 0;
    for (size_t i = 0; i < s->tenants.n; i++)
        if (s->tenants.items[i].guarded)
            ids[tenants++] = s->tenants.items[i].tenant_id;
    if (!tenants)
        return ERR_OK;
    TRY(rules_read(w, ids, tenants, &book, e));
    for (size_t i = 0; i < *n; i++) {
        const struct snap_job *j = lines[i].job;
        const struct snap_node *node = &s->nodes.items[lines[i].node];
        struct rule_ask ask = { j->tenant_id, j->project_id, j->queue, node->flavor, node->zone, lines[i].step.slots,
                                lines[i].step.gpus };
        const struct rule_queue *queue = rulebook_queue(&book, &ask);
        if ((queue && queue->stop_policy != QUEUE_GOES) || rulebook_refuses(&book, &ask))
            continue;
        rulebook_take(&book, &ask);
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

/* In the order of the plan; what the judge refused is noted. */
static enum errc keep_fitting(struct work *w, const struct snapshot *s, struct plan_line *lines, size_t *n, struct err *e)
{
    struct plan_check *c;
    size_t kept = 0;
    TRY(plan_check_read(w, s, lines, *n, &c, e));
    for (size_t i = 0; i < *n; i++) {
        struct plan_line *l = &lines[i];
        if (!plan_check_allows(c, s, l)) {
            TRY(note_denied(w, l->job, s->nodes.items[l->node].zone, "lease", "lease", e));
            log_event(LOG_ERROR, "residency.lease_denied", "job", LOG_ID("job", l->step.job_id), NULL);
        } else if (plan_check_lets(c, s, l) && plan_check_takes(c, l)) {
            lines[kept++] = *l;
        }
    }
    *n = kept;
    return ERR_OK;
}

static int by_job(const void *a, const void *b)
{
    const struct attempt_step *x = &((const struct plan_line *)a)->step, *y = &((const struct plan_line *)b)->step;
    int c = uuid_cmp(x->tenant_id, y->tenant_id);
    return c ? c : uuid_cmp(x->job_id, y->job_id);
}

static size_t node_of(const struct plan_line *l, size_t rank)
{
    return rank ? l->more[rank - 1].node : l->node;
}

static bool any_lent(const struct snapshot *s, const struct plan_line *l, size_t n)
{
    bool is_any = false;
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r <= l[i].nmore; r++)
            is_any |= s->nodes.items[node_of(&l[i], r)].once;
    return is_any;
}

/* In the transaction that gives the leases, so that nobody ever reads such a machine as one that takes another. */
static void drain_lent(struct work *w, const struct snapshot *s, const struct plan_line *l, size_t n)
{
    struct uuid *nodes;
    size_t most = 0, k = 0;
    for (size_t i = 0; i < n; i++)
        most += l[i].nmore + 1;
    nodes = ARENA_ARRAY(w->arena, struct uuid, most + 1);
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r <= l[i].nmore; r++)
            if (s->nodes.items[node_of(&l[i], r)].once)
                nodes[k++] = s->nodes.items[node_of(&l[i], r)].node_id;
    lent_drain(w->tx, nodes, k);
}

/* Moves the jobs of the lines, which stay in lines when their job still waited as the plan saw it and is an attempt now. */
static enum errc move_jobs(struct work *w, const struct snapshot *s, struct plan_line *lines, size_t *n,
                           const struct job_place *places, size_t nplaces, int64_t lease_ms, struct err *e)
{
    struct audit_event *evs = ARENA_ARRAY(w->arena, struct audit_event, *n);
    struct job_admission *a = ARENA_ARRAY(w->arena, struct job_admission, *n);
    struct audit_rows rows;
    struct slice moved;
    qsort(lines, *n, sizeof *lines, by_job);        /* the order in which everybody locks jobs */
    for (size_t i = 0; i < *n; i++) {
        evs[i] = lease_step_event(w, AUDIT_JOB_ADMIT, &lines[i].step);
        evs[i].zone = s->nodes.items[lines[i].node].zone;
        audit_event_detail(&evs[i], AUDIT_D_STR("node", id_text(w->arena, "nod", lines[i].step.node_id)));
        if (lines[i].nmore)
            audit_event_detail(&evs[i], AUDIT_D_INT("nodes", (int64_t)lines[i].nmore + 1));
    }
    TRY(audit_encode_many(w->arena, evs, *n, &rows, e));
    for (size_t i = 0; i < *n; i++) {
        const struct attempt_step *step = &lines[i].step;
        a[i] = (struct job_admission){ .place = lines[i].place, .tenant_id = step->tenant_id, .job_id = step->job_id,
                                       .attempt_id = step->attempt_id,
                                       .node_id = step->node_id, .version = lines[i].job->version, .fence = lines[i].job->fence,
                                       .slots = step->slots, .gpus = step->gpus,
                                       .cpu_milli = plan_line_nodes(&lines[i]) * lines[i].ask.cpu_milli,
                                       .memory_bytes = plan_line_nodes(&lines[i]) * lines[i].ask.memory_bytes,
                                       .gpu_milli = step->gpus ? lines[i].ask.gpu_milli : GPU_MILLI,
                                       .devices = (int64_t)lines[i].devices, .audit_id = rows.event_ids[i],
                                       .audit_body = rows.bodies[i] };
    }
    const bool has_gangs = plan_gang_any(lines, *n), has_lent = any_lent(s, lines, *n);
    if (!has_gangs && !has_lent)
        db_last(w->tx);
    TRY(job_admit(w->tx, a, *n, places, nplaces, lease_ms, waiting_writer(w->app->waiting), &moved, e));
    for (size_t i = 0; i < moved.n; i++)
        lines[i] = lines[((const int64_t *)moved.items)[i]];
    *n = moved.n;
    if (has_gangs)
        plan_gang_write(w->tx, s, lines, *n, lease_ms);
    if (has_lent)
        drain_lent(w, s, lines, *n);
    return ERR_OK;
}

static struct plan_line *lines_of(struct work *w, const struct snapshot *s, const struct plan *p)
{
    size_t n = p->places.n;
    struct plan_line *l = ARENA_ARRAY(w->arena, struct plan_line, n);
    for (size_t i = 0; i < n; i++) {
        const struct snap_job *j = &s->jobs.items[p->places.items[i].job];
        size_t node = p->places.items[i].node, nmore = p->places.items[i].nmore;
        struct seat_of *more = nmore ? ARENA_ARRAY(w->arena, struct seat_of, nmore) : NULL;
        if (nmore)
            memcpy(more, p->places.items[i].more, nmore * sizeof *more);
        l[i] = (struct plan_line){ .job = j, .node = node, .ask = snap_job_ask(j), .devices = p->places.items[i].devices,
            .more = more, .nmore = nmore,
            .step = { .tenant_id = j->tenant_id, .job_id = j->job_id, .attempt_id = uuid_v7(w->now_us), .node_id = s->nodes.items[node].node_id,
                      .fence = j->fence + 1, .slots = (int64_t)(nmore + 1) * j->slots, .gpus = (int64_t)(nmore + 1) * j->gpus,
                      .job_state = STR("ADMITTED") } };
    }
    return l;
}

/* ret: the lines that became attempts. */
static enum errc admit(struct work *w, const struct snapshot *s, const struct plan *p, int64_t lease_ms, struct slice *ret,
                       struct err *e)
{
    size_t n = p->places.n;
    struct plan_line *l = lines_of(w, s, p);
    plan_turn_take(w->tx);
    TRY(keep_rules(w, s, l, &n, e));
    if (n)
        TRY(keep_fitting(w, s, l, &n, e));
    if (n)
        TRY(move_jobs(w, s, l, &n, NULL, 0, lease_ms, e));
    *ret = (struct slice){ l, n };
    return ERR_OK;
}

static struct plan_result result_of(struct work *w, const struct snapshot *s, const struct plan *p, struct slice rows)
{
    const struct plan_line *l = rows.items;
    struct uuid *nodes = ARENA_ARRAY(w->arena, struct uuid, s->nodes.n + 1);
    bool *is_told = ARENA_ARRAY(w->arena, bool, s->nodes.n + 1);
    size_t k = 0;
    for (size_t i = 0; i < rows.n; i++)
        for (size_t r = 0; r <= l[i].nmore; r++) {
            const size_t node = node_of(&l[i], r);
            if (is_told[node])
                continue;
            is_told[node] = true;
            nodes[k++] = s->nodes.items[node].node_id;
        }
    return (struct plan_result){ .admitted = (int64_t)rows.n, .refused = (int64_t)(p->places.n - rows.n), .nodes = { nodes, k },
                                  .lines = rows };
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
        if (j->said == waiting_said(x->reason, x->message))
            continue;
        words[n++] = (struct word){ j->tenant_id, j->job_id, j->version, x->reason, x->message };
        if (x->is_denied)
            TRY(note_denied(w, j, j->zone, "plan", "place", e));
    }
    if (n)
        db_queue(w->tx, &plan_reasons, ARGS(A_UUIDS_OF(words, n, tenant_id), A_UUIDS_OF(words, n, job_id), A_I64S_OF(words, n, version),
                                            A_STRS_OF(words, n, reason), A_STRS_OF(words, n, message),
                                            A_I64(waiting_writer(w->app->waiting))), false);
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
    *ret = result_of(w, s, p, rows);
    ret->reasons_changed = reasons_changed;
    return ERR_OK;
}

enum errc plan_admit(struct work *w, const struct snapshot *s, const struct plan *p, int64_t lease_ms, struct plan_result *ret,
                     struct err *e)
{
    size_t n = p->places.n;
    struct plan_line *l = lines_of(w, s, p);
    struct job_place *places = ARENA_ARRAY(w->arena, struct job_place, n + 1);
    if (n)
        TRY(move_jobs(w, s, l, &n, places, plan_check_places(s, l, n, w->arena, places), lease_ms, e));
    *ret = result_of(w, s, p, (struct slice){ l, n });
    return ERR_OK;
}
