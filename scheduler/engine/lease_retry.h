/* SPDX-License-Identifier: Apache-2.0 */
/* lease_retry.h - what jobs of failed attempts say of retries, read for a batch at once, and the cause of each failure written.
 *
 * Read only where an attempt of the batch failed, so that what ends well pays for it with no statement. The caller holds the rows
 * of the jobs. Memory: the arena of the transaction. */
#pragma once
#include "scheduler/engine/lease_repo.h"
#include "scheduler/jobs/retry.h"

/* Of one job that has a retry of its own. */
struct retry_row {
    struct uuid tenant_id, job_id;
    struct json retry;
    int64_t failures;
    struct retry policy;                /* decoded of it */
};

/* ret: struct retry_row, of those jobs alone that have one. */
enum errc lease_retries(struct db_tx *tx, const struct uuid *tenants, const struct uuid *jobs, size_t n, struct slice *ret,
                        struct err *e) MUST_CHECK;
/* NULL: the job says nothing. */
const struct retry_row *lease_retry_find(const struct slice *rows, struct uuid tenant, struct uuid job);
/* After lease_repo_end, of the same steps: why each failed, for those that did. Queued. */
void lease_repo_causes(struct db_tx *tx, const struct attempt_step *s, size_t n);

extern const struct stmt lease_retries_stmt, attempt_causes_stmt;
