/* SPDX-License-Identifier: Apache-2.0 */
/* models.c - routes of models and their versions. */
#include "api/content_int.h"
#include "api/pipeline.h"
#include "registry/catalog/model.h"

CONTENT_INPUTS(model, "mdl", "model");
struct model_page { CONTENT_PAGE_IN; };
SCHEMA_OF(model_page, "Which models", CONTENT_PAGE_FIELDS(model_page, "model"));

static void form_of(const void *version, const char **ret_type, const char **ret_extension)
{
    (void)version;
    *ret_type = "application/octet-stream";
    *ret_extension = "safetensors";
}

static const struct content models = { &versioned_model, AUDIT_MODEL_READ, form_of };

static enum errc check_weights(struct work *w, const void *in, struct err *e)
{
    struct model_weights *weights = ARENA_NEW(w->arena, struct model_weights);
    TRY(model_weights_check(w, ((const struct model_new *)in)->job_id, weights, e));
    call_of(w)->own = weights;
    return ERR_OK;
}

static enum errc create(struct work *w, const void *in, void *out, struct err *e)
{
    struct model_version *v = out;
    if (!call_of(w)->own)
        return call_outside(w, check_weights, e);
    TRY(model_register(w, in, call_of(w)->own, v, e));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_INT("version", v->version));
    return ERR_OK;
}

static enum errc read_one(struct work *w, const void *in, void *out, struct err *e)
{
    return content_read_one(w, &models, in, out, e);
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    return content_list(w, &models, in, STR_NULL, out, e);
}

static enum errc versions(struct work *w, const void *in, void *out, struct err *e)
{
    return content_list_versions(w, &models, in, out, e);
}

static enum errc change(struct work *w, const void *in, void *out, struct err *e)
{
    return content_change(w, &models, in, out, e);
}

static enum errc delete(struct work *w, const void *in, void *out, struct err *e)
{
    return content_remove(w, &models, in, out, e);
}

static enum errc content(struct call *c, struct err *e)
{
    return content_send(c, &models, e);
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/models", .lane = LANE_CONTENT,
      .op = "model_register", .perm = PERM_MODEL_WRITE, .handler = create, .in = &model_new_schema,
      .status = 201, .out = &model_version_schema, .flags = R_IDEMPOTENT, .rate = RL_WRITE, .resource = "model", .audited = true,
      .audit = AUDIT_MODEL_REGISTER, .doc = "Register a completed job's output \"model\" as the next version of a model" },
    { .method = HTTP_GET, .path = "/v1/models", .lane = LANE_CALLS,
      .op = "model_list", .perm = PERM_MODEL_READ, .handler = list, .in = &model_page_schema,
      .status = 200, .out = &model_schema, .flags = R_LIST, .doc = "List models" },
    { .method = HTTP_GET, .path = "/v1/models/{model_id}", .lane = LANE_CALLS,
      .op = "model_get", .perm = PERM_MODEL_READ, .handler = read_one, .in = &model_ref_schema,
      .status = 200, .out = &model_schema, .resource = "model", .doc = "Read one model" },
    { .method = HTTP_PATCH, .path = "/v1/models/{model_id}", .lane = LANE_CALLS,
      .op = "model_update", .perm = PERM_MODEL_WRITE, .handler = change, .in = &model_edit_schema, .status = 200,
      .out = &model_schema, .flags = R_IF_MATCH, .rate = RL_WRITE, .resource = "model", .audited = true,
      .audit = AUDIT_MODEL_UPDATE,
      .doc = "Set what a model is called for people, and what it is" },
    { .method = HTTP_DELETE, .path = "/v1/models/{model_id}", .lane = LANE_CALLS,
      .op = "model_delete", .perm = PERM_MODEL_WRITE, .handler = delete,
      .in = &model_ref_schema, .status = 200, .out = &content_deleted_schema, .flags = R_STEP_UP, .rate = RL_WRITE,
          .resource = "model",
      .audited = true, .audit = AUDIT_MODEL_DELETE,
      .doc = "Delete a model with all versions for good; refused under a legal hold, and while something named uses it" },
    { .method = HTTP_GET, .path = "/v1/models/{model_id}/versions", .lane = LANE_CALLS,
      .op = "model_version_list", .perm = PERM_MODEL_READ, .handler = versions,
      .in = &model_versions_schema, .status = 200, .out = &model_version_schema, .flags = R_LIST,
      .doc = "Versions of a model, newest first" },
    { .method = HTTP_GET, .path = "/v1/models/{model_id}/versions/{version}/content", .lane = LANE_CONTENT,
      .op = "model_content", .perm = PERM_MODEL_CONTENT,
      .raw = content, .in = &model_content_ref_schema, .status = 200, .content_type = "application/octet-stream", .resource = "model",
      .audit = AUDIT_MODEL_READ, .doc = "The weights of a version (safetensors), verified to their end; reading them is audited" },
};
extern const struct route_table model_routes;
ROUTE_TABLE(model_routes, rows);
