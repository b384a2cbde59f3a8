/* SPDX-License-Identifier: Apache-2.0 */
/* deployments.c - routes of deployments; what they do to jobs is api/deploy.c. */
#include "api/api.h"
#include "api/deploy.h"
#include "api/route.h"
#include "serving/infer_stats.h"
#include "core/db/list_find.h"

SCHEMA_OF(deploy_order, "A model to serve",
    FIELD(deploy_order, name, F_REQ, .min = 1, .max = 63, .check = check_slug, .doc = "What clients call: /v2/models/{name}"),
    FIELD_ID(deploy_order, model_id, "mdl", F_REQ, .doc = "The model"),
    FIELD(deploy_order, model_version, 0, .min = 0, .max = INT64_MAX, .dflt = "0", .doc = "Its version; 0: the latest"),
    FIELD(deploy_order, slots, 0, .min = 1, .max = 4096, .dflt = "1", .doc = "Slots on one machine"),
    SERVE_KNOBS(deploy_order, 0, SERVE_KNOB_SET));
#define KNOB_IF_GIVEN(T, i) .has = offsetof(struct T, has_knob[i]) + 1,
SCHEMA_OF(deploy_change, "What shall be served; what is not given stays",
    FIELD_ID(deploy_change, deployment_id, "dpl", F_PATH, .doc = "The deployment"),
    FIELD_OPT(deploy_change, model_version, 0, .min = 0, .max = INT64_MAX, .doc = "Another version of its model; 0: the latest"),
    FIELD_OPT(deploy_change, slots, 0, .min = 1, .max = 4096, .doc = "Slots on one machine"),
    SERVE_KNOBS(deploy_change, 0, KNOB_IF_GIVEN),
    FIELD(deploy_change, allow_new_signature, 0, .dflt = "false",
        .doc = "Roll to a version that takes or gives something else than the one that serves; refused otherwise"),
    FIELD(deploy_change, deadline_s, 0, .min = 5, .max = 86400, .dflt = "600",
        .doc = "Given up when it does not answer so many seconds from now; what serves goes on"));
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
    FIELD_OPT(infer_window, p95_ms, 0, .doc = "The same of 95 %"), FIELD_OPT(infer_window, p99_ms, 0, .doc = "The same of 99 %"),
    FIELD(infer_window, tokens, 0, .doc = "Tokens of texts that were made"),
    FIELD(infer_window, tokens_per_second, 0, .doc = "Tokens in a second, over the window"),
    FIELD_OPT(infer_window, first_p50_ms, 0, .doc = "Half of the texts had their first token no later; to within 10 %"),
    FIELD_OPT(infer_window, first_p95_ms, 0, .doc = "The same of 95 %"),
    FIELD_OPT(infer_window, gap_p50_ms, 0, .doc = "Half of the tokens of streams came no later behind the one before"),
    FIELD_OPT(infer_window, gap_p95_ms, 0, .doc = "The same of 95 %"));
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

static enum errc create(struct work *w, const void *in, void *out, struct err *e)
{
    return deploy_make(w, in, out, e);
}

static enum errc roll(struct work *w, const void *in, void *out, struct err *e)
{
    return deploy_roll(w, in, out, e);
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

static enum errc take_down(struct work *w, const void *in, void *out, struct err *e)
{
    (void)out;
    return deploy_stop(w, ((const struct deployment_ref *)in)->deployment_id, e);
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/deployments", .lane = LANE_CALLS,
      .op = "deployment_create", .perm = PERM_DEPLOY_WRITE, .handler = create,
      .in = &deploy_order_schema, .status = 201, .out = &deployment_schema, .flags = R_IDEMPOTENT, .rate = RL_WRITE, .resource = "deployment",
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
    { .method = HTTP_PATCH, .path = "/v1/deployments/{deployment_id}", .lane = LANE_CALLS,
      .op = "deployment_roll", .perm = PERM_DEPLOY_WRITE, .handler = roll,
      .in = &deploy_change_schema, .status = 200, .out = &deployment_schema, .rate = RL_WRITE, .resource = "deployment",
      .audited = true, .audit = AUDIT_DEPLOYMENT_ROLL,
      .doc = "Roll to another version of the model, or to other settings: a second job loads and warms up, then the deployment turns to "
             "it, then the first one ends. No call fails meanwhile. What does not load leaves the first one serving (roll, roll_error). "
             "Asking for what serves already ends a roll under way" },
    { .method = HTTP_DELETE, .path = "/v1/deployments/{deployment_id}", .lane = LANE_CALLS,
      .op = "deployment_delete", .perm = PERM_DEPLOY_WRITE, .handler = take_down,
      .in = &deployment_ref_schema, .status = 204, .rate = RL_WRITE, .resource = "deployment", .audited = true, .audit = AUDIT_DEPLOYMENT_DELETE,
      .doc = "Take a deployment down; its job is cancelled" },
};
extern const struct route_table deployment_routes;
ROUTE_TABLE(deployment_routes, rows);
