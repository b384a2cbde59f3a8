/* SPDX-License-Identifier: Apache-2.0 */
/* evict.h - tells running attempts to make room: their jobs become PREEMPTING, their machines learn it at once.
 *
 * The attempt stays live and holds what it holds until its machine says that it has ended, or its lease has run out: nothing else
 * starts there before. Memory: w->arena. Errors: those of the database. */
#pragma once
#include "core/base/work.h"
#include "scheduler/plan/preempt.h"

struct stmt;

/* Running jobs of queues whose stop policy is HoldAndDrain go back to them, deployments excepted; such an attempt does not
 * count as one that was preempted. At most EVICT_DRAIN_MAX at once. ret_nodes: as below. */
enum { EVICT_DRAIN_MAX = 1000 };
enum errc evict_drain(struct work *w, struct slice *ret_nodes, struct err *e) MUST_CHECK;
/* The same on machines whose reservation has begun (scheduler/engine/reservation.h), of whom it is not for. */
enum errc evict_windows(struct work *w, struct slice *ret_nodes, struct err *e) MUST_CHECK;
/* The same of jobs that are asked to be put aside (scheduler/jobs/job_suspend.h), as soon as they run. */
enum errc evict_suspend(struct work *w, struct slice *ret_nodes, struct err *e) MUST_CHECK;
/* One attempt, if it still runs, for a reason that is its own: it does not count as preempted. ret_nodes: as below. */
struct evict_one { struct uuid tenant_id, job_id, attempt_id, node_id; int64_t fence, grace_s; struct str why; };
enum errc evict_one(struct work *w, const struct evict_one *x, struct slice *ret_nodes, struct err *e) MUST_CHECK;
/* Those that still run as they were seen; ret_nodes: struct uuid, whom to wake after the commit. */
enum errc evict_apply(struct work *w, const struct snapshot *s, const struct preemption *p, struct holders h,
                      struct slice *ret_nodes, struct err *e) MUST_CHECK;
/* After placement_plan: reads who could leave, chooses, tells them, and says so of the waiting jobs of the plan. In transactions
 * of its own, and none where nobody waits for room. ret_nodes: as above; they are committed. */
enum errc evict_pass(struct work *w, struct snapshot *s, struct plan *p, struct slice *ret_nodes, struct err *e) MUST_CHECK;
/* The plan is written: its jobs that had a claim have what they waited for. c NULL: no effect. */
void evict_settle(struct claims *c, const struct snapshot *s, const struct plan *p);
extern const struct stmt *const evict_stmts[];
