/* SPDX-License-Identifier: Apache-2.0 */
/* placement_int.h - a plan in the making, between its two files: placement.c goes through the lines of jobs, placement_first.c
 * places those who go before all lines. */
#pragma once
#include "scheduler/plan/ground.h"
#include "scheduler/plan/placement.h"

struct queue;

struct planner {
    struct snapshot *s;
    struct arena *a;
    struct queue *heap;
    struct lane *lanes;                 /* room for one for each job */
    size_t n;
    struct plan *plan;
    struct ground ground;
    const bool *may;                    /* by job: it goes in this turn; NULL: the first turn, in which all go */
};

/* The job is placed there: what it takes is gone for those behind it. */
void placement_settle(struct planner *p, struct snap_tenant *t, const struct snap_job *j, const struct placement *place);
/* After snapshot_fill and before ground_init. Jobs for which room was made go first, to where it was made, and then those with a
 * booking whose machines are all free. What the others are to get is kept from here on. */
void placement_first(struct planner *p);
