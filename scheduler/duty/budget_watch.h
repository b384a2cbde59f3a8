/* SPDX-License-Identifier: Apache-2.0 */
/* budget_watch.h - the leader's look at budgets: sums up the ledger, tells of thresholds, holds what must wait and lets it go again.
 *
 * A passed warning or stop threshold is an audit event, once in a period. While a budget is STOPPED its waiting jobs are HELD with the
 * reason BudgetExhausted, each with its job and audit event; when no stopped budget holds a job any more, it is PENDING again. Submissions
 * do not wait for this pass: job_submit_many asks the ledger itself. Errors: those of the transaction. Memory: w->arena. */
#pragma once
#include "core/base/work.h"

struct stmt;

struct budget_watch_result { int64_t told, held, released; };
/* One pass in w->tx, at most `limit` jobs held and let go. */
enum errc budget_watch_pass(struct work *w, int64_t limit, struct budget_watch_result *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const budget_watch_stmts[];
