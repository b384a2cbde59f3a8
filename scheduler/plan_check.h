/* SPDX-License-Identifier: Apache-2.0 */
/* plan_check.h - what holds when a plan is applied: the room of machines and quotas under the planners' lock, and the database's
 * own word on where the data may be (residency_zone_ok), asked once for each class, kind, zone and policy of the plan.
 *
 * Limits are those of the snapshot while the revision stands that it was read with; whoever changes a limit takes the planners'
 * lock and raises the revision, so otherwise they are read again.
 * Calling order: the planners' lock -> plan_check_read -> (plan_check_allows, plan_check_lets, plan_check_takes) for each line
 * in order.
 * Memory: w->arena. Errors: those of the database. */
#pragma once
#include "core/base/work.h"
#include "scheduler/engine/lease_repo.h"
#include "scheduler/jobs/job_apply.h"
#include "scheduler/plan/snapshot.h"

struct plan_check;
struct stmt;

/* A line of the plan on its way into the database. */
struct plan_line {
    struct attempt_step step;
    const struct snap_job *job;
    size_t node;                        /* of the snapshot */
    struct ask ask;                     /* of one machine; step has what all its machines hold together */
    uint64_t devices;                   /* bit by bit */
    int64_t place;                      /* of plan_check_places, from 1; 0: judged before */
    struct seat_of *more;               /* the machines behind the first, of a job on several */
    size_t nmore;
};

/* What the database's judge is to be asked for the lines, once for those that are alike in it: tenants whose facts are the same
 * to the letter share a place. Each line is told its own. ret has room for n. */
size_t plan_check_places(const struct snapshot *s, struct plan_line *lines, size_t n, struct arena *a, struct job_place *ret);

enum errc plan_check_read(struct work *w, const struct snapshot *s, const struct plan_line *lines, size_t n,
                          struct plan_check **ret, struct err *e) MUST_CHECK;
/* The database lets the data of this line go where its machine stands. */
bool plan_check_allows(struct plan_check *c, const struct snapshot *s, const struct plan_line *l);
/* No window that came after the snapshot was read keeps one of its machines from it. */
bool plan_check_lets(struct plan_check *c, const struct snapshot *s, const struct plan_line *l);
/* True: its machines, all of them, and its tenant have room for it, and have that much less now. Where the devices that the plan
 * chose are gone, the line gets others. */
bool plan_check_takes(struct plan_check *c, struct plan_line *l);

extern const struct stmt *const plan_check_stmts[];
