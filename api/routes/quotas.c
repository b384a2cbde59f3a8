/* SPDX-License-Identifier: Apache-2.0 */
/* quotas.c - routes of quota rules and of the price book, and of the flavor that both speak of. */
#include "api/route.h"
#include "audit/event.h"
#include "scheduler/engine/node.h"
#include "tenants/access/authz.h"
#include "tenants/accounts/price.h"
#include "tenants/accounts/quota_rule.h"
#include "tenants/home/tenant.h"

enum { MOST = 1000000000 };
static const char *const own_places[] = { "project", "queue", NULL };
static const char *const all_places[] = { "tenant", "project", "queue", NULL };

#define RULE_NUMBERS int64_t nominal; bool has_borrowing_limit; int64_t borrowing_limit; bool has_lending_limit; int64_t lending_limit, weight
#define RULE_NUMBER_FIELDS(T)                                                                                                           \
    FIELD(T, nominal, F_REQ, .min = 0, .max = MOST, .doc = "What it has of its own"),                                                    \
    FIELD_OPT(T, borrowing_limit, 0, .min = 0, .max = MOST, .doc = "Most it may take of what others do not use; absent: no limit"),      \
    FIELD_OPT(T, lending_limit, 0, .min = 0, .max = MOST, .doc = "Most that others may take of it; absent: all"),                        \
    FIELD(T, weight, 0, .min = 0, .max = 1000000, .dflt = "1000", .doc = "Its part when there is not enough for all; 1000 is usual")
#define RULE_KEY int resource; struct str flavor, zone
#define RULE_KEY_FIELDS(T)                                                                                                              \
    FIELD_ENUM(T, resource, F_REQ, quota_rule_resource_names, .doc = "What is divided"),                                                 \
    FIELD(T, flavor, 0, .min = 0, .max = 63, .check = check_flavor, .dflt = "", .doc = "Flavor of machine; empty: all together"),        \
    FIELD(T, zone, 0, .min = 0, .max = 31, .check = check_flavor, .dflt = "", .doc = "Zone; empty: all together")

struct rule_new_in { int place; struct uuid project_id; struct str queue; RULE_KEY; RULE_NUMBERS; };
SCHEMA_OF(rule_new_in, "A rule of a project or queue",
    FIELD_ENUM(rule_new_in, place, F_REQ, own_places, .doc = "Whose rule it is"),
    FIELD_ID(rule_new_in, project_id, "prj", 0, .doc = "The project; absent for a queue: of the tenant's own jobs"),
    FIELD(rule_new_in, queue, 0, .min = 0, .max = 63, .check = check_flavor, .dflt = "", .doc = "The queue, for place queue"),
    RULE_KEY_FIELDS(rule_new_in), RULE_NUMBER_FIELDS(rule_new_in));
struct rule_tenant_in { struct uuid tenant_id; RULE_KEY; RULE_NUMBERS; };
SCHEMA_OF(rule_tenant_in, "A rule of a tenant", FIELD_ID(rule_tenant_in, tenant_id, "tnt", F_PATH, .doc = "The tenant"),
    RULE_KEY_FIELDS(rule_tenant_in), RULE_NUMBER_FIELDS(rule_tenant_in));
struct rule_put_in { struct uuid rule_id; RULE_NUMBERS; };
SCHEMA_OF(rule_put_in, "A rule's new numbers", FIELD_ID(rule_put_in, rule_id, "qrl", F_PATH, .doc = "The rule"), RULE_NUMBER_FIELDS(rule_put_in));
struct rule_tenant_put { struct uuid tenant_id, rule_id; RULE_NUMBERS; };
SCHEMA_OF(rule_tenant_put, "A rule's new numbers", FIELD_ID(rule_tenant_put, tenant_id, "tnt", F_PATH, .doc = "The tenant"),
    FIELD_ID(rule_tenant_put, rule_id, "qrl", F_PATH, .doc = "The rule"), RULE_NUMBER_FIELDS(rule_tenant_put));
struct rule_ref { struct uuid rule_id; };
SCHEMA_OF(rule_ref, "Which rule", FIELD_ID(rule_ref, rule_id, "qrl", F_PATH, .doc = "The rule"));
struct rule_tenant_ref { struct uuid tenant_id, rule_id; };
SCHEMA_OF(rule_tenant_ref, "Which rule", FIELD_ID(rule_tenant_ref, tenant_id, "tnt", F_PATH, .doc = "The tenant"),
    FIELD_ID(rule_tenant_ref, rule_id, "qrl", F_PATH, .doc = "The rule"));
