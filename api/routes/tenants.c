/* SPDX-License-Identifier: Apache-2.0 */
/* tenants.c - routes of tenants and their hard limits. */
#include "api/route.h"
#include "core/db/list_find.h"
#include "tenants/accounts/quota.h"
#include "tenants/home/tenant.h"
#include "tenants/home/residency.h"
#include "tenants/home/zone_law.h"

struct tenant_create_in {
    struct str name;
    SHOWN_NAME;
    struct str home_zone, admin_name;
    struct slice allowed_zones;
};
SCHEMA_OF(tenant_create_in, "A tenant to create",
    FIELD(tenant_create_in, name, F_REQ, .min = 1, .max = 63, .check = check_slug, .doc = "Short name"),
    SHOWN_NAME_IN(tenant_create_in),
    FIELD(tenant_create_in, home_zone, F_REQ, .min = 2, .max = 31, .check = check_slug, .doc = "Where its data lives"),
    FIELD(tenant_create_in, admin_name, 0, .min = 1, .max = 128, .check = check_name, .doc = "Name of the first administrator"),
    FIELD_STRS(tenant_create_in, allowed_zones, 0, .max = 32, .doc = "Where its data may be; none given: the home zone only"));

struct tenant_create_out {
    struct uuid tenant_id;
    struct str name;
    SHOWN_NAME;
    struct str state, home_zone;
    struct json allowed_zones;
    struct timestamp created_at;
    struct uuid admin_user_id;
    struct str admin_token;
};
SCHEMA_OF(tenant_create_out, "A tenant and its first administrator's token, shown once",
    FIELD_ID(tenant_create_out, tenant_id, "tnt", F_ALWAYS, .doc = "The tenant"),
    FIELD(tenant_create_out, name, F_ALWAYS, .doc = "Short name"),
    SHOWN_NAME_FIELDS(tenant_create_out),
    FIELD(tenant_create_out, state, F_ALWAYS, .doc = "State"),
    FIELD(tenant_create_out, home_zone, F_ALWAYS, .doc = "Where its data lives"),
    FIELD(tenant_create_out, allowed_zones, 0, .doc = "Where its data may be"),
    FIELD(tenant_create_out, created_at, F_ALWAYS, .doc = "When"),
    FIELD_ID(tenant_create_out, admin_user_id, "usr", F_ALWAYS, .doc = "First administrator"),
    FIELD(tenant_create_out, admin_token, F_ALWAYS, .doc = "The administrator's token: shown this once, valid 30 days"));

struct tenant_ref { struct uuid tenant_id; };
SCHEMA_OF(tenant_ref, "Which tenant", FIELD_ID(tenant_ref, tenant_id, "tnt", F_PATH, .doc = "The tenant"));
struct tenant_edit { struct uuid tenant_id; SHOWN_NAME; };
SCHEMA_OF(tenant_edit, "What to change of a tenant", FIELD_ID(tenant_edit, tenant_id, "tnt", F_PATH, .doc = "The tenant"),
    SHOWN_NAME_IN(tenant_edit));
struct tenant_zones_in { struct uuid tenant_id; struct slice allowed_zones, classes; struct str reason; };
SCHEMA_OF(tenant_zones_in, "A change of a tenant's zones to ask for", FIELD_ID(tenant_zones_in, tenant_id, "tnt", F_PATH, .doc = "The tenant"),
    FIELD_STRS(tenant_zones_in, allowed_zones, F_REQ, .min = 1, .max = 32, .doc = "All of them, the home zone among them"),
    FIELD_LIST(tenant_zones_in, classes, &class_zones_schema, F_NOCOL, .max = 7, .doc = "Classes with a list of their own"),
    FIELD(tenant_zones_in, reason, F_REQ, .min = 1, .max = 1024, .check = check_name, .doc = "Why; approvers read it"));
