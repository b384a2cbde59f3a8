/* SPDX-License-Identifier: Apache-2.0 */
/* job_queue.h - queues that a tenant declares: how their line of jobs goes, whether it goes at all, and who makes room for it.
 *
 * A job names its queue, declared or not; one that is not goes best effort, is never stopped and preempts by priority class alone
 * (docs/adr/0054). What a queue has of its own, may borrow and lends stands in the quota rules of its name
 * (tenants/accounts/quota_rule.h); share.h and preempt.h in scheduler/plan/ have the arithmetic. A change takes the planners'
 * lock, so a plan that was made before it starts nothing that it forbids. Usage is summed up by the leader
 * (scheduler/duty/queue_usage.h). Memory: w->arena. Errors: NOT_FOUND (also the project), EXISTS (project and name),
 * CONFLICT (the project is closed), LIMIT, PRECONDITION. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

enum { QUEUES_MAX = 1000 };             /* of a tenant */

struct job_queue {
    struct uuid queue_id, project_id;   /* project nil: of the tenant's own jobs */
    struct str name;
    int mode, stop_policy, within_cluster_queue, reclaim_within_cohort;     /* enums of scheduler/plan/rulebook.h */
    int64_t slot_usage, gpu_usage;      /* slot and GPU seconds, halved every week */
    int64_t version;
    struct timestamp created_at;
};
extern const struct schema job_queue_schema;

/* Members that are absent stay as they are. */
struct job_queue_change {
    bool has_mode, has_stop_policy, has_within_cluster_queue, has_reclaim_within_cohort;
    int mode, stop_policy, within_cluster_queue, reclaim_within_cohort;
};

enum errc job_queue_create(struct work *w, const struct job_queue *in, struct job_queue *ret, struct err *e) MUST_CHECK;
/* expected_version -1: any. */
enum errc job_queue_set(struct work *w, struct uuid queue_id, const struct job_queue_change *c, int64_t expected_version,
                        struct job_queue *ret, struct err *e) MUST_CHECK;
/* Its jobs go on as those of a queue that nobody declared. */
enum errc job_queue_delete(struct work *w, struct uuid queue_id, int64_t expected_version, struct err *e) MUST_CHECK;
enum errc job_queue_get(struct work *w, struct uuid queue_id, struct job_queue *ret, struct err *e) MUST_CHECK;
/* Newest first, behind `position`; nil: from the start. */
enum errc job_queue_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;

/* The refusal of a job whose queue is none that it may name (submit_names.h): UNPROCESSABLE at /queue with the nearest name of
 * those that may be seen. Never ERR_OK. */
enum errc job_queue_refusal(struct work *w, struct str name, struct err *e) MUST_CHECK;

extern const struct stmt *const job_queue_stmts[];
