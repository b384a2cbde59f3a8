/* SPDX-License-Identifier: Apache-2.0 */
/* secrets.c - routes of secrets. None answers with a value: what is set comes in as the bytes of a body, and goes out by the
 * keys of leases alone (lease_objects.c). */
#include "api/pipeline.h"
#include "audit/event.h"
#include "registry/catalog/secret.h"
#include "scheduler/jobs/secret_use.h"

SCHEMA_OF(secret_new, "A secret to name; its value is set afterwards",
    FIELD_ID(secret_new, project_id, "prj", 0, .doc = "Whose jobs may name it; absent: jobs of any project of the tenant"),
    FIELD(secret_new, name, F_REQ, .min = 1, .max = 63, .check = check_slug, .example = "registry-token",
        .doc = "Its name, as jobs say it"),
    FIELD(secret_new, description, 0, .max = 256, .doc = "What it is for; everybody who sees the name reads it"),
    FIELD(secret_new, zone, 0, .max = 63, .check = check_slug,
        .doc = "Where it lies, and with it the jobs that use it; absent: the home zone"));
struct secret_ref { struct uuid secret_id; };
SCHEMA_OF(secret_ref, "Which secret", FIELD_ID(secret_ref, secret_id, "sec", F_PATH, .doc = "The secret"));
struct secret_page { PAGE_IN; struct str name; };
SCHEMA_OF(secret_page, "Which secrets", PAGE_IN_FIELDS(secret_page),
    FIELD(secret_page, name, F_QUERY, .min = 1, .max = 63, .check = check_slug, .doc = "Only of this name"));
struct secret_parts { PAGE_IN; struct uuid secret_id; };
SCHEMA_OF(secret_parts, "Of which secret", PAGE_IN_FIELDS(secret_parts), FIELD_ID(secret_parts, secret_id, "sec", F_PATH,
    .doc = "The secret"));
struct secret_patch { struct uuid secret_id; bool has_state; int state; struct str description; };
SCHEMA_OF(secret_patch, "What to change; what is absent stays",
    FIELD_ID(secret_patch, secret_id, "sec", F_PATH, .doc = "The secret"),
    FIELD_ENUM_OPT(secret_patch, state, 0, secret_state_names,
        .doc = "DISABLED: no job gets it, also none that waits; ACTIVE again"),
    FIELD(secret_patch, description, 0, .max = 256, .doc = "What it is for"));

static enum errc create(struct work *w, const void *in, void *out, struct err *e)
{
    struct secret *s = out;
    TRY(secret_create(w, in, s, e));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("secret", s->name));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("zone", s->zone));
    return ERR_OK;
}

static enum errc read(struct work *w, const void *in, void *out, struct err *e)
{
    return secret_get(w, ((const struct secret_ref *)in)->secret_id, out, e);
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct secret_page *page = in;
    return PAGE_BY_ID(w, page, out, secret, secret_id, secret_list(w, page->name, after, limit, rows, e), e);
}

static enum errc set_value(struct work *w, const void *in, void *out, struct err *e)
{
    struct secret_version *v = out;
    TRY(secret_set_value(w, ((const struct secret_ref *)in)->secret_id, call_of(w)->body, v, e));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_INT("value_version", v->value_version));
    return ERR_OK;
}

static enum errc change(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct secret_patch *in = in_;
    struct secret *s = out;
    const struct secret_change c = { in->has_state, in->state, in->description };
    TRY(secret_set(w, in->secret_id, &c, call_of(w)->if_match, s, e));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("secret", s->name));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("state", str_c(secret_state_names[s->state])));
    return ERR_OK;
}

static enum errc delete(struct work *w, const void *in, void *out, struct err *e)
{
    const struct secret_ref *ref = in;
    struct secret s;
    (void)out;
    TRY(secret_get(w, ref->secret_id, &s, e));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("secret", s.name));
    return secret_delete(w, ref->secret_id, call_of(w)->if_match, e);
}

static enum errc versions(struct work *w, const void *in, void *out, struct err *e)
{
    const struct secret_parts *page = in;
    return PAGE_BY_NUMBER(w, page, out, secret_version, value_version,
                          secret_version_list(w, page->secret_id, after, limit, rows, e), e);
}

