/* SPDX-License-Identifier: Apache-2.0 */
/* forecast.h - what would become of a job: whether it would be accepted, where it could run now, and why one waits.
 *
 * Admission is asked itself: forecast_check runs the submission and takes it back, so its verdict is a submission's at that moment.
 * Placement is asked itself: the planner (placement.h) plans the one job on the machines as they are now; what it says of one job alone
 * leaves out only whose turn it is and the rules of quota_rule, which the job's own reason names after the next round.
 * Nothing here names another tenant or a machine. Memory: w->arena. */
#pragma once
#include "scheduler/jobs/job.h"

struct principal;
struct stmt;

/* Waiting jobs are counted up to FORECAST_AHEAD, alike machines read up to FORECAST_SHAPES. */
enum { FORECAST_AHEAD = 100000, FORECAST_SHAPES = 2000 };

struct zone_outlook {
    struct str zone;
    bool allowed;                       /* by where the job is pinned to and by the judge of residency */
    struct str reason;                  /* why not */
    int64_t ready_nodes;                /* of the job's pool */
    int64_t free_slots, free_gpus;      /* the most on one machine */
    bool fits_now;                      /* allowed, and one machine has both */
};
extern const struct schema zone_outlook_schema;

struct quota_outlook {
    struct str resource;
    int64_t used, limit, after;
    bool within;
};
extern const struct schema quota_outlook_schema;

struct cost_outlook {
    struct str currency;
    int64_t per_hour_minor, max_minor;  /* on the dearest flavor of today, rounded up; max: until max_runtime_seconds, one attempt */
};
extern const struct schema cost_outlook_schema;

struct forecast {
    struct err verdict;                 /* ERR_OK: it would be accepted */
    struct job job;                     /* as it would be stored; job_id nil: what was asked is no job */
    struct slice zones, quotas;         /* struct zone_outlook, struct quota_outlook */
    struct cost_outlook estimate;       /* currency absent: no price */
    int64_t ahead;                      /* waiting jobs of the tenant that go first */
};

struct job_wait {
    int64_t position, ahead;
    struct str code, detail;
    struct slice zones;
};

/* Outside a transaction. An error is a failure to find out, not the verdict. */
enum errc forecast_check(struct work *w, const struct job_create *in, const struct principal *p, struct forecast *ret, struct err *e) MUST_CHECK;
/* In the tenant's transaction. */
enum errc forecast_wait(struct work *w, const struct job *job, struct job_wait *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const forecast_stmts[];
