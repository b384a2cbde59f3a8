/* SPDX-License-Identifier: Apache-2.0 */
/* inference.c - the Open Inference Protocol (v2, REST): deployments answer under /v2/models/{name}.
 *
 * A call under way holds no thread (api/model_call.h), so a model that stalls costs no other route anything.
 * Source: https://github.com/open-inference/open-inference-protocol (REST). */
#include "api/api.h"
#include "api/model_call.h"
#include "core/wire/infer_wire.h"

struct oip_server { struct str name, version; struct slice extensions; };
SCHEMA_OF(oip_server, "The server", FIELD(oip_server, name, 0, .doc = "falaj"), FIELD(oip_server, version, 0, .doc = "Version"),
    FIELD_STRS(oip_server, extensions, 0, .doc = "Of the protocol: binary_tensor_data, generate"));
struct oip_live { bool live; };
SCHEMA_OF(oip_live, "Liveness", FIELD(oip_live, live, 0, .doc = "The server answers"));
struct oip_ready { bool ready; };
SCHEMA_OF(oip_ready, "Readiness", FIELD(oip_ready, ready, 0, .doc = "The server takes inference requests"));
struct oip_model_ready { struct str name; bool ready; };
SCHEMA_OF(oip_model_ready, "Readiness of a model", FIELD(oip_model_ready, name, 0, .doc = "The deployment"),
    FIELD(oip_model_ready, ready, 0, .doc = "It answers"));

static enum errc server(struct work *w, const void *in, void *out, struct err *e)
{
    (void)w, (void)in, (void)e;
    static struct str extensions[] = { STR("binary_tensor_data"), STR("generate") };
    *(struct oip_server *)out = (struct oip_server){ STR("falaj"), STR(FALAJ_VERSION), { extensions, 2 } };
    return ERR_OK;
}

static enum errc live(struct work *w, const void *in, void *out, struct err *e)
{
    (void)w, (void)in, (void)e;
    ((struct oip_live *)out)->live = true;
    return ERR_OK;
}

static enum errc ready(struct work *w, const void *in, void *out, struct err *e)
{
    (void)in;
    const struct api *api = w->app->extra;
    if (api->draining)
        return FAIL(e, UNAVAILABLE, "The server is stopping");
    ((struct oip_ready *)out)->ready = true;
    return ERR_OK;
}

static struct model_call inference_of(const struct call *c)
{
    return (struct model_call){ .method = "POST", .path = "/infer", .body = c->body, .is_short = true };
}

static bool infer_now(struct call *c)
{
    const struct model_call how = inference_of(c);
    return model_call_ask_now(c, &how);
}

static enum errc infer(struct call *c, struct err *e)
{
    bool waits;
    const struct model_call how = inference_of(c);
    enum errc rc = model_call_ask(c, &how, &waits, e);
    if (waits)
        return ERR_OK;
    const struct model_call *q = c->own;
    if (rc == ERR_OK)
        rc = model_call_judge(&q->result, e);
    model_call_account(c, rc);
    if (rc == ERR_OK)
        model_call_pass_on(c, &q->result);
    return rc;
}

static enum errc metadata(struct call *c, struct err *e)
{
    bool waits;
    TRY(model_call_ask(c, &(struct model_call){ .method = "GET", .path = "/metadata" }, &waits, e));
    if (waits)
        return ERR_OK;
    const struct model_call *q = c->own;
    TRY(model_call_judge(&q->result, e));
    model_call_pass_on(c, &q->result);
    return ERR_OK;
}

