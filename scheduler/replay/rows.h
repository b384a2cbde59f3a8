/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - which members of what a planner sees are written down, by name: what it takes in, and what it decided, by ids.
 *
 * A new member of snap_node, snap_tenant, snap_job, rule, rule_queue, claim, booking or snap_holder that a plan depends on gets
 * its row in rows.c; the sizes asserted there stop the build until somebody has looked. Names of people, tenants, projects and
 * jobs, what jobs are given and what residency is judged from are not written: only ids, numbers, and the words of the
 * configuration that the plan compares (zones, pools, flavors, models, queues, classes, kinds). */
#pragma once
#include "scheduler/plan/bookings.h"
#include "scheduler/plan/preempt.h"
#include "scheduler/replay/tables.h"

/* A pass of the planner; one row. */
struct cycle_head {
    int64_t number;                     /* counts on from file to file of a ring */
    int64_t made_at_us;                 /* since 1970, UTC */
    int32_t kind;                       /* enum cycle_kind */
    int64_t batch;                      /* scheduler.batch, which bounded what was read */
    int64_t revision;                   /* of the snapshot */
    bool has_claims, has_bookings, has_workload, has_reserved;
    int64_t now_us;                     /* of the snapshot */
    struct str version;                 /* of the program that made it */
    int64_t arrivals, next, ndrawn;     /* struct workload_state */
    int64_t epoch, random;
};
enum cycle_kind { CYCLE_QUICK, CYCLE_DEEP, CYCLE_EXPLAINS };
extern const char *const cycle_kind_names[];            /* "quick", "deep", "explains" */

struct zone_row { int64_t list; struct str zone; };     /* list: from 1 */
struct job_zone_row { int64_t list; };                  /* by job: where it may run; 0: none */
struct claim_row { struct claim c; struct str queue; };
struct booking_row { struct start_booking b; struct str queue; int64_t n; };
struct booked_seat_row { struct booked_seat seat; };   /* of the bookings, in their order */
struct ask_row { struct ask ask; int64_t arrivals, drawn; };
struct future_row { int32_t type; };
struct moment_row { int64_t now_us; };                  /* that preempt_plan was given */

/* What was decided. */
struct outcome_row { bool is_cut; };
struct place_row { struct uuid job_id, node_id; uint64_t devices; int64_t more; };
struct seat_row { struct uuid node_id; uint64_t devices; };    /* of the jobs with more machines than one, in their order */
struct wait_row { struct uuid job_id; struct str reason, message; bool is_denied; };
struct eviction_row { struct uuid job_id, attempt_id; };
struct making_row { struct uuid job_id; };              /* room is being made for it */

extern const struct table head_table, node_table, tenant_table, zone_table, job_table, job_zone_table, rule_table, queue_table,
    claim_table, reserved_table, booking_table, booked_seat_table, ask_table, future_table, moment_table, holder_table;
extern const struct table outcome_table, place_table, seat_table, wait_table, eviction_table, making_table;
