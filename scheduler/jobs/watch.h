/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h - what happened to a job since: transitions, log lines, metrics, attempts. Reads only, in the scope of one tenant.
 *
 * Each function gives rows after a position (an id that only grows), oldest first. Log and metric ids are given out when a row is
 * written; rows of one job are written by one report at a time, so a reader that goes by id misses none.
 * The job itself is looked up first by the callers, so that another tenant's job is NOT_FOUND and not merely empty. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

struct job_log_line {
    int64_t log_id, line;
    bool has_line; /* line is its number within the job's log, from 1 */
    struct timestamp at;
    struct str stream;
    int64_t fence;
    struct str text;
};
extern const struct schema job_log_line_schema;

struct job_metric {
    int64_t metric_id;
    struct timestamp at;
    int64_t step, fence;
    struct json values;
};
extern const struct schema job_metric_schema;

/* A machine of an attempt on several. */
struct attempt_member {
    struct uuid attempt_id;             /* of the row; not shown */
    int64_t rank;
    struct uuid node_id;
    struct str state;
    struct timestamp started_at, finished_at;
};
extern const struct schema attempt_member_schema;

struct attempt_view {
    struct uuid attempt_id;
    int64_t fence;
    struct uuid node_id;
    struct str state, cause, message;
    int64_t exit_code;
    bool has_exit_code, has_cpu_mj, has_gpu_mj;
    int64_t cpu_mj, gpu_mj;
    struct timestamp leased_at, started_at, finished_at;
    int64_t nodes;
    struct slice members;               /* struct attempt_member, by rank; none on one machine */
};
extern const struct schema attempt_view_schema;

/* Which lines: log_id between after and before (0: no end), with this part in any case, the newest of them or the oldest. */
struct job_log_ask {
    int64_t after, before;
    struct str part;
    bool is_newest, errors_only;
    bool is_numbered; /* each line with its number, which costs a count of the lines before; not with part or errors_only */
};
/* A page of log has at most this much text and one line more. */
enum { JOB_LOG_PAGE_BYTES = 2 << 20 };
/* Oldest first, at most limit; fewer when the text is long. */
enum errc job_log_page(struct work *w, struct uuid job_id, const struct job_log_ask *q, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;
enum errc job_logs(struct work *w, struct uuid job_id, int64_t after, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;
enum errc job_metrics(struct work *w, struct uuid job_id, int64_t after, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;
enum errc job_attempts(struct work *w, struct uuid job_id, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const watch_stmts[];
