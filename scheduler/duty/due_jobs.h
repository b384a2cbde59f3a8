/* SPDX-License-Identifier: Apache-2.0 */
/* due_jobs.h - jobs whose time has come: one that may begin now joins those that the planner sees, and one whose deadline has
 * passed while it still waited, or was held, ends as DEADLINE.
 *
 * The leader's, in the system's scope: begins some times a second, deadlines within a second or so. A job that a machine has is
 * left alone: the deadline is about its start. Jobs locked by somebody else wait for the next pass.
 * Memory: w->arena. Errors: those of the database. */
#pragma once
#include "core/base/work.h"

struct stmt;

/* Clears job.not_before where it has passed, the only place that does for a waiting job; at most `limit`; *ret_n: how many. */
enum errc due_jobs_begin(struct work *w, int64_t limit, int64_t *ret_n, struct err *e) MUST_CHECK;
/* At most `limit`; *ret_n: how many ended. */
enum errc due_jobs_pass(struct work *w, int64_t limit, int64_t *ret_n, struct err *e) MUST_CHECK;

extern const struct stmt *const due_jobs_stmts[];
