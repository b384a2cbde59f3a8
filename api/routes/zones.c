/* SPDX-License-Identifier: Apache-2.0 */
/* zones.c - routes of residency zones. */
#include "api/route.h"
#include "tenants/zone.h"

struct zone_create_in {
    struct str code, name, country;
    struct slice legal_regimes;
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
    FIELD_STRS(zone_create_in, legal_regimes, 0, .max = 16, .doc = "Laws that apply there, e.g. uae-pdpl"));

struct zone_ref { struct str code; };
SCHEMA_OF(zone_ref, "Which zone", FIELD(zone_ref, code, F_PATH, .min = 2, .max = 31, .check = check_slug, .doc = "Short name"));

struct zone_page { PAGE_IN; };
SCHEMA_OF(zone_page, "Which zones", PAGE_IN_FIELDS(zone_page));

static enum errc create(struct work *w, const void *in, void *out, struct err *e)
{
    const struct zone_create_in *z = in;
    return zone_create(w, z->code, z->name, z->country, z->legal_regimes, out, e);
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

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/zones", .op = "zone_create", .perm = PERM_ZONE_CREATE, .handler = create, .in = &zone_create_in_schema,
      .status = 201, .out = &zone_schema, .flags = R_IDEMPOTENT, .rate = RL_WRITE, .resource = "zone", .audited = true, .audit = AUDIT_ZONE_CREATE,
      .sql_max = 6, .doc = "Create a residency zone" },
    { .method = HTTP_GET, .path = "/v1/zones", .op = "zone_list", .perm = PERM_ZONE_READ, .handler = list, .in = &zone_page_schema, .status = 200,
      .out = &zone_schema, .flags = R_LIST, .sql_max = 1, .doc = "List residency zones" },
    { .method = HTTP_GET, .path = "/v1/zones/{code}", .op = "zone_get", .perm = PERM_ZONE_READ, .handler = read_one, .in = &zone_ref_schema,
      .status = 200, .out = &zone_schema, .sql_max = 1, .doc = "Read one residency zone" },
};
extern const struct route_table zone_routes;
ROUTE_TABLE(zone_routes, rows);
