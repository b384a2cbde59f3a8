/* SPDX-License-Identifier: Apache-2.0 */
/* openapi.c - one pass over the tables: paths grouped in order of first appearance, then the component schemas they use. */
#include "api/openapi.h"
#include "api/route.h"
#include "core/base/assert.h"
#include "core/json/jsonschema.h"
#include "tenants/access/authz.h"

#include <ctype.h>
#include <stdio.h>

/* More than there are: a document that leaves some out would be wrong without a word. */
enum { SCHEMAS_MAX = 512, ROUTES_MAX = 512 };

static const char *const problem_schema =
    "{\"type\":\"object\",\"description\":\"RFC 9457 problem details\",\"required\":[\"type\",\"title\",\"status\",\"code\",\"request_id\"],"
    "\"properties\":{\"type\":{\"type\":\"string\",\"description\":\"Where the error is documented\"},"
    "\"title\":{\"type\":\"string\",\"description\":\"The kind of error\"},\"status\":{\"type\":\"integer\",\"description\":\"HTTP status\"},"
    "\"detail\":{\"type\":\"string\",\"description\":\"This case\"},\"instance\":{\"type\":\"string\",\"description\":\"The path\"},"
    "\"code\":{\"type\":\"string\",\"description\":\"Stable code\"},\"request_id\":{\"type\":\"string\",\"description\":\"Quote it when you ask for help\"},"
    "\"changed_at\":{\"type\":\"string\",\"format\":\"date-time\",\"description\":\"precondition_failed: when the object was changed last\"},"
    "\"changed_by\":{\"type\":\"object\",\"description\":\"And by whom, as far as the caller may know\",\"required\":[\"kind\"],\"properties\":{"
    "\"kind\":{\"type\":\"string\",\"enum\":[\"user\",\"platform\",\"system\"],\"description\":\"One of the tenant, one of the platform's staff, or a program\"},"
    "\"user_id\":{\"type\":\"string\",\"description\":\"The user, where it is one of the caller's tenant\"},"
    "\"name\":{\"type\":\"string\",\"description\":\"Its name, for who may read users\"}}},"
    "\"remedy\":{\"$ref\":\"#/components/schemas/residency_remedy\"},"
    "\"errors\":{\"type\":\"array\",\"description\":\"What is wrong where\",\"items\":{\"type\":\"object\",\"properties\":{"
    "\"pointer\":{\"type\":\"string\",\"description\":\"RFC 6901 pointer\"},\"code\":{\"type\":\"string\",\"description\":\"Stable code\"},"
    "\"detail\":{\"type\":\"string\",\"description\":\"What is wrong\"}}}}}}";

static const char *const oip_error_schema =
    "{\"type\":\"object\",\"description\":\"Open Inference Protocol error\",\"required\":[\"error\"],"
    "\"properties\":{\"error\":{\"type\":\"string\",\"description\":\"What is wrong\"}}}";

static const char *const scim_error_schema =
    "{\"type\":\"object\",\"description\":\"RFC 7644 error\",\"required\":[\"schemas\",\"status\"],\"properties\":{"
    "\"schemas\":{\"type\":\"array\",\"description\":\"The kind of message\",\"items\":{\"type\":\"string\"}},"
    "\"status\":{\"type\":\"string\",\"description\":\"HTTP status\"},\"scimType\":{\"type\":\"string\",\"description\":\"Which error of SCIM\"},"
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
    buf_printf(b, "%s{\"name\":\"%s\",\"in\":\"header\",\"required\":true,\"description\":\"%s\",\"schema\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":257}}",
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

static bool has_body(const struct route *r)
{
    for (size_t i = 0; r->in && i < r->in->nfields; i++)
        if (!(r->in->fields[i].flags & (F_PATH | F_QUERY | F_NOIN)))
            return true;
    return false;
}

static bool takes_scim(const struct route *r)
{
    return r->flags & R_SCIM && (r->method == HTTP_POST || r->method == HTTP_PUT || r->method == HTTP_PATCH);
}

