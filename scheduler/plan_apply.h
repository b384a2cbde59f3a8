/* SPDX-License-Identifier: Apache-2.0 */
/* plan_apply.h - plan to database: every line is checked again under lock, so a plan made of an old snapshot does no harm.
 *
 * One transaction, one statement for all placements: job PENDING -> ADMITTED, attempt LEASED with the next fence, event
 * and audit event. A line whose job changed, whose machine filled up or whose quota ran out is left out and planned again.
 * Planners take turns (an advisory lock for the transaction), so two of them admit each job once. The admission is its last
 * statement (db_last): in a transaction that was opened with TX_ENDS it commits. */
#pragma once
#include "core/base/work.h"
#include "scheduler/plan/snapshot.h"

struct db_tx;

/* The planners' advisory lock, of one transaction at a time. Statements elsewhere that change limits take it too. */
#define PLAN_TURN_KEY INT64_C(4630123712)

struct plan_result {
    int64_t admitted, refused, reasons_changed;
    struct slice lines;                 /* struct plan_line: what became attempts */
    struct slice nodes;                 /* struct uuid: machines with new leases, to be woken after the commit */
};
enum errc plan_apply(struct work *w, const struct snapshot *s, const struct plan *p, int64_t lease_ms, struct plan_result *ret,
                     struct err *e) MUST_CHECK;

/* The planners' lock, until the transaction ends; a statement of its own, so that what is read after it sees what an earlier
 * planner committed. */
void plan_turn_take(struct db_tx *tx);
/* For a snapshot that was read in this transaction, after plan_turn_take: room, limits and rules stand as they were read, since
 * all that raises what they hold waits for the lock, so nothing is read again. The database's judge of places is asked by the
 * admitting statement; what it refuses is among the refused, and only plan_apply notes it in the tenant's log: a pass with a line
 * refused is to be followed by one through that. Only placements: p->waits is not looked at. */
enum errc plan_admit(struct work *w, const struct snapshot *s, const struct plan *p, int64_t lease_ms, struct plan_result *ret,
                     struct err *e) MUST_CHECK;

extern const struct stmt *const plan_apply_stmts[];
