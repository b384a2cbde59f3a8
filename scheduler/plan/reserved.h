/* SPDX-License-Identifier: Apache-2.0 */
/* reserved.h - windows of time in which a machine is kept: for maintenance, or for the jobs of one tenant or project.
 *
 * A job may start on a machine if it belongs to whom each window is for, or will have ended before the first that is not its own
 * begins. How long a job runs at most is its max_runtime_s, which is enforced; of one without nobody knows, and it does not start
 * there within RESERVED_HORIZON_S before a window. So whatever is placed by this rule leaves windows alone that were known then.
 * The rule is reserved_lets, which every door asks. Pure; memory of the caller. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/base/id.h"
#include "core/base/str.h"

enum { RESERVED_HORIZON_S = 7 * 86400, RESERVED_SLACK_S = 30 };     /* slack: what is placed begins that much later at most */

struct reserved {
    struct uuid node_id;
    struct uuid tenant_id, project_id;  /* nil tenant: maintenance, for nobody; nil project: all of the tenant */
    int64_t from_us, until_us;
};

struct snapshot;
struct snap_node;
struct snap_job;
struct arena;

/* Gives each machine of the snapshot its windows, judged at the snapshot's now_us. Rows stand by machine, then by time, and
 * those of one machine do not overlap. */
void reserved_fill(struct snapshot *s);
/* The window for which the machine is kept from a job that would start there at that moment; NULL: it may start. */
const struct reserved *reserved_before(const struct snap_node *n, const struct snap_job *j);
static inline bool reserved_lets(const struct snap_node *n, const struct snap_job *j)
{
    return !reserved_before(n, j);
}
/* The same at another moment. */
bool reserved_lets_at(const struct snap_node *n, const struct snap_job *j, int64_t at_us);
/* The first moment, at_us or later, at which it lets the job start there. */
int64_t reserved_next_start(const struct snap_node *n, const struct snap_job *j, int64_t at_us);
/* The last moment at which the job may start before that window; it is not its own. */
int64_t reserved_last_start(const struct reserved *w, const struct snap_job *j);
bool reserved_is_for(const struct reserved *w, const struct snap_job *j);
/* Why the job does not start on a machine with that window; names nobody. */
struct str reserved_words(const struct reserved *w, const struct snap_job *j, int64_t at_us, struct arena *a);

/* By machine: machines with the same number are alike to every job of the snapshot; 0: kept from none. NULL: all are 0. */
uint32_t *reserved_kinds(const struct snapshot *s, struct arena *a);