/* What stands beside a body. Required is what every answer has. */
static const struct {
    const char *name, *doc;
    bool is_required;
} headers[] = {
    { "X-Request-Id", "The call in logs and in the audit log; the caller's own where it sent one", true },
    { "ETag", "The state of the object, for If-Match and If-None-Match", false },
    { "Location", "Where the new object is", false },
    { "Link", "rel=next: the next page; absent on the last one", false },
    { "Idempotency-Replayed", "true: the answer of the first call with this key", false },
    { "RateLimit-Policy", "Calls that are allowed, by whom they are counted, and in how many seconds", false },
    { "RateLimit", "What is left of them, and the seconds until it is whole again", false },
    { "Retry-After", "Seconds until a repetition makes sense", false },
    { "WWW-Authenticate", "How to say who calls", false },
    { "Allow", "The methods of this path", false },
};

static void header_components(struct buf *b)
{
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        buf_printf(b, "%s\"%s\":{\"description\":\"%s\",\"required\":%s,\"schema\":{\"type\":\"string\"}}", i ? "," : "",
            headers[i].name,
                   headers[i].doc, headers[i].is_required ? "true" : "false");
}

/* names: ended by NULL. */
static void header_refs(struct buf *b, const char *const *names)
{
    buf_add_c(b, ",\"headers\":{");
    for (int i = 0; names[i]; i++)
        buf_printf(b, "%s\"%s\":{\"$ref\":\"#/components/headers/%s\"}", i ? "," : "", names[i], names[i]);
    buf_add_char(b, '}');
}

static bool has_version(const struct route *r)
{
    const struct field *f = r->out && !(r->flags & R_LIST) ? schema_find(r->out, STR("version")) : NULL;
    return f && f->type == FT_I64 && !r->raw;
}

static void success_headers(struct buf *b, const struct route *r, int status)
{
    const char *names[8] = { "X-Request-Id" };
    int n = 1;
    if (has_version(r))
        names[n++] = "ETag";
    if (status == 201 && r->resource)
        names[n++] = "Location";
    if (r->flags & R_LIST)
        names[n++] = "Link";
    if (r->flags & R_IDEMPOTENT)
        names[n++] = "Idempotency-Replayed";
    if (r->perm != PERM_PUBLIC && r->rate != RL_NONE) {
        names[n++] = "RateLimit-Policy";
        names[n++] = "RateLimit";
    }
    header_refs(b, names);
}

/* The schema of bytes, or of text. */
static const char *schema_of_type(const char *type)
{
    return !strcmp(type, "application/octet-stream")
        ? "{\"type\":\"string\",\"contentMediaType\":\"application/octet-stream\"}" : "{\"type\":\"string\"}";
}

static void also(struct buf *b, const struct route *r)
{
    if (r->also)
        buf_printf(b, ",\"%s\":{\"schema\":{\"type\":\"string\"}}", r->also);
}

static void also_type(struct buf *b, const struct route *r)
{
    if (r->content_also)
        buf_printf(b, ",\"%s\":{\"schema\":%s}", r->content_also, schema_of_type(r->content_also));
}

static void success(struct buf *b, const struct route *r, int status, const char *doc)
{
    buf_printf(b, "\"%d\":{\"description\":", status);
    buf_add_json(b, str_c(doc));
    success_headers(b, r, status);
    if (r->flags & R_TEXT || (r->raw && r->content_type && !r->out)) {
        const char *type = r->flags & R_TEXT && !r->content_type ? "text/plain" : r->content_type;
        buf_printf(b, ",\"content\":{\"%s\":{\"schema\":%s}", type, schema_of_type(type));
        also_type(b, r);
        buf_add_char(b, '}');
    } else if (r->flags & R_SCIM) {
        if (r->status != 204)
            buf_add_c(b, ",\"content\":{\"application/scim+json\":{\"schema\":{\"type\":\"object\"}}}");
    } else if (r->flags & R_LIST) {
        buf_add_c(b, ",\"content\":{\"application/json\":{\"schema\":{\"type\":\"object\",\"required\":[\"data\"],\"properties\":{\"data\":{\"type\":\"array\","
                     "\"description\":\"The items\",\"items\":");
        jsonschema_ref(r->out, b);
        buf_add_c(b, "},\"next_page_token\":{\"type\":\"string\",\"description\":\"Where the next page begins; absent on the last page\"}}}}");
        also(b, r);
        buf_add_char(b, '}');
    } else if (r->out) {
        buf_add_c(b, ",\"content\":{\"application/json\":{\"schema\":");
        jsonschema_ref(r->out, b);
        buf_add_char(b, '}');
        also(b, r);
        buf_add_char(b, '}');
    }
    buf_add_char(b, '}');
}

