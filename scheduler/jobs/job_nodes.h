/* SPDX-License-Identifier: Apache-2.0 */
/* job_nodes.h - how many machines a job wants at once (docs/adr/0087, 0142): each with all that it asks of one.
 *
 * A job that wants one costs nothing here: no read, no statement. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct job;

struct job_nodes {
    int64_t min, max;                   /* 0: not said */
};
extern const struct schema job_nodes_schema;

/* Pure. 1 and 1 where nothing is said. UNPROCESSABLE with its place: min above max, a kind that runs on one machine, a range for
 * a kind whose number of machines stays, or one between whose bounds there is no number to choose: max is min, or min times a
 * power of two. */
enum errc job_nodes_check(const struct job_nodes *in, int kind, int64_t *ret_min, int64_t *ret_max, struct err *e) MUST_CHECK;
/* The tenant's own limits could ever hold its least number; else UNPLACEABLE, with the numbers. More are used as far as they
 * go. */
enum errc job_nodes_room(struct work *w, const struct job *j, struct err *e) MUST_CHECK;
