/* SPDX-License-Identifier: Apache-2.0 */
/* board.h - what a run of the planner ahead in time (scheduler/plan/ahead.h) begins from, read in a tenant's own transaction.
 *
 * The functions queue_* of the database tell what others hold, wait for and declared under aliases, without names: enough to
 * plan, nothing to tell. In the platform's scope nothing is own and tenants have their names. Where waiting jobs may run is
 * judged by the database's judge of residency. Learned futures are not in it. Memory: w->arena. Errors: those of the database. */
#pragma once
#include "core/base/work.h"
#include "scheduler/plan/ahead.h"

struct stmt;

/* At most so many waiting jobs and machines are read; and of jobs that run, and of those that wait for their time, as many as the
 * function queue_jobs reads (migrations/functions/queue_jobs.sql names both numbers). What is cut is told by is_cut. */
enum { BOARD_WAITING = 2000, BOARD_MACHINES = 5000, BOARD_RUNNING = 20000, BOARD_TIMED = 200, BOARD_NEEDS = 400 };

/* Beside a job: waits by the index of base.jobs, runs by that of live. */
struct board_tag {
    bool is_own, is_measured;           /* is_measured: its end is that of its like, not its limit */
    struct uuid job_id;                 /* own: the job */
    struct str name;
    struct timestamp begun_at;
};
/* By the index of base.tenants. */
struct board_tenant { bool is_mine; struct uuid tenant_id; struct str name; };

struct board {
    struct ahead_in in;
    struct board_tag *waits, *runs;
    struct board_tenant *tenants;
    bool is_cut;                        /* more waits, runs or stands there than was read */
};
/* Of a job by the index of ahead_start.job. */
static inline const struct board_tag *board_tag(const struct board *b, size_t job)
{
    return job < b->in.base.jobs.n ? &b->waits[job] : &b->runs[job - b->in.base.jobs.n];
}

enum errc board_read(struct work *w, int64_t until_us, struct board *ret, struct err *e) MUST_CHECK;
extern const struct stmt *const board_stmts[];
