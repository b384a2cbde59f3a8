/* SPDX-License-Identifier: Apache-2.0 */
/* job_pages.h - the leader's work for searches: pages of jobs (table job_page), of which job_find and job_counts read names
 * and values.
 *
 * A page is made of the next JOB_PAGE jobs of a tenant, in the order of their ids, when the last of these ids is older than
 * JOB_PAGE_AFTER_US: an id is made before its job is committed, and may come from a falaj-api whose clock is behind. When it
 * is older than JOB_PAGE_FINAL_US its jobs are counted once more, and it is made anew if one had come late. A job whose id
 * came later than that is not found by its name; clocks that far apart already refuse each other's tokens.
 * Memory: w->arena. Errors: those of the transaction. */
#pragma once
#include "core/base/work.h"

struct stmt;

enum { JOB_PAGE = 1024 };
#define JOB_PAGE_AFTER_US INT64_C(60000000)
#define JOB_PAGE_FINAL_US INT64_C(900000000)

/* One pass in w->tx, in the system's scope: at most `limit` pages made, and as many looked at again. */
enum errc job_pages_pass(struct work *w, int64_t limit, int64_t *ret_made, struct err *e) MUST_CHECK;

extern const struct stmt *const job_pages_stmts[];
