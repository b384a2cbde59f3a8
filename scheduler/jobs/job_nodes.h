/* SPDX-License-Identifier: Apache-2.0 */
/* job_nodes.h - how many machines a job wants at once (docs/adr/0087): each with all that it asks of one.
 *
 * A job that wants one costs nothing here: no read, no statement. Today min and max are equal. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct job;

struct job_nodes {
    int64_t min, max;                   /* 0: not said */
};
extern const struct schema job_nodes_schema;

/* Pure. *ret: 1 where nothing is said. INVALID with its place: min above max, a range, or a kind that runs on one machine. */
enum errc job_nodes_check(const struct job_nodes *in, int kind, int64_t *ret, struct err *e) MUST_CHECK;
/* The tenant's own limits could ever hold them all; else UNPLACEABLE, with the numbers. */
enum errc job_nodes_room(struct work *w, const struct job *j, struct err *e) MUST_CHECK;
