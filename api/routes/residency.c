/* SPDX-License-Identifier: Apache-2.0 */
/* residency.c - routes of transfer policies, the register of transfers, the judge's explanations and the evidence report. */
#include "api/pipeline.h"
#include "api/route.h"
#include "core/db/run_tx.h"
#include "registry/evidence/evidence.h"
#include "registry/evidence/what_if.h"
#include "registry/catalog/transfer.h"
#include "tenants/access/principal.h"
#include "tenants/home/law_template.h"
#include "tenants/home/residency_facts.h"
#include "tenants/home/residency_remedy.h"
#include "tenants/home/tenant.h"
#include "tenants/home/transfer_policy.h"

enum { CSV_MAX = 16 << 20, CSV_ROWS = 50000, HTML_MAX = 16 << 20 };

static const char *const policy_states[] = { "PROPOSED", "ACTIVE", "REVOKED", NULL };

struct policy_ref { struct uuid policy_id; };
SCHEMA_OF(policy_ref, "Which policy", FIELD_ID(policy_ref, policy_id, "trp", F_PATH, .doc = "The policy"));
struct policy_page { PAGE_IN; int state; bool has_state; };
SCHEMA_OF(policy_page, "Which policies", PAGE_IN_FIELDS(policy_page),
    FIELD_ENUM_OPT(policy_page, state, F_QUERY, policy_states, .doc = "Only policies in this state"));
struct transfer_page { PAGE_IN; struct str zone; struct timestamp from, to; };
SCHEMA_OF(transfer_page, "Which transfers", PAGE_IN_FIELDS(transfer_page),
    FIELD(transfer_page, zone, F_QUERY, .min = 2, .max = 31, .check = check_slug, .doc = "From or to this zone"),
    FIELD(transfer_page, from, F_QUERY, .doc = "Not before"), FIELD(transfer_page, to, F_QUERY, .doc = "Before"));
struct transfer_range { struct str zone; struct timestamp from, to; };
SCHEMA_OF(transfer_range, "Which transfers", FIELD(transfer_range, zone, F_QUERY, .min = 2, .max = 31, .check = check_slug, .doc = "From or to this zone"),
    FIELD(transfer_range, from, F_QUERY, .doc = "Not before"), FIELD(transfer_range, to, F_QUERY, .doc = "Before"));
struct transfer_in { struct uuid dataset_id; int64_t version; struct str to_zone, purpose; struct uuid policy_id; };
SCHEMA_OF(transfer_in, "A transfer to carry out", FIELD_ID(transfer_in, dataset_id, "dst", F_PATH, .doc = "The data set"),
    FIELD(transfer_in, version, F_PATH, .min = 1, .max = INT64_MAX, .doc = "Its version"),
    FIELD(transfer_in, to_zone, F_REQ, .min = 2, .max = 31, .check = check_slug, .doc = "Where a copy is to be"),
    FIELD(transfer_in, purpose, 0, .min = 1, .max = 63, .check = check_slug, .doc = "What for; absent: what the policy says"),
    FIELD_ID(transfer_in, policy_id, "trp", 0, .doc = "The policy that covers it; absent: whatever allows it"));
struct residency_explain_in { int data_class; struct str zone, from; int act; struct str purpose; };
SCHEMA_OF(residency_explain_in, "A question to the judge", FIELD_ENUM(residency_explain_in, data_class, F_REQ, data_class_names, .doc = "Class of the data"),
    FIELD(residency_explain_in, zone, F_REQ, .min = 2, .max = 31, .check = check_slug, .doc = "Where it would be"),
    FIELD(residency_explain_in, from, 0, .min = 2, .max = 31, .check = check_slug, .doc = "Where it lies now; absent: the home zone"),
    FIELD_ENUM(residency_explain_in, act, F_REQ, residency_act_names, .doc = "What would be done"),
    FIELD(residency_explain_in, purpose, 0, .min = 1, .max = 63, .check = check_slug, .doc = "What for: training, serving, …"));
