/* SPDX-License-Identifier: Apache-2.0 */
/* queues.c - routes of declared queues and their shares. */
#include "api/route.h"
#include "audit/event.h"
#include "scheduler/jobs/job_queue.h"
#include "scheduler/jobs/queue_share.h"
#include "scheduler/plan/rulebook.h"

#define MODE_DOC "StrictFIFO: a job that finds no place holds up those behind it; BestEffortFIFO: it does not"
#define STOP_DOC "None: it goes; Hold: no job starts; HoldAndDrain: and those that run go back to the queue"
#define WITHIN_DOC "Which of its own running jobs make room for one that waits"
#define RECLAIM_DOC "Which running jobs of those who borrow make room when the queue is owed its own"

struct queue_new { struct uuid project_id; struct str name; int mode, stop_policy, within_cluster_queue, reclaim_within_cohort; };
SCHEMA_OF(queue_new, "A queue to declare",
    FIELD_ID(queue_new, project_id, "prj", 0, .doc = "Whose jobs; absent: those of no project"),
    FIELD(queue_new, name, F_REQ, .min = 1, .max = 63, .check = check_slug, .doc = "Its name, as jobs say it"),
    FIELD_ENUM(queue_new, mode, 0, queue_mode_names, .dflt = "BestEffortFIFO", .doc = MODE_DOC),
    FIELD_ENUM(queue_new, stop_policy, 0, queue_stop_names, .dflt = "None", .doc = STOP_DOC),
    FIELD_ENUM(queue_new, within_cluster_queue, 0, queue_within_names, .dflt = "Never", .doc = WITHIN_DOC),
    FIELD_ENUM(queue_new, reclaim_within_cohort, 0, queue_reclaim_names, .dflt = "Never", .doc = RECLAIM_DOC));
struct queue_patch_in {
    struct uuid queue_id;
    bool has_mode, has_stop_policy, has_within_cluster_queue, has_reclaim_within_cohort;
    int mode, stop_policy, within_cluster_queue, reclaim_within_cohort;
};
SCHEMA_OF(queue_patch_in, "What to change; what is absent stays",
    FIELD_ID(queue_patch_in, queue_id, "que", F_PATH, .doc = "The queue"),
    FIELD_ENUM_OPT(queue_patch_in, mode, 0, queue_mode_names, .doc = MODE_DOC),
    FIELD_ENUM_OPT(queue_patch_in, stop_policy, 0, queue_stop_names, .doc = STOP_DOC),
    FIELD_ENUM_OPT(queue_patch_in, within_cluster_queue, 0, queue_within_names, .doc = WITHIN_DOC),
    FIELD_ENUM_OPT(queue_patch_in, reclaim_within_cohort, 0, queue_reclaim_names, .doc = RECLAIM_DOC));
struct queue_ref { struct uuid queue_id; };
SCHEMA_OF(queue_ref, "Which queue", FIELD_ID(queue_ref, queue_id, "que", F_PATH, .doc = "The queue"));
struct queue_page { PAGE_IN; };
SCHEMA_OF(queue_page, "Which queues", PAGE_IN_FIELDS(queue_page));

static void tell(struct work *w, const struct job_queue *q)
{
    struct audit_event *ev = &call_of(w)->audit;
    audit_event_detail(ev, AUDIT_D_STR("queue", q->name));
    audit_event_detail(ev, AUDIT_D_STR("mode", str_c(queue_mode_names[q->mode])));
    audit_event_detail(ev, AUDIT_D_STR("stop_policy", str_c(queue_stop_names[q->stop_policy])));
    audit_event_detail(ev, AUDIT_D_STR("within", str_c(queue_within_names[q->within_cluster_queue])));
    audit_event_detail(ev, AUDIT_D_STR("reclaim", str_c(queue_reclaim_names[q->reclaim_within_cohort])));
}

static enum errc create(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct queue_new *in = in_;
    const struct job_queue q = { .project_id = in->project_id, .name = in->name, .mode = in->mode, .stop_policy = in->stop_policy,
                                 .within_cluster_queue = in->within_cluster_queue,
                                 .reclaim_within_cohort = in->reclaim_within_cohort };
    TRY(job_queue_create(w, &q, out, e));
    tell(w, out);
    return ERR_OK;
}

