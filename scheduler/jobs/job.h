/* SPDX-License-Identifier: Apache-2.0 */
/* job.h - a job: what a tenant wants done. Submit, read, cancel; lists: job_search.h.
 *
 * Invariants: one row per accepted submission; state changes only along job_state.def, each with one step (view job_step) and one audit event
 * in the same transaction; `fence` and `version` only grow; a pending job has a reason; quota "jobs" counts the live ones.
 * Who writes job.state: job_submit_many (PENDING) and job_apply.h (all else).
 * Memory: results live in the arena of the work. Errors: NOT_FOUND (also another tenant's), CONFLICT, QUOTA, RESIDENCY, UNPLACEABLE. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"
#include "core/wire/job_type.h"
#include "scheduler/jobs/job_nodes.h"
#include "scheduler/jobs/job_state.h"
#include "scheduler/jobs/retry.h"

struct stmt;

struct job {
    struct uuid tenant_id;
    struct uuid job_id;
    struct str name;
    int kind;                       /* enum job_kind */
    int state;                      /* enum job_state */
    struct str reason, message;
    struct json spec;
    struct str zone, pool, data_class, queue;
    struct uuid project_id;         /* nil: of the tenant as a whole */
    struct uuid array_id;           /* whose task it is; nil: of none, or nobody looked (job_get_many looks) */
    int64_t slots, gpus, priority, max_attempts, max_runtime_s;
    int64_t cpu_milli, memory_bytes;    /* 0: what its slots stand for */
    int64_t gpu_milli;              /* of one GPU; 1000: whole ones */
    struct str gpu_models, cls;     /* models between commas, empty: any; cls: priority class */
    struct str engine;              /* name of what computes its model; absent or empty: our own operations */
    int64_t nodes;                  /* machines at once, each with all of the above; 0 before it is stored: one */
    int64_t nodes_max;              /* it takes up to so many where they are free; not above nodes: always nodes */
    int64_t requeue_count, fence, version;
    bool cancel_requested, suspend_requested;
    struct json retry;              /* retry.h; absent: it says nothing */
    struct json result;
    struct uuid created_by;
    struct timestamp submitted_at, started_at, finished_at;
    struct timestamp begin_at, deadline_at;     /* 0: at once, none */
};
static inline int64_t job_nodes_most(const struct job *j) { return j->nodes_max > j->nodes ? j->nodes_max : j->nodes; }
extern const struct schema job_schema;

/* What a caller sends. */
struct job_create {
    struct str name;
    int kind;
    struct json spec;
    struct str zone, pool, queue;
    struct uuid project_id;         /* nil: of the tenant as a whole, or the caller's one project */
    int64_t slots, gpus, priority, max_attempts, max_runtime_seconds;
    int64_t cpu_milli, memory_bytes, gpu_milli;     /* 0: not said */
    struct str gpu_models, cls;
    struct timestamp begin_at, deadline_at;
    struct slice dependencies;      /* struct dependency: all must be met */
    struct retry retry;
    struct job_nodes nodes;
    bool force_queue;               /* waits for a machine that could hold it, though there is none */
};
extern const struct schema job_create_schema;

struct job_event {
    int64_t version;
    struct str state, reason, message;
    int64_t fence;
    struct timestamp at;
};
extern const struct schema job_event_schema;

/* One submission on its way into job_submit_many. Fill all but the verdict. */
struct job_submission {
    struct job job;                 /* state PENDING, version 1, ids and times set */
    struct str kind_name;
    struct str route, key;          /* of the idempotency record */
    struct str sha;                 /* 32 bytes */
    struct uuid event_id;           /* of the audit event */
    struct str event;               /* its canonical bytes */
    struct slice inputs;            /* struct job_input: objects the job may read */
    struct slice dependencies;      /* struct dependency (dependency.h) */
    enum job_verdict {
        JOB_STORED, JOB_REPLAY, JOB_KEY_REUSED, JOB_KEY_BUSY, JOB_NO_QUOTA, JOB_NO_PENDING, JOB_NO_BUDGET, JOB_INPUT_GONE
    } verdict;
    int64_t room;                   /* JOB_NO_QUOTA: how many more would have fitted */
    struct str message;             /* JOB_NO_PENDING, JOB_NO_BUDGET: the numbers, in words */
};
struct job_input {
    struct str name;
    struct uuid object_id;
};

/* For .check: models between commas. */
bool check_gpu_models(struct str s, const char **why);
#define GPU_MODELS_PATTERN "^([A-Za-z0-9][A-Za-z0-9._-]{0,62}(,[A-Za-z0-9][A-Za-z0-9._-]{0,62})*)?$"

/* Pure: the checks of a submission that need no facts: spec by kind. Fills job (ids, defaults, time).
 * Errors carry JSON pointers. A kind that callers do not submit is refused with what makes it. */
struct principal;
enum errc job_check(const struct job_create *in, const struct principal *p, struct arena *a, int64_t now_us, struct job *ret,
                    struct err *e) MUST_CHECK;

/* One transaction, one statement for all (SQL function job_submit_many), then one commit. After it each item has its verdict.
 * Inputs (job_object rows) are written in the same transaction. An error means that nothing was stored. */
enum errc job_submit_many(struct work *w, struct job_submission **items, size_t n, struct err *e) MUST_CHECK;
/* The same for submissions of many tenants together: RETRY where a row that one of them needs is held by another transaction for
 * longer than a commit takes, so that nobody waits for it who does not need it. */
enum errc job_submit_hasty(struct work *w, struct job_submission **items, size_t n, struct err *e) MUST_CHECK;
/* The same for one job inside the caller's transaction, without idempotency record: for deployments. */
enum errc job_submit_in_tx(struct work *w, struct job_submission *item, struct err *e) MUST_CHECK;
/* What would become of it: submitted and taken back, which nobody sees. Fill it as for job_submit_many. */
enum errc job_submit_try(struct work *w, struct job_submission *item, struct err *e) MUST_CHECK;

enum errc job_get(struct work *w, struct uuid job_id, struct job *ret, struct err *e) MUST_CHECK;
/* jobs[i] of tenants[i]; found[i] tells. For the combined read. */
enum errc job_get_many(struct work *w, const struct uuid *tenants, const struct uuid *jobs, size_t n, struct job *ret, bool *found,
                       struct err *e) MUST_CHECK;
enum errc job_events(struct work *w, struct uuid job_id, int64_t after_version, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;
/* A pending job ends at once; one that a worker holds is asked to stop (cancel_requested) and the worker's report ends it.
 * CONFLICT when it has ended already. */
enum errc job_cancel(struct work *w, struct uuid job_id, struct job *ret, struct err *e) MUST_CHECK;

/* The refusal that a verdict is; ERR_OK: stored or replayed. */
enum errc job_verdict_err(const struct job_submission *s, struct err *e) MUST_CHECK;

extern const struct stmt *const job_stmts[];
extern const struct stmt *const job_submit_stmts[];    /* what storing submissions alone needs: the leader's, for arrays */

/* Wake-up channels (hints). */
#define WAKE_SCHEDULER "wake:scheduler"
#define WAKE_SUBMITTED "wake:submitted"     /* the scheduler's, too: jobs came, and nothing else changed */
#define WAKE_AUDIT "wake:audit"             /* somebody waits for a signed head */
#define WAKE_NODE_PREFIX "wake:node:"
/* WAKE_JOB_PREFIX: job_wake.h */
