/* SPDX-License-Identifier: Apache-2.0 */
/* ground.h - the machines of a snapshot as a fleet (fleet.h), so that a plan places by the scores that the simulator places by.
 *
 * Machines of one zone, pool, flavor, model of GPU and windows are a group: where a job may go is decided by group, once, not by
 * machine. The policy is the default one once it has futures to play (snapshot.workload, and a machine with a GPU), best fit
 * before.
 * Where machines with windows make more than KEPT_GROUPS groups, those of further ones stay out of the fleet, and are looked
 * at one by one (sight.h) by who finds nothing in it. So are machines that are here for one lease, of which a fleet would place
 * two in one plan.
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
    const uint32_t *kinds;              /* by machine: reserved_kinds */
    unsigned nkept;                     /* groups of machines with windows */
    bool *is_out;                       /* by machine: the fleet has nothing of it. NULL: none */
};

/* After snapshot_fill. */
void ground_init(struct ground *g, const struct snapshot *s, struct arena *a);
/* Takes a seat that was chosen elsewhere; false: it is not free. */
bool ground_take(struct ground *g, const struct snapshot *s, const struct ask *a, const struct seat *seat);
/* Takes room for the ask on the best machine of its groups; false: there is none. ret->machine: index into the snapshot. */
bool ground_place(struct ground *g, const struct ask *a, struct seat *ret);
