/* SPDX-License-Identifier: Apache-2.0 */
/* arrays.h - tasks of arrays become jobs (scheduler/jobs/job_array.h), as many as an array allows at once, and their ends are
 * counted.
 *
 * The leader's, in the system's scope, some times a second. A task becomes a job in one transaction with the row that says so,
 * by the statement that stores every submission: so each runs exactly once however often a leader dies, and what that refuses
 * (quota, a limit of waiting jobs, a budget) is asked for again some seconds later. An input that is gone ends the array. Arrays
 * take turns: who was served longest ago goes first, and each of those that are due has the same part of a pass. Nothing starts
 * for a tenant that is stopped, or of a project that is closed. Memory: w->arena. Errors: those of the database. */
#pragma once
#include "core/base/work.h"

struct stmt;

struct arrays_result {
    int64_t closed, started;
    bool is_more;                       /* there was more than a pass takes */
};
enum errc arrays_pass(struct work *w, struct arrays_result *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const arrays_stmts[];
