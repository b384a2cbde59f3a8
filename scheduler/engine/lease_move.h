/* SPDX-License-Identifier: Apache-2.0 */
/* lease_move.h - what those who move attempts share: audit events of steps, and the wake-ups after the commit. */
#pragma once
#include "audit/event.h"
#include "scheduler/engine/lease_repo.h"

/* The audit event of a step: resource job, details attempt, fence and state. The caller sets actor and zone. */
struct audit_event lease_step_event(const struct work *w, enum audit_code code, const struct attempt_step *s);
/* Encodes evs[i] into steps[i].event. */
enum errc lease_steps_encode(struct work *w, struct attempt_step *steps, const struct audit_event *evs, size_t n, struct err *e) MUST_CHECK;

/* After the commit: those who watch these jobs, and the scheduler when room was freed or a job came back. */
struct lease_wakes {
    struct redis_client *redis;
    struct uuid *jobs;
    size_t njobs;
    bool scheduler;
};
void lease_wake(const struct lease_wakes *k);
void lease_wake_after_commit(struct work *w, const struct lease_wakes *k);

/* An attempt that must end without its worker's word. */
struct overdue {
    struct uuid tenant_id, attempt_id, job_id, node_id;
    int64_t fence;
    struct str zone, job_state, kind, why;      /* why: lease, node, boot, quarantine, cancel, runtime, evict, member, start */
    int64_t max_attempts;               /* of attempts that count, and all that do not */
    int64_t requeue_count;              /* 0 where it got further: the next attempt does not wait as if it had failed again */
    int64_t slots, gpus;
    bool cancel_requested;
};
extern const struct schema overdue_schema;
/* It was sent away: it said so at its end, or was fenced when it did not end. Such an attempt does not count against the job. */
#define ATTEMPT_MADE_ROOM(a_) "(" a_ ".state = 'PREEMPTED' OR (" a_ ".state = 'FENCED' AND " a_ ".evict_until IS NOT NULL))"
/* No failure: it made room, or its machine gave it back, also before it had it (lease_back.c). */
#define ATTEMPT_NO_LOSS(a_) "(" a_ ".state = 'LEASE_RETURNED' OR " ATTEMPT_MADE_ROOM(a_) ")"
/* It was lost, and got its job further (ADR 0140). So many of a job do not count; max_attempts 1 is one attempt all the same. */
#define ATTEMPT_LOST_FURTHER(a_) "(" a_ ".got_further AND j.max_attempts > 1 AND NOT " ATTEMPT_NO_LOSS(a_) ")"
#define ATTEMPTS_FURTHER_FREE "100"
#define OVERDUE_COLUMNS(why_)                                                                                              \
    "a.tenant_id, a.attempt_id, a.job_id, a.node_id, a.fence, n.zone, j.state AS job_state, j.kind, " why_ " AS why, "      \
    "j.max_attempts + (SELECT count(*) FILTER (WHERE " ATTEMPT_NO_LOSS("p") ") + least(" ATTEMPTS_FURTHER_FREE ", "         \
    "count(*) FILTER (WHERE " ATTEMPT_LOST_FURTHER("p") ")) FROM attempt p "                                                \
    "WHERE p.tenant_id = a.tenant_id AND p.job_id = a.job_id) AS max_attempts, "                                            \
    "CASE WHEN a.got_further THEN 0 ELSE j.requeue_count END AS requeue_count, j.cancel_requested, a.slots, a.gpus"

struct expiry_counts {
    int64_t expired, requeued, failed, cancelled;
};
/* Ends them (queued in w->tx), with events and audit; wake-ups follow the commit. */
enum errc lease_expire(struct work *w, const struct overdue *rows, size_t n, struct expiry_counts *ret, struct err *e) MUST_CHECK;
