/* SPDX-License-Identifier: Apache-2.0 */
/* arrays.c - routes of arrays of jobs. A submission is checked as that of one job is,
    outside of the transaction that stores it. */
#include "api/pipeline.h"
#include "api/route.h"
#include "audit/event.h"
#include "scheduler/jobs/array_act.h"
#include "scheduler/jobs/submit.h"

#define ARRAY_PATTERN "^[0-9]+(-[0-9]+(:[0-9]+)?)?(%[0-9]+)?$"

struct array_create { struct str array; struct job_create job; };
SCHEMA_OF(array_create, "An array of jobs to submit",
    FIELD(array_create, array, F_REQ, .min = 1, .max = 64, .pattern_doc = ARRAY_PATTERN, .example = "0-9999%64",
          .doc = "Indexes as FIRST-LAST[:STEP] or INDEX, at most 10,000 of them, and %MOST: how many are jobs at once (1,000)"),
    FIELD_SUB(array_create, job, &job_create_schema, F_REQ,
              .doc = "What each task is; in the texts of its spec {{index}} stands for the task's index"));
struct array_ref { struct uuid array_id; };
SCHEMA_OF(array_ref, "Which array", FIELD_ID(array_ref, array_id, "arr", F_PATH, .doc = "The array"));
struct array_page { PAGE_IN; };
SCHEMA_OF(array_page, "Which arrays", PAGE_IN_FIELDS(array_page));
struct array_tasks_page { struct uuid array_id; bool has_state; int state; PAGE_IN; };
SCHEMA_OF(array_tasks_page, "Which tasks", FIELD_ID(array_tasks_page, array_id, "arr", F_PATH, .doc = "The array"),
    FIELD_ENUM_OPT(array_tasks_page, state, F_QUERY, job_state_names, .doc = "Only tasks whose job is in this state"),
    PAGE_IN_FIELDS(array_tasks_page));
struct array_counts { struct slice data; };
SCHEMA_OF(array_counts, "How many tasks stand where",
    FIELD_LIST(array_counts, data, &array_count_schema, 0, .max = JOB_STATE_COUNT,
               .doc = "By state of their jobs, states with any"));

static void tell(struct work *w, const struct job_array *a, const char *act)
{
    struct audit_event *ev = &call_of(w)->audit;
    audit_event_detail(ev, AUDIT_D_STR("act", str_c(act)));
    audit_event_detail(ev, AUDIT_D_STR("tasks", a->tasks));
}

static enum errc prepare(struct work *w, const void *in, struct err *e)
{
    struct job_submission *s = ARENA_NEW(w->arena, struct job_submission);
    if (submit_prepare_one(w, &((const struct array_create *)in)->job, w->principal, s, e) != ERR_OK) {
        char below[sizeof e->field];
        memcpy(below, e->field, sizeof below);
        return below[0] ? err_field(e, "/job%.80s", below) : e->code;
    }
    call_of(w)->own = s;
    return ERR_OK;
}

static enum errc create(struct work *w, const void *in, void *out, struct err *e)
{
    const struct job_submission *s = call_of(w)->own;
    if (!s)
        return call_outside(w, prepare, e);
    TRY(job_array_create(w, ((const struct array_create *)in)->array, s, out, e));
    tell(w, out, "submit");
    return ERR_OK;
}

static enum errc read(struct work *w, const void *in, void *out, struct err *e)
{
    return job_array_get(w, ((const struct array_ref *)in)->array_id, out, e);
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct array_page *page = in;
    return PAGE_BY_ID(w, page, out, job_array, array_id, job_array_list(w, after, limit, rows, e), e);
}

/* A page's place is the index of its last task. */
static enum errc tasks(struct work *w, const void *in_, void *out_, struct err *e)
{
    const struct array_tasks_page *in = in_;
    struct page_out *out = out_;
    struct job_array a;
    int64_t after = -1;
    if (in->page_token.len && !str_to_i64(in->page_token, 0, ARRAY_INDEX_MAX, &after))
        return FAIL_AT(e, INVALID, "/page_token", "is no place in this list");
    TRY(job_array_get(w, in->array_id, &a, e));
    TRY(job_array_tasks(w, in->array_id, in->has_state ? in->state : -1, after, in->page_size + 1, &out->items, e));
    if ((int64_t)out->items.n > in->page_size) {
        out->items.n = (size_t)in->page_size;
        out->next = str_fmt(w->arena, "%ld", (long)((const struct array_task *)out->items.items)[in->page_size - 1].index);
    }
    return ERR_OK;
}

