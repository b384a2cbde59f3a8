/* SPDX-License-Identifier: Apache-2.0 */
/* nodes.c - machines and the queue's promises, for people. */
#include "api/pipeline.h"
#include "scheduler/invariants.h"
#include "scheduler/engine/node_state.h"
#include "tenants/access/authz.h"
#include "tenants/home/residency_facts.h"
#include "core/db/list_find.h"

static const char *const node_states[] = { "READY", "DRAINING", "QUARANTINED", "LOST", NULL };
static const char *const node_sorts[] = { "-created_at", "name", NULL };

struct node_ref { struct uuid node_id; };
SCHEMA_OF(node_ref, "Which machine", FIELD_ID(node_ref, node_id, "nod", F_PATH, .doc = "The machine"));
struct node_act_in { struct uuid node_id; struct str reason; };
SCHEMA_OF(node_act_in, "Which machine, and why", FIELD_ID(node_act_in, node_id, "nod", F_PATH, .doc = "The machine"),
    FIELD(node_act_in, reason, F_REQ, .min = 1, .max = 512, .check = check_name, .doc = "Why; shown with the machine"));
struct node_page { PAGE_IN; bool has_state; int state; struct str zone, pool, q; int sort; };
SCHEMA_OF(node_page, "Which machines", PAGE_IN_FIELDS(node_page),
    FIELD_ENUM_OPT(node_page, state, F_QUERY, node_states, .doc = "Only in this state"),
    FIELD(node_page, zone, F_QUERY, .max = 31, .check = check_slug, .doc = "Only of this zone"),
    FIELD(node_page, pool, F_QUERY, .max = 63, .check = check_slug, .doc = "Only of this pool"),
    FIELD(node_page, q, F_QUERY, .min = LIST_Q_MIN, .max = LIST_Q_MAX, .check = check_name, .doc = "Only machines whose name contains this, in any case"),
    FIELD_ENUM(node_page, sort, F_QUERY, node_sorts, .dflt = "-created_at", .doc = "Newest first, or by zone, pool and name"));
struct node_work_page { PAGE_IN; struct uuid node_id; };
SCHEMA_OF(node_work_page, "The work of which machine", PAGE_IN_FIELDS(node_work_page),
    FIELD_ID(node_work_page, node_id, "nod", F_PATH, .doc = "The machine"));
struct invariants_out { struct slice data; };
SCHEMA_OF(invariants_out, "The promises of the job queue", FIELD_LIST(invariants_out, data, &invariant_schema, 0, .max = 64, .doc = "One each"));

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct node_page *page = in;
    const struct node_filter filter = { page->has_state ? str_c(node_states[page->state]) : STR_NULL, page->zone, page->pool, page->q, page->sort == 1 };
    return PAGE_BY_ID(w, page, out, node, node_id, node_list(w, &filter, after, limit, rows, e), e);
}

static enum errc get(struct work *w, const void *in, void *out, struct err *e)
{
    struct node *n = out;
    const struct residency_facts *f;
    TRY(node_get(w, ((const struct node_ref *)in)->node_id, n, e));
    if (!uuid_is_nil(w->tenant_id)) {
        TRY(residency_facts_of(w, &f, e));
        if (!residency_has_zone(f, n->zone))            /* as in the list: it is not there for who may not use its zone */
            return FAIL(e, NOT_FOUND, "There is no such machine");
    }
    return authz_require_zone(w, PERM_NODE_READ, n->zone, e);
}

static enum errc work_list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct node_work_page *page = in;
    struct node n;
    TRY(node_get(w, page->node_id, &n, e));
    TRY(authz_require_zone(w, PERM_NODE_MANAGE, n.zone, e));
    return PAGE_BY_ID(w, page, out, node_work, attempt_id, node_work_list(w, page->node_id, after, limit, rows, e), e);
}