struct rule_page { PAGE_IN; int place; bool has_place; };
SCHEMA_OF(rule_page, "Which rules", PAGE_IN_FIELDS(rule_page), FIELD_ENUM_OPT(rule_page, place, F_QUERY, all_places, .doc = "Only rules of this place"));
struct rule_tenant_page { PAGE_IN; struct uuid tenant_id; };
SCHEMA_OF(rule_tenant_page, "Which rules", PAGE_IN_FIELDS(rule_tenant_page), FIELD_ID(rule_tenant_page, tenant_id, "tnt", F_PATH, .doc = "The tenant"));

struct price_in { struct str flavor; struct timestamp valid_from; struct str currency; int64_t slot_hour, gpu_hour, kwh, slot_watts, gpu_watts; };
SCHEMA_OF(price_in, "A price from a moment on",
    FIELD(price_in, flavor, F_REQ, .min = 1, .max = 63, .check = check_slug, .doc = "Flavor of machine"),
    FIELD(price_in, valid_from, 0, .doc = "For attempts leased from then on; absent: from now"),
    FIELD(price_in, currency, F_REQ, .min = 3, .max = 3, .check = check_currency, .pattern_doc = "^[A-Z]{3}$", .example = "AED", .doc = "ISO 4217 code"),
    FIELD(price_in, slot_hour, 0, .min = 0, .max = 100000000, .dflt = "0", .doc = "Minor units for a slot and hour"),
    FIELD(price_in, gpu_hour, 0, .min = 0, .max = 100000000, .dflt = "0", .doc = "Minor units for a GPU and hour"),
    FIELD(price_in, kwh, 0, .min = 0, .max = 100000000, .dflt = "0", .doc = "Minor units for a kWh"),
    FIELD(price_in, slot_watts, 0, .min = 0, .max = 100000, .dflt = "0", .doc = "Watts that a booked slot counts for"),
    FIELD(price_in, gpu_watts, 0, .min = 0, .max = 100000, .dflt = "0", .doc = "Watts that a booked GPU counts for"));
struct price_page { PAGE_IN; struct str flavor; };
SCHEMA_OF(price_page, "Which prices", PAGE_IN_FIELDS(price_page),
    FIELD(price_page, flavor, F_QUERY, .min = 1, .max = 63, .check = check_slug, .doc = "Only prices of this flavor"));
struct flavor_put { struct uuid node_id; struct str flavor; };
SCHEMA_OF(flavor_put, "A machine's flavor", FIELD_ID(flavor_put, node_id, "nod", F_PATH, .doc = "The machine"),
    FIELD(flavor_put, flavor, F_REQ, .min = 1, .max = 63, .check = check_slug, .doc = "What kind of machine it is, for quotas and prices"));

#define NUMBERS_OF(in)                                                                                                                \
    .nominal = (in)->nominal, .has_borrowing_limit = (in)->has_borrowing_limit, .borrowing_limit = (in)->borrowing_limit,              \
    .has_lending_limit = (in)->has_lending_limit, .lending_limit = (in)->lending_limit, .weight = (in)->weight

static void tell(struct work *w, const struct quota_rule *r)
{
    struct audit_event *ev = &call_of(w)->audit;
    audit_event_detail(ev, AUDIT_D_STR("place", r->place));
    audit_event_detail(ev, AUDIT_D_STR("resource", r->resource));
    audit_event_detail(ev, AUDIT_D_INT("nominal", r->nominal));
    audit_event_detail(ev, AUDIT_D_INT("weight", r->weight));
}

static enum errc rule_new(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct rule_new_in *in = in_;
    bool is_queue = !strcmp(own_places[in->place], "queue");
    if (is_queue != (in->queue.len > 0))
        return FAIL_AT(e, INVALID, "/queue", is_queue ? "A rule of a queue names it" : "A rule of a project has no queue");
    if (!is_queue && uuid_is_nil(in->project_id))
        return FAIL_AT(e, INVALID, "/project_id", "A rule for a project needs its project_id");
    struct quota_rule r = { .place = str_c(own_places[in->place]), .project_id = in->project_id, .queue = in->queue,
                            .resource = str_c(quota_rule_resource_names[in->resource]), .flavor = in->flavor, .zone = in->zone, NUMBERS_OF(in) };
    TRY(quota_rule_create(w, &r, out, e));
    tell(w, out);
    return ERR_OK;
}

static enum errc rule_new_tenant(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct rule_tenant_in *in = in_;
    struct quota_rule r = { .place = STR("tenant"), .queue = STR(""), .resource = str_c(quota_rule_resource_names[in->resource]), .flavor = in->flavor,
                            .zone = in->zone, NUMBERS_OF(in) };
    TRY(quota_rule_create(w, &r, out, e));
    tell(w, out);
    return ERR_OK;
}

