/* SPDX-License-Identifier: Apache-2.0 */
/* repository.c - the model repository of the Open Inference Protocol (Triton's extension): what there is to call, loaded
 * anew and
 * taken down. A model of the repository is a deployment: load rolls it to the newest version of its model (serving/roll.h),
 * unload
 * takes it down. Nothing here may do what the routes of deployments may not; both act through api/deploy.h.
 * Source: https://github.com/triton-inference-server/server/blob/main/docs/protocol/extension_model_repository.md */
#include "api/api.h"
#include "api/deploy.h"
#include "api/route.h"
#include "core/db/list_find.h"
#include "core/json/jsonvalue.h"

enum { INDEX_MAX = 1000 };

struct repository_ask { bool ready; };
SCHEMA_OF(repository_ask, "What of the repository", FIELD(repository_ask, ready, 0, .doc = "Only what answers"));
struct repository_model { struct str name; struct json parameters; };
SCHEMA_OF(repository_model, "Which deployment",
    FIELD(repository_model, name, F_PATH, .min = 1, .max = 63, .check = check_slug, .doc = "Name of the deployment"),
    FIELD(repository_model, parameters, 0, .max = 65536,
        .doc = "An object; none is known: settings are changed by PATCH /v1/deployments/{deployment_id}"));

static const char *state_of(const struct deployment *d)
{
    return d->ready ? "READY" : str_eq_c(d->job_state, "FAILED") ? "UNAVAILABLE" : "LOADING";
}

static void add_one(struct buf *b, const struct deployment *d, bool is_first)
{
    buf_add_c(b, is_first ? "{\"name\":" : ",{\"name\":");
    buf_add_json(b, d->name);
    buf_printf(b, ",\"version\":\"%ld\",\"state\":\"%s\",\"reason\":", (long)d->model_version, state_of(d));
    buf_add_json(b, d->roll_error.len ? d->roll_error : d->ready ? STR("") : d->job_state);
    buf_add_char(b, '}');
}

static enum errc repository_index(struct work *w, const void *in, void *out, struct err *e)
{
    const struct repository_ask *ask = in;
    const struct deployment_filter f = { .has_ready = ask->ready, .ready = true, .sort = str_c(list_sort_names[0]) };
    struct slice rows = { 0 };
    struct buf *b = out;
    *b = BUF((size_t)INDEX_MAX * 4096);
    TRY(deployment_list(w, &f, UUID_NIL, INDEX_MAX, &rows, e));
    buf_add_char(b, '[');
    for (size_t i = 0; i < rows.n; i++)
        add_one(b, (const struct deployment *)rows.items + i, i == 0);
    buf_add_char(b, ']');
    return ERR_OK;
}

static enum errc find(struct work *w, const struct repository_model *in, struct deployment *ret, struct err *e)
{
    const struct jval *parameters = NULL;
    if (in->parameters.text.len)
        TRY(jval_parse(w->arena, in->parameters.text, 0, &parameters, e));
    if (jval_len(parameters))
        return FAIL_AT(e, INVALID, "/parameters", "No parameter is known here; PATCH /v1/deployments/{id} changes settings");
    enum errc rc = deployment_find(w, in->name, ret, e);
    return rc == ERR_NOT_FOUND ? FAIL(e, NOT_FOUND, "There is no such model") : rc;
}

static enum errc load(struct work *w, const void *in, void *out, struct err *e)
{
    struct deployment d;
    TRY(find(w, in, &d, e));
    const struct deploy_change newest = { .deployment_id = d.deployment_id, .has_model_version = true };
    return deploy_roll(w, &newest, out, e);
}

static enum errc unload(struct work *w, const void *in, void *out, struct err *e)
{
    struct deployment *d = out;
    TRY(find(w, in, d, e));
    d->state = STR("DELETED");
    d->ready = false;
    return deploy_stop(w, d->deployment_id, e);
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v2/repository/index", .lane = LANE_CALLS,
      .op = "repository_index", .perm = PERM_DEPLOY_READ, .handler = repository_index, .in = &repository_ask_schema,
          .status = 200,
      .content_type = "application/json", .flags = R_TEXT | R_OIP,
      .doc = "The deployments of the tenant, at most 1,000: name, version, state (READY, LOADING, UNAVAILABLE) and reason" },
    { .method = HTTP_POST, .path = "/v2/repository/models/{name}/load", .lane = LANE_CALLS,
      .op = "repository_load", .perm = PERM_DEPLOY_WRITE, .handler = load, .in = &repository_model_schema, .status = 200,
      .out = &deployment_schema, .flags = R_OIP, .rate = RL_WRITE, .resource = "deployment", .audited = true, .audit =
          AUDIT_DEPLOYMENT_ROLL,
      .doc = "Roll the deployment to the newest version of its model; what serves goes on until the new one answers, and the "
          "index says "
             "how it stands" },
    { .method = HTTP_POST, .path = "/v2/repository/models/{name}/unload", .lane = LANE_CALLS,
      .op = "repository_unload", .perm = PERM_DEPLOY_WRITE, .handler = unload, .in = &repository_model_schema, .status = 200,
      .out = &deployment_schema, .flags = R_OIP, .rate = RL_WRITE, .resource = "deployment", .audited = true, .audit =
          AUDIT_DEPLOYMENT_DELETE,
      .doc = "Take the deployment down" },
};
extern const struct route_table repository_routes;
ROUTE_TABLE(repository_routes, rows);
