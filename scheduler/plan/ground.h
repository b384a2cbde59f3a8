/* SPDX-License-Identifier: Apache-2.0 */
/* ground.h - the machines of a snapshot as a fleet (fleet.h), so that a plan places by the scores that the simulator places by.
 *
 * Machines of one zone, pool and flavor are a group: where a job may go is decided by group, once, not by machine. A slot counts
 * as a
 * processor. The policy is the default one once it has futures to play (snapshot.workload, and a machine with a GPU), best fit
 * before.
 * A snapshot that a fleet cannot hold (a machine with more than MACHINE_GPUS_MAX GPUs, more than GROUPS_MAX groups) has no
 * ground.
 * Memory: the arena's; the fleet ends with it. */
#pragma once
#include "scheduler/plan/fleet.h"
#include "scheduler/plan/snapshot.h"

struct ground {
    struct fleet *fleet;                /* NULL: this snapshot has no ground */
    size_t group_node[GROUPS_MAX];      /* one machine of each group, by index into the snapshot */
    unsigned ngroups;
};

void ground_init(struct ground *g, const struct snapshot *s, struct arena *a);
/* Takes room for so many slots and whole GPUs on the best machine of those groups; false: there is none. ret: index into the
 * snapshot. */
bool ground_place(struct ground *g, const struct groups *where, int64_t slots, int64_t gpus, size_t *ret);
