/* SPDX-License-Identifier: Apache-2.0 */
/* openapi.c - one pass over the tables: paths grouped in order of first appearance, then the component schemas they use. */
#include "api/openapi.h"
#include "api/openapi_int.h"
#include "core/base/assert.h"
#include "core/json/jsonschema.h"
#include "tenants/access/authz.h"

#include <ctype.h>
#include <stdio.h>

/* More than there are: a document that leaves some out would be wrong without a word. */
enum { SCHEMAS_MAX = 512, ROUTES_MAX = 512 };

static const char *const problem_schema =
    "{\"type\":\"object\",\"description\":\"RFC 9457 problem "
    "details\",\"required\":[\"type\",\"title\",\"status\",\"code\",\"request_id\"],"
    "\"properties\":{\"type\":{\"type\":\"string\",\"description\":\"Where the error is documented\"},"
    "\"title\":{\"type\":\"string\",\"description\":\"The kind of "
    "error\"},\"status\":{\"type\":\"integer\",\"description\":\"HTTP status\"},"
    "\"detail\":{\"type\":\"string\",\"description\":\"This case\"},\"instance\":{\"type\":\"string\",\"description\":\"The "
    "path\"},"
    "\"code\":{\"type\":\"string\",\"description\":\"Stable "
    "code\"},\"request_id\":{\"type\":\"string\",\"description\":\"Quote it when you ask for help\"},"
    "\"changed_at\":{\"type\":\"string\",\"format\":\"date-time\",\"description\":\"precondition_failed: when the object was "
    "changed last\"},"
    "\"changed_by\":{\"type\":\"object\",\"description\":\"And by whom, as far as the caller may "
    "know\",\"required\":[\"kind\"],\"properties\":{"
    "\"kind\":{\"type\":\"string\",\"enum\":[\"user\",\"platform\",\"system\"],\"description\":\"One of the tenant, one of "
    "the platform's staff, or a program\"},"
    "\"user_id\":{\"type\":\"string\",\"description\":\"The user, where it is one of the caller's tenant\"},"
    "\"name\":{\"type\":\"string\",\"description\":\"Its name, for who may read users\"}}},"
    "\"remedy\":{\"$ref\":\"#/components/schemas/residency_remedy\"},"
    "\"errors\":{\"type\":\"array\",\"description\":\"What is wrong where\",\"items\":{\"type\":\"object\",\"properties\":{"
    "\"pointer\":{\"type\":\"string\",\"description\":\"RFC 6901 "
    "pointer\"},\"code\":{\"type\":\"string\",\"description\":\"Stable code\"},"
    "\"detail\":{\"type\":\"string\",\"description\":\"What is wrong\"}}}}}}";

static const char *const oip_error_schema =
    "{\"type\":\"object\",\"description\":\"Open Inference Protocol error\",\"required\":[\"error\"],"
    "\"properties\":{\"error\":{\"type\":\"string\",\"description\":\"What is wrong\"}}}";

static const char *const scim_error_schema =
    "{\"type\":\"object\",\"description\":\"RFC 7644 error\",\"required\":[\"schemas\",\"status\"],\"properties\":{"
    "\"schemas\":{\"type\":\"array\",\"description\":\"The kind of message\",\"items\":{\"type\":\"string\"}},"
    "\"status\":{\"type\":\"string\",\"description\":\"HTTP "
    "status\"},\"scimType\":{\"type\":\"string\",\"description\":\"Which error of SCIM\"},"
    "\"detail\":{\"type\":\"string\",\"description\":\"This case\"}}}";

static bool is_shown(const struct route *r)
{
    return !(r->flags & R_NODE);
}

static struct str tag_of(const struct route *r)
{
    struct str path = str_c(r->path + 1), head, rest;
    str_cut(path, '/', &head, &rest);
    if (!rest.ptr)
        return STR("system");
    if (str_eq_c(head, "scim"))
        return head;
    if (str_eq_c(head, "v2"))
        return STR("inference");
    str_cut(rest, '/', &head, &path);
    ptrdiff_t colon = str_find(head, ':');
    return colon >= 0 ? str_n(head.ptr, (size_t)colon) : head;
}

static void parameter(struct buf *b, const struct field *f, const char *in, bool *first)
{
    buf_printf(b, "%s{\"name\":\"%s\",\"in\":\"%s\",\"required\":%s,\"description\":", *first ? "" : ",", f->name, in,
               f->flags & F_PATH || f->flags & F_REQ ? "true" : "false");
    buf_add_json(b, str_c(f->doc));
    buf_add_c(b, ",\"schema\":");
    jsonschema_field(f, b);
    buf_add_char(b, '}');
    *first = false;
}

