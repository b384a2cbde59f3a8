/* SPDX-License-Identifier: Apache-2.0 */
/* approvals.c - routes of requests that need more than one person. Who may decide about one is the kind's permission, asked inside. */
#include "api/approval_kinds.h"
#include "api/route.h"

static const char *const approval_states[] = { "PENDING", "EXECUTED", "REFUSED", "WITHDRAWN", "EXPIRED", "FAILED", NULL };

struct approval_ref { struct uuid approval_id; };
SCHEMA_OF(approval_ref, "Which request", FIELD_ID(approval_ref, approval_id, "apr", F_PATH, .doc = "The request"));
struct approval_page_in { PAGE_IN; int state; bool has_state; struct str kind; struct uuid requested_by; };
SCHEMA_OF(approval_page_in, "Which requests", PAGE_IN_FIELDS(approval_page_in),
    FIELD_ENUM_OPT(approval_page_in, state, F_QUERY, approval_states, .doc = "Only requests in this state"),
    FIELD(approval_page_in, kind, F_QUERY, .min = 1, .max = 64, .doc = "Only requests of this kind"),
    FIELD_ID(approval_page_in, requested_by, "usr", F_QUERY, .doc = "Only requests of this user"));
struct approval_decide_in { struct uuid approval_id; struct str note; };
SCHEMA_OF(approval_decide_in, "A decision", FIELD_ID(approval_decide_in, approval_id, "apr", F_PATH, .doc = "The request"),
    FIELD(approval_decide_in, note, 0, .max = 1024, .check = check_name, .doc = "Why"));

static enum errc list_with_standing(struct work *w, const struct approval_filter *f, struct uuid after, int64_t limit,
    struct slice *rows,
                                    struct err *e)
{
    TRY(approval_list(w, f, after, limit, rows, e));
    struct approval *a = (struct approval *)rows->items;
    for (size_t i = 0; i < rows->n; i++)
        TRY(approval_standing(w, approval_kinds, &a[i], e));
    return ERR_OK;
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct approval_page_in *page = in;
    struct approval_filter f = { page->has_state ? str_c(approval_states[page->state]) : STR_NULL, page->kind, page->requested_by };
    return PAGE_BY_ID(w, page, out, approval, approval_id, list_with_standing(w, &f, after, limit, rows, e), e);
}

static enum errc read_one(struct work *w, const void *in, void *out, struct err *e)
{
    TRY(approval_get(w, ((const struct approval_ref *)in)->approval_id, out, e));
    return approval_standing(w, approval_kinds, out, e);
}

static enum errc decide(struct work *w, const void *in, void *out, bool approve, struct err *e)
{
    const struct approval_decide_in *d = in;
    TRY(approval_decide(w, approval_kinds, d->approval_id, approve, d->note, out, e));
    approval_details(out, &call_of(w)->audit);
    if (!second_person_asked(w->app))
        audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("separation", STR("accounts")));
    return ERR_OK;
}

static enum errc approve(struct work *w, const void *in, void *out, struct err *e)
{
    return decide(w, in, out, true, e);
}

static enum errc refuse(struct work *w, const void *in, void *out, struct err *e)
{
    return decide(w, in, out, false, e);
}

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v1/approvals", .lane = LANE_CALLS,
      .op = "approval_list", .perm = PERM_APPROVAL_READ, .handler = list,
      .in = &approval_page_in_schema, .status = 200, .out = &approval_schema, .flags = R_LIST,
      .doc = "List requests that wait for approval, and those that waited" },
    { .method = HTTP_GET, .path = "/v1/approvals/{approval_id}", .lane = LANE_CALLS,
      .op = "approval_get", .perm = PERM_APPROVAL_READ, .handler = read_one,
      .in = &approval_ref_schema, .status = 200, .out = &approval_schema, .resource = "approval", .doc = "Read one request" },
    { .method = HTTP_POST, .path = "/v1/approvals/{approval_id}/approve", .lane = LANE_CALLS,
      .op = "approval_approve", .perm = PERM_APPROVAL_READ, .handler = approve,
      .in = &approval_decide_in_schema, .status = 200, .out = &approval_schema, .flags = R_STEP_UP, .rate = RL_WRITE, .resource = "approval",
      .audited = true, .audit = AUDIT_APPROVAL_GRANT,
      .doc = "Approve a request of somebody else; the last approval needed carries it out. Needs the approval permission of its kind" },
    { .method = HTTP_POST, .path = "/v1/approvals/{approval_id}/refuse", .lane = LANE_CALLS,
      .op = "approval_refuse", .perm = PERM_APPROVAL_READ, .handler = refuse,
      .in = &approval_decide_in_schema, .status = 200, .out = &approval_schema, .rate = RL_WRITE, .resource = "approval", .audited = true,
      .audit = AUDIT_APPROVAL_REFUSE, .doc = "Refuse a request of somebody else, or withdraw an own one" },
};
extern const struct route_table approval_routes;
ROUTE_TABLE(approval_routes, rows);
