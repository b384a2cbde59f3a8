/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - the queue clock: what will start when, where and after what, if all goes on as it is; and which single change would
 * start one job now.
 *
 * Both come from the planner itself, played ahead (scheduler/plan/ahead.h, changes.h) from what stands in the database
 * (scheduler/mirror/board.h). A tenant, and a caller held to some projects, is told of its own jobs by name; the rest of a
 * zone is one line of others, and only zones that the tenant may use are told. The platform is told tenants and no jobs. In a
 * transaction of the tenant or of the platform. Memory: w->arena. Errors: those of the database. */
#pragma once
#include "scheduler/jobs/job.h"

struct stmt;

/* lines: own and others; of the platform the tenants that hold most, and the rest. */
enum { CLOCK_JOBS = 500, CLOCK_POINTS = 400, CLOCK_LINES = 12, CLOCK_HOURS_MAX = 24 * 14, CLOCK_CHANGES = 16 };

struct clock_point { struct timestamp at; int64_t slots, gpus; };

struct clock_line {
    struct str who;                     /* own, others, tenant */
    struct uuid tenant_id;
    struct str name;
    struct slice points;                /* struct clock_point: from then on it holds so much */
};

struct clock_zone {
    struct str zone;
    int64_t slots, gpus;                /* of its ready machines */
    struct slice lines;                 /* struct clock_line */
};

/* A job that runs or will start. */
struct clock_job {
    struct uuid job_id;
    struct str name;
    struct str zone, pool, flavor;
    int64_t slots, gpus, nodes;         /* of one machine; machines at once */
    struct timestamp at, ends_at;       /* at: begun, or expected to start; ends_at absent: it stays */
    struct str basis;                   /* of ends_at: measured, limit */
    struct str after;                   /* of one that will start: now, job, others, dependency, turn, begin_at */
    struct uuid after_job_id;           /* after job, dependency: which */
    bool makes_room;                    /* of one that will start: others are sent away for it */
    struct timestamp leaves_at;         /* when it makes room itself and waits again; absent: it does not */
    struct str reason, detail;          /* why it waits until then */
};

/* One that does not start within the time looked at. */
struct clock_late {
    struct uuid job_id;
    struct str name;
    int64_t slots, gpus;
    struct str reason, detail;
};

struct queue_clock {
    struct timestamp at, until;
    struct slice zones;                 /* struct clock_zone */
    struct slice running, starts;       /* struct clock_job: own ones, in the order of their times, CLOCK_JOBS at most */
    struct slice late;                  /* struct clock_late: own ones */
    int64_t others_running, others_waiting;
    bool is_partial;
};
extern const struct schema clock_job_schema, queue_clock_schema;

struct job_change {
    struct str change, from, to;
    struct str zone, pool, flavor;      /* where it would start */
};
struct job_clock {
    struct timestamp at;
    /* now: the next plan starts it; later; late: not within the time looked at; gate: something else keeps it back first;
     * not_waiting */
    struct str state;
    struct clock_job start;             /* of now and later */
    struct str reason, detail;          /* of late and gate */
    struct slice changes;               /* struct job_change: each would start it now, least first */
    bool is_partial;
};
extern const struct schema job_clock_schema;

enum errc queue_clock_read(struct work *w, int64_t hours, struct queue_clock *ret, struct err *e) MUST_CHECK;
enum errc job_clock_read(struct work *w, const struct job *job, int64_t hours, struct job_clock *ret, struct err *e) MUST_CHECK;
