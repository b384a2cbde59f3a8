/* SPDX-License-Identifier: Apache-2.0 */
/* audit_rules.c - routes of what governs the log: legal holds, retention, erasure of persons. */
#include "api/approval_kinds.h"
#include "api/route.h"
#include "audit/erasure.h"
#include "audit/hold.h"
#include "audit/pii.h"
#include "audit/retention.h"
#include "core/db/tx.h"
#include "tenants/access/actor.h"
#include "tenants/access/principal.h"

static const char *const hold_states[] = { "ACTIVE", "LIFTED", NULL };

struct hold_new { struct uuid tenant_id, subject_id; struct timestamp from, to; struct str reason; };
SCHEMA_OF(hold_new, "A hold to place",
    FIELD_ID(hold_new, tenant_id, "tnt", 0, .doc = "For the platform: the tenant it is about; absent: the own one"),
    FIELD_ID(hold_new, subject_id, "usr", 0, .doc = "Only what this person did; absent: everything"),
    FIELD(hold_new, from, 0, .doc = "Only events from this time on"), FIELD(hold_new, to, 0, .doc = "Only events before this time"),
    FIELD(hold_new, reason, F_REQ, .min = 1, .max = 1024, .check = check_name, .doc = "Why: the case or order it serves"));
struct hold_ref { struct uuid hold_id; };
SCHEMA_OF(hold_ref, "Which hold", FIELD_ID(hold_ref, hold_id, "hld", F_PATH, .doc = "The hold"));
struct hold_lift_in { struct uuid hold_id; struct str reason; };
SCHEMA_OF(hold_lift_in, "A hold to lift", FIELD_ID(hold_lift_in, hold_id, "hld", F_PATH, .doc = "The hold"),
    FIELD(hold_lift_in, reason, F_REQ, .min = 1, .max = 1024, .check = check_name, .doc = "Why it is not needed any more"));
struct hold_page { PAGE_IN; int state; bool has_state; };
SCHEMA_OF(hold_page, "Which holds", PAGE_IN_FIELDS(hold_page), FIELD_ENUM_OPT(hold_page, state, F_QUERY, hold_states, .doc = "Only holds in this state"));
struct retention_put { struct str cls, zone; int64_t keep_days; };
SCHEMA_OF(retention_put, "A term to set",
    FIELD_AS(retention_put, cls, "class", F_REQ, .min = 1, .max = 3, .doc = "The middle of the event's code, such as JOB; * for all others"),
    FIELD(retention_put, zone, 0, .min = 2, .max = 31, .check = check_slug, .doc = "For the platform: least term of the tenants at home in this zone"),
    FIELD(retention_put, keep_days, F_REQ, .min = 30, .max = 36525, .doc = "Days that the content of events is kept; their hashes stay for ever"));
struct erasure_new { struct uuid user_id; };
SCHEMA_OF(erasure_new, "A person to erase", FIELD_ID(erasure_new, user_id, "usr", F_REQ, .doc = "Who"));
struct person_ref { struct uuid user_id; };
SCHEMA_OF(person_ref, "A person", FIELD_ID(person_ref, user_id, "usr", F_PATH, .doc = "Who"));
struct erasure_page { PAGE_IN; };
SCHEMA_OF(erasure_page, "Which erasures", PAGE_IN_FIELDS(erasure_page));

/* -------------------------------------------------------------------------------------------------------------------- holds */
static enum errc hold_place(struct work *w, const void *in, void *out, struct err *e)
{
    const struct hold_new *n = in;
    struct audit_hold h = { .about_tenant = n->tenant_id, .subject_id = n->subject_id, .from_at = n->from, .until_at = n->to, .reason = n->reason };
    if (uuid_eq(h.about_tenant, w->tenant_id))
        h.about_tenant = UUID_NIL;
    if (!uuid_is_nil(h.about_tenant) && !uuid_is_nil(w->tenant_id))
        return FAIL(e, NOT_FOUND, "There is no such object");
    TRY(audit_hold_place(w, &h, w->principal->user_id, out, e));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("change", STR("placed")));
    return ERR_OK;
}

