/* SPDX-License-Identifier: Apache-2.0 */
/* ahead.h - the planner played ahead in time: what waits now starts when what runs has ended, as the same planner would place it.
 *
 * At every end of an attempt, and whenever a waiting job's own time comes, placement_plan is asked with what is free by then. An
 * attempt ends after the time that its caller says; what begins here runs as long as its caller expects. So the answer is as good
 * as those times, and nothing that is submitted later or fails is in it: it says what would happen if all went on as it is. Ends
 * within a two-hundredth of their distance from now, or a second, count as one, so that far steps are coarse and their number is
 * bounded; where there are more than a million pairs of a machine and a waiting job, the whole time has fewer steps, down to 40.
 *
 * Windows of machines (reserved.h) begin and end as they stand; who is told to go when one begins is not played.
 *
 * Who makes room for whom is preempt_plan's choice at each of these moments (preempt.h): an attempt that must go ends after its
 * grace, and its job waits again, with what its last checkpoint of now had not saved before it. Who waits for other jobs
 * (ahead_need) is ready when they have begun or ended; all that runs is taken to complete.
 *
 * Pure: no I/O, no clock, and a base that is not changed. Memory: the arena, for what is answered; each step has its own. */
#pragma once
#include "scheduler/plan/snapshot.h"

enum { AHEAD_STEPS_MAX = 400, AHEAD_LOOKS_MAX = 400000000 };
#define AHEAD_NONE SIZE_MAX
#define AHEAD_NEVER INT64_MAX           /* it stays until it is told to stop */

/* Whether an attempt of the job may be told to make room, and how: of its class, and what it went through before. */
struct ahead_leave { bool may; int64_t grace_s, min_runtime_s, preempted; };

/* What holds room now, once for all its machines. machine: index into nodes; AHEAD_NONE: one that takes nothing new, which
 * `where` tells. */
struct ahead_live {
    size_t machine;
    const struct snap_node *where;      /* for rules: its zone and flavor */
    struct snap_job job;                /* what it holds on one machine; tenant is filled */
    uint64_t devices;
    int64_t ends_us;
    int64_t began_us, saved_us;         /* since when; its last checkpoint, 0: none */
    struct ahead_leave leave;
    bool is_leaving;                    /* it has been told to go by ends_us */
    struct uuid leaves_for;             /* for this job */
    const struct seat_of *more;         /* of a job on several machines: those behind the first; node as `machine` */
    size_t nmore;
};

/* Where it is, from the first machine on. */
static inline struct seat_of ahead_seat(const struct ahead_live *l, size_t k)
{
    return k ? l->more[k - 1] : (struct seat_of){ l->machine, l->devices };
}

/* A job that another waits for, by its index in base.jobs; from base.jobs.n on one of live; AHEAD_NONE: it is not known here, and
 * that moment does not come. begun: when it has begun, else when it has ended well. */
struct ahead_need { size_t job; bool begun; };

/* Of a waiting job, by its index in base.jobs. */
struct ahead_wait {
    int64_t ready_us;                   /* not before; 0: now */
    int64_t runs_us;                    /* expected; AHEAD_NEVER */
    bool is_told;                       /* why it waits is kept */
    struct ahead_leave leave;
    const struct ahead_need *needs;     /* all of them before it is ready */
    size_t nneeds;
};

struct ahead_in {
    struct snapshot base;               /* linked; nothing of machines, tenants and rules in use; jobs in any order */
    const struct ahead_wait *waits;
    const struct ahead_live *live;
    size_t nlive;
    int64_t now_us, until_us;
};

struct ahead_start {
    size_t job;                         /* of base.jobs; from base.jobs.n on one of live that was sent away and starts again */
    size_t machine;                     /* of the base; the first of several */
    int64_t nodes;                      /* so many machines */
    uint64_t devices;
    int64_t at_us, ends_us;
    /* What ended just then on that machine, else of the same tenant: below nlive one of live, from there on one of starts.
     * AHEAD_NONE: nothing of these, it was its turn. */
    size_t after;
    bool is_made;                       /* what ended there was sent away for it */
    bool is_cut;                        /* it ends because it is sent away itself */
};

struct ahead {
    struct { struct ahead_start *items; size_t n; } starts;     /* in the order of their times */
    struct waiting *why;                /* by job: why it waited last, of those told; reason absent: it never did */
    int64_t *leaves_us;                 /* by live: when it makes room for another; 0: it does not */
    int64_t steps;
    bool is_cut;                        /* steps or unread jobs ended it: there is more before until_us */
};

/* A job of a start. */
static inline const struct snap_job *ahead_job(const struct ahead_in *in, size_t job)
{
    return job < in->base.jobs.n ? &in->base.jobs.items[job] : &in->live[job - in->base.jobs.n].job;
}

void ahead_run(const struct ahead_in *in, struct arena *a, struct ahead *ret);
/* The next plan places the job. */
bool ahead_starts_now(const struct ahead_in *in, size_t job, size_t *ret_machine);
