/* SPDX-License-Identifier: Apache-2.0 */
/* zones.c - routes of residency zones. */
#include "api/route.h"
#include "tenants/home/law_template.h"
#include "tenants/home/residency.h"
#include "tenants/home/zone.h"
#include "tenants/home/zone_law.h"

struct zone_create_in {
    struct str code, name, country;
    struct slice legal_regimes, templates;
    struct zone_law law;
};
static bool check_country(struct str s, const char **why)
{
    *why = "be an ISO 3166 code of two capital letters";
    return s.len == 2 && s.ptr[0] >= 'A' && s.ptr[0] <= 'Z' && s.ptr[1] >= 'A' && s.ptr[1] <= 'Z';
}
SCHEMA_OF(zone_create_in, "A zone to create",
    FIELD(zone_create_in, code, F_REQ, .min = 2, .max = 31, .check = check_slug, .doc = "Short name, e.g. ae-dxb-1"),
    FIELD(zone_create_in, name, F_REQ, .min = 1, .max = 128, .check = check_name, .doc = "Name for people"),
    FIELD(zone_create_in, country, F_REQ, .min = 2, .max = 2, .check = check_country, .pattern_doc = "^[A-Z]{2}$", .example = "AE",
        .doc = "ISO 3166 country"),
    FIELD_STRS(zone_create_in, legal_regimes, 0, .max = 16, .doc = "Laws that apply there, e.g. uae-pdpl"),
    FIELD_STRS(zone_create_in, templates, 0, .max = 16, .check = check_slug,
        .doc = "Instead of a law: the law that these templates make together, as listed by /v1/residency/templates"),
    FIELD_SUB(zone_create_in, law, &zone_law_schema, F_NOCOL, .doc = "What the law says; absent: nothing beyond the first four classes of data"));

struct zone_ref { struct str code; };
SCHEMA_OF(zone_ref, "Which zone", FIELD(zone_ref, code, F_PATH, .min = 2, .max = 31, .check = check_slug, .doc = "Short name"));

struct zone_law_ref { struct str code; int64_t version; };
SCHEMA_OF(zone_law_ref, "Which law", FIELD(zone_law_ref, code, F_PATH, .min = 2, .max = 31, .check = check_slug, .doc = "The zone"),
    FIELD(zone_law_ref, version, F_QUERY, .min = 0, .max = INT64_MAX, .dflt = "0", .doc = "An older version; 0: the one in force"));
struct zone_law_in { struct str code; struct zone_law law; struct str reason; };
SCHEMA_OF(zone_law_in, "A change of a zone's law to ask for", FIELD(zone_law_in, code, F_PATH, .min = 2, .max = 31, .check = check_slug, .doc = "The zone"),
    FIELD_SUB(zone_law_in, law, &zone_law_schema, F_REQ | F_NOCOL, .doc = "All of it, as it is to be"),
    FIELD(zone_law_in, reason, F_REQ, .min = 1, .max = 1024, .check = check_name, .doc = "Why; approvers read it"));

struct zone_page { PAGE_IN; };
SCHEMA_OF(zone_page, "Which zones", PAGE_IN_FIELDS(zone_page));

static enum errc create(struct work *w, const void *in, void *out, struct err *e)
{
    const struct zone_create_in *z = in;
    static const struct zone_law none = { 0 };
    struct zone_law law = z->law;
    bool has_law = memcmp(&z->law, &none, sizeof none) != 0;
    if (has_law && z->templates.n)
        return FAIL_AT(e, UNPROCESSABLE, "/templates", "Give templates or a law, not both");
    if (z->templates.n)
        TRY(law_of_templates(w->arena, z->templates, &law, e));
    if (!law.legal_regimes.n)
        law.legal_regimes = z->legal_regimes;
    TRY(zone_create(w, z->code, z->name, z->country, law.legal_regimes, out, e));
    if (!has_law && !z->templates.n)
        return ERR_OK;
    TRY(zone_law_put(w, z->code, &law, UUID_NIL, e));
    return zone_get(w, z->code, out, e);
}