static enum errc counts(struct work *w, const void *in, void *out, struct err *e)
{
    struct job_array a;
    TRY(job_array_get(w, ((const struct array_ref *)in)->array_id, &a, e));
    return job_array_counts(w, a.array_id, &((struct array_counts *)out)->data, e);
}

static enum errc act(struct work *w, const void *in, enum array_act which, const char *word, struct job_array *out, struct err *e)
{
    TRY(array_act(w, ((const struct array_ref *)in)->array_id, which, out, e));
    tell(w, out, word);
    return ERR_OK;
}

#define ACT(verb, WHICH)                                                                   \
    static enum errc verb(struct work *w, const void *in, void *out, struct err *e)       \
    {                                                                                      \
        return act(w, in, WHICH, #verb, out, e);                                           \
    }
ACT(cancel, ARRAY_CANCEL)
ACT(hold, ARRAY_HOLD)
ACT(release, ARRAY_RELEASE)
ACT(suspend, ARRAY_SUSPEND)
ACT(resume, ARRAY_RESUME)
ACT(retry, ARRAY_RETRY)
#undef ACT

#define ACT_ROW(verb, PERM, AUDIT, doc_)                                                                                      \
    { .method = HTTP_POST, .path = "/v1/arrays/{array_id}/" #verb, .lane = LANE_CALLS, .op = "array_" #verb, .perm = PERM,    \
      .handler = verb, .in = &array_ref_schema, .status = 200, .out = &job_array_schema, .rate = RL_WRITE, .resource = "array", \
      .audited = true, .audit = AUDIT, .doc = doc_ }

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/arrays", .lane = LANE_CALLS,
      .op = "array_submit", .perm = PERM_JOB_SUBMIT, .handler = create, .in = &array_create_schema, .status = 201,
      .out = &job_array_schema, .flags = R_IDEMPOTENT, .rate = RL_WRITE, .resource = "array", .audited = true,
      .audit = AUDIT_JOB_SUBMIT, .doc = "Submit an array: many jobs that differ by an index, so many of them at once" },
    { .method = HTTP_GET, .path = "/v1/arrays", .lane = LANE_CALLS,
      .op = "array_list", .perm = PERM_JOB_READ, .handler = list, .in = &array_page_schema, .status = 200,
      .out = &job_array_schema, .flags = R_LIST, .doc = "The tenant's arrays and how far they are, newest first" },
    { .method = HTTP_GET, .path = "/v1/arrays/{array_id}", .lane = LANE_CALLS,
      .op = "array_get", .perm = PERM_JOB_READ, .handler = read, .in = &array_ref_schema, .status = 200,
      .out = &job_array_schema, .resource = "array", .doc = "Read one array" },
    { .method = HTTP_GET, .path = "/v1/arrays/{array_id}/tasks", .lane = LANE_CALLS,
      .op = "array_tasks", .perm = PERM_JOB_READ, .handler = tasks, .in = &array_tasks_page_schema, .status = 200,
      .out = &array_task_schema, .flags = R_LIST, .resource = "array", .doc = "The tasks that have become jobs, by index" },
    { .method = HTTP_GET, .path = "/v1/arrays/{array_id}/counts", .lane = LANE_CALLS,
      .op = "array_counts", .perm = PERM_JOB_READ, .handler = counts, .in = &array_ref_schema, .status = 200,
      .out = &array_counts_schema, .resource = "array", .doc = "How many tasks stand in each state" },
    ACT_ROW(cancel, PERM_JOB_CANCEL, AUDIT_JOB_CANCEL, "Cancel an array: no task starts any more, its jobs are cancelled"),
    ACT_ROW(hold, PERM_JOB_CANCEL, AUDIT_JOB_HOLD, "Hold an array back: no task starts, and its waiting jobs are held"),
    ACT_ROW(release, PERM_JOB_CANCEL, AUDIT_JOB_HOLD, "Let an array that was held back go on"),
    ACT_ROW(suspend, PERM_JOB_CANCEL, AUDIT_JOB_SUSPEND, "Put an array aside: no task starts, and its jobs are suspended"),
    ACT_ROW(resume, PERM_JOB_CANCEL, AUDIT_JOB_SUSPEND, "Let an array that was put aside go on"),
    ACT_ROW(retry, PERM_JOB_SUBMIT, AUDIT_JOB_SUBMIT, "Run the tasks once more that ended and are not COMPLETED; a cancelled "
                                                      "array goes on"),
};
extern const struct route_table array_routes;
ROUTE_TABLE(array_routes, rows);
