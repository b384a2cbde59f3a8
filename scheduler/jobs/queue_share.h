/* SPDX-License-Identifier: Apache-2.0 */
/* queue_share.h - what a declared queue has, uses, borrows and lends now, and what its fair part would be.
 *
 * Read in the tenant's own scope: a queue is compared with the queues of its project alone, so nobody else's numbers are in
 * it. The arithmetic is the planner's (scheduler/plan/share.h, divide.h). Memory: w->arena. Errors: NOT_FOUND. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

enum { SHARE_WAITING_MAX = 100000 };    /* so many waiting jobs of a project are counted at most */

/* For one rule of the queue. */
struct queue_part {
    struct str resource, flavor, zone;  /* flavor, zone empty: all together */
    int64_t nominal, used, waiting, fair, borrowed, lent;
    int64_t weight, moved_weight;       /* as it was set; as its usage has moved it */
};
extern const struct schema queue_part_schema;

struct queue_share {
    struct uuid queue_id;
    struct str name, sentence;
    int64_t share;                      /* millionths of what its cohort lends, by weight; 0 while it borrows nothing */
    int64_t waiting_jobs;
    int64_t slot_usage, gpu_usage;
    int64_t usage_permille;             /* of the usage of all queues that are declared beside it */
    struct slice parts;                 /* struct queue_part */
};
extern const struct schema queue_share_schema;

enum errc queue_share_read(struct work *w, struct uuid queue_id, struct queue_share *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const queue_share_stmts[];