struct explain_out { bool allowed; struct str rule, text, act; struct uuid policy_id; struct residency_remedy remedy; };
SCHEMA_OF(explain_out, "The judge's verdict", FIELD(explain_out, allowed, 0, .doc = "May it be there"),
    FIELD(explain_out, rule, F_ALWAYS, .doc = "The rule, a stable word"),
    FIELD(explain_out, text, F_ALWAYS, .doc = "The reason in words"),
    FIELD(explain_out, act, F_ALWAYS, .doc = "What was asked about"),
    FIELD_ID(explain_out, policy_id, "trp", 0, .doc = "The policy that allows it"),
    FIELD_SUB(explain_out, remedy, &residency_remedy_schema, F_NOCOL, .doc = "Refused: what is missing, and who may set it"));
struct what_if_in {
    struct uuid dataset_id;
    int data_class;
    bool has_data_class;
    struct str zone, from, law_of;
    struct slice templates;
    struct zone_law law;
    bool is_allowed, has_policy, has_exception;
};
SCHEMA_OF(what_if_in, "A change to try out on the tenant's own things; nothing is stored",
    FIELD_ID(what_if_in, dataset_id, "dst", 0, .doc = "One data set"),
    FIELD_ENUM_OPT(what_if_in, data_class, 0, data_class_names, .doc = "All data of this class; absent: that of the data set"),
    FIELD(what_if_in, zone, F_REQ, .min = 2, .max = 31, .check = check_slug, .doc = "Where it would be"),
    FIELD(what_if_in, from, 0, .min = 2, .max = 31, .check = check_slug,
        .doc = "Where a policy would let it come from; absent: home"),
    FIELD(what_if_in, law_of, 0, .min = 2, .max = 31, .check = check_slug,
        .doc = "The zone whose law would change; absent: `zone`"),
    FIELD_STRS(what_if_in, templates, 0, .max = 16, .check = check_slug, .doc = "Its law would be these known laws"),
    FIELD_SUB(what_if_in, law, &zone_law_schema, F_NOCOL, .doc = "Its law would be this one"),
    FIELD_AS(what_if_in, is_allowed, "allow", 0, .doc = "The zone would be on the tenant's list for the class"),
    FIELD_AS(what_if_in, has_policy, "policy", 0, .doc = "A transfer policy to the zone would be in force"),
    FIELD_AS(what_if_in, has_exception, "exception", 0, .doc = "And would name its exception"));
struct evidence_in { struct str zone; struct timestamp from, to; };
SCHEMA_OF(evidence_in, "Evidence about what", FIELD(evidence_in, zone, F_QUERY, .min = 2, .max = 31, .check = check_slug, .doc = "Only this zone"),
    FIELD(evidence_in, from, F_QUERY, .doc = "Begin of the period; absent: 90 days before its end"), FIELD(evidence_in, to, F_QUERY, .doc = "Its end; absent: now"));
struct evidence_html_in { struct str zone; struct timestamp from, to; int lang; };
SCHEMA_OF(evidence_html_in, "Evidence about what, for the printer",
    FIELD(evidence_html_in, zone, F_QUERY, .min = 2, .max = 31, .check = check_slug, .doc = "Only this zone"),
    FIELD(evidence_html_in, from, F_QUERY, .doc = "Begin of the period; absent: 90 days before its end"),
    FIELD(evidence_html_in, to, F_QUERY, .doc = "Its end; absent: now"),
    FIELD_ENUM(evidence_html_in, lang, F_QUERY, evidence_language_names, .dflt = "en", .doc = "Language"));

static enum errc propose(struct work *w, const void *in, void *out, struct err *e)
{
    struct transfer_policy *p = out;
    TRY(transfer_policy_propose(w, in, p, e));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("act", STR("propose")));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("class", p->data_class));
    return ERR_OK;
}

static enum errc read_policy(struct work *w, const void *in, void *out, struct err *e)
{
    return transfer_policy_get(w, ((const struct policy_ref *)in)->policy_id, out, e);
}

