/* SPDX-License-Identifier: Apache-2.0 */
/* job_search.h - which jobs, and how many of them: lists and counts by any filter, for a tenant of a million jobs.
 *
 * In the scope of one tenant and of the projects that the transaction may see. Newest first: by job_id, which grows with the time of
 * submission. An id's time and submitted_at may differ by JOB_ID_SLACK_US (two clocks): submitted_at decides.
 * Memory: results live in the arena of the work. Errors: those of the database alone. */
#pragma once
#include "scheduler/jobs/job.h"

/* Ended states are counted up to JOB_COUNT_CAP; with a filter, among the newest JOB_COUNT_CAP ended jobs that pass it; with a part of a
 * name, or a value that few have, among the newest JOB_COUNT_CAP that pass and wait or have ended. */
enum { JOB_COUNT_CAP = 10000 };
#define JOB_ID_SLACK_US INT64_C(600000000)

/* What is zero does not filter. */
struct job_filter {
    int state, group, kind;             /* enum job_state, job_group, job_kind */
    bool has_state, has_group, has_kind;
    struct uuid project_id, created_by;
    struct str zone, pool;
    struct str q;                       /* part of the name, in any case */
    struct timestamp submitted_after, submitted_before;     /* at or after; before */
};

struct job_count {
    int state, group;
    int64_t jobs;
    bool is_exact;                      /* false: at least so many */
};
extern const struct schema job_count_schema;

/* struct job, at most `limit`, older than `position` (nil: from the newest). */
enum errc job_list(struct work *w, const struct job_filter *f, struct uuid position, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;
/* ret[s] for every state; the filter's own state and group are not looked at. */
enum errc job_count_states(struct work *w, const struct job_filter *f, struct job_count ret[JOB_STATE_COUNT], struct err *e) MUST_CHECK;

/* The least id of that time, or the greatest one. */
struct uuid job_id_at(int64_t us, bool is_greatest);

extern const struct stmt *const job_search_stmts[];
