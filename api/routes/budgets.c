/* SPDX-License-Identifier: Apache-2.0 */
/* budgets.c - routes of budgets. */
#include "api/route.h"
#include "audit/event.h"
#include "tenants/accounts/budget.h"
#include "tenants/accounts/price.h"

SCHEMA_OF(budget_new, "A budget to make",
    FIELD_ID(budget_new, project_id, "prj", 0, .doc = "Its project; absent: the whole tenant"),
    FIELD(budget_new, name, F_REQ, .min = 1, .max = 128, .check = check_name, .doc = "Name, unique in the tenant"),
    FIELD_ENUM(budget_new, measure, F_REQ, budget_measure_names, .doc = "What is counted"),
    FIELD(budget_new, amount, F_REQ, .min = 1, .max = 1000000000, .doc = "Minor units, hours or kWh"),
    FIELD(budget_new, currency, 0, .min = 3, .max = 3, .check = check_currency, .pattern_doc = "^[A-Z]{3}$", .example = "AED", .doc = "Of a budget of money"),
    FIELD_ENUM(budget_new, period, F_REQ, budget_period_names, .doc = "Calendar month (UTC), or in all from now on"),
    FIELD_I64S(budget_new, warn_percent, 0, .max = 8, .doc = "Thresholds that are told of, growing; none: 80 and 100"),
    FIELD_OPT(budget_new, stop_percent, 0, .min = 1, .max = 1000, .doc = "Threshold that stops; absent: only warns"),
    FIELD(budget_new, reserve, 0, .dflt = "false", .doc = "Accept a job only if the most it can take still fits"));
struct budget_ref { struct uuid budget_id; };
SCHEMA_OF(budget_ref, "Which budget", FIELD_ID(budget_ref, budget_id, "bdg", F_PATH, .doc = "The budget"));
struct budget_page { PAGE_IN; };
SCHEMA_OF(budget_page, "Which budgets", PAGE_IN_FIELDS(budget_page));
struct budget_patch { struct uuid budget_id; int64_t amount; bool has_stop_percent; int64_t stop_percent; struct slice warn_percent; };
SCHEMA_OF(budget_patch, "What to change", FIELD_ID(budget_patch, budget_id, "bdg", F_PATH, .doc = "The budget"),
    FIELD(budget_patch, amount, 0, .min = 0, .max = 1000000000, .dflt = "0", .doc = "Minor units, hours or kWh; 0: as it is"),
    FIELD_OPT(budget_patch, stop_percent, 0, .min = 0, .max = 1000, .doc = "Threshold that stops; 0: only warns"),
    FIELD_I64S(budget_patch, warn_percent, 0, .max = 8, .doc = "Thresholds that are told of; none: as they are"));

static void tell(struct work *w, const struct budget *b)
{
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("measure", b->measure));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_INT("amount", b->amount));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_INT("stop_percent", b->has_stop_percent ? b->stop_percent : 0));
}

static enum errc create(struct work *w, const void *in, void *out, struct err *e)
{
    struct budget_new n = *(const struct budget_new *)in;
    if (!n.currency.ptr)
        n.currency = STR("");
    TRY(budget_create(w, &n, out, e));
    tell(w, out);
    return ERR_OK;
}

static enum errc read_one(struct work *w, const void *in, void *out, struct err *e)
{
    return budget_get(w, ((const struct budget_ref *)in)->budget_id, out, e);
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct budget_page *page = in;
    return PAGE_BY_ID(w, page, out, budget, budget_id, budget_list(w, after, limit, rows, e), e);
}

static enum errc change(struct work *w, const void *in, void *out, struct err *e)
{
    const struct budget_patch *p = in;
    struct budget_change c = { p->amount, p->has_stop_percent, p->stop_percent, p->warn_percent };
    TRY(budget_set(w, p->budget_id, &c, call_of(w)->if_match, out, e));
    tell(w, out);
    return ERR_OK;
}

static enum errc delete(struct work *w, const void *in, void *out, struct err *e)
{
    (void)out;
    return budget_delete(w, ((const struct budget_ref *)in)->budget_id, call_of(w)->if_match, e);
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/budgets", .lane = LANE_CALLS,
      .op = "budget_create", .perm = PERM_BUDGET_SET, .handler = create, .in = &budget_new_schema, .status = 201,
      .out = &budget_schema, .flags = R_IDEMPOTENT, .rate = RL_WRITE, .resource = "budget", .audited = true, .audit = AUDIT_BUDGET_SET,
      .doc = "Make a budget of the tenant or a project" },
    { .method = HTTP_GET, .path = "/v1/budgets", .lane = LANE_CALLS,
      .op = "budget_list", .perm = PERM_USAGE_READ, .handler = list, .in = &budget_page_schema, .status = 200,
      .out = &budget_schema, .flags = R_LIST, .doc = "List budgets and where they stand" },
    { .method = HTTP_GET, .path = "/v1/budgets/{budget_id}", .lane = LANE_CALLS,
      .op = "budget_get", .perm = PERM_USAGE_READ, .handler = read_one, .in = &budget_ref_schema,
      .status = 200, .out = &budget_schema, .resource = "budget", .doc = "Read one budget and where it stands" },
    { .method = HTTP_PATCH, .path = "/v1/budgets/{budget_id}", .lane = LANE_CALLS,
      .op = "budget_update", .perm = PERM_BUDGET_SET, .handler = change, .in = &budget_patch_schema,
      .status = 200, .out = &budget_schema, .flags = R_IF_MATCH, .rate = RL_WRITE, .resource = "budget", .audited = true, .audit = AUDIT_BUDGET_SET,
      .doc = "Change a budget's amount or thresholds" },
    { .method = HTTP_DELETE, .path = "/v1/budgets/{budget_id}", .lane = LANE_CALLS,
      .op = "budget_delete", .perm = PERM_BUDGET_SET, .handler = delete, .in = &budget_ref_schema,
      .status = 204, .flags = R_IF_MATCH, .rate = RL_WRITE, .resource = "budget", .audited = true, .audit = AUDIT_BUDGET_SET,
      .doc = "Remove a budget; jobs that it held wait again" },
};
extern const struct route_table budget_routes;
ROUTE_TABLE(budget_routes, rows);