static enum errc list_policies(struct work *w, const void *in, void *out, struct err *e)
{
    const struct policy_page *page = in;
    return PAGE_BY_ID(w, page, out, transfer_policy, policy_id,
                      transfer_policy_list(w, page->has_state ? str_c(policy_states[page->state]) : STR_NULL, after, limit, rows, e), e);
}

static enum errc revoke(struct work *w, const void *in, void *out, struct err *e)
{
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("act", STR("revoke")));
    return transfer_policy_revoke(w, ((const struct policy_ref *)in)->policy_id, out, e);
}

static enum errc list_transfers(struct work *w, const void *in, void *out, struct err *e)
{
    const struct transfer_page *page = in;
    struct transfer_filter f = { page->zone, page->from, page->to };
    return PAGE_BY_ID(w, page, out, transfer, transfer_id, transfer_list(w, &f, after, limit, rows, e), e);
}

static enum errc transfers_csv(struct work *w, const void *in, void *out, struct err *e)
{
    const struct transfer_range *r = in;
    struct transfer_filter f = { r->zone, r->from, r->to };
    struct slice rows;
    struct buf *b = out;
    TRY(transfer_list(w, &f, UUID_NIL, CSV_ROWS, &rows, e));
    *b = BUF(CSV_MAX);
    transfer_csv(&rows, b);
    return ERR_OK;
}

static struct transfer_ask ask_of(const struct transfer_in *t)
{
    return (struct transfer_ask){ t->dataset_id, t->version, t->to_zone, t->purpose, t->policy_id };
}

static void drop_copy(struct work *w, void *copy)
{
    transfer_drop(w, copy);
}

static enum errc seal_copy(struct work *w, const void *in, struct err *e)
{
    const struct transfer_ask ask = ask_of(in);
    const struct transfer_copy *copy;
    TRY(transfer_seal(w, &ask, &copy, e));
    call_of(w)->own = (void *)copy;
    call_of(w)->drop_own = drop_copy;
    return ERR_OK;
}

static enum errc transfer(struct work *w, const void *in, void *out, struct err *e)
{
    const struct transfer_ask ask = ask_of(in);
    struct transfer *ret = out;
    struct audit_event *ev = &call_of(w)->audit;
    if (!call_of(w)->own)
        return call_outside(w, seal_copy, e);
    TRY(transfer_execute(w, &ask, call_of(w)->own, ret, e));
    audit_event_detail(ev, AUDIT_D_STR("from", ret->from_zone));
    audit_event_detail(ev, AUDIT_D_STR("to", ret->to_zone));
    audit_event_detail(ev, AUDIT_D_STR("class", ret->data_class));
    audit_event_detail(ev, AUDIT_D_STR("basis", ret->legal_basis.ptr ? ret->legal_basis : ret->rule));
    audit_event_detail(ev, AUDIT_D_STR("policy", uuid_is_nil(ret->policy_id) ? STR("") : id_text(w->arena, "trp", ret->policy_id)));
    audit_event_detail(ev, AUDIT_D_STR("object", id_text(w->arena, "obj", ret->to_object)));
    audit_event_detail(ev, AUDIT_D_INT("bytes", ret->bytes));
    return ERR_OK;
}

static enum errc explain(struct work *w, const void *in, void *out, struct err *e)
{
    const struct residency_explain_in *x = in;
    const struct residency_facts *f;
    struct residency_question q = { .data_class = x->data_class, .zone = x->zone, .from = x->from, .purpose = x->purpose, .now_us = w->now_us };
    if (uuid_is_nil(w->tenant_id))
        return FAIL(e, UNPROCESSABLE, "The platform has no data of its own; make this call as a user of a tenant");
    TRY(residency_facts_read(w, &f, e));
    struct residency_verdict v = residency_allows(f, &q);
    struct explain_out *ret = out;
    *ret = (struct explain_out){ .allowed = v.allowed, .rule = str_c(v.rule), .text = str_dup(w->arena, str_c(v.text)),
                                 .act = str_c(residency_act_names[x->act]), .policy_id = v.policy_id };
    if (!v.allowed)
        (void)residency_remedy_of(w->arena, ret->rule, str_c(data_class_names[x->data_class]), x->zone, x->from, &ret->remedy);
    return ERR_OK;
}

