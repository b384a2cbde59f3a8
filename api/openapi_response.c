/* SPDX-License-Identifier: Apache-2.0 */
/* openapi_response.c - what an operation of the contract answers: its success, the headers beside it, and the ways it can
 * fail. */
#include "api/openapi_int.h"
#include "core/json/jsonschema.h"
#include "tenants/access/authz.h"

#include <stdio.h>
#include <string.h>

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

void openapi_header_components(struct buf *b)
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
const char *openapi_schema_of_type(const char *type)
{
    return !strcmp(type, "application/octet-stream")
        ? "{\"type\":\"string\",\"contentMediaType\":\"application/octet-stream\"}" : "{\"type\":\"string\"}";
}

static void also(struct buf *b, const struct route *r)
{
    if (r->also)
        buf_printf(b, ",\"%s\":{\"schema\":{\"type\":\"string\"}}", r->also);
}

void openapi_also_type(struct buf *b, const struct route *r)
{
    if (r->content_also)
        buf_printf(b, ",\"%s\":{\"schema\":%s}", r->content_also, openapi_schema_of_type(r->content_also));
}

static void success(struct buf *b, const struct route *r, int status, const char *doc)
{
    buf_printf(b, "\"%d\":{\"description\":", status);
    buf_add_json(b, str_c(doc));
    success_headers(b, r, status);
    if (r->flags & R_TEXT || (r->raw && r->content_type && !r->out)) {
        const char *type = r->flags & R_TEXT && !r->content_type ? "text/plain" : r->content_type;
        buf_printf(b, ",\"content\":{\"%s\":{\"schema\":%s}", type, openapi_schema_of_type(type));
        openapi_also_type(b, r);
        buf_add_char(b, '}');
    } else if (r->flags & R_SCIM) {
        if (r->status != 204)
            buf_add_c(b, ",\"content\":{\"application/scim+json\":{\"schema\":{\"type\":\"object\"}}}");
    } else if (r->flags & R_LIST) {
        buf_add_c(b, ",\"content\":{\"application/json\":{\"schema\":{\"type\":\"object\",\"required\":[\"data\"],"
                     "\"properties\":{\"data\":{\"type\":\"array\",\"description\":\"The items\",\"items\":");
        jsonschema_ref(r->out, b);
        buf_add_c(b, "},\"next_page_token\":{\"type\":\"string\",\"description\":\"Where the next page begins; absent on the "
                     "last page\"}}}}");
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
    bool is_public = r->perm == PERM_PUBLIC, takes_body = openapi_has_body(r) || openapi_takes_scim(r) || r->flags & R_UPLOAD;
    switch (status) {
    case 400: return r->in || openapi_has_body(r);
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

void openapi_responses(struct buf *b, const struct route *r)
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

void openapi_response_components(struct buf *b, const struct route **rows, size_t n)
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