static void header_parameter(struct buf *b, const char *name, const char *doc, bool *first)
{
    buf_printf(b,
            "%s{\"name\":\"%s\",\"in\":\"header\",\"required\":true,\"description\":\"%s\",\"schema\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":257}}",
               *first ? "" : ",", name, doc);
    *first = false;
}

static void parameters(struct buf *b, const struct route *r)
{
    bool first = true;
    buf_add_c(b, "\"parameters\":[");
    for (size_t i = 0; r->in && i < r->in->nfields; i++) {
        const struct field *f = &r->in->fields[i];
        if (f->flags & (F_PATH | F_QUERY))
            parameter(b, f, f->flags & F_PATH ? "path" : "query", &first);
    }
    if (r->flags & R_IDEMPOTENT)
        header_parameter(b, "Idempotency-Key", "Makes the call safe to repeat: same key, same effect once. Kept 24 h.", &first);
    if (r->flags & R_IF_MATCH)
        header_parameter(b, "If-Match", "ETag of the object as it was read, or *", &first);
    buf_add_c(b, "],");
}

bool openapi_has_body(const struct route *r)
{
    for (size_t i = 0; r->in && i < r->in->nfields; i++)
        if (!(r->in->fields[i].flags & (F_PATH | F_QUERY | F_NOIN)))
            return true;
    return false;
}

bool openapi_takes_scim(const struct route *r)
{
    return r->flags & R_SCIM && (r->method == HTTP_POST || r->method == HTTP_PUT || r->method == HTTP_PATCH);
}

static void operation(struct buf *b, const struct route *r)
{
    char method[8];
    size_t n = 0;
    for (const char *p = http_method_name(r->method); *p && n < sizeof method - 1; p++)
        method[n++] = (char)tolower((unsigned char)*p);
    method[n] = '\0';
    buf_printf(b, "\"%s\":{\"operationId\":\"%s\",\"tags\":[", method, r->op);
    buf_add_json(b, tag_of(r));
    buf_add_c(b, "],\"summary\":");
    buf_add_json(b, str_c(r->doc));
    if (r->audit != AUDIT_GENESIS)
        buf_printf(b, ",\"x-falaj-audit\":\"%s\"", audit_code_row(r->audit)->action);
    if (r->ends)
        buf_printf(b, ",\"deprecated\":true,\"x-falaj-sunset\":\"%s\"", r->ends->sunset);
    buf_add_c(b, ",\"description\":");
    if (r->perm == PERM_PUBLIC)
        buf_add_c(b, "\"Open to anybody.\",\"security\":[],");
    else
        buf_printf(b, "\"Needs the permission %s.\",", perm_row(r->perm)->wire);
    parameters(b, r);
    if (openapi_takes_scim(r)) {
        buf_add_c(b, "\"requestBody\":{\"required\":true,\"description\":\"RFC 7643 and RFC 7644 describe it\","
                     "\"content\":{\"application/scim+json\":{\"schema\":{\"type\":\"object\"}}}},");
    } else if (r->flags & R_UPLOAD) {
        const char *type = r->content_type ? r->content_type : "application/octet-stream";
        buf_printf(b, "\"requestBody\":{\"required\":true,\"description\":\"The content\",\"content\":{\"%s\":{\"schema\":",
            type);
        if (r->body)
            jsonschema_ref(r->body, b);
        else
            buf_add_c(b, openapi_schema_of_type(type));
        buf_add_char(b, '}');
        openapi_also_type(b, r);
        buf_add_c(b, "}},");
    } else if (openapi_has_body(r)) {
        buf_add_c(b, "\"requestBody\":{\"required\":true,\"description\":\"The "
                     "input\",\"content\":{\"application/json\":{\"schema\":");
        jsonschema_ref(r->in, b);
        buf_add_c(b, "}}},");
    }
    openapi_responses(b, r);
    buf_add_char(b, '}');
}

static void paths(struct buf *b, const struct route **rows, size_t n)
{
    bool done[ROUTES_MAX] = { false }, first_path = true;
    for (size_t i = 0; i < n; i++) {
        if (done[i])
            continue;
        buf_printf(b, "%s\"%s\":{", first_path ? "" : ",", rows[i]->path);
        first_path = false;
        bool first = true;
        for (size_t k = i; k < n; k++) {
            if (strcmp(rows[k]->path, rows[i]->path))
                continue;
            if (!first)
                buf_add_char(b, ',');
            operation(b, rows[k]);
            first = false;
            done[k] = true;
        }
        buf_add_char(b, '}');
    }
}

static bool was_input(const struct schema *s, const struct schema **ins, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (ins[i] == s)
            return true;
    return false;
}

