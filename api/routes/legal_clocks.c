/* SPDX-License-Identifier: Apache-2.0 */
/* legal_clocks.c - routes of the register of terms that a law sets. */
#include "api/pipeline.h"
#include "tenants/home/legal_clock.h"

SCHEMA_OF(legal_clock_new, "A clock to open",
    FIELD_ENUM(legal_clock_new, kind, F_REQ, legal_clock_kinds, .doc = "What the law sets a term for"),
    FIELD(legal_clock_new, zone, F_REQ, .min = 2, .max = 31, .check = check_slug, .doc = "Under the law of this zone"),
    FIELD(legal_clock_new, reference, F_REQ, .min = 1, .max = 128, .check = check_name, .example = "case 2026/17",
          .doc = "What it runs for: the number of a case; no names of people"),
    FIELD(legal_clock_new, law, 0, .min = 1, .max = 1024, .check = check_name,
          .doc = "Where the zone's law sets no term: what does"),
    FIELD(legal_clock_new, opened_at, 0, .doc = "When the term began; absent: now"),
    FIELD(legal_clock_new, due_at, 0, .doc = "Where the zone's law sets no term: when it is due"));
struct legal_clock_ref { struct uuid clock_id; };
SCHEMA_OF(legal_clock_ref, "Which clock", FIELD_ID(legal_clock_ref, clock_id, "clk", F_PATH, .doc = "The clock"));
struct legal_clock_more { struct uuid clock_id; struct timestamp due_at; struct str reason; };
SCHEMA_OF(legal_clock_more, "A clock to extend", FIELD_ID(legal_clock_more, clock_id, "clk", F_PATH, .doc = "The clock"),
    FIELD(legal_clock_more, due_at, F_REQ, .doc = "When it is due then: at most two months later than before"),
    FIELD(legal_clock_more, reason, F_REQ, .min = 1, .max = 1024, .check = check_name, .doc = "Why; no names of people"));
struct legal_clock_end { struct uuid clock_id; struct str note; };
SCHEMA_OF(legal_clock_end, "A clock to close", FIELD_ID(legal_clock_end, clock_id, "clk", F_PATH, .doc = "The clock"),
    FIELD(legal_clock_end, note, F_REQ, .min = 1, .max = 1024, .check = check_name, .doc = "How it ended; no names of people"));
struct legal_clock_page { PAGE_IN; int state; bool has_state; };
SCHEMA_OF(legal_clock_page, "Which clocks", PAGE_IN_FIELDS(legal_clock_page),
    FIELD_ENUM_OPT(legal_clock_page, state, F_QUERY, legal_clock_states, .doc = "Only clocks in this state"));

static void tell(struct work *w, const struct legal_clock *c)
{
    struct audit_event *ev = &call_of(w)->audit;
    char due[TIME_TEXT];
    time_text(c->due_at.us, due);
    audit_event_detail(ev, AUDIT_D_STR("kind", c->kind));
    audit_event_detail(ev, AUDIT_D_STR("zone", c->zone));
    audit_event_detail(ev, AUDIT_D_STR("due_at", str_dup(w->arena, str_c(due))));
}

static enum errc open(struct work *w, const void *in, void *out, struct err *e)
{
    TRY(legal_clock_open(w, in, out, e));
    tell(w, out);
    return ERR_OK;
}

static enum errc read(struct work *w, const void *in, void *out, struct err *e)
{
    return legal_clock_get(w, ((const struct legal_clock_ref *)in)->clock_id, out, e);
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct legal_clock_page *page = in;
    const enum legal_clock_state state = page->has_state ? (enum legal_clock_state)page->state : LCS_ANY;
    return PAGE_BY_ID(w, page, out, legal_clock, clock_id, legal_clock_list(w, state, after, limit, rows, e), e);
}

static enum errc extend(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct legal_clock_more *in = in_;
    TRY(legal_clock_extend(w, in->clock_id, in->due_at, in->reason, out, e));
    tell(w, out);
    return ERR_OK;
}

static enum errc close(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct legal_clock_end *in = in_;
    TRY(legal_clock_close(w, in->clock_id, in->note, out, e));
    tell(w, out);
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/legal-clocks", .lane = LANE_CALLS,
      .op = "legal_clock_open", .perm = PERM_CLOCK_MANAGE, .handler = open, .in = &legal_clock_new_schema, .status = 201,
      .out = &legal_clock_schema, .flags = R_IDEMPOTENT, .rate = RL_WRITE, .resource = "clock", .audited = true,
      .audit = AUDIT_CLOCK_OPEN,
      .doc = "Open a legal clock: the zone's law in force sets when it is due, or the caller where that names no term" },
    { .method = HTTP_GET, .path = "/v1/legal-clocks", .lane = LANE_CALLS,
      .op = "legal_clock_list", .perm = PERM_CLOCK_READ, .handler = list, .in = &legal_clock_page_schema, .status = 200,
      .out = &legal_clock_schema, .flags = R_LIST, .doc = "List legal clocks, the first due first" },
    { .method = HTTP_GET, .path = "/v1/legal-clocks/{clock_id}", .lane = LANE_CALLS,
      .op = "legal_clock_get", .perm = PERM_CLOCK_READ, .handler = read, .in = &legal_clock_ref_schema, .status = 200,
      .out = &legal_clock_schema, .resource = "clock", .doc = "Read one legal clock" },
    { .method = HTTP_POST, .path = "/v1/legal-clocks/{clock_id}/extend", .lane = LANE_CALLS,
      .op = "legal_clock_extend", .perm = PERM_CLOCK_MANAGE, .handler = extend, .in = &legal_clock_more_schema, .status = 200,
      .out = &legal_clock_schema, .rate = RL_WRITE, .resource = "clock", .audited = true, .audit = AUDIT_CLOCK_EXTEND,
      .doc = "Extend a legal clock: once, before it is due, by at most two months; breaches and retentions never" },
    { .method = HTTP_POST, .path = "/v1/legal-clocks/{clock_id}/close", .lane = LANE_CALLS,
      .op = "legal_clock_close", .perm = PERM_CLOCK_MANAGE, .handler = close, .in = &legal_clock_end_schema, .status = 200,
      .out = &legal_clock_schema, .rate = RL_WRITE, .resource = "clock", .audited = true, .audit = AUDIT_CLOCK_CLOSE,
      .doc = "Close a legal clock, with how it ended" },
};
extern const struct route_table legal_clock_routes;
ROUTE_TABLE(legal_clock_routes, rows);
