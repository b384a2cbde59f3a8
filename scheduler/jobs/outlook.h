/* SPDX-License-Identifier: Apache-2.0 */
/* outlook.h - what one job has before it: the machines as they are now, alike ones once, its tenant's quotas and rules, and
 * the tenant's zones by the judge of residency, as a snapshot that planner and explanation (scheduler/plan/) take.
 *
 * Nothing here names another tenant or a machine; machines of zones that are of no use to the tenant are left out. In the
 * tenant's transaction. Memory: w->arena. Errors: those of the database. */
#pragma once
#include "scheduler/jobs/job.h"
#include "scheduler/plan/snapshot.h"

struct stmt;

/* Kinds of machines that are looked at, at most: those of the job's pool with most room first. */
enum { OUTLOOK_KINDS = 2000, OUTLOOK_WINDOWS = 64 };     /* windows: of a machine, the next ones (the function machine_kinds) */

struct zone_outlook {
    struct str zone;
    bool allowed;                       /* by where the job is pinned to and by the judge of residency */
    struct str reason;                  /* why not */
    int64_t ready_nodes;                /* of the job's pool */
    int64_t free_slots, free_gpus;      /* the most on one machine */
    bool fits_now;                      /* allowed, and one machine has all that the job asks for */
};
extern const struct schema zone_outlook_schema;

struct outlook {
    struct snapshot snap;               /* one job, one tenant; filled */
    int64_t *alike;                     /* how many machines each node of it stands for */
    struct slice zones;                 /* struct zone_outlook */
};
enum errc outlook_read(struct work *w, const struct job *j, struct outlook *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const outlook_stmts[];