/* In a transaction that can write nothing. */
static enum errc what_if(struct work *w, const void *in, void *out, struct err *e)
{
    const struct what_if_in *x = in;
    static const struct zone_law none = { 0 };
    struct zone_law law = x->law;
    bool has_law = memcmp(&x->law, &none, sizeof none) != 0;
    if (uuid_is_nil(w->tenant_id))
        return FAIL(e, UNPROCESSABLE, "The platform has no data of its own; make this call as a user of a tenant");
    if (has_law && x->templates.n)
        return FAIL_AT(e, UNPROCESSABLE, "/templates", "Give templates or a law, not both");
    if (x->law_of.ptr && !has_law && !x->templates.n)
        return FAIL_AT(e, UNPROCESSABLE, "/law_of", "Say by templates or law what the law of that zone would be");
    if (x->templates.n)
        TRY(law_of_templates(w->arena, x->templates, &law, e));
    struct what_if_ask ask = { .dataset_id = x->dataset_id, .data_class = x->has_data_class ? x->data_class : -1, .zone = x->zone,
                               .from = x->from, .is_allowed = x->is_allowed, .has_policy = x->has_policy,
                               .has_exception = x->has_exception, .law = &law };
    if (has_law || x->templates.n)
        ask.law_of = x->law_of.ptr ? x->law_of : x->zone;
    return RUN_READ(w, what_if_read(w, &ask, out, e), e);
}

/* Both inputs begin with their zone. */
static enum errc ask_tokens(struct work *w, const void *in, struct err *e)
{
    struct slice *tokens = ARENA_NEW(w->arena, struct slice);
    (void)e;
    *tokens = evidence_tokens(w, *(const struct str *)in);
    call_of(w)->own = tokens;
    return ERR_OK;
}

static enum errc evidence(struct work *w, const void *in, void *out, struct err *e)
{
    const struct evidence_in *x = in;
    struct evidence_ask ask = { x->zone, x->from, x->to };
    if (!call_of(w)->own)
        return call_outside(w, ask_tokens, e);
    return evidence_read(w, &ask, call_of(w)->own, out, e);
}

