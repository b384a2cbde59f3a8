/* SPDX-License-Identifier: Apache-2.0 */
/* deployments.c - routes of deployments. A deployment and the job that serves it are made, and ended, in one transaction; the job runs in
 * the zone of the model's weights and is tried again for as long as the deployment lives. */
#include "api/api.h"
#include "api/jobs_int.h"
#include "api/route.h"
#include "core/base/cleanup.h"
#include "core/db/tx.h"
#include "core/json/encode.h"
#include "serving/deployment.h"
#include "serving/infer_stats.h"
#include "registry/catalog/model.h"
#include "core/db/list_find.h"
#include "tenants/access/actor.h"
#include "tenants/home/residency_facts.h"
#include "tenants/home/project.h"
#include "scheduler/jobs/job_prepare.h"

struct deployment_create { struct str name; struct uuid model_id; int64_t model_version, slots; };
SCHEMA_OF(deployment_create, "A model to serve",
    FIELD(deployment_create, name, F_REQ, .min = 1, .max = 63, .check = check_slug, .doc = "What clients call: /v2/models/{name}"),
    FIELD_ID(deployment_create, model_id, "mdl", F_REQ, .doc = "The model"),
    FIELD(deployment_create, model_version, 0, .min = 0, .max = INT64_MAX, .dflt = "0", .doc = "Its version; 0: the latest"),
    FIELD(deployment_create, slots, 0, .min = 1, .max = 4096, .dflt = "1", .doc = "Slots on one machine"));
struct deployment_ref { struct uuid deployment_id; };
SCHEMA_OF(deployment_ref, "Which deployment", FIELD_ID(deployment_ref, deployment_id, "dpl", F_PATH, .doc = "The deployment"));
struct deployment_page { PAGE_IN; struct uuid project_id, model_id, created_by; struct str q; int sort; bool has_ready, ready; };
SCHEMA_OF(deployment_page, "Which deployments", PAGE_IN_FIELDS(deployment_page),
    FIELD_ID(deployment_page, project_id, "prj", F_QUERY, .doc = "Only deployments of this project"),
    FIELD_ID(deployment_page, model_id, "mdl", F_QUERY, .doc = "Only deployments of this model"),
    FIELD_ID(deployment_page, created_by, "usr", F_QUERY, .doc = "Only deployments that this user made"),
    FIELD(deployment_page, q, F_QUERY, .min = LIST_Q_MIN, .max = LIST_Q_MAX, .check = check_name, .doc = "Only deployments whose name contains this, in any case"),
    FIELD_OPT(deployment_page, ready, F_QUERY, .doc = "Only those that answer, or that do not"),
    FIELD_ENUM(deployment_page, sort, F_QUERY, list_sort_names, .dflt = "-created", .doc = "Order; - is descending"));

SCHEMA_OF(infer_window, "What was seen in a window of time",
    FIELD(infer_window, minutes, 0, .doc = "The last so many minutes, the one that is not over included"),
    FIELD(infer_window, requests, 0, .doc = "Calls"), FIELD(infer_window, errors, 0, .doc = "Calls that got no good answer"),
    FIELD(infer_window, refused, 0, .doc = "Calls whose request was at fault, or that came while the model had too much to do"),
    FIELD(infer_window, per_second, 0, .doc = "Calls in a second, over the window or since the deployment was made"),
    FIELD_OPT(infer_window, p50_ms, 0, .doc = "Half of the good answers took no longer, from the call's arrival to its answer; to within 10 %"),
    FIELD_OPT(infer_window, p95_ms, 0, .doc = "The same of 95 %"), FIELD_OPT(infer_window, p99_ms, 0, .doc = "The same of 99 %"));
SCHEMA_OF(infer_minute, "What was seen in one minute",
    FIELD(infer_minute, at, 0, .doc = "Its begin"), FIELD(infer_minute, requests, 0, .doc = "Calls"),
    FIELD(infer_minute, errors, 0, .doc = "Calls that got no good answer"), FIELD(infer_minute, refused, 0, .doc = "Calls that were refused"),
    FIELD(infer_minute, per_second, 0, .doc = "Calls in a second, over what of it has passed"),
    FIELD_OPT(infer_minute, p50_ms, 0, .doc = "Half of the good answers took no longer"),
    FIELD_OPT(infer_minute, p95_ms, 0, .doc = "The same of 95 %"), FIELD_OPT(infer_minute, p99_ms, 0, .doc = "The same of 99 %"));