static void components(struct buf *b, const struct route **rows, size_t n)
{
    const struct schema *ins[SCHEMAS_MAX], *all[SCHEMAS_MAX];
    size_t nin = 0, nall = 0;
    for (size_t i = 0; i < n; i++)
        if (openapi_has_body(rows[i]) && !(rows[i]->flags & R_UPLOAD))
            jsonschema_collect(rows[i]->in, ins, &nin, SCHEMAS_MAX);
    for (size_t i = 0; i < n; i++)
        if (rows[i]->body)
            jsonschema_collect(rows[i]->body, ins, &nin, SCHEMAS_MAX);
    memcpy(all, ins, nin * sizeof *ins);
    nall = nin;
    for (size_t i = 0; i < n; i++)
        if (rows[i]->out && !(rows[i]->flags & (R_TEXT | R_SCIM)))
            jsonschema_collect(rows[i]->out, all, &nall, SCHEMAS_MAX);
    buf_printf(b, "\"problem\":%s,\"oip_error\":%s,\"scim_error\":%s", problem_schema, oip_error_schema, scim_error_schema);
    for (size_t i = 0; i < nall; i++) {
        for (size_t k = 0; k < i; k++)      /* two rooms may each have an explain_in; the document has one */
            ASSERT(strcmp(all[k]->name, all[i]->name) != 0);
        buf_printf(b, ",\"%s\":", all[i]->name);
        jsonschema_object(all[i], was_input(all[i], ins, nin) ? SCHEMA_IN : SCHEMA_OUT, b);
    }
}

/* Each tag once, in the order of the alphabet. */
static void tags(struct buf *b, const struct route **rows, size_t n)
{
    struct str last = STR("");
    for (bool first = true;; first = false) {
        struct str next = STR_NULL;
        for (size_t i = 0; i < n; i++) {
            struct str tag = tag_of(rows[i]);
            if (str_cmp(tag, last) > 0 && (!next.ptr || str_cmp(tag, next) < 0))
                next = tag;
        }
        if (!next.ptr)
            return;
        buf_add_c(b, first ? "{\"name\":" : ",{\"name\":");
        buf_add_json(b, next);
        buf_printf(b, ",\"description\":\"Calls about %.*s\"}", STR_ARG(next));
        last = next;
    }
}

void openapi_print(struct buf *b)
{
    const struct route *rows[ROUTES_MAX];
    size_t n = 0;
    for (const struct route_table *const *t = all_routes; *t; t++)
        for (size_t i = 0; i < (*t)->n; i++)
            if (is_shown(&(*t)->rows[i])) {
                ASSERT(n < ROUTES_MAX);
                rows[n++] = &(*t)->rows[i];
            }
    buf_add_c(b, "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"Falaj API\",\"version\":\"" FALAJ_VERSION "\",\"description\":"
                 "\"Multi-tenant control plane for AI training and inference. HEAD on a path with GET answers as GET does, "
                 "without the body. OPTIONS on any "
                 "path answers 204 with Allow, to anybody; there are no CORS headers, so pages of other origins cannot call. "
                 "Errors are problem "
                 "documents (RFC 9457), under /v2 {\\\"error\\\": …} and under /scim those of RFC "
                 "7644.\",\"contact\":{\"name\":\"Falaj\",\"url\":\"https://falaj.ae\"},"
                 "\"license\":{\"name\":\"Apache-2.0\",\"identifier\":\"Apache-2.0\"}},\"servers\":[{\"url\":\"/\"}],"
                 "\"security\":[{\"token\":[]},{\"session\":[]}],\"tags\":[");
    tags(b, rows, n);
    buf_add_c(b, "],\"paths\":{");
    paths(b, rows, n);
    buf_add_c(b,
            "},\"components\":{\"securitySchemes\":{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\",\"description\":\"An "
            "access token, flj_…\"},"
                  "\"session\":{\"type\":\"apiKey\",\"in\":\"cookie\",\"name\":\"__Host-falaj\",\"description\":\"A person's "
                  "session; changes need X-CSRF-Token and our origin as well\"}},"
                 "\"headers\":{");
    openapi_header_components(b);
    buf_add_c(b, "},\"responses\":{");
    openapi_response_components(b, rows, n);
    buf_add_c(b, "},\"schemas\":{");
    components(b, rows, n);
    buf_add_c(b, "}}}\n");
}

void errors_print_markdown(struct buf *b)
{
    static const char *const retry[] = { "no", "later", "at once" };
    buf_add_c(b, "# Errors\n\nPrinted from core/base/err.def. Every error answer is application/problem+json with a stable "
                 "`code`.\n\n"
                 "| code | status | try again | title |\n|---|---|---|---|\n");
    for (int i = 1; i < ERR_COUNT; i++) {
        const struct err_row *r = err_row((enum errc)i);
        buf_printf(b, "| `%s` | %d | %s | %s |\n", r->wire, r->http, retry[r->retry], r->title);
    }
}
