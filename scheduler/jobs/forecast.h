/* SPDX-License-Identifier: Apache-2.0 */
/* forecast.h - what would become of a job: whether it would be accepted, where it could run now, and why one waits.
 *
 * Admission is asked itself: forecast_check runs the submission and takes it back, so its verdict is a submission's at that moment.
 * Placement is asked itself: the planner (placement.h) plans the one job on the machines as they are now; what it says of one job alone
 * leaves out only whose turn it is. How many machines each constraint leaves, and what the nearest lacks, is counted by the
 * planner's own rules (plan/explain.h).
 * Nothing here names another tenant or a machine. Memory: w->arena. */
#pragma once
#include "scheduler/jobs/outlook.h"
#include "scheduler/plan/explain.h"

struct principal;
struct stmt;

/* Waiting jobs are counted up to FORECAST_AHEAD. */
enum { FORECAST_AHEAD = 100000 };

struct near_miss {
    struct str zone, flavor, lacks;
    bool never;                         /* none could hold it, even when nothing runs there */
};
extern const struct schema near_miss_schema, explain_step_schema;

/* What there is for a job, whether it is stored or asked about. */
struct forecast_room {
    struct slice zones;                 /* struct zone_outlook */
    struct slice constraints;           /* struct explain_step (scheduler/plan/explain.h) */
    struct near_miss nearest;           /* absent: a machine has room, or none is of its pool there */
};

/* When a job may start. */
struct start_outlook {
    struct timestamp at;                /* 0: nothing is known */
    struct str basis;                   /* not_before, or room: at the latest, if nothing else takes it */
};
extern const struct schema start_outlook_schema;

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
    struct forecast_room room;
    struct slice quotas;                /* struct quota_outlook */
    struct cost_outlook estimate;       /* currency absent: no price */
    int64_t ahead;                      /* waiting jobs of the tenant that go first */
};

struct job_wait {
    int64_t position, ahead;
    struct str code, detail;
    struct forecast_room room;          /* of a job that waits; of another its zones alone */
    struct start_outlook start;
};

/* Outside a transaction. An error is a failure to find out, not the verdict. */
enum errc forecast_check(struct work *w, const struct job_create *in, const struct principal *p, struct forecast *ret, struct err *e) MUST_CHECK;
/* In the tenant's transaction. */
enum errc forecast_wait(struct work *w, const struct job *job, struct job_wait *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const forecast_stmts[];
