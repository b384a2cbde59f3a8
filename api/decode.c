/* SPDX-License-Identifier: Apache-2.0 */
/* decode.c - phase: the input of the row, from body, path and query by its schema, and the headers that a change has to send. */
#include "api/api_int.h"
#include "core/crypto/hash.h"
#include "core/http/url.h"
#include "core/json/decode.h"
#include "core/wire/infer_wire.h"
#include "tenants/access/authz.h"

static enum errc check_content_type(struct flight *f, const char *want, struct err *e)
{
    struct str type = http_header_get(f->call.request, "Content-Type"), head, rest;
    str_cut(type, ';', &head, &rest);
    head = str_trim(head);
    if (!str_eq_c(head, want))
        return FAIL(e, MEDIA_TYPE, "This call takes %s", want);
    return ERR_OK;
}

/* Behind the JSON of a call to a model binary tensors may stand; then the body is no JSON, whatever it is called. */
static enum errc check_upload_type(struct flight *f, const struct route *row, struct err *e)
{
    struct err not_binary;
    if (row->flags & R_OIP && http_header_get(f->call.request, INFER_JSON_LENGTH).ptr
        && check_content_type(f, "application/octet-stream", &not_binary) == ERR_OK)
        return ERR_OK;
    if (row->content_also && check_content_type(f, row->content_also, &not_binary) == ERR_OK)
        return ERR_OK;
    return check_content_type(f, row->content_type, e);
}

/* Both are SCIM's (RFC 7644, 8.1). */
static enum errc check_scim_type(struct flight *f, struct err *e)
{
    struct err not_json;
    return check_content_type(f, "application/json", &not_json) == ERR_OK ? ERR_OK : check_content_type(f, SCIM_TYPE, e);
}

static enum errc read_if_match(struct call *c, struct err *e)
{
    struct str tag = http_header_get(c->request, "If-Match");
    if (!tag.ptr)
        return FAIL(e, PRECONDITION_MISSING, "Send If-Match with the ETag that you read (or *)");
    if (str_eq_c(tag, "*"))
        return ERR_OK;
    if (tag.len < 4 || tag.ptr[0] != '"' || tag.ptr[1] != 'v' || tag.ptr[tag.len - 1] != '"' ||
        !str_to_i64(str_n(tag.ptr + 2, tag.len - 3), 0, INT64_MAX, &c->if_match))
        return FAIL(e, PRECONDITION, "If-Match is not an ETag of this object");
    return ERR_OK;
}

/* The pairs whose names the row's input has, as they stand. */
static struct str known_query(const struct call *c)
{
    struct str rest = c->request->query, pair, name, value;
    char *out = arena_alloc(c->work.arena, rest.len + 1);
    size_t n = 0;
    for (bool more = rest.len > 0; more;) {
        more = str_cut(rest, '&', &pair, &rest);
        str_cut(pair, '=', &name, &value);
        const struct field *known = schema_find(c->route->in, name);
        if (!known || !(known->flags & F_QUERY))
            continue;
        out[n] = '&';
        memcpy(out + n + !!n, pair.ptr, pair.len);
        n += pair.len + !!n;
    }
    return str_n(out, n);
}

enum errc phase_decode(struct flight *f, struct err *e)
{
    struct call *c = &f->call;
    const struct route *row = c->route;
    struct arena *a = c->work.arena;
    c->in = row->in ? arena_alloc(a, row->in->size) : NULL;
    if (row->flags & R_UPLOAD && row->content_type)
        TRY(check_upload_type(f, row, e));
    if (row->flags & R_SCIM && c->body.len)
        TRY(check_scim_type(f, e));
    if (!(row->flags & (R_UPLOAD | R_SCIM)) && (f->match->has_body || c->body.len)) {
        if (c->body.len || f->match->has_body)
            TRY(check_content_type(f, "application/json", e));
        if (!row->in)
            return FAIL(e, MALFORMED, "This call takes no body");
        TRY(json_decode(row->in, c->body, a, c->in, e));
    }
    for (int i = 0; i < f->match->ncaptures; i++) {
        struct str text;
        /* A path that cannot be an id of ours is the path of nothing. */
        if (url_segment_decode(a, c->captures[i], &text, e) != ERR_OK ||
            field_from_text(f->match->captures[i], text, c->in, a, e) != ERR_OK)
            return FAIL(e, NOT_FOUND, "There is no such object");
    }
    if (row->in)
        TRY(schema_from_query(row->in, row->flags & R_QUERY_EXTRA ? known_query(c) : c->request->query, c->in, a, e));
    else if (c->request->query.len)
        return FAIL(e, UNKNOWN_FIELD, "This call takes no query parameters");
    if (row->flags & R_IF_MATCH)
        TRY(read_if_match(c, e));
    if (row->flags & R_IDEMPOTENT) {
        TRY(idempotency_key_read(c, e));
        struct sha256 h;
        sha256_init(&h);
        sha256_add(&h, c->request->path.ptr, c->request->path.len);
        sha256_add(&h, "\n", 1);
        sha256_add(&h, c->body.ptr, c->body.len);
        sha256_final(&h, c->request_sha);
    }
    if (row->flags & R_TENANT_PATH && principal_is_platform(c->principal))
        for (int i = 0; i < f->match->ncaptures; i++)
            if (!strcmp(f->match->captures[i]->name, "tenant_id"))
                c->work.tenant_id = *(struct uuid *)field_at(f->match->captures[i], c->in);
    return row->flags & R_LIST && row->in && schema_find(row->in, STR("page_token")) ? page_open(f, e) : ERR_OK;
}
