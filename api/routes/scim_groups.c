/* SPDX-License-Identifier: Apache-2.0 */
/* scim_groups.c - routes of SCIM Groups (RFC 7644, 3). The caller is a tenant's identity provider; what it may do is in tenants/identity/scim_group.h. */
#include "api/pipeline.h"
#include "api/scim_call.h"
#include "tenants/identity/scim_group.h"

struct scim_group_page { struct str filter, attributes, excluded; int64_t start, count; };
SCHEMA_OF(scim_group_page, "Which groups",
    FIELD(scim_group_page, filter, F_QUERY, .max = SCIM_FILTER_MAX, .doc = "Only those that match (RFC 7644, 3.4.2.2)"),
    FIELD(scim_group_page, attributes, F_QUERY, .max = 1024, .doc = "Show only these, separated by commas"),
    FIELD_AS(scim_group_page, excluded, "excludedAttributes", F_QUERY, .max = 1024, .doc = "Show all but these, separated by commas"),
    FIELD_AS(scim_group_page, start, "startIndex", F_QUERY, .dflt = "1", .doc = "The first to show, counted from 1"),
    FIELD(scim_group_page, count, F_QUERY, .dflt = "100", .doc = "How many to show; at most 200 are"));
struct scim_group_ref { struct uuid group_id; struct str attributes, excluded; };
SCHEMA_OF(scim_group_ref, "Which group", FIELD_ID(scim_group_ref, group_id, "grp", F_PATH, .doc = "The group"),
    FIELD(scim_group_ref, attributes, F_QUERY, .max = 1024, .doc = "Show only these, separated by commas"),
    FIELD_AS(scim_group_ref, excluded, "excludedAttributes", F_QUERY, .max = 1024, .doc = "Show all but these, separated by commas"));
struct scim_group_new { struct str attributes, excluded; };
SCHEMA_OF(scim_group_new, "What to show of a new group",
    FIELD(scim_group_new, attributes, F_QUERY, .max = 1024, .doc = "Show only these, separated by commas"),
    FIELD_AS(scim_group_new, excluded, "excludedAttributes", F_QUERY, .max = 1024, .doc = "Show all but these, separated by commas"));
struct scim_group_gone { struct uuid group_id; };
SCHEMA_OF(scim_group_gone, "Which group", FIELD_ID(scim_group_gone, group_id, "grp", F_PATH, .doc = "The group"));
struct scim_group_out { struct uuid group_id; struct json body; };
SCHEMA_OF(scim_group_out, "A SCIM answer", FIELD_ID(scim_group_out, group_id, "grp", 0, .doc = "The group, when it is one"),
    FIELD(scim_group_out, body, 0, .doc = "The answer"));

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct scim_group_page *p = in;
    struct scim_answer a = { 0 };
    TRY(scim_group_list(w, &(struct scim_query){ p->filter, p->start, p->count, { p->attributes, p->excluded } }, &a, e));
    ((struct scim_group_out *)out)->body = a.body;
    return ERR_OK;
}

static enum errc read_one(struct work *w, const void *in, void *out, struct err *e)
{
    const struct scim_group_ref *r = in;
    struct scim_answer a = { 0 };
    TRY(scim_group_get(w, r->group_id, &(struct scim_select){ r->attributes, r->excluded }, &a, e));
    *(struct scim_group_out *)out = (struct scim_group_out){ a.id, a.body };
    call_of(w)->etag = a.etag;
    return ERR_OK;
}

static enum errc write_with(struct work *w, scim_change_fn fn, const char *op, struct uuid id, struct scim_select select, void *out, struct err *e)
{
    struct scim_answer a;
    TRY(scim_change(call_of(w), fn, op, id, select, &a, e));
    *(struct scim_group_out *)out = (struct scim_group_out){ a.id, a.body };
    return ERR_OK;
}

static enum errc create(struct work *w, const void *in, void *out, struct err *e)
{
    const struct scim_group_new *n = in;
    return write_with(w, scim_group_create, "create", UUID_NIL, (struct scim_select){ n->attributes, n->excluded }, out, e);
}

static enum errc replace(struct work *w, const void *in, void *out, struct err *e)
{
    const struct scim_group_ref *r = in;
    return write_with(w, scim_group_replace, "replace", r->group_id, (struct scim_select){ r->attributes, r->excluded }, out, e);
}

static enum errc patch(struct work *w, const void *in, void *out, struct err *e)
{
    const struct scim_group_ref *r = in;
    return write_with(w, scim_group_patch, "patch", r->group_id, (struct scim_select){ r->attributes, r->excluded }, out, e);
}

static enum errc delete(struct work *w, const void *in, void *out, struct err *e)
{
    return write_with(w, scim_group_delete, "delete", ((const struct scim_group_gone *)in)->group_id, (struct scim_select){ STR_NULL, STR_NULL }, out, e);
}

#define WRITE .perm = PERM_SCIM_PROVISION, .flags = R_SCIM, .rate = RL_WRITE, .resource = "group", .audited = true, .audit = AUDIT_SCIM_CHANGE
static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/scim/v2/Groups", .lane = LANE_CALLS,
      .op = "scim_group_list", .perm = PERM_SCIM_PROVISION, .handler = list, .in = &scim_group_page_schema,
      .status = 200, .out = &scim_group_out_schema, .flags = R_SCIM, .doc = "List or look for groups, as SCIM has them" },
    { .method = HTTP_GET, .path = "/scim/v2/Groups/{group_id}", .lane = LANE_CALLS,
      .op = "scim_group_get", .perm = PERM_SCIM_PROVISION, .handler = read_one,
      .in = &scim_group_ref_schema, .status = 200, .out = &scim_group_out_schema, .flags = R_SCIM, .doc = "Read one group, as SCIM has it" },
    { .method = HTTP_POST, .path = "/scim/v2/Groups", .lane = LANE_CALLS,
      .op = "scim_group_create", .handler = create, .in = &scim_group_new_schema, .status = 201,
      .out = &scim_group_out_schema, WRITE, .doc = "Provision a group" },
    { .method = HTTP_PUT, .path = "/scim/v2/Groups/{group_id}", .lane = LANE_CALLS,
      .op = "scim_group_replace", .handler = replace, .in = &scim_group_ref_schema, .status = 200,
      .out = &scim_group_out_schema, WRITE, .doc = "Replace what is kept of a group" },
    { .method = HTTP_PATCH, .path = "/scim/v2/Groups/{group_id}", .lane = LANE_CALLS,
      .op = "scim_group_patch", .handler = patch, .in = &scim_group_ref_schema, .status = 200,
      .out = &scim_group_out_schema, WRITE, .doc = "Change a group" },
    { .method = HTTP_DELETE, .path = "/scim/v2/Groups/{group_id}", .lane = LANE_CALLS,
      .op = "scim_group_delete", .handler = delete, .in = &scim_group_gone_schema, .status = 204,
      .out = &scim_group_out_schema, WRITE, .doc = "Remove a group" },
};
extern const struct route_table scim_group_routes;
ROUTE_TABLE(scim_group_routes, rows);
