/* SPDX-License-Identifier: Apache-2.0 */
/* lease_repo.h - the only place with SQL that moves attempts: each function runs one statement for a whole batch. */
#pragma once
#include "core/db/arg.h"
#include "scheduler/engine/lease.h"

struct db_tx;

/* An attempt under lock, with what a report needs to know of its job. */
struct held {
    struct uuid tenant_id, attempt_id, job_id;
    struct uuid node_id;                /* of the attempt: the machine of rank 0 */
    int64_t rank;                       /* of the machine that holds it; state and live are those of that member */
    int64_t fence, slots, gpus;
    struct str state;
    bool live;
    struct str job_state, kind;
    int64_t job_fence, max_attempts, requeue_count;
    bool cancel_requested;
    int64_t preempt_ms;                 /* it was told to make room and has so long; 0: no */
    struct str evict_why;
    int64_t ran_ms;                     /* since it began; 0: it did not */
};

/* One step of an attempt that begins or ends; audit is its canonical audit event. */
struct attempt_step {
    struct uuid tenant_id, attempt_id, job_id, node_id;
    int64_t fence, slots, gpus;
    enum job_event_kind event;          /* what happens to the job */
    struct str cause;                   /* of an end: why it failed (scheduler/jobs/retry_cause.def); empty: it did not */
    struct str attempt_state, job_state, reason, message;   /* job_state: where that leads, for the audit event */
    struct str endpoint;                /* of a start */
    bool ends_too;                      /* of a start: the same batch ends it, so the end writes both */
    bool started_now;                   /* of an end: the same batch started it */
    bool takes_too;                     /* of a start or an end: nothing told before that it was taken */
    int64_t held_ms;                    /* with takes_too, and of a take: so long ago */
    bool is_requeue;
    int64_t delay_ms;                   /* of a requeue */
    bool has_exit_code;
    int64_t exit_code;
    bool has_cpu_mj, has_gpu_mj;
    int64_t cpu_mj, gpu_mj;             /* of an end: measured */
    struct str result;
    struct uuid event_id;
    struct str audit;
};

/* Of a row i with held_ms: when the machine took it, as it says, but neither before it was leased nor after what the same report
 * writes. */
#define TAKEN_AT "greatest(attempt.leased_at, now() - i.held_ms * interval '1 millisecond')"

struct output_row {
    struct uuid tenant_id, object_id;
    int64_t ord, stored_bytes, room_bytes, room_objects;
};

enum errc lease_repo_takeable(struct db_tx *tx, struct uuid node_id, int64_t max, struct slice *ret, struct err *e) MUST_CHECK;
/* Only reads: what waits for this node and is greater than `after`; for members of attempts on several machines nothing. */
struct db_ask *lease_repo_newer(struct db_tx *tx, struct uuid node_id, struct uuid after, int64_t max) MUST_CHECK;
/* Only reads: what waits for this node and is greater than `after`, or is not fresh any more: its lease ends within late_ms. */
enum errc lease_repo_waiting(struct db_tx *tx, struct uuid node_id, struct uuid after, int64_t max, int64_t late_ms,
                             struct slice *ret, struct err *e) MUST_CHECK;
/* Attempts of the node that shall end, but those; struct lease_notice, LEASE_NOTICES_MAX at most. */
struct db_ask *lease_repo_notices(struct db_tx *tx, struct uuid node_id, struct slice told);
enum errc lease_repo_take(struct db_tx *tx, const struct attempt_step *s, size_t n, int64_t lease_ms, struct err *e) MUST_CHECK;
enum errc lease_repo_inputs(struct db_tx *tx, const struct uuid *tenants, const struct uuid *jobs, size_t n, struct slice *ret, struct err *e) MUST_CHECK;
/* Images of these jobs that another tenant owns. */
enum errc lease_repo_shared(struct db_tx *tx, const struct uuid *tenants, const struct uuid *jobs, size_t n, struct slice *ret,
                            struct err *e) MUST_CHECK;
/* Locks; rows (struct held) in any order, n at most, none for what this node does not hold. */
struct db_ask *lease_repo_hold(struct db_tx *tx, struct uuid node_id, const struct uuid *tenants, const struct uuid *attempts,
                               size_t n);
/* Queued: they travel with the next statement or COMMIT. */
void lease_repo_renew(struct db_tx *tx, struct uuid node_id, const struct uuid *tenants, const struct uuid *attempts, size_t n, int64_t lease_ms);
enum errc lease_repo_start(struct db_tx *tx, const struct attempt_step *s, size_t n, int64_t lease_ms, struct err *e) MUST_CHECK;
/* Locks the quota rows of stored data of these tenants (an 'U' argument) before their room is read and booked. Queued. */
void quota_repo_turn(struct db_tx *tx, struct arg tenants);
enum errc lease_repo_end(struct db_tx *tx, const struct attempt_step *s, size_t n, struct err *e) MUST_CHECK;
/* Moves the jobs of these steps, whose rows the caller holds. Queued. */
enum errc lease_repo_move(struct db_tx *tx, const struct attempt_step *s, size_t n, struct err *e) MUST_CHECK;
/* What the ended attempts and jobs had booked; queue it after everything else. */
void lease_repo_give_back(struct db_tx *tx, const struct attempt_step *s, size_t n);
/* Which of these objects are complete outputs of exactly that attempt (ord: index from 1), and how much room their tenant has. */
enum errc lease_repo_outputs(struct db_tx *tx, const struct uuid *tenants, const struct uuid *jobs, const int64_t *fences,
                             const struct uuid *objects, size_t n, struct slice *ret, struct err *e) MUST_CHECK;
void lease_repo_commit_outputs(struct db_tx *tx, const struct uuid *tenants, const struct uuid *objects, size_t n);

struct log_line { struct uuid tenant_id, job_id; int64_t fence; struct str stream, text; };
struct metric_line { struct uuid tenant_id, job_id; int64_t fence, step; struct str values; };
void lease_repo_logs(struct db_tx *tx, const struct log_line *l, size_t n);
void lease_repo_metrics(struct db_tx *tx, const struct metric_line *m, size_t n);
enum errc lease_repo_check(struct db_tx *tx, struct uuid tenant, struct uuid attempt, int64_t fence, struct str identity, struct lease *ret,
                           bool *found, struct err *e) MUST_CHECK;
enum errc lease_repo_had(struct db_tx *tx, struct uuid tenant, struct uuid job, struct str identity, struct lease *ret,
                         bool *found, struct err *e) MUST_CHECK;
