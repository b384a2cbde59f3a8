/* SPDX-License-Identifier: Apache-2.0 */
/* scim_users.c - routes of SCIM Users (RFC 7644, 3). The caller is a tenant's identity provider; what it may do is in tenants/identity/scim_user.h. */
#include "api/pipeline.h"
#include "api/scim_call.h"
#include "core/db/tx.h"
#include "tenants/identity/authn.h"
#include "tenants/identity/scim_user.h"
#include "tenants/identity/session_authn.h"

struct scim_user_page { struct str filter, attributes, excluded; int64_t start, count; };
SCHEMA_OF(scim_user_page, "Which users",
    FIELD(scim_user_page, filter, F_QUERY, .max = SCIM_FILTER_MAX, .doc = "Only those that match (RFC 7644, 3.4.2.2)"),
    FIELD(scim_user_page, attributes, F_QUERY, .max = 1024, .doc = "Show only these, separated by commas"),
    FIELD_AS(scim_user_page, excluded, "excludedAttributes", F_QUERY, .max = 1024, .doc = "Show all but these, separated by commas"),
    FIELD_AS(scim_user_page, start, "startIndex", F_QUERY, .dflt = "1", .doc = "The first to show, counted from 1"),
    FIELD(scim_user_page, count, F_QUERY, .dflt = "100", .doc = "How many to show; at most 200 are"));
struct scim_user_ref { struct uuid user_id; struct str attributes, excluded; };
SCHEMA_OF(scim_user_ref, "Which user", FIELD_ID(scim_user_ref, user_id, "usr", F_PATH, .doc = "The user"),
    FIELD(scim_user_ref, attributes, F_QUERY, .max = 1024, .doc = "Show only these, separated by commas"),
    FIELD_AS(scim_user_ref, excluded, "excludedAttributes", F_QUERY, .max = 1024, .doc = "Show all but these, separated by commas"));
struct scim_user_new { struct str attributes, excluded; };
SCHEMA_OF(scim_user_new, "What to show of a new user",
    FIELD(scim_user_new, attributes, F_QUERY, .max = 1024, .doc = "Show only these, separated by commas"),
    FIELD_AS(scim_user_new, excluded, "excludedAttributes", F_QUERY, .max = 1024, .doc = "Show all but these, separated by commas"));
struct scim_user_gone { struct uuid user_id; };
SCHEMA_OF(scim_user_gone, "Which user", FIELD_ID(scim_user_gone, user_id, "usr", F_PATH, .doc = "The user"));
struct scim_user_out { struct uuid user_id; struct json body; };
SCHEMA_OF(scim_user_out, "A SCIM answer", FIELD_ID(scim_user_out, user_id, "usr", 0, .doc = "The user, when it is one"),
    FIELD(scim_user_out, body, 0, .doc = "The answer"));

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct scim_user_page *p = in;
    struct scim_answer a = { 0 };
    TRY(scim_user_list(w, &(struct scim_query){ p->filter, p->start, p->count, { p->attributes, p->excluded } }, &a, e));
    ((struct scim_user_out *)out)->body = a.body;
    return ERR_OK;
}

static enum errc read_one(struct work *w, const void *in, void *out, struct err *e)
{
    const struct scim_user_ref *r = in;
    struct scim_answer a = { 0 };
    TRY(scim_user_get(w, r->user_id, &(struct scim_select){ r->attributes, r->excluded }, &a, e));
    *(struct scim_user_out *)out = (struct scim_user_out){ a.id, a.body };
    call_of(w)->etag = a.etag;
    return ERR_OK;
}

struct ended {
    struct pipeline *pipeline;
    struct uuid tenant_id, user_id;
};

static void forget_user(void *ctx)
{
    struct ended *f = ctx;
    authn_forget_user(pipeline_authn(f->pipeline), f->tenant_id, f->user_id);
    session_forget_user(pipeline_sessions(f->pipeline), f->tenant_id, f->user_id);
}

