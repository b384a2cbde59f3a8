/* SPDX-License-Identifier: Apache-2.0 */
/* lease_expire.c - ending attempts without their worker's word: what becomes of the attempt and of its job. Whether it is tried
 * again, and when, is retry_judge's to say. */
#include "core/table/metrics.h"
#include "scheduler/jobs/job.h"
#include "scheduler/engine/lease_move.h"
#include "scheduler/engine/lease_wish.h"

SCHEMA_EXTERN(overdue, "An attempt that must end without its worker's word",
    FIELD(overdue, tenant_id, 0, .doc = "Tenant"), FIELD(overdue, attempt_id, 0, .doc = "Attempt"), FIELD(overdue, job_id, 0, .doc = "Job"),
    FIELD(overdue, node_id, 0, .doc = "Machine"), FIELD(overdue, fence, 0, .doc = "Number of the attempt"),
    FIELD(overdue, zone, 0, .doc = "Zone of the machine"), FIELD(overdue, job_state, 0, .doc = "State of the job"),
    FIELD(overdue, kind, 0, .doc = "Kind of the job"), FIELD(overdue, why, 0, .doc = "Why it must end"),
    FIELD(overdue, max_attempts, 0, .doc = "Attempts allowed"), FIELD(overdue, requeue_count, 0, .doc = "Times it came back"),
    FIELD(overdue, slots, 0, .doc = "Slots booked"), FIELD(overdue, gpus, 0, .doc = "GPUs booked"),
    FIELD(overdue, cancel_requested, 0, .doc = "Somebody asked it to stop"));

static const char *words(struct str why)
{
    return str_eq_c(why, "node") ? "Its machine was not heard of any more" : str_eq_c(why, "boot") ? "The agent of its machine started anew"
         : str_eq_c(why, "quarantine") ? "Its machine was put in quarantine" : str_eq_c(why, "cancel") ? "Cancelled before its machine took it" : str_eq_c(why, "runtime") ? "It ran far beyond its time"
         : str_eq_c(why, "evict") ? "It did not end in the time that it had to make room"
         : str_eq_c(why, "member") ? "One of its machines was lost"
         : str_eq_c(why, "start") ? "Its machines did not all meet in time"
         : "Its lease ran out without a heartbeat";
}

/* What ends an attempt without its job's doing. */
static enum retry_cause cause_of(const struct overdue *o)
{
    if (str_eq_c(o->why, "cancel") || str_eq_c(o->why, "evict") || o->cancel_requested)
        return RC_NONE;
    return str_eq_c(o->why, "runtime") && str_eq_c(o->job_state, "RUNNING") ? RC_TIMEOUT : RC_MACHINE;
}

static struct retry_verdict verdict_of(const struct overdue *o, const struct wish *own)
{
    const struct job_type *t = job_type_find(o->kind);
    const struct retry_facts f = { .policy = own ? &own->policy : NULL, .cause = cause_of(o), .attempt_id = o->attempt_id,
                                   .failures = own ? own->failures : 0, .fence = o->fence, .max_attempts = o->max_attempts,
                                   .requeue_count = o->requeue_count, .stays = t && t->traits & JT_STAYS };
    return retry_judge(&f);
}