static enum errc read_law(struct work *w, const void *in, void *out, struct err *e)
{
    const struct zone_law_ref *z = in;
    return zone_law_get(w, z->code, z->version, out, e);
}

static enum errc put_law(struct work *w, const void *in, void *out, struct err *e)
{
    const struct zone_law_in *z = in;
    struct approval *a = out;
    TRY(zone_law_request(w, z->code, &z->law, z->reason, a, e));
    approval_details(a, &call_of(w)->audit);
    return ERR_OK;
}

static enum errc read_one(struct work *w, const void *in, void *out, struct err *e)
{
    return zone_get(w, ((const struct zone_ref *)in)->code, out, e);
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct zone_page *page = in;
    struct page_out *ret = out;
    TRY(zone_list(w, page->page_token, page->page_size + 1, &ret->items, e));
    if (ret->items.n > (size_t)page->page_size) {
        ret->items.n--;
        ret->next = ((struct zone *)ret->items.items)[ret->items.n - 1].code;
    }
    return ERR_OK;
}

static enum errc list_templates(struct work *w, const void *in, void *out, struct err *e)
{
    const struct zone_page *page = in;
    struct page_out *ret = out;
    (void)e;
    ret->items = law_template_list(w->arena, page->page_token);
    if (ret->items.n > (size_t)page->page_size) {
        ret->items.n = (size_t)page->page_size;
        ret->next = ((struct law_template *)ret->items.items)[ret->items.n - 1].template_id;
    }
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v1/residency/templates", .lane = LANE_CALLS,
      .op = "law_template_list", .perm = PERM_ZONE_READ, .handler = list_templates, .in = &zone_page_schema, .status = 200,
      .out = &law_template_schema, .flags = R_LIST, .doc = "List known laws with their clauses, as a zone's law is begun with" },
    { .method = HTTP_POST, .path = "/v1/zones", .lane = LANE_CALLS,
      .op = "zone_create", .perm = PERM_ZONE_CREATE, .handler = create, .in = &zone_create_in_schema,
      .status = 201, .out = &zone_schema, .flags = R_IDEMPOTENT | R_STEP_UP, .rate = RL_WRITE, .resource = "zone", .audited = true, .audit = AUDIT_ZONE_CREATE,
      .doc = "Create a residency zone, with its first law" },
    { .method = HTTP_GET, .path = "/v1/zones", .lane = LANE_CALLS,
      .op = "zone_list", .perm = PERM_ZONE_READ, .handler = list, .in = &zone_page_schema, .status = 200,
      .out = &zone_schema, .flags = R_LIST, .doc = "List residency zones" },
    { .method = HTTP_GET, .path = "/v1/zones/{code}", .lane = LANE_CALLS,
      .op = "zone_get", .perm = PERM_ZONE_READ, .handler = read_one, .in = &zone_ref_schema,
      .status = 200, .out = &zone_schema, .doc = "Read one residency zone" },
    { .method = HTTP_GET, .path = "/v1/zones/{code}/law", .lane = LANE_CALLS,
      .op = "zone_law_get", .perm = PERM_ZONE_READ, .handler = read_law, .in = &zone_law_ref_schema,
      .status = 200, .out = &zone_law_view_schema, .doc = "The law of a zone: what may be there, what may leave, which clocks run, by which source" },
    { .method = HTTP_PUT, .path = "/v1/zones/{code}/law", .lane = LANE_CALLS,
      .op = "zone_law_put", .perm = PERM_ZONE_POLICY, .handler = put_law, .in = &zone_law_in_schema,
      .status = 202, .out = &approval_schema, .flags = R_STEP_UP, .rate = RL_WRITE, .resource = "approval", .audited = true, .audit = AUDIT_ZONE_UPDATE,
      .doc = "Ask for a change of a zone's law; a compliance officer of the platform approves it" },
};
extern const struct route_table zone_routes;
ROUTE_TABLE(zone_routes, rows);