/* How a call can fail. Each stands once for each dialect of errors, as a component (problem_404), and operations refer to it. */
enum dialect { PROBLEM, OIP, SCIM, DIALECTS };
static const struct {
    const char *name, *schema, *content_type;
} dialects[DIALECTS] = {
    [PROBLEM] = { "problem", "problem", "application/problem+json" },
    [OIP] = { "oip", "oip_error", "application/json" },
    [SCIM] = { "scim", "scim_error", "application/scim+json" },
};
static const struct failure {
    int status;
    const char *doc;
} failures[] = {
    { 400, "The request is not acceptable; `code` says why" },
    { 401, "The caller is not known" },
    { 403, "The caller may not do this" },
    { 404, "There is no such object, or it is another tenant's" },
    { 409, "The state does not allow it, or the Idempotency-Key is in use" },
    { 412, "The object has changed since it was read" },
    { 413, "The body is too large" },
    { 415, "Wrong content type" },
    { 422, "Well formed, but it cannot be done" },
    { 428, "If-Match is missing" },
    { 429, "Too many calls" },
    { 503, "A part that Falaj needs cannot be reached; Retry-After says when to try again" },
    { 0, "Any other failure, as 405, 406, 408, 416, 500, 502 and 504" },       /* `default` */
};
enum { FAILURES = sizeof failures / sizeof failures[0] };

static enum dialect dialect_of(const struct route *r)
{
    return r->flags & R_SCIM ? SCIM : r->flags & R_OIP ? OIP : PROBLEM;
}

static bool can_fail(const struct route *r, int status)
{
    bool is_public = r->perm == PERM_PUBLIC, takes_body = has_body(r) || takes_scim(r) || r->flags & R_UPLOAD;
    switch (status) {
    case 400: return r->in || has_body(r);
    case 401:
    case 403:
    case 429: return !is_public;
    case 404: return strchr(r->path, '{') != NULL;
    case 409: return r->method != HTTP_GET && !is_public;
    case 412:
    case 428: return (r->flags & R_IF_MATCH) != 0;
    case 413:
    case 415:
    case 422: return takes_body;
    default: return true;
    }
}

static void responses(struct buf *b, const struct route *r)
{
    buf_add_c(b, "\"responses\":{");
    success(b, r, r->status, r->doc);
    if (has_version(r) && r->method == HTTP_GET)
        buf_add_c(b, ",\"304\":{\"$ref\":\"#/components/responses/unchanged\"}");
    if (r->flags & R_PARTIAL) {
        buf_add_char(b, ',');
        success(b, r, 207, "A part, or all, was refused; the answer says which and why, and the rest is done");
    }
    for (size_t i = 0; i < FAILURES; i++)
        if (can_fail(r, failures[i].status)) {
            char code[16] = "default";
            if (failures[i].status)
                snprintf(code, sizeof code, "%d", failures[i].status);
            buf_printf(b, ",\"%s\":{\"$ref\":\"#/components/responses/%s_%s\"}", code, dialects[dialect_of(r)].name, code);
        }
    buf_add_c(b, "}");
}

static bool is_used(enum dialect d, int status, const struct route **rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (dialect_of(rows[i]) == d && can_fail(rows[i], status))
            return true;
    return false;
}

static void failure_headers(struct buf *b, int status)
{
    const char *names[4] = { "X-Request-Id" };
    int n = 1;
    if (status == 401)
        names[n++] = "WWW-Authenticate";
    if (status == 429 || status == 503 || status == 0)
        names[n++] = "Retry-After";
    if (status == 0)
        names[n++] = "Allow";
    header_refs(b, names);
}