struct deployment_stats { struct uuid deployment_id; struct timestamp since; struct slice windows, per_minute; };
SCHEMA_OF(deployment_stats, "How a deployment answered, through whichever falaj-api; what other processes counted is at most some seconds old",
    FIELD_ID(deployment_stats, deployment_id, "dpl", F_ALWAYS, .doc = "The deployment"),
    FIELD(deployment_stats, since, 0, .doc = "From when on calls are counted here: an hour ago, or when the deployment was made"),
    FIELD_LIST(deployment_stats, windows, &infer_window_schema, 0, .max = 2, .doc = "The last 5 and the last 60 minutes"),
    FIELD_LIST(deployment_stats, per_minute, &infer_minute_schema, 0, .max = INFER_MINUTES,
               .doc = "Each of the last 60 minutes from the first one with a call, oldest first; the last one is not over"));

static enum errc job_audit(struct work *w, struct job_submission *s, struct err *e)
{
    struct audit_event ev = audit_event_by(w, w->principal, AUDIT_JOB_SUBMIT);
    struct audit_rows rows;
    ev.zone = s->job.zone;
    ev.resource_kind = STR("job");
    ev.resource_prefix = "job";
    ev.resource_id = s->job.job_id;
    ev.http_status = 201;
    audit_event_detail(&ev, AUDIT_D_STR("kind", s->kind_name));
    TRY(audit_encode_many(w->arena, &ev, 1, &rows, e));
    s->event_id = rows.event_ids[0];
    s->event = rows.bodies[0];
    return ERR_OK;
}

/* The job that serves these weights. */
static enum errc serve_job_of(struct work *w, const struct deployment_create *in, const struct model_version *v, struct uuid deployment_id,
                              struct job_submission *s, struct err *e)
{
    const struct serve_order order = { in->name, v->model_id, v->version, v->object_id, in->slots };
    TRY(serve_job_make(w, &order, s, e));
    s->route = str_c(call_of(w)->route->op);
    s->key = str_fmt(w->arena, "deploy:%.*s", STR_ARG(id_text(w->arena, "dpl", deployment_id)));
    s->sha = str_n((const char *)call_of(w)->request_sha, 32);
    return job_audit(w, s, e);
}

static enum errc create(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct deployment_create *in = in_;
    struct model_version v;
    struct model m;
    struct job_submission s = { .verdict = JOB_STORED };
    struct uuid deployment_id = uuid_v7(w->now_us);
    enum errc rc = model_version_get(w, in->model_id, in->model_version, &v, e);
    if (rc == ERR_NOT_FOUND)
        return FAIL_AT(e, NOT_FOUND, in->model_version ? "/model_version" : "/model_id", "There is no such model version");
    if (rc != ERR_OK)
        return rc;
    TRY(model_get(w, v.model_id, &m, e));
    TRY(serve_job_of(w, in, &v, deployment_id, &s, e));
    TRY(project_for_new(w, w->tx, m.project_id, &s.job.project_id, e));
    TRY(job_submit_in_tx(w, &s, e));
    if (s.verdict == JOB_INPUT_GONE)
        return job_verdict_err(&s, e);
    if (s.verdict != JOB_STORED)
        return FAIL(e, RETRY, "Another call changed the serving job at the same time; try again");
    struct deployment_row row = { deployment_id, in->name, v.model_id, v.version, s.job.job_id };
    TRY(deployment_insert(w, &row, out, e));
    jobs_wake_after_commit(w, s.job.job_id);
    return ERR_OK;
}

static enum errc read_one(struct work *w, const void *in, void *out, struct err *e)
{
    return deployment_get(w, ((const struct deployment_ref *)in)->deployment_id, out, e);
}

