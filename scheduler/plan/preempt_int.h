/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_int.h - what the rooms of a preemption share: the pictures that it thinks in, and who may go on one machine for one job
 * (preempt_choice.c) or on several (preempt_gang.c); preempt.c goes through the jobs. Memory: the arena of the choice. */
#pragma once
#include "scheduler/plan/preempt.h"

struct victims {
    size_t node;
    size_t *items;                      /* holders */
    size_t n;
    int64_t class_value, lost;          /* of the highest; of all */
};

struct choice {
    struct snapshot *s;
    struct holders h;
    struct arena *a;
    struct snap_node *rooms;            /* as they are when all that leaves has left */
    int64_t *slots, *gpus;              /* by tenant: used then */
    struct rulebook book, runs;         /* the same; the latter without what those who wait are to get */
    int64_t *borrowers;                 /* by cohort of its rules: how many are beyond their nominal */
    size_t *first, *next;               /* holders by machine, from 1 */
    size_t *at;                         /* machines of holders; SIZE_MAX: it takes no work now */
    bool *borrows;                      /* holders that would go because they borrow, for the job that is looked at */
    int64_t looks;
    struct preemption *ret;
};

/* The fewest on that machine that make room there for the job; false: nobody's going would. ret->items has room for all
 * holders. */
bool choice_on(struct choice *c, const struct snap_job *j, size_t node, struct victims *ret);
/* The machine has room, and a quota rule stands before the job: those of the zone who hold it. */
bool choice_in_zone(struct choice *c, const struct snap_job *j, size_t node, struct victims *ret);
bool choice_is_better(const struct victims *x, const struct victims *y);
/* The machine could hold the job if it were empty. */
bool choice_could(const struct choice *c, const struct snap_job *j, size_t node);
/* It fits there, where (of a job on several machines: there alone) its tenant gets so many slots and GPUs back. */
bool choice_fits(const struct choice *c, const struct snap_job *j, const struct snap_node *n, int64_t slots, int64_t gpus);
bool choice_same_queue(const struct snap_job *j, const struct snap_holder *h);
/* The room that is to come there is this job's. */
void choice_book(struct choice *c, const struct snap_job *j, size_t node);
/* What its attempt holds, on all its machines, counts as free to come; or no longer. */
void choice_leave(struct choice *c, size_t holder);
void choice_stay(struct choice *c, size_t holder);
/* Of one machine alone, for attempts that were told before: quota with the first. */
void choice_leave_one(struct choice *c, size_t holder);
/* Its attempt is sent away for the job, and counts as gone already. */
void choice_send(struct choice *c, size_t job, size_t holder);
/* Whether it may go for the job, as things stand in the book. */
bool choice_may_go(struct choice *c, const struct snap_job *j, const struct snap_node *n, size_t holder);
/* Of a job on several machines, where the snapshot has bookings: one leaves for it already; whether somebody was sent away. */
bool preempt_gang_goes_on(struct choice *c, const struct snap_job *j);
bool preempt_gang_make_room(struct choice *c, size_t job);
