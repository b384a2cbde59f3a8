/* SPDX-License-Identifier: Apache-2.0 */
/* engines.c - routes of the outside schedulers that lend machines. */
#include "api/pipeline.h"
#include "scheduler/engines/record.h"

struct engine_ref { struct uuid engine_id; };
SCHEMA_OF(engine_ref, "Which engine", FIELD_ID(engine_ref, engine_id, "eng", F_PATH, .doc = "The engine"));
struct engine_page { PAGE_IN; };
SCHEMA_OF(engine_page, "Which engines", PAGE_IN_FIELDS(engine_page));
struct engine_runs_page { PAGE_IN; struct uuid engine_id; };
SCHEMA_OF(engine_runs_page, "Which runs", PAGE_IN_FIELDS(engine_runs_page),
    FIELD_ID(engine_runs_page, engine_id, "eng", F_PATH, .doc = "The engine"));

static void tell(struct work *w, const struct engine *g, const char *act)
{
    struct audit_event *ev = &call_of(w)->audit;
    ev->resource_id = g->engine_id;
    ev->zone = g->zone;
    audit_event_detail(ev, AUDIT_D_STR("act", str_c(act)));
    audit_event_detail(ev, AUDIT_D_STR("name", g->name));
    audit_event_detail(ev, AUDIT_D_STR("pool", g->pool));
    audit_event_detail(ev, AUDIT_D_STR("address", g->address));
}

static enum errc create(struct work *w, const void *in, void *out, struct err *e)
{
    TRY(engine_add(w, in, out, e));
    tell(w, out, "add");
    return ERR_OK;
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct engine_page *page = in;
    return PAGE_BY_ID(w, page, out, engine, engine_id, engine_list(w, after, limit, rows, e), e);
}

static enum errc read(struct work *w, const void *in, void *out, struct err *e)
{
    return engine_get(w, ((const struct engine_ref *)in)->engine_id, out, e);
}

static enum errc on(struct work *w, const void *in, void *out, struct err *e)
{
    TRY(engine_enable(w, ((const struct engine_ref *)in)->engine_id, true, out, e));
    tell(w, out, "enable");
    return ERR_OK;
}

static enum errc off(struct work *w, const void *in, void *out, struct err *e)
{
    TRY(engine_enable(w, ((const struct engine_ref *)in)->engine_id, false, out, e));
    tell(w, out, "disable");
    return ERR_OK;
}

static enum errc delete(struct work *w, const void *in, void *out, struct err *e)
{
    struct engine was;
    (void)out;
    TRY(engine_remove(w, ((const struct engine_ref *)in)->engine_id, &was, e));
    tell(w, &was, "remove");
    return ERR_OK;
}

static enum errc runs(struct work *w, const void *in, void *out, struct err *e)
{
    const struct engine_runs_page *page = in;
    return PAGE_BY_ID(w, page, out, engine_run, run_id, engine_runs(w, page->engine_id, after, limit, rows, e), e);
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/engines", .lane = LANE_CALLS, .op = "engine_create", .perm = PERM_ENGINE_MANAGE,
      .handler = create, .in = &engine_create_schema, .status = 201, .out = &engine_schema, .flags = R_IDEMPOTENT | R_STEP_UP,
      .rate = RL_WRITE, .resource = "engine", .audited = true, .audit = AUDIT_ENGINE_SET,
      .doc = "Add an outside scheduler that lends machines for one lease" },
    { .method = HTTP_GET, .path = "/v1/engines", .lane = LANE_CALLS, .op = "engine_list", .perm = PERM_ENGINE_READ,
      .handler = list, .in = &engine_page_schema, .status = 200, .out = &engine_schema, .flags = R_LIST,
      .doc = "List engines with their health" },
    { .method = HTTP_GET, .path = "/v1/engines/{engine_id}", .lane = LANE_CALLS, .op = "engine_get", .perm = PERM_ENGINE_READ,
      .handler = read, .in = &engine_ref_schema, .status = 200, .out = &engine_schema, .resource = "engine",
      .doc = "Read one engine" },
    { .method = HTTP_GET, .path = "/v1/engines/{engine_id}/runs", .lane = LANE_CALLS, .op = "engine_runs",
      .perm = PERM_ENGINE_READ, .handler = runs, .in = &engine_runs_page_schema, .status = 200, .out = &engine_run_schema,
      .flags = R_LIST, .resource = "engine", .doc = "List what was asked of an engine, newest first" },
    { .method = HTTP_POST, .path = "/v1/engines/{engine_id}/enable", .lane = LANE_CALLS, .op = "engine_enable",
      .perm = PERM_ENGINE_MANAGE, .handler = on, .in = &engine_ref_schema, .status = 200, .out = &engine_schema,
      .flags = R_STEP_UP, .rate = RL_WRITE, .resource = "engine", .audited = true, .audit = AUDIT_ENGINE_SET,
      .doc = "Let an engine get runs again" },
    { .method = HTTP_POST, .path = "/v1/engines/{engine_id}/disable", .lane = LANE_CALLS, .op = "engine_disable",
      .perm = PERM_ENGINE_MANAGE, .handler = off, .in = &engine_ref_schema, .status = 200, .out = &engine_schema,
      .rate = RL_WRITE, .resource = "engine", .audited = true, .audit = AUDIT_ENGINE_SET,
      .doc = "Give an engine no new runs, and cancel those that it has not begun" },
    { .method = HTTP_DELETE, .path = "/v1/engines/{engine_id}", .lane = LANE_CALLS, .op = "engine_delete",
      .perm = PERM_ENGINE_MANAGE, .handler = delete, .in = &engine_ref_schema, .status = 204, .rate = RL_WRITE,
      .resource = "engine", .audited = true, .audit = AUDIT_ENGINE_SET,
      .doc = "Remove an engine that has no open runs" },
};
extern const struct route_table engine_routes;
ROUTE_TABLE(engine_routes, rows);
