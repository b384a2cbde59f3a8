/* SPDX-License-Identifier: Apache-2.0 */
/* gang.h - machines for a job that runs on several at once: all of them or none.
 *
 * They are of one zone, pool, flavor and model of GPU, each with room for all that is asked of one machine and an agent that
 * knows how; no two ranks share a machine. Of the kinds of machines that have enough, the one is taken that has the fewest to
 * spare, and of those the fullest machines, so that what is left is left whole. Equal snapshots give equal seats: ties go by the
 * order of the machines. Pure; after snapshot_fill; memory of the arena. */
#pragma once
#include "scheduler/plan/snapshot.h"

/* What was seen, for the words of a refusal: of the kind of machines with most of them. */
struct gang_sight {
    int64_t most_free, most_could;      /* machines that have room now; that would have it if nothing ran there */
    int64_t most_kept;                  /* machines that have room now, with those that are kept for a window */
    const struct reserved *kept;        /* one of those */
    bool refused;                       /* there were enough, but a quota rule lets none of its ranks there */
};

/* Ranks of one job may share the two; the job may go there at all, whatever is free. */
bool gang_same_kind(const struct snap_node *a, const struct snap_node *b);
bool gang_suits(const struct snap_job *j, const struct snap_node *n);
/* And it would leave the windows of that machine alone. */
bool gang_may_go(const struct snap_job *j, const struct snap_node *n);
/* ret: as many seats as the job has machines, rank 0 first. */
bool gang_find(const struct snapshot *s, const struct snap_tenant *t, const struct snap_job *j, struct arena *a,
               struct seat_of **ret, struct gang_sight *see);
/* The same for the largest number of machines that is there and that the tenant's quota and rules leave it: the job's most, half
 * of that, and so on, not below `least`. Returns how many; 0: there are not `least`, and see is of those. */
size_t gang_find_largest(const struct snapshot *s, const struct snap_tenant *t, const struct snap_job *j, int64_t least,
                         struct arena *a, struct seat_of **ret, struct gang_sight *see);
/* The reason and the words for one that found no room, where each rank alone could have a place. */
void gang_say(const struct snap_job *j, const struct gang_sight *see, int64_t now_us, struct arena *a,
              struct str *reason, struct str *message);
