/* SPDX-License-Identifier: Apache-2.0 */
/* registries.c - routes of the registries that images may be pulled from: the platform's staff set them, everybody who may use
 * the zone reads them. */
#include "api/pipeline.h"
#include "api/route.h"
#include "audit/event.h"
#include "scheduler/jobs/registry_host.h"

struct registry_ref { struct uuid registry_id; };
SCHEMA_OF(registry_ref, "Which registry", FIELD_ID(registry_ref, registry_id, "reg", F_PATH, .doc = "The row"));
struct registry_allow_in { struct uuid registry_id; bool allowed; };
SCHEMA_OF(registry_allow_in, "Whether images may come from there", FIELD_ID(registry_allow_in, registry_id, "reg", F_PATH,
    .doc = "The row"), FIELD(registry_allow_in, allowed, F_REQ, .doc = "Images may come from there"));
struct registry_page { PAGE_IN; struct str zone; };
SCHEMA_OF(registry_page, "Which registries", PAGE_IN_FIELDS(registry_page),
    FIELD(registry_page, zone, F_QUERY, .min = 1, .max = 63, .doc = "Only of this zone"));

static void note(struct work *w, const struct registry_host *v, const char *step)
{
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("step", str_c(step)));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("zone", v->zone));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("host", v->host));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("reach", str_c(pull_reach_names[v->reach])));
}

static enum errc add(struct work *w, const void *in, void *out, struct err *e)
{
    TRY(registry_host_add(w, in, out, e));
    note(w, out, "added");
    return ERR_OK;
}

static enum errc read(struct work *w, const void *in, void *out, struct err *e)
{
    return registry_host_get(w, ((const struct registry_ref *)in)->registry_id, out, e);
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct registry_page *page = in;
    return PAGE_BY_ID(w, page, out, registry_host, registry_id, registry_host_list(w, page->zone, after, limit, rows, e), e);
}

static enum errc allow(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct registry_allow_in *in = in_;
    TRY(registry_host_allow(w, in->registry_id, in->allowed, out, e));
    note(w, out, in->allowed ? "opened" : "shut");
    return ERR_OK;
}

static enum errc remove_one(struct work *w, const void *in, void *out, struct err *e)
{
    const struct uuid id = ((const struct registry_ref *)in)->registry_id;
    struct registry_host v;
    (void)out;
    TRY(registry_host_get(w, id, &v, e));
    note(w, &v, "removed");
    return registry_host_remove(w, id, e);
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/registries", .lane = LANE_CALLS,
      .op = "registry_add", .perm = PERM_REGISTRY_MANAGE, .handler = add, .in = &registry_host_new_schema, .status = 201,
      .out = &registry_host_schema, .flags = R_IDEMPOTENT | R_STEP_UP, .rate = RL_WRITE, .resource = "registry",
      .audited = true, .audit = AUDIT_REGISTRY_SET, .doc = "Let images of a zone be pulled from a registry" },
    { .method = HTTP_GET, .path = "/v1/registries", .lane = LANE_CALLS,
      .op = "registry_list", .perm = PERM_REGISTRY_READ, .handler = list, .in = &registry_page_schema, .status = 200,
      .out = &registry_host_schema, .flags = R_LIST,
      .doc = "The registries that images may be pulled from, in zones that the caller may use, newest first" },
    { .method = HTTP_GET, .path = "/v1/registries/{registry_id}", .lane = LANE_CALLS,
      .op = "registry_get", .perm = PERM_REGISTRY_READ, .handler = read, .in = &registry_ref_schema, .status = 200,
      .out = &registry_host_schema, .resource = "registry", .doc = "One of them" },
    { .method = HTTP_PUT, .path = "/v1/registries/{registry_id}/allowed", .lane = LANE_CALLS,
      .op = "registry_allow", .perm = PERM_REGISTRY_MANAGE, .handler = allow, .in = &registry_allow_in_schema, .status = 200,
      .out = &registry_host_schema, .flags = R_STEP_UP, .rate = RL_WRITE, .resource = "registry", .audited = true,
      .audit = AUDIT_REGISTRY_SET,
      .doc = "Shut a registry, or open it again: a pull that has not begun is refused from then on" },
    { .method = HTTP_DELETE, .path = "/v1/registries/{registry_id}", .lane = LANE_CALLS,
      .op = "registry_remove", .perm = PERM_REGISTRY_MANAGE, .handler = remove_one, .in = &registry_ref_schema, .status = 204,
      .flags = R_STEP_UP, .rate = RL_WRITE, .resource = "registry", .audited = true, .audit = AUDIT_REGISTRY_SET,
      .doc = "Let no images come from a registry any more; those that came stay" },
};
extern const struct route_table registry_host_routes;
ROUTE_TABLE(registry_host_routes, rows);