static enum errc uses(struct work *w, const void *in, void *out, struct err *e)
{
    const struct secret_parts *page = in;
    return PAGE_BY_ID(w, page, out, secret_use, job_id, secret_uses(w, page->secret_id, after, limit, rows, e), e);
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/secrets", .lane = LANE_CALLS,
      .op = "secret_create", .perm = PERM_SECRET_MANAGE, .handler = create, .in = &secret_new_schema, .status = 201,
      .out = &secret_schema, .flags = R_IDEMPOTENT, .rate = RL_WRITE, .resource = "secret", .audited = true,
          .audit = AUDIT_SECRET_SET,
      .doc = "Name a secret; PUT /v1/secrets/{secret_id}/value gives it its value" },
    { .method = HTTP_GET, .path = "/v1/secrets", .lane = LANE_CALLS,
      .op = "secret_list", .perm = PERM_SECRET_READ, .handler = list, .in = &secret_page_schema, .status = 200,
      .out = &secret_schema, .flags = R_LIST, .doc = "The secrets that the caller may see, newest first, without values" },
    { .method = HTTP_GET, .path = "/v1/secrets/{secret_id}", .lane = LANE_CALLS,
      .op = "secret_get", .perm = PERM_SECRET_READ, .handler = read, .in = &secret_ref_schema, .status = 200,
      .out = &secret_schema, .resource = "secret", .doc = "How one secret stands" },
    { .method = HTTP_PUT, .path = "/v1/secrets/{secret_id}/value", .lane = LANE_CONTENT,
      .op = "secret_set_value", .perm = PERM_SECRET_MANAGE, .handler = set_value, .in = &secret_ref_schema, .status = 201,
      .out = &secret_version_schema, .flags = R_UPLOAD, .rate = RL_WRITE, .resource = "secret", .audited = true,
      .audit = AUDIT_SECRET_SET, .content_type = "application/octet-stream",
      .doc = "Give the secret a value, 8 to 32,768 bytes of anything: its next version. Jobs submitted from now on get it; no "
             "call gives it back" },
    { .method = HTTP_PATCH, .path = "/v1/secrets/{secret_id}", .lane = LANE_CALLS,
      .op = "secret_set", .perm = PERM_SECRET_MANAGE, .handler = change, .in = &secret_patch_schema, .status = 200,
      .out = &secret_schema, .flags = R_IF_MATCH, .rate = RL_WRITE, .resource = "secret", .audited = true,
          .audit = AUDIT_SECRET_SET,
      .doc = "Disable a secret, so that no job gets it from now on, enable it again, or say what it is for" },
    { .method = HTTP_DELETE, .path = "/v1/secrets/{secret_id}", .lane = LANE_CALLS,
      .op = "secret_delete", .perm = PERM_SECRET_MANAGE, .handler = delete, .in = &secret_ref_schema, .status = 204,
      .flags = R_IF_MATCH, .rate = RL_WRITE, .resource = "secret", .audited = true, .audit = AUDIT_SECRET_SET,
      .doc = "Forget a secret and the keys of all its values; refused while jobs that have not ended name it, unless it is "
          "disabled" },
    { .method = HTTP_GET, .path = "/v1/secrets/{secret_id}/versions", .lane = LANE_CALLS,
      .op = "secret_versions", .perm = PERM_SECRET_READ, .handler = versions, .in = &secret_parts_schema, .status = 200,
      .out = &secret_version_schema, .flags = R_LIST, .resource = "secret",
          .doc = "When it was given values, and by whom, newest first" },
    { .method = HTTP_GET, .path = "/v1/secrets/{secret_id}/uses", .lane = LANE_CALLS,
      .op = "secret_uses", .perm = PERM_SECRET_READ, .handler = uses, .in = &secret_parts_schema, .status = 200,
      .out = &secret_use_schema, .flags = R_LIST, .resource = "secret", .doc = "The jobs that name it, newest first" },
};
extern const struct route_table secret_routes;
ROUTE_TABLE(secret_routes, rows);