static enum errc rule_put(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct rule_put_in *in = in_;
    TRY(quota_rule_set(w, in->rule_id, false, &(struct quota_rule){ NUMBERS_OF(in) }, call_of(w)->if_match, out, e));
    tell(w, out);
    return ERR_OK;
}

static enum errc rule_put_tenant(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct rule_tenant_put *in = in_;
    TRY(quota_rule_set(w, in->rule_id, true, &(struct quota_rule){ NUMBERS_OF(in) }, call_of(w)->if_match, out, e));
    tell(w, out);
    return ERR_OK;
}

static enum errc rule_delete(struct work *w, const void *in, void *out, struct err *e)
{
    (void)out;
    return quota_rule_delete(w, ((const struct rule_ref *)in)->rule_id, false, call_of(w)->if_match, e);
}

static enum errc rule_delete_tenant(struct work *w, const void *in, void *out, struct err *e)
{
    (void)out;
    return quota_rule_delete(w, ((const struct rule_tenant_ref *)in)->rule_id, true, call_of(w)->if_match, e);
}

static enum errc rule_read(struct work *w, const void *in, void *out, struct err *e)
{
    return quota_rule_get(w, ((const struct rule_ref *)in)->rule_id, out, e);
}

static enum errc rules_page(struct work *w, struct str place, struct str token, int64_t size, struct page_out *ret, struct err *e)
{
    struct uuid after;
    TRY(page_position_id(token, &after, e));
    TRY(quota_rule_list(w, place, after, size + 1, &ret->items, e));
    page_cut_by_id(ret, w->arena, size, sizeof(struct quota_rule), offsetof(struct quota_rule, rule_id));
    return ERR_OK;
}

static enum errc rules(struct work *w, const void *in, void *out, struct err *e)
{
    const struct rule_page *p = in;
    return rules_page(w, p->has_place ? str_c(all_places[p->place]) : STR_NULL, p->page_token, p->page_size, out, e);
}

static enum errc rules_of(struct work *w, const void *in, void *out, struct err *e)
{
    const struct rule_tenant_page *p = in;
    struct tenant t;
    TRY(tenant_get(w, p->tenant_id, &t, e));
    return rules_page(w, STR_NULL, p->page_token, p->page_size, out, e);
}

static enum errc price_new(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct price_in *in = in_;
    struct price p = { .flavor = in->flavor, .valid_from = in->valid_from, .currency = in->currency, .slot_hour = in->slot_hour, .gpu_hour = in->gpu_hour,
                       .kwh = in->kwh, .slot_watts = in->slot_watts, .gpu_watts = in->gpu_watts };
    return price_add(w, &p, out, e);
}

static enum errc prices(struct work *w, const void *in, void *out, struct err *e)
{
    const struct price_page *p = in;
    return PAGE_BY_ID(w, p, out, price, price_id, price_list(w, p->flavor, after, limit, rows, e), e);
}

