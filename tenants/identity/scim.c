/* SPDX-License-Identifier: Apache-2.0 */
/* scim.c - what answers about users and groups have in common. */
#include "tenants/identity/scim.h"
#include "core/base/cleanup.h"
#include "core/crypto/hash.h"
#include "tenants/identity/scim_value.h"

enum { ANSWER_MAX = 32 << 20, ETAG_BYTES = 12 };

enum errc scim_body(struct work *w, struct str text, const struct jval **ret, struct err *e)
{
    return text.len ? jval_parse(w->arena, text, 0, ret, e) : FAIL(e, MALFORMED, "The call needs a body");
}

static struct sval *time_value(struct work *w, struct timestamp t)
{
    char text[TIME_TEXT];
    size_t n = time_text(t.us, text);
    return sval_string(w->arena, str_dup(w->arena, str_n(text, n)));
}

static struct str etag_of(struct work *w, const struct scim_resource *r, const struct sval *resource, int64_t version)
{
    CLEANUP(buf_releasep) struct buf b = BUF(ANSWER_MAX);
    uint8_t digest[SHA256_BYTES];
    char hex[2 * ETAG_BYTES + 1];
    if (version >= 0)
        return str_fmt(w->arena, "W/\"v%ld\"", (long)version);
    sval_print(r, resource, &(struct scim_select){ STR_NULL, STR_NULL }, &b);
    sha256(b.ptr, b.len, digest);
    hex_encode(digest, ETAG_BYTES, hex);
    return str_fmt(w->arena, "W/\"%s\"", hex);
}

void scim_meta(struct work *w, const struct scim_resource *r, struct sval *resource, struct uuid id, int64_t version, struct timestamp created,
               struct timestamp modified)
{
    struct str id_str = id_text(w->arena, r->prefix, id);
    sval_set(resource, "id", sval_string(w->arena, id_str));
    struct str etag = etag_of(w, r, resource, version);
    struct sval *meta = sval_new(w->arena, SV_OBJECT);
    sval_set(meta, "resourceType", sval_string(w->arena, str_c(r->name)));
    sval_set(meta, "created", time_value(w, created));
    sval_set(meta, "lastModified", time_value(w, modified));
    sval_set(meta, "location", sval_string(w->arena, str_fmt(w->arena, "/scim/v2%s/%.*s", r->endpoint, STR_ARG(id_str))));
    sval_set(meta, "version", sval_string(w->arena, etag));
    sval_set(resource, "meta", meta);
}

enum errc scim_check_match(struct str if_match, struct str etag, struct err *e)
{
    struct str one, rest = if_match;
    if (!if_match.ptr)
        return ERR_OK;
    for (bool more = true; more;) {
        more = str_cut(rest, ',', &one, &rest);
        one = str_trim(one);
        if (str_eq_c(one, "*") || str_eq(one, etag) || (etag.len > 2 && str_eq(one, str_n(etag.ptr + 2, etag.len - 2))))
            return ERR_OK;
    }
    return FAIL(e, PRECONDITION, "The resource has changed since you read it");
}

struct str scim_changed(struct work *w, const struct scim_resource *r, const struct sval *was, const struct sval *now)
{
    struct str list = STR_NULL;
    for (const struct scim_attr *a = r->attrs; a->name; a++)
        if (a->mutability != SCIM_READ_ONLY && !sval_eq(sval_get(was, a->name), sval_get(now, a->name)))
            list = list.ptr ? str_fmt(w->arena, "%.*s,%s", STR_ARG(list), a->name) : str_c(a->name);
    return list;
}

static enum errc finish(struct work *w, struct buf *b, struct scim_answer *ret, struct err *e)
{
    if (b->overflow)
        return FAIL(e, SCIM_TOO_MANY, "The answer is too large; ask for a smaller page or fewer attributes");
    ret->body.text = str_dup(w->arena, buf_str(b));
    return ERR_OK;
}

enum errc scim_one(struct work *w, const struct scim_resource *r, const struct sval *resource, const struct scim_select *select,
                   struct scim_answer *ret, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(ANSWER_MAX);
    sval_print(r, resource, select, &b);
    ret->etag = sval_text(sval_get(resource, "meta"), "version");
    return finish(w, &b, ret, e);
}

enum errc scim_list(struct work *w, const struct scim_resource *r, struct sval *const *page, size_t n, int64_t total,
                    const struct scim_query *q, struct scim_answer *ret, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(ANSWER_MAX);
    buf_printf(&b, "{\"schemas\":[\"" SCIM_LIST_URN "\"],\"totalResults\":%ld,\"startIndex\":%ld,\"itemsPerPage\":%zu,\"Resources\":[", (long)total,
               (long)scim_start(q), n);
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_add_char(&b, ',');
        sval_print(r, page[i], &q->select, &b);
    }
    buf_add_c(&b, "]}");
    return finish(w, &b, ret, e);
}