static enum errc model_ready(struct call *c, struct err *e)
{
    bool waits;
    TRY(model_call_ask(c, &(struct model_call){ .method = "GET", .path = "/ready" }, &waits, e));
    if (waits)
        return ERR_OK;
    if (((const struct model_call *)c->own)->result.status != 200)
        return FAIL(e, UNAVAILABLE, "The model is not ready");
    struct str name = ((const struct infer_ref *)c->in)->name;
    struct http_result r = { .status = 200, .body = str_fmt(c->work.arena, "{\"name\":\"%.*s\",\"ready\":true}", STR_ARG(name)) };
    model_call_pass_on(c, &r);
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v2", .lane = LANE_CALLS,
      .op = "oip_server", .perm = PERM_SIGNED_IN, .handler = server, .status = 200, .out = &oip_server_schema,
      .flags = R_NO_TX | R_OIP, .doc = "The inference server" },
    { .method = HTTP_GET, .path = "/v2/health/live", .lane = LANE_CALLS,
      .op = "oip_live", .perm = PERM_PUBLIC, .handler = live, .status = 200, .out = &oip_live_schema,
      .flags = R_NO_TX | R_OIP, .rate = RL_NONE, .doc = "The inference server answers" },
    { .method = HTTP_GET, .path = "/v2/health/ready", .lane = LANE_CALLS,
      .op = "oip_ready", .perm = PERM_PUBLIC, .handler = ready, .status = 200,
      .out = &oip_ready_schema, .flags = R_NO_TX | R_OIP, .rate = RL_NONE, .doc = "The inference server takes requests" },
    { .method = HTTP_GET, .path = "/v2/models/{name}", .lane = LANE_CALLS,
      .op = "oip_model", .perm = PERM_INFER, .raw = metadata, .in = &infer_ref_schema, .status = 200,
      .out = &infer_metadata_schema, .content_type = "application/json", .flags = R_OIP,
          .doc = "Inputs and outputs of a served model" },
    { .method = HTTP_GET, .path = "/v2/models/{name}/versions/{version}", .lane = LANE_CALLS,
      .op = "oip_model_version", .perm = PERM_INFER, .raw = metadata,
      .in = &infer_version_ref_schema, .status = 200, .out = &infer_metadata_schema, .content_type = "application/json",
          .flags = R_OIP,
      .doc = "Inputs and outputs of a served model, if it is that version" },
    { .method = HTTP_GET, .path = "/v2/models/{name}/ready", .lane = LANE_CALLS,
      .op = "oip_model_ready", .perm = PERM_INFER, .raw = model_ready,
      .in = &infer_ref_schema, .status = 200, .out = &oip_model_ready_schema, .flags = R_OIP, .doc = "A served model answers" },
    { .method = HTTP_GET, .path = "/v2/models/{name}/versions/{version}/ready", .lane = LANE_CALLS,
      .op = "oip_model_version_ready",
        .perm = PERM_INFER,
      .raw = model_ready, .in = &infer_version_ref_schema, .status = 200, .out = &oip_model_ready_schema, .flags = R_OIP,
      .doc = "A served model answers, and is that version" },
    { .method = HTTP_POST, .path = "/v2/models/{name}/infer", .lane = LANE_CALLS,
      .op = "oip_infer", .perm = PERM_INFER, .raw = infer, .quick = infer_now, .in = &infer_ref_schema,
      .body = &infer_ask_schema, .status = 200, .out = &infer_reply_schema, .content_type = "application/json",
          .flags = R_UPLOAD | R_OIP,
      .rate = RL_NONE, .audit = AUDIT_INFERENCE,
          .doc = "Inference. Audited as one summary per deployment, principal and minute" },
    { .method = HTTP_POST, .path = "/v2/models/{name}/versions/{version}/infer", .lane = LANE_CALLS,
      .op = "oip_infer_version", .perm = PERM_INFER, .raw = infer, .quick = infer_now,
      .in = &infer_version_ref_schema, .body = &infer_ask_schema, .status = 200, .out = &infer_reply_schema,
      .content_type = "application/json", .flags = R_UPLOAD | R_OIP, .rate = RL_NONE, .audit = AUDIT_INFERENCE,
          .doc = "Inference, if the deployment serves that version" },
};
extern const struct route_table inference_routes;
ROUTE_TABLE(inference_routes, rows);
