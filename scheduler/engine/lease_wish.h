/* SPDX-License-Identifier: Apache-2.0 */
/* lease_wish.h - what is wished of jobs whose attempts do not end well, read for a batch at once: that they be tried again
 * (scheduler/jobs/retry.h), or put aside (scheduler/jobs/job_suspend.h). What came of it is written: the cause of each failure.
 *
 * Read only where an attempt of the batch does not succeed, so that what ends well pays for it with no statement. The caller
 * holds the rows of the jobs. Memory: the arena of the transaction. */
#pragma once
#include "scheduler/engine/lease_repo.h"
#include "scheduler/jobs/retry.h"

/* Of one job of which something is wished. */
struct wish {
    struct uuid tenant_id, job_id;
    struct json retry;
    int64_t failures;
    bool suspend_requested;
    struct str suspend_why;         /* the reason's wire name; empty: a person asked */
    struct retry policy;                /* decoded of retry; not set: it says nothing */
};

/* ret: struct wish, of those jobs alone. */
enum errc lease_wishes(struct db_tx *tx, const struct uuid *tenants, const struct uuid *jobs, size_t n, struct slice *ret,
                        struct err *e) MUST_CHECK;
/* Of one that is put aside now: why, and in words. */
struct str lease_wish_reason(const struct wish *x);
struct str lease_wish_says(const struct wish *x);
/* NULL: nothing is wished of the job. */
const struct wish *lease_wish_find(const struct slice *rows, struct uuid tenant, struct uuid job);
/* After lease_repo_end, of the same steps: why each failed, for those that did. Queued. */
void lease_repo_causes(struct db_tx *tx, const struct attempt_step *s, size_t n);
/* The same: those that are put aside now are asked no more. Queued. */
void lease_repo_parked(struct db_tx *tx, const struct attempt_step *s, size_t n);

extern const struct stmt lease_wishes_stmt, attempt_causes_stmt, job_parked_stmt;