static enum errc stats(struct work *w, const void *in, void *out, struct err *e)
{
    static const int minutes[] = { 5, 60 };
    struct infer_window *windows = ARENA_ARRAY(w->arena, struct infer_window, 2);
    struct infer_minute *each = ARENA_ARRAY(w->arena, struct infer_minute, INFER_MINUTES);
    const struct infer_hour *hour;
    struct deployment d;
    TRY(deployment_get(w, ((const struct deployment_ref *)in)->deployment_id, &d, e));
    struct infer_stats *s = ((struct api *)w->app->extra)->infer_stats;
    TRY(infer_stats_load(w, s, d.deployment_id, d.created_at.us, clock_wall_us(w->app->clock), &hour, e));
    for (size_t i = 0; i < 2; i++)
        infer_hour_window(hour, minutes[i], &windows[i]);
    size_t n = infer_hour_minutes(hour, each);
    *(struct deployment_stats *)out = (struct deployment_stats){ d.deployment_id, { infer_hour_since(hour) }, { windows, 2 }, { each, n } };
    return ERR_OK;
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct deployment_page *page = in;
    const struct deployment_filter f = { page->model_id, page->project_id, page->created_by, page->has_ready, page->ready, page->q,
                                         str_c(list_sort_names[page->sort]) };
    return PAGE_BY_ID(w, page, out, deployment, deployment_id, deployment_list(w, &f, after, limit, rows, e), e);
}

/* Clients are refused at the latest SERVING_TARGET_MS later, when falaj-api has forgotten where it listened. */
static enum errc take_down(struct work *w, const void *in, void *out, struct err *e)
{
    (void)out;
    struct uuid job_id;
    struct job job;
    TRY(deployment_delete(w, ((const struct deployment_ref *)in)->deployment_id, &job_id, e));
    enum errc rc = job_cancel(w, job_id, &job, e);
    if (rc != ERR_OK && rc != ERR_CONFLICT)         /* CONFLICT: it has ended already */
        return rc;
    jobs_wake_after_commit(w, job_id);
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/deployments", .lane = LANE_CALLS,
      .op = "deployment_create", .perm = PERM_DEPLOY_WRITE, .handler = create,
      .in = &deployment_create_schema, .status = 201, .out = &deployment_schema, .flags = R_IDEMPOTENT, .rate = RL_WRITE, .resource = "deployment",
      .audited = true, .audit = AUDIT_DEPLOYMENT_CREATE, .doc = "Serve a model version under a name" },
    { .method = HTTP_GET, .path = "/v1/deployments", .lane = LANE_CALLS,
      .op = "deployment_list", .perm = PERM_DEPLOY_READ, .handler = list,
      .in = &deployment_page_schema, .status = 200, .out = &deployment_schema, .flags = R_LIST, .doc = "List deployments" },
    { .method = HTTP_GET, .path = "/v1/deployments/{deployment_id}", .lane = LANE_CALLS,
      .op = "deployment_get", .perm = PERM_DEPLOY_READ, .handler = read_one,
      .in = &deployment_ref_schema, .status = 200, .out = &deployment_schema, .resource = "deployment", .doc = "Read one deployment" },
    { .method = HTTP_GET, .path = "/v1/deployments/{deployment_id}/stats", .lane = LANE_HEAVY,
      .op = "deployment_stats", .perm = PERM_DEPLOY_READ, .handler = stats,
      .in = &deployment_ref_schema, .status = 200, .out = &deployment_stats_schema, .resource = "deployment", .flags = R_UNNOTICED,
      .doc = "Calls, errors and times of a deployment over the last 5 and 60 minutes, summed over all processes of falaj-api" },
    { .method = HTTP_DELETE, .path = "/v1/deployments/{deployment_id}", .lane = LANE_CALLS,
      .op = "deployment_delete", .perm = PERM_DEPLOY_WRITE, .handler = take_down,
      .in = &deployment_ref_schema, .status = 204, .rate = RL_WRITE, .resource = "deployment", .audited = true, .audit = AUDIT_DEPLOYMENT_DELETE,
      .doc = "Take a deployment down; its job is cancelled" },
};
extern const struct route_table deployment_routes;
ROUTE_TABLE(deployment_routes, rows);
