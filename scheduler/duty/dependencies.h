/* SPDX-License-Identifier: Apache-2.0 */
/* dependencies.h - what jobs wait for is looked at: what is met is closed, a job of which nothing is open waits for its turn,
 * and one that waits for what can never come is REJECTED with that in words, so that those behind it learn it too.
 *
 * The leader's, in the system's scope, some times a second. A held job is not rejected: it is when it is released. Locks rows
 * of jobs by tenant and job. Memory: w->arena. Errors: those of the database. */
#pragma once
#include "core/base/work.h"

struct stmt;

struct dependencies_result { int64_t closed, rejected; };
/* At most `limit` of each. */
enum errc dependencies_pass(struct work *w, int64_t limit, struct dependencies_result *ret, struct err *e) MUST_CHECK;
/* Closes rows of jobs that have ended themselves, at most `limit`; reads all that are open, so now and then. *ret_n: how many. */
enum errc dependencies_tidy(struct work *w, int64_t limit, int64_t *ret_n, struct err *e) MUST_CHECK;

extern const struct stmt *const dependencies_stmts[];
