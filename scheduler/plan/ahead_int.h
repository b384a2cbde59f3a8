/* SPDX-License-Identifier: Apache-2.0 */
/* ahead_int.h - a run of the planner ahead, between its two files: ahead.c plays time, ahead_leave.c who makes room. */
#pragma once
#include "scheduler/plan/ahead.h"
#include "scheduler/plan/claims.h"

/* job: as ahead_start.job. */
struct held { struct ahead_live l; size_t job; bool has_ended, is_made; };

/* Of a job, by the index of ahead_start.job. */
struct fate {
    bool is_placed, has_begun, has_ended;
    int64_t ready_us, runs_us;
};

struct run {
    const struct ahead_in *in;
    struct arena *scratch, *keep;       /* of this moment; of the run */
    struct held *held;                  /* live, then starts */
    size_t nheld, held_max;
    size_t njobs;                       /* waiting ones, then live ones */
    int64_t grain_us;                   /* ends so near each other are one, where many plans would cost too much; 0: as usual */
    size_t *by_id;                      /* jobs by tenant and id */
    struct fate *fates;
    struct claims *claims;
    struct snapshot s;                  /* of this moment */
    char **devices_text;                /* by machine: room for its `held` */
};

struct plan;

/* After a plan of this moment: who must go is given its grace, and those that room is made for say so. */
void ahead_make_room(struct run *r, struct plan *p, int64_t at_us, struct ahead *ret);
/* What ended of those who had to go waits again. */
void ahead_left(struct run *r, struct held *h);
/* The next moment at which somebody has run for long enough to be sent away for one of his own who waits; INT64_MAX: none. */
int64_t ahead_next_leave(const struct run *r, int64_t at_us);
