/* SPDX-License-Identifier: Apache-2.0 */
/* grow.h - which running job on several machines is to start again on twice as many or more (docs/adr/0143).
 *
 * The jobs of the snapshot are those that run below their most (snap_job_most), not those that wait. One may grow where nobody
 * waits for room in its pool or for its tenant's quota, its queue goes, and, with its own machines given back, at least twice as
 * many are there, within its tenant's quota and rules: what the next plan would give it. What it would give to those that leave
 * already, as one that was chosen before does, is not there. Pure: the snapshot is as it was afterwards. */
#pragma once
#include "scheduler/plan/snapshot.h"

/* A machine of one of these jobs; those of a job stand together, and jobs are asked in the order of their machines. node: index
 * into the snapshot, or beyond it: it takes nothing new. */
struct grow_seat {
    struct uuid tenant_id, job_id;
    size_t node;
    uint64_t devices;
    bool is_leaving;                    /* its job was told to go, and comes back */
};
/* Somebody waits: in that pool, or, pool.ptr NULL, in any; in the way of that tenant's jobs, or, nil, of everybody's. */
struct grow_wait { struct str pool; struct uuid tenant_id; };
struct grow_in {
    const struct grow_seat *seats;
    size_t nseats;
    const struct grow_wait *busy;
    size_t nbusy;
};

/* The first that may: *ret_job of the snapshot's jobs, *ret_has its machines now and *ret_gets those that it would have; false:
 * none. After snapshot_fill. */
bool grow_choose(struct snapshot *s, const struct grow_in *in, struct arena *a, size_t *ret_job, int64_t *ret_has,
                 int64_t *ret_gets);
