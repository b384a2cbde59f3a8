/* SPDX-License-Identifier: Apache-2.0 */
/* s3.c - objects: put, size, get, delete, list. */
#include "core/s3/s3_int.h"
#include "core/s3/sigv4.h"

#include <stdio.h>
#include "core/base/cleanup.h"

enum { ARENA = 16 << 20, PING_MS = 2000 };

enum errc s3_ping(struct s3 *s, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(ARENA);
    struct http_result r;
    TRY(s3_call(s, &(struct s3_request){ .method = "HEAD", .query = "", .tries = 1, .timeout_ms = PING_MS }, a,
                &r, e));
    if (r.status == 404)
        return FAIL(e, IO, "The bucket of blobs is not there");
    return s3_refusal(&r, e);
}

enum errc s3_size(struct s3 *s, const char *key, uint64_t *ret, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(ARENA);
    struct http_result r;
    int64_t size;
    TRY(s3_call(s, &(struct s3_request){ .method = "HEAD", .key = key, .query = "" }, a, &r, e));
    TRY(s3_refusal(&r, e));
    if (!str_to_i64(http_result_header(&r, "content-length"), 0, INT64_MAX, &size))
        return FAIL(e, IO, "The blob store does not say how large an object is");
    *ret = (uint64_t)size;
    return ERR_OK;
}

struct fill {
    char *out;
    size_t room, n;
};

static bool on_data(void *ctx, const char *p, size_t n)
{
    struct fill *f = ctx;
    if (n > f->room - f->n)
        return false;
    memcpy(f->out + f->n, p, n);
    f->n += n;
    return true;
}

static void begin_anew(void *ctx)
{
    ((struct fill *)ctx)->n = 0;
}

enum errc s3_get(struct s3 *s, const char *key, uint64_t offset, void *out, size_t n, size_t *ret_n, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(ARENA);
    struct fill f = { out, n, 0 };
    struct http_result r;
    char range[80];
    *ret_n = 0;
    if (n == 0)
        return ERR_OK;
    snprintf(range, sizeof range, "Range: bytes=%llu-%llu", (unsigned long long)offset, (unsigned long long)(offset + n - 1));
    TRY(s3_call(s, &(struct s3_request){ .method = "GET", .key = key, .query = "", .header = range, .on_data = on_data,
                                         .before_try = begin_anew, .ctx = &f }, a, &r, e));
    if (r.status == 416)                        /* at or behind the end */
        return ERR_OK;
    TRY(s3_refusal(&r, e));
    if (r.stopped || r.status != 206)
        return FAIL(e, IO, "The blob store gave more of an object than it was asked for");
    *ret_n = f.n;
    return ERR_OK;
}

/* Is what lies there just this? */
static bool is_stored(struct s3 *s, const char *key, struct str body, struct arena *a)
{
    uint64_t size;
    size_t n = 0;
    struct err e;
    if (s3_size(s, key, &size, &e) != ERR_OK || size != body.len)
        return false;
    char *there = arena_alloc(a, body.len + 1);
    return s3_get(s, key, 0, there, body.len, &n, &e) == ERR_OK && n == body.len && memcmp(there, body.ptr, n) == 0;
}

/* A try whose answer was lost may have stored the object, and libcurl repeats one on a connection that had died: then ours is
 * what the next try meets. */
enum errc s3_put(struct s3 *s, const char *key, struct str body, bool only_new, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(ARENA + body.len);
    struct http_result r;
    if (!body.ptr)
        body = STR("");
    TRY(s3_call(s, &(struct s3_request){ .method = "PUT", .key = key, .query = "", .body = body,
                                         .header = only_new ? "If-None-Match: *" : NULL }, a, &r, e));
    return r.status == 412 && is_stored(s, key, body, a) ? ERR_OK : s3_refusal(&r, e);
}

enum errc s3_delete(struct s3 *s, const char *key, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(ARENA);
    struct http_result r;
    TRY(s3_call(s, &(struct s3_request){ .method = "DELETE", .key = key, .query = "" }, a, &r, e));
    return r.status == 404 ? ERR_OK : s3_refusal(&r, e);
}

static bool entry_of(const struct s3 *s, struct str inner, struct s3_entry *ret)
{
    char key[S3_TEXT], size[S3_TEXT], at[S3_TEXT];
    int64_t bytes;
    if (!s3_xml_first(inner, "Key", key) || !s3_xml_first(inner, "Size", size) || !s3_xml_first(inner, "LastModified", at) ||
        !str_to_i64(str_c(size), 0, INT64_MAX, &bytes) || !s3_own_key(s, key, ret->key))
        return false;
    ret->upload_id[0] = '\0';
    ret->size = (uint64_t)bytes;
    ret->at_us = s3_when(at);
    return ret->at_us > 0;
}

enum errc s3_list(struct s3 *s, const char *prefix, const char *after, struct s3_entry *out, size_t *ret_n, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(ARENA);
    struct http_result r;
    struct buf q = BUF(4096);
    struct str inner;
    size_t n = 0;
    buf_printf(&q, "list-type=2&max-keys=%d&prefix=", S3_LIST_MAX);
    sigv4_encode(&q, str_c(s3_prefix(s)), false);
    sigv4_encode(&q, str_c(prefix), false);
    if (*after) {
        buf_add_c(&q, "&start-after=");
        sigv4_encode(&q, str_c(s3_prefix(s)), false);
        sigv4_encode(&q, str_c(after), false);
    }
    const char *query = str_z(a, buf_str(&q));
    buf_release(&q);
    TRY(s3_call(s, &(struct s3_request){ .method = "GET", .query = query }, a, &r, e));
    TRY(s3_refusal(&r, e));
    for (struct str rest = r.body; n < S3_LIST_MAX && s3_xml_next(&rest, "Contents", &inner); n++)
        if (!entry_of(s, inner, &out[n]))
            return FAIL(e, IO, "The blob store lists an object in a way that is not understood");
    *ret_n = n;
    return ERR_OK;
}
