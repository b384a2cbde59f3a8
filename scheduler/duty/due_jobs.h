/* SPDX-License-Identifier: Apache-2.0 */
/* due_jobs.h - jobs whose deadline has passed while they still waited, or were held, end as DEADLINE.
 *
 * The leader's, in the system's scope, within a second or so of the deadline. A job that a machine has is left alone: the
 * deadline is about its start. Jobs locked by somebody else wait for the next pass. Memory: w->arena. Errors: those of the
 * database. */
#pragma once
#include "core/base/work.h"

struct stmt;

/* At most `limit`; *ret_n: how many ended. */
enum errc due_jobs_pass(struct work *w, int64_t limit, int64_t *ret_n, struct err *e) MUST_CHECK;

extern const struct stmt *const due_jobs_stmts[];