static enum errc flavor(struct work *w, const void *in, void *out, struct err *e)
{
    const struct flavor_put *f = in;
    struct node n;
    TRY(node_get(w, f->node_id, &n, e));
    TRY(authz_require_zone(w, PERM_NODE_MANAGE, n.zone, e));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("flavor", f->flavor));
    return node_set_flavor(w, f->node_id, f->flavor, out, e);
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/quota-rules", .lane = LANE_CALLS,
      .op = "quota_rule_create", .perm = PERM_QUOTA_SET_OWN, .handler = rule_new, .in = &rule_new_in_schema,
      .status = 201, .out = &quota_rule_schema, .flags = R_IDEMPOTENT, .rate = RL_WRITE, .resource = "rule", .audited = true, .audit = AUDIT_QUOTA_SET,
      .doc = "Divide what the tenant has: a rule of a project or queue" },
    { .method = HTTP_GET, .path = "/v1/quota-rules", .lane = LANE_CALLS,
      .op = "quota_rule_list", .perm = PERM_QUOTA_READ, .handler = rules, .in = &rule_page_schema,
      .status = 200, .out = &quota_rule_schema, .flags = R_LIST, .doc = "The own tenant's quota rules with what is used of each" },
    { .method = HTTP_GET, .path = "/v1/quota-rules/{rule_id}", .lane = LANE_CALLS,
      .op = "quota_rule_get", .perm = PERM_QUOTA_READ, .handler = rule_read,
      .in = &rule_ref_schema, .status = 200, .out = &quota_rule_schema, .resource = "rule", .doc = "Read one quota rule" },
    { .method = HTTP_PUT, .path = "/v1/quota-rules/{rule_id}", .lane = LANE_CALLS,
      .op = "quota_rule_set", .perm = PERM_QUOTA_SET_OWN, .handler = rule_put,
      .in = &rule_put_in_schema, .status = 200, .out = &quota_rule_schema, .flags = R_IF_MATCH, .rate = RL_WRITE, .resource = "rule", .audited = true,
      .audit = AUDIT_QUOTA_SET, .doc = "Change a rule's numbers; never below what is used or divided" },
    { .method = HTTP_DELETE, .path = "/v1/quota-rules/{rule_id}", .lane = LANE_CALLS,
      .op = "quota_rule_delete", .perm = PERM_QUOTA_SET_OWN, .handler = rule_delete,
      .in = &rule_ref_schema, .status = 204, .flags = R_IF_MATCH, .rate = RL_WRITE, .resource = "rule", .audited = true, .audit = AUDIT_QUOTA_SET,
      .doc = "Remove a rule" },
    { .method = HTTP_POST, .path = "/v1/tenants/{tenant_id}/quota-rules", .lane = LANE_CALLS,
      .op = "tenant_quota_rule_create", .perm = PERM_QUOTA_SET,
      .handler = rule_new_tenant, .in = &rule_tenant_in_schema, .status = 201, .out = &quota_rule_schema, .flags = R_IDEMPOTENT | R_TENANT_PATH,
      .rate = RL_WRITE, .resource = "tenant", .audited = true, .audit = AUDIT_QUOTA_SET,
      .doc = "What a tenant has of a flavor in a zone, what it may borrow and lend" },
    { .method = HTTP_GET, .path = "/v1/tenants/{tenant_id}/quota-rules", .lane = LANE_CALLS,
      .op = "tenant_quota_rule_list", .perm = PERM_QUOTA_READ_ANY, .handler = rules_of,
      .in = &rule_tenant_page_schema, .status = 200, .out = &quota_rule_schema, .flags = R_LIST | R_TENANT_PATH,
      .doc = "A tenant's quota rules with what is used of each" },
    { .method = HTTP_PUT, .path = "/v1/tenants/{tenant_id}/quota-rules/{rule_id}", .lane = LANE_CALLS,
      .op = "tenant_quota_rule_set", .perm = PERM_QUOTA_SET,
      .handler = rule_put_tenant, .in = &rule_tenant_put_schema, .status = 200, .out = &quota_rule_schema, .flags = R_TENANT_PATH | R_IF_MATCH,
      .rate = RL_WRITE, .resource = "tenant", .audited = true, .audit = AUDIT_QUOTA_SET, .doc = "Change what a tenant has" },
    { .method = HTTP_DELETE, .path = "/v1/tenants/{tenant_id}/quota-rules/{rule_id}", .lane = LANE_CALLS,
      .op = "tenant_quota_rule_delete", .perm = PERM_QUOTA_SET,
      .handler = rule_delete_tenant, .in = &rule_tenant_ref_schema, .status = 204, .flags = R_TENANT_PATH | R_IF_MATCH, .rate = RL_WRITE,
      .resource = "tenant", .audited = true, .audit = AUDIT_QUOTA_SET, .doc = "Remove a tenant's rule" },
    { .method = HTTP_POST, .path = "/v1/prices", .lane = LANE_CALLS,
      .op = "price_create", .perm = PERM_PRICE_SET, .handler = price_new, .in = &price_in_schema, .status = 201,
      .out = &price_schema, .flags = R_IDEMPOTENT, .rate = RL_WRITE, .resource = "price", .audited = true, .audit = AUDIT_PRICE_SET,
      .doc = "Add a price to the book; what was charged stays as it was" },
    { .method = HTTP_GET, .path = "/v1/prices", .lane = LANE_CALLS,
      .op = "price_list", .perm = PERM_SIGNED_IN, .handler = prices, .in = &price_page_schema, .status = 200,
      .out = &price_schema, .flags = R_LIST, .doc = "The price book, newest first" },
    { .method = HTTP_PUT, .path = "/v1/nodes/{node_id}/flavor", .lane = LANE_CALLS,
      .op = "node_flavor", .perm = PERM_NODE_MANAGE, .handler = flavor, .in = &flavor_put_schema,
      .status = 200, .out = &node_schema, .flags = R_ZONE_LATE, .rate = RL_WRITE, .resource = "node", .audited = true, .audit = AUDIT_QUOTA_SET,
      .doc = "Say what kind of machine it is, while nothing runs there" },
};
extern const struct route_table quota_routes;
ROUTE_TABLE(quota_routes, rows);
