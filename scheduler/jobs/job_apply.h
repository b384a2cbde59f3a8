/* SPDX-License-Identifier: Apache-2.0 */
/* job_apply.h - the one way in which the state of a job changes after its submission.
 *
 * A move is an event of job_state.def that happens to a job. A whole batch is one statement: the job's row, its job_event and its audit
 * event together. The statement carries the from-states of each event, so a job that stands elsewhere is left alone, whoever moved it
 * meanwhile; the trigger job_edge checks the same edges once more.
 * A step that other rows tell has no row in job_event: the submission, an admission, a TAKE, a START that comes with its end,
 * and the end of an attempt that is the job's. Version grows by it, and the view job_step reads it from the job and the
 * attempt. What comes later in the same batch passes a TAKE or START: COMPLETED is three after ADMITTED.
 * Whoever asks for a job's events asks that view.
 * Invariants: an edge is a row of job_state.def; version grows with each; the fence grows by one with ADMIT and never else; a waiting job
 * has a reason; finished_at is set exactly when the job ends. What a job has booked is not given back here (booking.h).
 * Locks: the jobs' rows, in the order of the moves: sort them by tenant and job where several batches may meet.
 * Memory: db_arena(tx). Errors: those of the transaction. A move that is not legal any more is no error: it is not among *ret_moved. */
#pragma once
#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/id.h"
#include "core/base/str.h"
#include "scheduler/jobs/job_state.h"

struct db_tx;
struct stmt;

enum { JOB_ANY_FENCE = -1, JOB_ANY_VERSION = 0 };

struct job_move {
    struct uuid tenant_id, job_id;
    enum job_event_kind event;
    int64_t version, fence;             /* the job must have these, or JOB_ANY_… */
    struct str reason, message;         /* absent: "" */
    struct str result;                  /* JSON; absent: as it was */
    int64_t delay_ms;                   /* of a job that goes back: not before so long from now */
    bool takes_too, starts_too;         /* it was taken, it began in the same batch: TAKE, START are passed on the way */
    bool is_quiet;                      /* no row of job_event: the view job_step tells it by other rows */
    struct uuid audit_id;               /* of its audit event; absent body: the caller writes one */
    struct str audit_body;
};

/* Applies all n. ret_moved: indexes of the moves that were made, as int64_t, in their order. NULL: the caller holds the rows and has seen
 * their states, so the statement is queued and travels with the next one or with COMMIT. */
enum errc job_apply(struct db_tx *tx, const struct job_move *moves, size_t n, struct slice *ret_moved, struct err *e) MUST_CHECK;

/* JE_ADMIT together with the attempt that it is for, in the same statement: what moves becomes a lease. Jobs whose cancel was
 * asked for stay. */
struct job_admission {
    struct uuid tenant_id, job_id, attempt_id, node_id, audit_id;
    int64_t place;                      /* which of the places, from 1, the database must allow; 0: it was asked before */
    int64_t version, fence;             /* of the job as it waits; the attempt's fence is the next */
    int64_t slots, gpus, cpu_milli, memory_bytes, gpu_milli;
    int64_t devices;                    /* bit by bit, of its machine */
    struct str audit_body;
};
/* Data of a class for a kind of job in a zone: residency_zone_ok, the database's own judge, is asked once for each in the
 * statement that admits, and what it refuses stays as what is not legal any more does. */
struct job_place {
    struct uuid tenant_id;
    struct str data_class, kind, zone;
};
/* writer: the others who keep waiting jobs find under it which plan that was (waiting_writer). ret_moved: as job_apply's. */
enum errc job_admit(struct db_tx *tx, const struct job_admission *a, size_t n, const struct job_place *places, size_t nplaces,
                    int64_t lease_ms, int64_t writer, struct slice *ret_moved, struct err *e) MUST_CHECK;

extern const struct stmt *const job_apply_stmts[];      /* in every pool that moves jobs */
