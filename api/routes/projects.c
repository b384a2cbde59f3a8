/* SPDX-License-Identifier: Apache-2.0 */
/* projects.c - routes of projects. */
#include "api/route.h"
#include "core/db/list_find.h"
#include "tenants/home/project.h"

static const char *const project_states[] = { "ACTIVE", "CLOSED", NULL };

struct project_ref { struct uuid project_id; };
SCHEMA_OF(project_ref, "Which project", FIELD_ID(project_ref, project_id, "prj", F_PATH, .doc = "The project"));
struct project_new { struct str name; SHOWN_NAME; };
SCHEMA_OF(project_new, "A project to create",
    FIELD(project_new, name, F_REQ, .min = 1, .max = 63, .check = check_slug, .doc = "Short name, unique in the tenant"),
    SHOWN_NAME_IN(project_new));
struct project_edit { struct uuid project_id; struct str name; SHOWN_NAME; };
SCHEMA_OF(project_edit, "What to change of a project", FIELD_ID(project_edit, project_id, "prj", F_PATH, .doc = "The project"),
    FIELD(project_edit, name, 0, .min = 1, .max = 63, .check = check_slug, .doc = "New short name"),
    SHOWN_NAME_IN(project_edit));
struct project_page_in { PAGE_IN; struct str name, q; int state, sort; bool has_state; };
SCHEMA_OF(project_page_in, "Which projects", PAGE_IN_FIELDS(project_page_in),
    FIELD(project_page_in, name, F_QUERY, .min = 1, .max = 63, .check = check_slug, .doc = "Only projects whose name begins so"),
    FIELD(project_page_in, q, F_QUERY, .min = LIST_Q_MIN, .max = LIST_Q_MAX, .check = check_name, .doc = "Only projects one of whose names contains this, in any case"),
    FIELD_ENUM_OPT(project_page_in, state, F_QUERY, project_states, .doc = "Only projects in this state"),
    FIELD_ENUM(project_page_in, sort, F_QUERY, list_sort_names, .dflt = "-created", .doc = "Order; - is descending"));

static enum errc create(struct work *w, const void *in, void *out, struct err *e)
{
    const struct project_new *p = in;
    return project_create(w, p->name, &SHOWN_NAME_OF(p), out, e);
}

static enum errc read_one(struct work *w, const void *in, void *out, struct err *e)
{
    return project_get(w, ((const struct project_ref *)in)->project_id, out, e);
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct project_page_in *page = in;
    struct project_filter f = { page->name, page->has_state ? str_c(project_states[page->state]) : STR_NULL, page->q,
                                str_c(list_sort_names[page->sort]) };
    return PAGE_BY_ID(w, page, out, project, project_id, project_list(w, &f, after, limit, rows, e), e);
}

static enum errc change(struct work *w, const void *in, void *out, struct err *e)
{
    const struct project_edit *p = in;
    return project_update(w, p->project_id, p->name, &SHOWN_NAME_OF(p), call_of(w)->if_match, out, e);
}

static enum errc close_it(struct work *w, const void *in, void *out, struct err *e)
{
    return project_close(w, ((const struct project_ref *)in)->project_id, call_of(w)->if_match, out, e);
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/projects", .lane = LANE_CALLS,
      .op = "project_create", .perm = PERM_PROJECT_MANAGE, .handler = create,
      .in = &project_new_schema, .status = 201, .out = &project_schema, .flags = R_IDEMPOTENT, .rate = RL_WRITE, .resource = "project",
      .audited = true, .audit = AUDIT_PROJECT_CREATE, .doc = "Create a project" },
    { .method = HTTP_GET, .path = "/v1/projects", .lane = LANE_CALLS,
      .op = "project_list", .perm = PERM_PROJECT_READ, .handler = list, .in = &project_page_in_schema,
      .status = 200, .out = &project_schema, .flags = R_LIST, .doc = "List projects" },
    { .method = HTTP_GET, .path = "/v1/projects/{project_id}", .lane = LANE_CALLS,
      .op = "project_get", .perm = PERM_PROJECT_READ, .handler = read_one,
      .in = &project_ref_schema, .status = 200, .out = &project_schema, .resource = "project", .doc = "Read one project" },
    { .method = HTTP_PATCH, .path = "/v1/projects/{project_id}", .lane = LANE_CALLS,
      .op = "project_update", .perm = PERM_PROJECT_MANAGE, .handler = change,
      .in = &project_edit_schema, .status = 200, .out = &project_schema, .flags = R_IF_MATCH, .rate = RL_WRITE, .resource = "project",
      .audited = true, .audit = AUDIT_PROJECT_UPDATE, .doc = "Rename a project" },
    { .method = HTTP_POST, .path = "/v1/projects/{project_id}/close", .lane = LANE_CALLS,
      .op = "project_close", .perm = PERM_PROJECT_MANAGE, .handler = close_it,
      .in = &project_ref_schema, .status = 200, .out = &project_schema, .flags = R_IF_MATCH, .rate = RL_WRITE, .resource = "project",
      .audited = true, .audit = AUDIT_PROJECT_REVOKE, .doc = "Close a project: its things stay readable, nothing new begins in it" },
};
extern const struct route_table project_routes;
ROUTE_TABLE(project_routes, rows);
