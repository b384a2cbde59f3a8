/* SPDX-License-Identifier: Apache-2.0 */
/* job_repo.h - the only place with SQL for reading jobs (lists: job_search) and for submissions; each function runs one statement. */
#pragma once
#include "scheduler/jobs/job.h"

struct db_tx;

/* lock_wait: how long it waits for a row that is locked ("100ms"; "0": as long as a statement may); RETRY then. */
enum errc job_repo_submit_many(struct db_tx *tx, struct job_submission **items, size_t n, const char *lock_wait,
                               struct err *e) MUST_CHECK;
/* One statement is enough for these, which may then be its own transaction: none says anything of retries. */
bool job_repo_is_single(struct job_submission **items, size_t n);
enum errc job_repo_get(struct db_tx *tx, struct uuid tenant, struct uuid job_id, struct job *ret, struct err *e) MUST_CHECK;
enum errc job_repo_get_many(struct db_tx *tx, const struct uuid *tenants, const struct uuid *jobs, size_t n, struct job *ret, bool *found,
                            struct err *e) MUST_CHECK;
/* Fills in array_id of those that are tasks of one. */
enum errc job_repo_array_ids(struct db_tx *tx, const struct uuid *tenants, const struct uuid *jobs, size_t n, struct job *ret,
                             struct err *e) MUST_CHECK;
enum errc job_repo_events(struct db_tx *tx, struct uuid tenant, struct uuid job_id, int64_t after, int64_t limit, struct slice *ret,
                          struct err *e) MUST_CHECK;
/* The machines that run the job: struct uuid. */
enum errc job_repo_holders(struct db_tx *tx, struct uuid tenant, struct uuid job_id, struct slice *ret,
                           struct err *e) MUST_CHECK;
/* Sets cancel_requested on a live job; found false: it has ended or does not exist. */
enum errc job_repo_cancel_request(struct db_tx *tx, struct uuid tenant, struct uuid job_id, struct job *ret, bool *found,
                                      struct err *e) MUST_CHECK;