static enum errc hold_get(struct work *w, const void *in, void *out, struct err *e)
{
    return audit_hold_get(w, ((const struct hold_ref *)in)->hold_id, out, e);
}

static enum errc hold_list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct hold_page *page = in;
    return PAGE_BY_ID(w, page, out, audit_hold, hold_id,
                      audit_hold_list(w, page->has_state ? str_c(hold_states[page->state]) : STR_NULL, after, limit, rows, e), e);
}

/* The approval's executor: the hold is lifted and the log says so in the transaction of the last approval. */
static enum errc lift(struct work *w, const struct approval *a, struct err *e)
{
    struct audit_event ev = audit_event_by(w, w->principal, AUDIT_HOLD_SET);
    TRY(audit_hold_lift(w, a->subject_id, e));
    ev.resource_kind = STR("hold");
    ev.resource_prefix = "hld";
    ev.resource_id = a->subject_id;
    audit_event_detail(&ev, AUDIT_D_STR("change", STR("lifted")));
    audit_event_detail(&ev, AUDIT_D_STR("approval", id_text(w->arena, "apr", a->approval_id)));
    return audit_append(w, &ev, e);
}

const struct approval_kind approval_hold_lift = { "audit.hold.lift", PERM_APPROVE_HOLD, 2, 168, lift, "Lifting a legal hold" };

static enum errc hold_lift(struct work *w, const void *in, void *out, struct err *e)
{
    const struct hold_lift_in *q = in;
    struct audit_hold h;
    TRY(audit_hold_get(w, q->hold_id, &h, e));
    if (!str_eq_c(h.state, "ACTIVE"))
        return FAIL(e, CONFLICT, "The legal hold is not active; it was lifted already");
    struct str id = id_text(w->arena, "hld", q->hold_id);
    return approval_request(w, &approval_hold_lift, q->hold_id, id, str_fmt(w->arena, "{\"hold_id\": \"%.*s\"}", STR_ARG(id)), q->reason, out, e);
}

/* ---------------------------------------------------------------------------------------------------------------- retention */
static enum errc retention_list(struct work *w, const void *in, void *out, struct err *e)
{
    (void)in;
    return audit_retention_list(w, &((struct page_out *)out)->items, e);
}

static bool is_class(struct str s)
{
    if (str_eq_c(s, "*"))
        return true;
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] < 'A' || s.ptr[i] > 'Z')
            return false;
    return s.len == 3;
}

static enum errc retention_set(struct work *w, const void *in, void *out, struct err *e)
{
    const struct retention_put *q = in;
    if (!is_class(q->cls))
        return FAIL_AT(e, UNPROCESSABLE, "/class", "A class has three capital letters, as in JOB; * stands for all");
    TRY(audit_retention_set(w, q->cls, q->zone, q->keep_days, w->principal->user_id, out, e));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("class", q->cls));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_INT("keep_days", q->keep_days));
    return ERR_OK;
}

/* ----------------------------------------------------------------------------------------------------------------- erasures */
struct forget { struct audit_pii *pii; struct uuid subject; };

static void forget(void *ctx)
{
    const struct forget *f = ctx;
    audit_pii_forget(f->pii, f->subject);
}

static enum errc erase(struct work *w, const void *in, void *out, struct err *e)
{
    struct uuid user = ((const struct erasure_new *)in)->user_id;
    if (uuid_eq(user, w->principal->user_id))
        return FAIL(e, SEPARATION, "You cannot erase your own personal data; another compliance officer must do it");
    TRY(audit_erase_person(w, user, w->principal->user_id, out, e));
    struct forget *f = ARENA_NEW(w->arena, struct forget);
    *f = (struct forget){ w->app->pii, user };
    if (f->pii)
        db_after_commit(w->tx, forget, f);
    return ERR_OK;
}

static enum errc erasure_list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct erasure_page *page = in;
    return PAGE_BY_ID(w, page, out, audit_erasure, user_id, audit_erasure_list(w, after, limit, rows, e), e);
}

