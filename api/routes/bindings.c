/* SPDX-License-Identifier: Apache-2.0 */
/* bindings.c - routes of role bindings. */
#include "api/pipeline.h"
#include "core/db/tx.h"
#include "tenants/access/binding.h"

struct binding_create_in {
    struct uuid user_id;
    struct str role;
    int place;
    bool has_place;
    struct str zone;
    struct uuid project_id;
    struct timestamp valid_from, valid_until;
    int64_t mfa_age_seconds;
    bool has_mfa_age_seconds;
    struct slice cidrs, in_zones;
};
SCHEMA_OF(binding_create_in, "A role to grant", FIELD_ID(binding_create_in, user_id, "usr", F_REQ, .doc = "To whom"),
    FIELD(binding_create_in, role, F_REQ, .min = 1, .max = 64, .check = check_slug, .doc = "Which role"),
    FIELD_ENUM_OPT(binding_create_in, place, 0, binding_place_names, .doc = "Where; absent: by zone or project_id, else the whole tenant or platform"),
    FIELD(binding_create_in, zone, 0, .min = 2, .max = 31, .check = check_slug, .doc = "The zone, of a role held in a zone"),
    FIELD_ID(binding_create_in, project_id, "prj", 0, .doc = "The project, of a role held in a project"),
    FIELD(binding_create_in, valid_from, 0, .doc = "Holds from then on"), FIELD(binding_create_in, valid_until, 0, .doc = "Holds until then"),
    FIELD_OPT(binding_create_in, mfa_age_seconds, 0, .min = 60, .max = 86400, .doc = "Holds with a second factor at most so old"),
    FIELD_STRS(binding_create_in, cidrs, 0, .max = 16, .doc = "Holds from these networks only"),
    FIELD_STRS(binding_create_in, in_zones, 0, .max = 16, .doc = "Holds on resources of these zones only"));
struct binding_ref { struct uuid binding_id; };
SCHEMA_OF(binding_ref, "Which binding", FIELD_ID(binding_ref, binding_id, "rlb", F_PATH, .doc = "The binding"));
struct binding_page {
    PAGE_IN;
    struct uuid user_id, project_id;
    struct str role, zone;
    int place;
    bool has_place;
};
SCHEMA_OF(binding_page, "Which bindings", PAGE_IN_FIELDS(binding_page),
    FIELD_ID(binding_page, user_id, "usr", F_QUERY, .doc = "Only of this user"),
    FIELD_ID(binding_page, project_id, "prj", F_QUERY, .doc = "Only in this project"),
    FIELD(binding_page, role, F_QUERY, .min = 1, .max = 64, .check = check_slug, .doc = "Only of this role"),
    FIELD_ENUM_OPT(binding_page, place, F_QUERY, binding_place_names, .doc = "Only at such a place"),
    FIELD(binding_page, zone, F_QUERY, .min = 2, .max = 31, .check = check_slug, .doc = "Only of roles held in this zone"));

static enum errc grant(struct work *w, const void *in, void *out, struct err *e)
{
    const struct binding_create_in *b = in;
    struct binding_new wanted = { b->user_id, b->role, b->place, b->has_place, b->zone, b->project_id, b->valid_from, b->valid_until,
                                  b->mfa_age_seconds, b->cidrs, b->in_zones, STR_NULL };
    TRY(binding_grant(w, &wanted, out, e));
    struct audit_event *ev = &call_of(w)->audit;
    const struct role_binding *made = out;
    audit_event_detail(ev, AUDIT_D_STR("role", made->role));
    audit_event_detail(ev, AUDIT_D_STR("place", made->place));
    audit_event_detail(ev, AUDIT_D_STR("user", id_text(w->arena, "usr", made->user_id)));
    pipeline_forget_user(w, w->tenant_id, b->user_id);
    return ERR_OK;
}

static enum errc revoke(struct work *w, const void *in, void *out, struct err *e)
{
    (void)out;
    TRY(role_revoke(w, ((const struct binding_ref *)in)->binding_id, e));
    pipeline_forget_user(w, w->tenant_id, UUID_NIL);
    return ERR_OK;
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct binding_page *page = in;
    struct binding_filter f = { page->user_id, page->project_id, page->role, page->has_place ? str_c(binding_place_names[page->place]) : STR_NULL,
                                page->zone };
    return PAGE_BY_ID(w, page, out, role_binding, binding_id, role_binding_list(w, &f, after, limit, rows, e), e);
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/role-bindings", .lane = LANE_CALLS,
      .op = "role_grant", .perm = PERM_ROLE_GRANT, .handler = grant,
      .in = &binding_create_in_schema, .status = 201, .out = &role_binding_schema, .flags = R_IDEMPOTENT | R_STEP_UP, .rate = RL_WRITE, .resource = "binding",
      .audited = true, .audit = AUDIT_ROLE_GRANT,
      .doc = "Grant a role, where and under which conditions; never beyond what the granter holds there" },
    { .method = HTTP_GET, .path = "/v1/role-bindings", .lane = LANE_CALLS,
      .op = "role_binding_list", .perm = PERM_USER_READ, .handler = list,
      .in = &binding_page_schema, .status = 200, .out = &role_binding_schema, .flags = R_LIST, .doc = "List role bindings" },
    { .method = HTTP_DELETE, .path = "/v1/role-bindings/{binding_id}", .lane = LANE_CALLS,
      .op = "role_revoke", .perm = PERM_ROLE_GRANT, .handler = revoke,
      .in = &binding_ref_schema, .status = 204, .flags = R_STEP_UP, .rate = RL_WRITE, .resource = "binding", .audited = true, .audit = AUDIT_ROLE_REVOKE,
      .doc = "Take a role back; the last administrator keeps it" },
};
extern const struct route_table binding_routes;
ROUTE_TABLE(binding_routes, rows);
