/* SPDX-License-Identifier: Apache-2.0 */
/* scim_meta.c - what SCIM here can do: ServiceProviderConfig, ResourceTypes, Schemas (RFC 7644, 4). */
#include "api/pipeline.h"
#include "tenants/identity/scim_schema.h"

enum { DOCUMENT_MAX = 64 << 10 };

struct scim_named { struct str name; };
SCHEMA_OF(scim_named, "Which one", FIELD(scim_named, name, F_PATH, .min = 1, .max = 128, .doc = "Its id"));
struct scim_document { struct json body; };
SCHEMA_OF(scim_document, "A document of discovery", FIELD(scim_document, body, 0, .doc = "The document"));

static enum errc give(struct work *w, struct buf *b, bool found, struct scim_document *ret, struct err *e)
{
    ret->body.text = found ? str_dup(w->arena, buf_str(b)) : STR_NULL;
    buf_release(b);
    return found ? ERR_OK : FAIL(e, NOT_FOUND, "There is no such object");
}

static enum errc config(struct work *w, const void *in, void *out, struct err *e)
{
    struct buf b = BUF(DOCUMENT_MAX);
    (void)in;
    scim_print_config(&b);
    return give(w, &b, true, out, e);
}

static enum errc types(struct work *w, const void *in, void *out, struct err *e)
{
    struct buf b = BUF(DOCUMENT_MAX);
    bool found = scim_print_types(in ? ((const struct scim_named *)in)->name : STR_NULL, &b);
    return give(w, &b, found, out, e);
}

static enum errc schemas(struct work *w, const void *in, void *out, struct err *e)
{
    struct buf b = BUF(DOCUMENT_MAX);
    bool found = scim_print_schemas(in ? ((const struct scim_named *)in)->name : STR_NULL, &b);
    return give(w, &b, found, out, e);
}

#define ROW(path_, op_, handler_, in_, doc_)                                                                       \
    { .method = HTTP_GET, .path = "/scim/v2/" path_, .lane = LANE_CALLS, .op = op_, .perm = PERM_SCIM_PROVISION,   \
      .handler = handler_, .in = in_, .status = 200,                                                               \
      .out = &scim_document_schema, .flags = R_SCIM | R_NO_TX, .doc = doc_ }
static const struct route rows[] = {
    ROW("ServiceProviderConfig", "scim_config", config, NULL, "What this SCIM service can do"),
    ROW("ResourceTypes", "scim_types", types, NULL, "List the kinds of SCIM resources"),
    ROW("ResourceTypes/{name}", "scim_type", types, &scim_named_schema, "Read one kind of SCIM resource"),
    ROW("Schemas", "scim_schemas", schemas, NULL, "List the SCIM schemas"),
    ROW("Schemas/{name}", "scim_schema", schemas, &scim_named_schema, "Read one SCIM schema"),
};
extern const struct route_table scim_meta_routes;
ROUTE_TABLE(scim_meta_routes, rows);
