/* SPDX-License-Identifier: Apache-2.0 */
/* plan_gang.h - the members of attempts on several machines, written in the transaction that admits their jobs.
 *
 * A plan without such jobs calls nothing of this, and its admission stays its last statement. */
#pragma once
#include "scheduler/plan_check.h"

struct db_tx;

static inline int64_t plan_line_nodes(const struct plan_line *l) { return (int64_t)l->nmore + 1; }
bool plan_gang_any(const struct plan_line *lines, size_t n);
/* Behind job_admit, of the lines that became attempts. Queued. */
void plan_gang_write(struct db_tx *tx, const struct snapshot *s, const struct plan_line *lines, size_t n, int64_t lease_ms);

extern const struct stmt *const plan_gang_stmts[];
