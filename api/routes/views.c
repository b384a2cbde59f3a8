/* SPDX-License-Identifier: Apache-2.0 */
/* views.c - routes of saved views of lists. */
#include "api/pipeline.h"
#include "tenants/identity/saved_view.h"

static bool check_list(struct str s, const char **why)
{
    *why = "be the address of a list, as /v1/jobs";
    return str_starts(s, "/v1/") && check_name(s, why);
}

struct view_put_in { struct str list, name, query; bool shared; };
SCHEMA_OF(view_put_in, "A view to save",
    FIELD(view_put_in, list, F_REQ, .min = 4, .max = 128, .check = check_list, .example = "/v1/jobs", .doc = "The list it is of"),
    FIELD(view_put_in, name, F_REQ, .min = 1, .max = 64, .check = check_name,
          .doc = "Its name; one of the same name is replaced"),
    FIELD(view_put_in, query, F_REQ, .min = 0, .max = 4096, .example = "?state=FAILED",
          .doc = "Filters, order and columns, as the query of the list's address"),
    FIELD(view_put_in, shared, 0, .dflt = "false", .doc = "Let everybody of the tenant see it"));
struct view_ref { struct uuid view_id; };
SCHEMA_OF(view_ref, "Which view", FIELD_ID(view_ref, view_id, "viw", F_PATH, .doc = "The view"));
struct view_page { PAGE_IN; struct str list; };
SCHEMA_OF(view_page, "Which views", PAGE_IN_FIELDS(view_page),
    FIELD(view_page, list, F_QUERY, .min = 4, .max = 128, .check = check_list, .doc = "Only views of this list"));

static enum errc put(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct view_put_in *in = in_;
    const struct saved_view v = { .list = in->list, .name = in->name, .query = in->query, .shared = in->shared };
    TRY(saved_view_put(w, &v, out, e));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("list", in->list));
    return ERR_OK;
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct view_page *page = in;
    return PAGE_BY_ID(w, page, out, saved_view, view_id, saved_view_list(w, page->list, after, limit, rows, e), e);
}

static enum errc delete(struct work *w, const void *in, void *out, struct err *e)
{
    (void)out;
    return saved_view_delete(w, ((const struct view_ref *)in)->view_id, e);
}

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v1/views", .lane = LANE_CALLS,
      .op = "view_list", .perm = PERM_SIGNED_IN, .handler = list, .in = &view_page_schema, .status = 200,
      .out = &saved_view_schema, .flags = R_LIST, .doc = "The caller's saved views of lists, and those that others share" },
    { .method = HTTP_POST, .path = "/v1/views", .lane = LANE_CALLS,
      .op = "view_put", .perm = PERM_SIGNED_IN, .handler = put, .in = &view_put_in_schema, .status = 201,
      .out = &saved_view_schema, .flags = R_IDEMPOTENT, .rate = RL_WRITE, .resource = "view",
      .audited = true, .audit = AUDIT_VIEW_SET, .doc = "Save a view of a list; the caller's own of the same name is replaced" },
    { .method = HTTP_DELETE, .path = "/v1/views/{view_id}", .lane = LANE_CALLS,
      .op = "view_delete", .perm = PERM_SIGNED_IN, .handler = delete, .in = &view_ref_schema, .status = 204,
      .rate = RL_WRITE, .resource = "view", .audited = true, .audit = AUDIT_VIEW_SET,
      .doc = "Remove a view: the caller's own, or a shared one where the caller manages users" },
};
extern const struct route_table view_routes;
ROUTE_TABLE(view_routes, rows);
