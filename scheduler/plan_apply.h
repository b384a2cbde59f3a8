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

struct plan_result {
    int64_t admitted, refused, reasons_changed;
    struct slice lines;                 /* struct plan_line: what became attempts */
    struct slice nodes;                 /* struct uuid: machines with new leases, to be woken after the commit */
};
enum errc plan_apply(struct work *w, const struct snapshot *s, const struct plan *p, int64_t lease_ms, struct plan_result *ret,
                     struct err *e) MUST_CHECK;

extern const struct stmt *const plan_apply_stmts[];