static enum errc read(struct work *w, const void *in, void *out, struct err *e)
{
    return job_queue_get(w, ((const struct queue_ref *)in)->queue_id, out, e);
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct queue_page *page = in;
    return PAGE_BY_ID(w, page, out, job_queue, queue_id, job_queue_list(w, after, limit, rows, e), e);
}

static enum errc change(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct queue_patch_in *in = in_;
    const struct job_queue_change c = { in->has_mode, in->has_stop_policy, in->has_within_cluster_queue,
        in->has_reclaim_within_cohort,
                                        in->mode, in->stop_policy, in->within_cluster_queue, in->reclaim_within_cohort };
    TRY(job_queue_set(w, in->queue_id, &c, call_of(w)->if_match, out, e));
    tell(w, out);
    return ERR_OK;
}

static enum errc delete(struct work *w, const void *in, void *out, struct err *e)
{
    (void)out;
    return job_queue_delete(w, ((const struct queue_ref *)in)->queue_id, call_of(w)->if_match, e);
}

static enum errc share(struct work *w, const void *in, void *out, struct err *e)
{
    return queue_share_read(w, ((const struct queue_ref *)in)->queue_id, out, e);
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/queues", .lane = LANE_CALLS,
      .op = "queue_create", .perm = PERM_QUEUE_MANAGE, .handler = create, .in = &queue_new_schema, .status = 201,
      .out = &job_queue_schema, .flags = R_IDEMPOTENT, .rate = RL_WRITE, .resource = "queue", .audited = true,
          .audit = AUDIT_QUEUE_SET,
      .doc = "Declare a queue: how its jobs go and who makes room for them; its numbers are quota rules of its name" },
    { .method = HTTP_GET, .path = "/v1/queues", .lane = LANE_CALLS,
      .op = "queue_list", .perm = PERM_QUEUE_READ, .handler = list, .in = &queue_page_schema, .status = 200,
      .out = &job_queue_schema, .flags = R_LIST, .doc = "The queues that the tenant declared, newest first" },
    { .method = HTTP_GET, .path = "/v1/queues/{queue_id}", .lane = LANE_CALLS,
      .op = "queue_get", .perm = PERM_QUEUE_READ, .handler = read, .in = &queue_ref_schema, .status = 200,
      .out = &job_queue_schema, .resource = "queue", .doc = "Read one queue" },
    { .method = HTTP_PATCH, .path = "/v1/queues/{queue_id}", .lane = LANE_CALLS,
      .op = "queue_set", .perm = PERM_QUEUE_MANAGE, .handler = change, .in = &queue_patch_in_schema, .status = 200,
      .out = &job_queue_schema, .flags = R_IF_MATCH, .rate = RL_WRITE, .resource = "queue", .audited = true,
          .audit = AUDIT_QUEUE_SET,
      .doc = "Stop a queue, let it go, or change how it goes" },
    { .method = HTTP_DELETE, .path = "/v1/queues/{queue_id}", .lane = LANE_CALLS,
      .op = "queue_delete", .perm = PERM_QUEUE_MANAGE, .handler = delete, .in = &queue_ref_schema, .status = 204,
      .flags = R_IF_MATCH, .rate = RL_WRITE, .resource = "queue", .audited = true, .audit = AUDIT_QUEUE_SET,
      .doc = "Forget what was declared of a queue; its jobs and rules stay" },
    { .method = HTTP_GET, .path = "/v1/queues/{queue_id}/share", .lane = LANE_CALLS,
      .op = "queue_share", .perm = PERM_QUEUE_READ, .handler = share, .in = &queue_ref_schema, .status = 200,
      .out = &queue_share_schema, .resource = "queue",
      .doc = "What the queue has, uses, borrows and lends now, and its fair part, in a sentence and in numbers" },
};
extern const struct route_table queue_routes;
ROUTE_TABLE(queue_routes, rows);