static enum errc evidence_page(struct work *w, const void *in, void *out, struct err *e)
{
    const struct evidence_html_in *x = in;
    struct evidence_ask ask = { x->zone, x->from, x->to };
    struct evidence ev;
    struct tenant t;
    struct buf *b = out;
    if (!call_of(w)->own)
        return call_outside(w, ask_tokens, e);
    TRY(evidence_read(w, &ask, call_of(w)->own, &ev, e));
    if (!principal_is_platform(w->principal)) {
        TRY(tenant_get(w, w->tenant_id, &t, e));
        ev.tenant_name = shown_name_for(t.name, SHOWN_NAME_OF(&t), x->lang == EVIDENCE_AR);
    }
    *b = BUF(HTML_MAX);
    if (evidence_html(w->arena, &ev, (enum evidence_language)x->lang, b, e) == ERR_OK)
        return ERR_OK;
    buf_release(b);
    return e->code;
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/transfer-policies", .lane = LANE_CALLS,
      .op = "transfer_policy_propose", .perm = PERM_TRANSFER_PROPOSE, .handler = propose,
      .in = &transfer_policy_new_schema, .status = 201, .out = &transfer_policy_schema, .flags = R_IDEMPOTENT | R_STEP_UP, .rate = RL_WRITE, .resource = "policy",
      .audited = true, .audit = AUDIT_TRANSFER_POLICY,
      .doc = "Propose that data of a class may cross from one zone to another; others approve it (two for sensitive and regulated classes)" },
    { .method = HTTP_GET, .path = "/v1/transfer-policies", .lane = LANE_CALLS,
      .op = "transfer_policy_list", .perm = PERM_TRANSFER_READ, .handler = list_policies,
      .in = &policy_page_schema, .status = 200, .out = &transfer_policy_schema, .flags = R_LIST, .doc = "List transfer policies, newest first" },
    { .method = HTTP_GET, .path = "/v1/transfer-policies/{policy_id}", .lane = LANE_CALLS,
      .op = "transfer_policy_get", .perm = PERM_TRANSFER_READ, .handler = read_policy,
      .in = &policy_ref_schema, .status = 200, .out = &transfer_policy_schema, .resource = "policy", .doc = "Read one transfer policy" },
    { .method = HTTP_POST, .path = "/v1/transfer-policies/{policy_id}/revoke", .lane = LANE_CALLS,
      .op = "transfer_policy_revoke", .perm = PERM_TRANSFER_REVOKE, .handler = revoke,
      .in = &policy_ref_schema, .status = 200, .out = &transfer_policy_schema, .rate = RL_WRITE, .resource = "policy", .audited = true,
      .audit = AUDIT_TRANSFER_POLICY, .doc = "Revoke a transfer policy: from now on nothing crosses under it, and no key of a copy is given out" },
    { .method = HTTP_GET, .path = "/v1/transfers", .lane = LANE_CALLS,
      .op = "transfer_list", .perm = PERM_TRANSFER_READ, .handler = list_transfers,
      .in = &transfer_page_schema, .status = 200, .out = &transfer_schema, .flags = R_LIST, .doc = "The register of transfers, newest first" },
    { .method = HTTP_GET, .path = "/v1/transfers.csv", .lane = LANE_HEAVY,
      .op = "transfer_csv", .perm = PERM_TRANSFER_READ, .handler = transfers_csv,
      .in = &transfer_range_schema, .status = 200, .content_type = "text/csv", .flags = R_TEXT, .doc = "The register of transfers as CSV" },
    { .method = HTTP_POST, .path = "/v1/datasets/{dataset_id}/versions/{version}/transfer", .lane = LANE_CONTENT,
      .op = "dataset_transfer", .perm = PERM_TRANSFER_EXECUTE,
      .handler = transfer, .in = &transfer_in_schema, .status = 201, .out = &transfer_schema, .flags = R_IDEMPOTENT | R_STEP_UP, .rate = RL_WRITE,
      .resource = "dataset", .audited = true, .audit = AUDIT_TRANSFER,
      .doc = "Copy a version to another zone, sealed anew under that zone's key; jobs in that zone read the copy" },
    { .method = HTTP_POST, .path = "/v1/residency/explain", .lane = LANE_CALLS,
      .op = "residency_explain", .perm = PERM_ZONE_READ, .handler = explain, .in = &residency_explain_in_schema,
      .status = 200, .out = &explain_out_schema, .doc = "Ask the judge of residency: may this class of the tenant's data be in that zone, and why" },
    { .method = HTTP_POST, .path = "/v1/residency/simulate", .lane = LANE_HEAVY,
      .op = "residency_simulate", .perm = PERM_EVIDENCE_READ, .handler = what_if, .in = &what_if_in_schema, .status = 200,
      .out = &what_if_schema, .flags = R_NO_TX, .rate = RL_WRITE,
      .doc = "What a change of a law, a list or a policy would make possible or forbid among the tenant's things; stores nothing" },
    { .method = HTTP_GET, .path = "/v1/evidence", .lane = LANE_HEAVY,
      .op = "evidence", .perm = PERM_EVIDENCE_READ, .handler = evidence, .in = &evidence_in_schema, .status = 200,
      .out = &evidence_schema, .audited = true, .audit = AUDIT_EVIDENCE_EXPORT, .doc = "Evidence about a zone and a period, as an auditor takes it away" },
    { .method = HTTP_GET, .path = "/v1/evidence.html", .lane = LANE_HEAVY,
      .op = "evidence_html", .perm = PERM_EVIDENCE_READ, .handler = evidence_page,
      .in = &evidence_html_in_schema, .status = 200, .content_type = "text/html; charset=utf-8", .flags = R_TEXT, .audited = true,
      .audit = AUDIT_EVIDENCE_EXPORT, .doc = "The evidence report as one page to print, in English or Arabic" },
};
extern const struct route_table residency_routes;
ROUTE_TABLE(residency_routes, rows);