static struct attempt_step step_of(const struct overdue *o, const struct wish *own)
{
    struct attempt_step s = { .tenant_id = o->tenant_id, .attempt_id = o->attempt_id, .job_id = o->job_id, .node_id = o->node_id,
                              .fence = o->fence, .slots = o->slots, .gpus = o->gpus, .message = str_c(words(o->why)), .reason = STR("") };
    const enum retry_cause cause = cause_of(o);
    const struct retry_verdict again = verdict_of(o, own);
    s.cause = cause == RC_NONE ? STR("") : str_c(retry_cause_names[cause]);
    s.attempt_state = str_eq_c(o->why, "evict") ? STR("FENCED") : STR("LEASE_EXPIRED");
    if (str_eq_c(o->why, "cancel")) {
        s.attempt_state = STR("CANCELLED");
        s.event = JE_CANCEL;
    } else if (o->cancel_requested) {
        s.event = JE_CANCEL;
    } else if (cause == RC_TIMEOUT) {
        s.attempt_state = STR("FENCED");
        s.event = again.is_again ? JE_RETRY : JE_TIMEOUT;
    } else if (str_eq_c(o->why, "evict")) {     /* no fault of the job's: it comes back as one that made room */
        s.event = JE_EXPIRE;
        s.reason = str_c(job_reason_names[JR_RESOURCES]);
        s.is_requeue = true;
    } else {
        s.event = again.is_again ? JE_EXPIRE : JE_LOSE;
    }
    if (again.is_again) {
        s.reason = str_c(job_reason_names[JR_BACKOFF]);
        s.is_requeue = true;
        s.delay_ms = again.delay_ms;
    }
    if (own && own->suspend_requested && job_event_goal(s.event) == JOB_PENDING) {
        s.event = JE_SUSPEND;
        s.reason = lease_wish_reason(own);
        s.delay_ms = 0;
    }
    s.job_state = str_c(job_state_names[job_event_goal(s.event)]);
    return s;
}

/* Of all rows; of few is anything wished, and the reaper takes a bounded number at once. */
static enum errc read_wishes(struct work *w, const struct overdue *rows, size_t n, struct slice *ret, struct err *e)
{
    struct uuid *tenants = ARENA_ARRAY(w->arena, struct uuid, n + 1), *jobs = ARENA_ARRAY(w->arena, struct uuid, n + 1);
    for (size_t i = 0; i < n; i++) {
        tenants[i] = rows[i].tenant_id;
        jobs[i] = rows[i].job_id;
    }
    return lease_wishes(w->tx, tenants, jobs, n, ret, e);
}

enum errc lease_expire(struct work *w, const struct overdue *rows, size_t n, struct expiry_counts *ret, struct err *e)
{
    struct attempt_step *steps = ARENA_ARRAY(w->arena, struct attempt_step, n + 1);
    struct audit_event *evs = ARENA_ARRAY(w->arena, struct audit_event, n + 1);
    struct lease_wakes k = { .jobs = ARENA_ARRAY(w->arena, struct uuid, n + 1), .njobs = n, .scheduler = n > 0 };
    struct slice own;
    *ret = (struct expiry_counts){ 0 };
    TRY(read_wishes(w, rows, n, &own, e));
    for (size_t i = 0; i < n; i++) {
        steps[i] = step_of(&rows[i], lease_wish_find(&own, rows[i].tenant_id, rows[i].job_id));
        bool is_cancel = str_eq_c(rows[i].why, "cancel");
        evs[i] = lease_step_event(w, is_cancel ? AUDIT_JOB_FINISH : AUDIT_JOB_EXPIRE, &steps[i]);
        evs[i].zone = rows[i].zone;
        audit_event_detail(&evs[i], AUDIT_D_STR("why", rows[i].why));
        if (steps[i].is_requeue && steps[i].cause.len)
            audit_event_detail(&evs[i], AUDIT_D_STR("cause", steps[i].cause));
        k.jobs[i] = rows[i].job_id;
        ret->expired += !is_cancel;
        ret->requeued += steps[i].is_requeue;
        ret->cancelled += str_eq_c(steps[i].job_state, "CANCELLED");
        ret->failed += str_eq_c(steps[i].job_state, "NODE_FAIL") || str_eq_c(steps[i].job_state, "TIMEOUT");
    }
    TRY(lease_steps_encode(w, steps, evs, n, e));
    TRY(lease_repo_end(w->tx, steps, n, e));
    lease_repo_give_back(w->tx, steps, n);
    if (n)
        lease_wake_after_commit(w, &k);
    metrics_add(M_leases_expired_total, (double)ret->expired);
    return ERR_OK;
}