static enum errc act(struct work *w, const struct node_act_in *in, enum node_act act, struct node_moved *ret, struct err *e)
{
    struct node n;
    TRY(node_get(w, in->node_id, &n, e));
    TRY(authz_require_zone(w, PERM_NODE_MANAGE, n.zone, e));
    TRY(node_move(w, &n, act, in->reason, ret, e));
    struct audit_event *ev = &call_of(w)->audit;
    audit_event_detail(ev, AUDIT_D_STR("from", n.state));
    audit_event_detail(ev, AUDIT_D_STR("to", ret->state));
    audit_event_detail(ev, AUDIT_D_INT("jobs", ret->jobs_running));
    return ERR_OK;
}

static enum errc drain(struct work *w, const void *in, void *out, struct err *e)
{
    return act(w, in, NODE_DRAIN, out, e);
}
static enum errc undrain(struct work *w, const void *in, void *out, struct err *e)
{
    return act(w, in, NODE_UNDRAIN, out, e);
}
static enum errc quarantine(struct work *w, const void *in, void *out, struct err *e)
{
    return act(w, in, NODE_QUARANTINE, out, e);
}
static enum errc release(struct work *w, const void *in, void *out, struct err *e)
{
    return act(w, in, NODE_RELEASE, out, e);
}

static enum errc invariants(struct work *w, const void *in, void *out, struct err *e)
{
    (void)in;
    return invariants_check(w, &((struct invariants_out *)out)->data, e);
}

#define ACT(verb, handler_, more, event, doc_)                                                                                               \
    { .method = HTTP_POST, .path = "/v1/nodes/{node_id}/" verb, .lane = LANE_CALLS,                                               \
      .op = "node_" verb, .perm = PERM_NODE_MANAGE, .handler = handler_,          \
      .in = &node_act_in_schema, .status = 200, .out = &node_moved_schema, .flags = R_ZONE_LATE | (more), .rate = RL_WRITE, .resource = "node",\
      .audited = true, .audit = event, .doc = doc_ }

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v1/nodes", .lane = LANE_CALLS,
      .op = "node_list", .perm = PERM_NODE_READ, .handler = list, .in = &node_page_schema,
      .status = 200, .out = &node_schema, .flags = R_LIST, .doc = "List machines" },
    { .method = HTTP_GET, .path = "/v1/nodes/{node_id}", .lane = LANE_CALLS,
      .op = "node_get", .perm = PERM_NODE_READ, .handler = get, .in = &node_ref_schema,
      .status = 200, .out = &node_schema, .flags = R_ZONE_LATE, .resource = "node", .doc = "Read one machine" },
    { .method = HTTP_GET, .path = "/v1/nodes/{node_id}/work", .lane = LANE_CALLS,
      .op = "node_work_list", .perm = PERM_NODE_MANAGE, .handler = work_list,
      .in = &node_work_page_schema, .status = 200, .out = &node_work_schema, .flags = R_LIST | R_ZONE_LATE, .resource = "node",
      .doc = "What a machine has to do now, before it is drained: whose and how much, never names or data of a tenant" },
    ACT("drain", drain, 0, AUDIT_NODE_DRAIN, "No new leases for a machine; what runs may end. The answer counts what still runs"),
    ACT("undrain", undrain, 0, AUDIT_NODE_DRAIN, "Leases for a drained machine again"),
    ACT("quarantine", quarantine, R_STEP_UP, AUDIT_NODE_QUARANTINE, "Shut a machine out at once: its calls are refused, its leases end, its jobs go elsewhere"),
    ACT("release", release, R_STEP_UP, AUDIT_NODE_QUARANTINE, "End a quarantine: the machine counts again once it is heard of"),
    { .method = HTTP_GET, .path = "/v1/system/invariants", .lane = LANE_HEAVY,
      .op = "invariants_check", .perm = PERM_SYSTEM_INSPECT, .handler = invariants,
      .status = 200, .out = &invariants_out_schema, .doc = "Count what breaks the promises of the job queue; zeros are right" },
};
extern const struct route_table node_routes;
ROUTE_TABLE(node_routes, rows);