static const char *const tenant_states[] = { "ACTIVE", "SUSPENDED", "DELETING", "DELETED", NULL };
struct tenant_page { PAGE_IN; struct str name, q; int state, sort; bool has_state; };
SCHEMA_OF(tenant_page, "Which tenants", PAGE_IN_FIELDS(tenant_page),
    FIELD(tenant_page, name, F_QUERY, .min = 1, .max = 63, .check = check_slug, .doc = "Only tenants whose name begins so"),
    FIELD(tenant_page, q, F_QUERY, .min = LIST_Q_MIN, .max = LIST_Q_MAX, .check = check_name,
          .doc = "Only tenants one of whose names contains this, in any case"),
    FIELD_ENUM_OPT(tenant_page, state, F_QUERY, tenant_states, .doc = "Only tenants in this state"),
    FIELD_ENUM(tenant_page, sort, F_QUERY, list_sort_names, .dflt = "-created", .doc = "Order; - is descending"));
struct quota_put { struct uuid tenant_id; int resource; int64_t hard_limit; };
SCHEMA_OF(quota_put, "A quota's new limit", FIELD_ID(quota_put, tenant_id, "tnt", F_PATH, .doc = "The tenant"),
    FIELD_ENUM(quota_put, resource, F_PATH, quota_resource_names, .doc = "What is limited"),
    FIELD(quota_put, hard_limit, F_REQ, .min = 0, .max = INT64_C(1) << 60, .doc = "Most that may be held at once"));

static enum errc create(struct work *w, const void *in, void *out, struct err *e)
{
    const struct tenant_create_in *t = in;
    struct tenant_create_out *ret = out;
    struct tenant_new new = { t->name, t->display_name, t->display_name_ar, t->home_zone, t->admin_name, t->allowed_zones };
    struct tenant_created made;
    TRY(tenant_create(w, &new, &made, e));
    *ret = (struct tenant_create_out){ made.tenant.tenant_id, made.tenant.name, made.tenant.display_name,
                                       made.tenant.display_name_ar, made.tenant.state, made.tenant.home_zone,
                                       made.tenant.allowed_zones, made.tenant.created_at, made.admin_user_id,
                                       str_dup(w->arena, str_c(made.admin_token)) };
    return ERR_OK;
}

static enum errc read_one(struct work *w, const void *in, void *out, struct err *e)
{
    return tenant_get(w, ((const struct tenant_ref *)in)->tenant_id, out, e);
}

static enum errc rename_it(struct work *w, const void *in, void *out, struct err *e)
{
    const struct tenant_edit *t = in;
    return tenant_rename(w, t->tenant_id, &SHOWN_NAME_OF(t), call_of(w)->if_match, out, e);
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct tenant_page *page = in;
    struct tenant_filter f = { page->name, page->has_state ? str_c(tenant_states[page->state]) : STR_NULL, page->q,
                               str_c(list_sort_names[page->sort]) };
    return PAGE_BY_ID(w, page, out, tenant, tenant_id, tenant_list(w, &f, after, limit, rows, e), e);
}

static enum errc quotas(struct work *w, const void *in, void *out, struct err *e)
{
    (void)in;
    return quota_list(w, &((struct page_out *)out)->items, e);
}

static enum errc quotas_of(struct work *w, const void *in, void *out, struct err *e)
{
    struct tenant t;
    TRY(tenant_get(w, ((const struct tenant_ref *)in)->tenant_id, &t, e));
    return quotas(w, in, out, e);
}

static enum errc read_zones(struct work *w, const void *in, void *out, struct err *e)
{
    struct tenant t;
    TRY(tenant_get(w, ((const struct tenant_ref *)in)->tenant_id, &t, e));
    return tenant_zones_get(w, out, e);
}

static enum errc put_zones(struct work *w, const void *in, void *out, struct err *e)
{
    const struct tenant_zones_in *z = in;
    struct tenant_zones zones = { z->allowed_zones, z->classes };
    TRY(tenant_zones_request(w, &zones, z->reason, out, e));
    approval_details(out, &call_of(w)->audit);
    return ERR_OK;
}

