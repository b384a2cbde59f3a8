/* SPDX-License-Identifier: Apache-2.0 */
/* groups.c - routes of groups: who is in one the tenant's identity provider says (scim_groups.c), which role that gives is said here. */
#include "api/pipeline.h"
#include "tenants/identity/user_group.h"

struct group_ref { struct uuid group_id; };
SCHEMA_OF(group_ref, "Which group", FIELD_ID(group_ref, group_id, "grp", F_PATH, .doc = "The group"));
struct group_page { PAGE_IN; };
SCHEMA_OF(group_page, "Which groups", PAGE_IN_FIELDS(group_page));
struct group_role_in { struct uuid group_id; struct str role; };
SCHEMA_OF(group_role_in, "The role that a group gives", FIELD_ID(group_role_in, group_id, "grp", F_PATH, .doc = "The group"),
    FIELD(group_role_in, role, F_REQ, .min = 1, .max = 64, .check = check_slug, .doc = "The role its members are to hold in the whole tenant"));

static enum errc read_one(struct work *w, const void *in, void *out, struct err *e)
{
    return user_group_get(w, ((const struct group_ref *)in)->group_id, out, e);
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct group_page *page = in;
    return PAGE_BY_ID(w, page, out, user_group, group_id, user_group_list(w, after, limit, rows, e), e);
}

static enum errc set_role(struct work *w, const void *in, void *out, struct err *e)
{
    const struct group_role_in *g = in;
    TRY(group_role_set(w, g->group_id, g->role, call_of(w)->if_match, out, e));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("role", g->role));
    return ERR_OK;
}

static enum errc clear_role(struct work *w, const void *in, void *out, struct err *e)
{
    struct user_group g;
    (void)out;
    TRY(group_role_set(w, ((const struct group_ref *)in)->group_id, STR_NULL, -1, &g, e));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("role", STR("none")));
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v1/groups", .lane = LANE_CALLS,
      .op = "group_list", .perm = PERM_USER_READ, .handler = list, .in = &group_page_schema, .status = 200,
      .out = &user_group_schema, .flags = R_LIST, .doc = "List groups" },
    { .method = HTTP_GET, .path = "/v1/groups/{group_id}", .lane = LANE_CALLS,
      .op = "group_get", .perm = PERM_USER_READ, .handler = read_one, .in = &group_ref_schema,
      .status = 200, .out = &user_group_schema, .resource = "group", .doc = "Read one group" },
    { .method = HTTP_PUT, .path = "/v1/groups/{group_id}/role", .lane = LANE_CALLS,
      .op = "group_role_set", .perm = PERM_ROLE_GRANT, .handler = set_role,
      .in = &group_role_in_schema, .status = 200, .out = &user_group_schema, .flags = R_IF_MATCH | R_STEP_UP, .rate = RL_WRITE, .resource = "group",
      .audited = true, .audit = AUDIT_GROUP_SET, .doc = "Give the members of a group a role, never beyond the caller's own" },
    { .method = HTTP_DELETE, .path = "/v1/groups/{group_id}/role", .lane = LANE_CALLS,
      .op = "group_role_clear", .perm = PERM_ROLE_GRANT, .handler = clear_role,
      .in = &group_ref_schema, .status = 204, .flags = R_STEP_UP, .rate = RL_WRITE, .resource = "group", .audited = true, .audit = AUDIT_GROUP_SET,
      .doc = "Take back the role that a group gave; its members lose it at once" },
};
extern const struct route_table group_routes;
ROUTE_TABLE(group_routes, rows);
