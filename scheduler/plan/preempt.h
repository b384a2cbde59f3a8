/* SPDX-License-Identifier: Apache-2.0 */
/* preempt.h - which running attempts make room for which waiting jobs.
 *
 * Attempts may go whose class is preemptible, that have run for their class's least time and were sent away fewer than
 * PREEMPTIONS_MAX
 * times. Which of them a job may send away:
 *   in its own queue          as the queue's policy says (reclaim_within); a queue that nobody declared: those of a class of a
 * lower value
 *   in other queues           where its own is declared and may reclaim: those of whom it is owed what they borrow
 * (reclaim_owes), of its
 *                             tenant or of another one; where neither is declared: those of its tenant and of a class of a
 * lower value
 * Each of these strictly falls from who goes first to who makes room, so no two jobs send each other away.
 * Of one machine as few go as make room there: borrowers first, then the lowest class and the least work since a checkpoint;
 * machines are compared the same way. Where a machine has room and only a quota rule stands before the job, those who hold its
 * quota in that zone go, wherever they run. For a job on several machines those are chosen for each machine alone, the cheapest
 * machines of one kind are taken (preempt_gang.c), and a booking keeps them for it. Those who are not needed stay, and at last
 * each one's reason is judged again with the others gone. If all that may go would not make room, nobody goes. Room that is
 * about to be free belongs to the job that it is made for: a claim (claims.h). Pure: the same pictures give the same choice;
 * memory from the arena. */
#pragma once
#include "scheduler/plan/claims.h"
#include "scheduler/plan/snapshot.h"

enum { PREEMPTIONS_MAX = 3, PREEMPT_JOBS_MAX = 64, PREEMPT_LOOKS_MAX = 2000000 };

/* An attempt that runs and whose class is preemptible; one on several machines has a row for each, which go together and stand
 * one after the other. */
struct snap_holder {
    struct uuid tenant_id, job_id, attempt_id, node_id;
    int64_t fence, slots, gpus, cpu_milli, memory_bytes, gpu_milli;
    int64_t devices;                    /* bit by bit, of its machine */
    int64_t class_value, priority, grace_s, min_runtime_s;
    int64_t ran_ms, lost_ms;            /* since its start; since its start or its last checkpoint */
    int64_t preempted;                  /* times that the job was sent away before */
    bool is_leaving;                    /* it has been told to make room, */
    struct uuid leaves_for;             /* for this job */
    struct uuid project_id;
    struct str queue;
    struct timestamp submitted_at;
    int64_t rank;                       /* of its machines: 0 is the first, where its tenant's quota is counted */
    int64_t all_slots, all_gpus;        /* of all of them together; 0: it has one */
};
struct holders { struct snap_holder *items; size_t n; };

struct eviction {
    size_t job, holder;                 /* of the snapshot; of the holders */
};
struct preemption {
    struct { struct eviction *items; size_t n; } evictions;
    struct { size_t *items; size_t n; } waits;  /* of the plan: room is being made for them */
};

/* It may be told to make room. */
bool preempt_may_leave(const struct snap_holder *h);
/* The job's class goes before the attempt's, and they are of one tenant. */
bool preempt_goes_before(const struct snap_job *j, const struct snap_holder *h);

/* After placement_plan of the same snapshot. h: marked is_leaving where they were chosen. claims: as placement_plan had them;
 * afterwards those for whom room is being made. */
void preempt_plan(struct snapshot *s, const struct plan *p, struct holders h, struct claims *claims, int64_t now_us,
                  struct arena *a, struct preemption *ret);