static enum errc person_data(struct work *w, const void *in, void *out, struct err *e)
{
    return audit_person_data(w, ((const struct person_ref *)in)->user_id, out, e);
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/audit/holds", .lane = LANE_CALLS,
      .op = "audit_hold_place", .perm = PERM_AUDIT_HOLD, .handler = hold_place, .in = &hold_new_schema,
      .status = 201, .out = &audit_hold_schema, .flags = R_IDEMPOTENT, .rate = RL_WRITE, .resource = "hold", .audited = true, .audit = AUDIT_HOLD_SET,
      .doc = "Place a legal hold: what it covers is neither dropped, erased nor shredded" },
    { .method = HTTP_GET, .path = "/v1/audit/holds", .lane = LANE_CALLS,
      .op = "audit_hold_list", .perm = PERM_AUDIT_HOLD, .handler = hold_list, .in = &hold_page_schema,
      .status = 200, .out = &audit_hold_schema, .flags = R_LIST, .doc = "List legal holds" },
    { .method = HTTP_GET, .path = "/v1/audit/holds/{hold_id}", .lane = LANE_CALLS,
      .op = "audit_hold_get", .perm = PERM_AUDIT_HOLD, .handler = hold_get,
      .in = &hold_ref_schema, .status = 200, .out = &audit_hold_schema, .resource = "hold", .doc = "Read one hold" },
    { .method = HTTP_POST, .path = "/v1/audit/holds/{hold_id}/lift", .lane = LANE_CALLS,
      .op = "audit_hold_lift", .perm = PERM_AUDIT_HOLD, .handler = hold_lift,
      .in = &hold_lift_in_schema, .status = 202, .out = &approval_schema, .flags = R_IDEMPOTENT | R_STEP_UP, .rate = RL_WRITE, .resource = "approval",
      .audit = AUDIT_APPROVAL_REQUEST, .doc = "Ask for a hold to be lifted: two others approve" },
    { .method = HTTP_GET, .path = "/v1/audit/retention", .lane = LANE_CALLS,
      .op = "audit_retention_list", .perm = PERM_AUDIT_READ, .handler = retention_list, .status = 200,
      .out = &audit_retention_schema, .flags = R_LIST, .doc = "How long classes of events are kept" },
    { .method = HTTP_PUT, .path = "/v1/audit/retention", .lane = LANE_CALLS,
      .op = "audit_retention_set", .perm = PERM_AUDIT_RETENTION, .handler = retention_set,
      .in = &retention_put_schema, .status = 200, .out = &audit_retention_schema, .flags = R_STEP_UP, .rate = RL_WRITE, .resource = "retention",
      .audited = true, .audit = AUDIT_POLICY_SET, .doc = "Set how long a class of events is kept; the least term of the home zone holds in any case" },
    { .method = HTTP_POST, .path = "/v1/audit/erasures", .lane = LANE_CALLS,
      .op = "person_erase", .perm = PERM_PERSON_ERASE, .handler = erase, .in = &erasure_new_schema,
      .status = 201, .out = &audit_erasure_schema, .flags = R_IDEMPOTENT | R_STEP_UP, .rate = RL_WRITE, .resource = "user", .audited = true,
      .audit = AUDIT_PERSON_ERASE, .doc = "Make a person's fields in the log unreadable for good, and disable the user; all proofs stay" },
    { .method = HTTP_GET, .path = "/v1/audit/erasures", .lane = LANE_CALLS,
      .op = "person_erasure_list", .perm = PERM_PERSON_ERASE, .handler = erasure_list,
      .in = &erasure_page_schema, .status = 200, .out = &audit_erasure_schema, .flags = R_LIST, .doc = "Persons that were erased" },
    { .method = HTTP_GET, .path = "/v1/audit/persons/{user_id}", .lane = LANE_CALLS,
      .op = "person_data", .perm = PERM_PERSON_ERASE, .handler = person_data,
      .in = &person_ref_schema, .status = 200, .out = &audit_person_schema, .resource = "user", .audited = true, .audit =
          AUDIT_PERSON_READ,
      .doc = "What is kept of a person, to hand out to them; what an erasure takes away" },
};
extern const struct route_table audit_rule_routes;
ROUTE_TABLE(audit_rule_routes, rows);