static enum errc write_with(struct work *w, scim_change_fn fn, const char *op, struct uuid id, struct scim_select select, void *out, struct err *e)
{
    struct scim_answer a;
    TRY(scim_change(call_of(w), fn, op, id, select, &a, e));
    if (a.was_ended) {
        struct ended *f = ARENA_NEW(w->arena, struct ended);
        *f = (struct ended){ pipeline_of(w), w->tenant_id, id };
        audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("access", STR("ended")));
        db_after_commit(w->tx, forget_user, f);
    }
    *(struct scim_user_out *)out = (struct scim_user_out){ a.id, a.body };
    return ERR_OK;
}

static enum errc create(struct work *w, const void *in, void *out, struct err *e)
{
    const struct scim_user_new *n = in;
    return write_with(w, scim_user_create, "create", UUID_NIL, (struct scim_select){ n->attributes, n->excluded }, out, e);
}

static enum errc replace(struct work *w, const void *in, void *out, struct err *e)
{
    const struct scim_user_ref *r = in;
    return write_with(w, scim_user_replace, "replace", r->user_id, (struct scim_select){ r->attributes, r->excluded }, out, e);
}

static enum errc patch(struct work *w, const void *in, void *out, struct err *e)
{
    const struct scim_user_ref *r = in;
    return write_with(w, scim_user_patch, "patch", r->user_id, (struct scim_select){ r->attributes, r->excluded }, out, e);
}

static enum errc delete(struct work *w, const void *in, void *out, struct err *e)
{
    return write_with(w, scim_user_delete, "delete", ((const struct scim_user_gone *)in)->user_id, (struct scim_select){ STR_NULL, STR_NULL }, out, e);
}

#define WRITE .perm = PERM_SCIM_PROVISION, .flags = R_SCIM, .rate = RL_WRITE, .resource = "user", .audited = true, .audit = AUDIT_SCIM_CHANGE
static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/scim/v2/Users", .lane = LANE_CALLS,
      .op = "scim_user_list", .perm = PERM_SCIM_PROVISION, .handler = list, .in = &scim_user_page_schema,
      .status = 200, .out = &scim_user_out_schema, .flags = R_SCIM, .doc = "List or look for users, as SCIM has them" },
    { .method = HTTP_GET, .path = "/scim/v2/Users/{user_id}", .lane = LANE_CALLS,
      .op = "scim_user_get", .perm = PERM_SCIM_PROVISION, .handler = read_one,
      .in = &scim_user_ref_schema, .status = 200, .out = &scim_user_out_schema, .flags = R_SCIM, .doc = "Read one user, as SCIM has it" },
    { .method = HTTP_POST, .path = "/scim/v2/Users", .lane = LANE_CALLS,
      .op = "scim_user_create", .handler = create, .in = &scim_user_new_schema, .status = 201,
      .out = &scim_user_out_schema, WRITE, .doc = "Provision a user" },
    { .method = HTTP_PUT, .path = "/scim/v2/Users/{user_id}", .lane = LANE_CALLS,
      .op = "scim_user_replace", .handler = replace, .in = &scim_user_ref_schema, .status = 200,
      .out = &scim_user_out_schema, WRITE, .doc = "Replace what is kept of a user" },
    { .method = HTTP_PATCH, .path = "/scim/v2/Users/{user_id}", .lane = LANE_CALLS,
      .op = "scim_user_patch", .handler = patch, .in = &scim_user_ref_schema, .status = 200,
      .out = &scim_user_out_schema, WRITE, .doc = "Change a user" },
    { .method = HTTP_DELETE, .path = "/scim/v2/Users/{user_id}", .lane = LANE_CALLS,
      .op = "scim_user_delete", .handler = delete, .in = &scim_user_gone_schema, .status = 204,
      .out = &scim_user_out_schema, WRITE, .doc = "Remove a user" },
};
extern const struct route_table scim_user_routes;
ROUTE_TABLE(scim_user_routes, rows);
