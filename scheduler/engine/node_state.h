/* SPDX-License-Identifier: Apache-2.0 */
/* node_state.h - what people do to machines: drain, undrain, quarantine, release.
 *
 *     READY <-> DRAINING      no new leases; what runs may end       any -> QUARANTINED -> LOST (until it is heard again) -> READY
 *
 * A DRAINING machine that falls silent is LOST and drains on when it is heard again.
 * Quarantine works at once: the machine's next call is refused (scheduler/engine/enrol.h, node_gate), the reaper ends its leases at its next
 * pass, whatever their time, and the jobs go back to the queue under a new fence.
 * All of it in the platform's scope. Memory: w->arena. Errors: NOT_FOUND, CONFLICT (the state it is in). */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"
#include "scheduler/engine/node.h"

struct stmt;

enum node_act { NODE_DRAIN, NODE_UNDRAIN, NODE_QUARANTINE, NODE_RELEASE };
enum { NODE_JOBS_SHOWN = 100 };

/* The machine after the act and what it touches: how many jobs, and the ids of some. No names: staff see that, not what. */
struct node_moved {
    struct uuid node_id;
    struct str zone, state, reason;
    int64_t jobs_running;
    struct slice job_ids;               /* struct uuid, at most NODE_JOBS_SHOWN */
};
extern const struct schema node_moved_schema;

/* Doing what is done already changes nothing and is no error. */
enum errc node_move(struct work *w, const struct node *n, enum node_act act, struct str reason, struct node_moved *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const node_state_stmts[];