static enum errc put_quota(struct work *w, const void *in, void *out, struct err *e)
{
    const struct quota_put *q = in;
    return quota_set(w, str_c(quota_resource_names[q->resource]), q->hard_limit, call_of(w)->if_match, out, e);
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/tenants", .lane = LANE_CALLS,
      .op = "tenant_create", .perm = PERM_TENANT_CREATE, .handler = create,
      .in = &tenant_create_in_schema, .status = 201, .out = &tenant_create_out_schema,
      .flags = R_IDEMPOTENT | R_SECRET | R_STEP_UP, .rate = RL_WRITE, .resource = "tenant", .audited = true, .audit = AUDIT_TENANT_CREATE, .doc = "Create a tenant with its first administrator" },
    { .method = HTTP_GET, .path = "/v1/tenants", .lane = LANE_CALLS,
      .op = "tenant_list", .perm = PERM_TENANT_READ, .handler = list, .in = &tenant_page_schema,
      .status = 200, .out = &tenant_schema, .flags = R_LIST, .doc = "List tenants" },
    { .method = HTTP_GET, .path = "/v1/tenants/{tenant_id}", .lane = LANE_CALLS,
      .op = "tenant_get", .perm = PERM_TENANT_READ, .handler = read_one,
      .in = &tenant_ref_schema, .status = 200, .out = &tenant_schema, .resource = "tenant", .doc = "Read one tenant" },
    { .method = HTTP_PATCH, .path = "/v1/tenants/{tenant_id}", .lane = LANE_CALLS,
      .op = "tenant_update", .perm = PERM_TENANT_NAME, .handler = rename_it, .in = &tenant_edit_schema, .status = 200,
      .out = &tenant_schema, .flags = R_TENANT_PATH | R_IF_MATCH, .rate = RL_WRITE, .resource = "tenant", .audited = true,
      .audit = AUDIT_TENANT_UPDATE,
      .doc = "Set what a tenant is called for people; its own administrators may, for theirs" },
    { .method = HTTP_GET, .path = "/v1/tenants/{tenant_id}/quotas", .lane = LANE_CALLS,
      .op = "tenant_quotas", .perm = PERM_QUOTA_READ_ANY, .handler = quotas_of,
      .in = &tenant_ref_schema, .status = 200, .out = &quota_schema, .flags = R_LIST | R_TENANT_PATH, .doc = "A tenant's quotas and their use" },
    { .method = HTTP_PUT, .path = "/v1/tenants/{tenant_id}/quotas/{resource}", .lane = LANE_CALLS,
      .op = "quota_set", .perm = PERM_QUOTA_SET, .handler = put_quota,
      .in = &quota_put_schema, .status = 200, .out = &quota_schema, .flags = R_TENANT_PATH | R_IF_MATCH, .rate = RL_WRITE, .resource = "tenant",
      .audited = true, .audit = AUDIT_QUOTA_SET, .doc = "Set a tenant's quota; never below what is in use" },
    { .method = HTTP_GET, .path = "/v1/tenants/{tenant_id}/zones", .lane = LANE_CALLS,
      .op = "tenant_zones_get", .perm = PERM_TENANT_READ, .handler = read_zones,
      .in = &tenant_ref_schema, .status = 200, .out = &tenant_zones_view_schema, .flags = R_TENANT_PATH, .doc = "Where a tenant's data may be, by class" },
    { .method = HTTP_PUT, .path = "/v1/tenants/{tenant_id}/zones", .lane = LANE_CALLS,
      .op = "tenant_zones_put", .perm = PERM_TENANT_POLICY, .handler = put_zones,
      .in = &tenant_zones_in_schema, .status = 202, .out = &approval_schema, .flags = R_TENANT_PATH | R_STEP_UP, .rate = RL_WRITE, .resource = "approval", .audited = true,
      .audit = AUDIT_POLICY_SET, .doc = "Ask for a change of where a tenant's data may be; a compliance officer of the tenant approves it" },
    { .method = HTTP_GET, .path = "/v1/quotas", .lane = LANE_CALLS,
      .op = "quota_list", .perm = PERM_QUOTA_READ, .handler = quotas, .status = 200,
      .out = &quota_schema, .flags = R_LIST, .doc = "The own tenant's quotas and their use" },
};
extern const struct route_table tenant_routes;
ROUTE_TABLE(tenant_routes, rows);