static void response_components(struct buf *b, const struct route **rows, size_t n)
{
    bool first = false;
    buf_add_c(b, "\"unchanged\":{\"description\":\"The object is as If-None-Match has it\"");
    header_refs(b, (const char *const[]){ "X-Request-Id", "ETag", NULL });
    buf_add_char(b, '}');
    for (enum dialect d = PROBLEM; d < DIALECTS; d++)
        for (size_t i = 0; i < FAILURES; i++) {
            if (!is_used(d, failures[i].status, rows, n))
                continue;
            char code[16] = "default";
            if (failures[i].status)
                snprintf(code, sizeof code, "%d", failures[i].status);
            buf_printf(b, "%s\"%s_%s\":{\"description\":\"%s\"", first ? "" : ",", dialects[d].name, code, failures[i].doc);
            failure_headers(b, failures[i].status);
            buf_printf(b, ",\"content\":{\"%s\":{\"schema\":{\"$ref\":\"#/components/schemas/%s\"}}}}", dialects[d].content_type,
                       dialects[d].schema);
            first = false;
        }
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
    buf_add_c(b, ",\"description\":");
    if (r->perm == PERM_PUBLIC)
        buf_add_c(b, "\"Open to anybody.\",\"security\":[],");
    else
        buf_printf(b, "\"Needs the permission %s.\",", perm_row(r->perm)->wire);
    parameters(b, r);
    if (takes_scim(r)) {
        buf_add_c(b, "\"requestBody\":{\"required\":true,\"description\":\"RFC 7643 and RFC 7644 describe it\","
                     "\"content\":{\"application/scim+json\":{\"schema\":{\"type\":\"object\"}}}},");
    } else if (r->flags & R_UPLOAD) {
        const char *type = r->content_type ? r->content_type : "application/octet-stream";
        buf_printf(b, "\"requestBody\":{\"required\":true,\"description\":\"The content\",\"content\":{\"%s\":{\"schema\":",
            type);
        if (r->body)
            jsonschema_ref(r->body, b);
        else
            buf_add_c(b, schema_of_type(type));
        buf_add_char(b, '}');
        also_type(b, r);
        buf_add_c(b, "}},");
    } else if (has_body(r)) {
        buf_add_c(b, "\"requestBody\":{\"required\":true,\"description\":\"The input\",\"content\":{\"application/json\":{\"schema\":");
        jsonschema_ref(r->in, b);
        buf_add_c(b, "}}},");
    }
    responses(b, r);
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
        if (has_body(rows[i]) && !(rows[i]->flags & R_UPLOAD))
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
                 "\"Multi-tenant control plane for AI training and inference. HEAD on a path with GET answers as GET does, without the body. OPTIONS on any "
                 "path answers 204 with Allow, to anybody; there are no CORS headers, so pages of other origins cannot call. Errors are problem "
                 "documents (RFC 9457), under /v2 {\\\"error\\\": …} and under /scim those of RFC 7644.\",\"contact\":{\"name\":\"Falaj\",\"url\":\"https://falaj.ae\"},"
                 "\"license\":{\"name\":\"Apache-2.0\",\"identifier\":\"Apache-2.0\"}},\"servers\":[{\"url\":\"/\"}],"
                 "\"security\":[{\"token\":[]},{\"session\":[]}],\"tags\":[");
    tags(b, rows, n);
    buf_add_c(b, "],\"paths\":{");
    paths(b, rows, n);
    buf_add_c(b, "},\"components\":{\"securitySchemes\":{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\",\"description\":\"An access token, flj_…\"},"
                  "\"session\":{\"type\":\"apiKey\",\"in\":\"cookie\",\"name\":\"__Host-falaj\",\"description\":\"A person's session; changes need X-CSRF-Token and our origin as well\"}},"
                 "\"headers\":{");
    header_components(b);
    buf_add_c(b, "},\"responses\":{");
    response_components(b, rows, n);
    buf_add_c(b, "},\"schemas\":{");
    components(b, rows, n);
    buf_add_c(b, "}}}\n");
}

void errors_print_markdown(struct buf *b)
{
    static const char *const retry[] = { "no", "later", "at once" };
    buf_add_c(b, "# Errors\n\nPrinted from core/base/err.def. Every error answer is application/problem+json with a stable `code`.\n\n"
                 "| code | status | try again | title |\n|---|---|---|---|\n");
    for (int i = 1; i < ERR_COUNT; i++) {
        const struct err_row *r = err_row((enum errc)i);
        buf_printf(b, "| `%s` | %d | %s | %s |\n", r->wire, r->http, retry[r->retry], r->title);
    }
}
