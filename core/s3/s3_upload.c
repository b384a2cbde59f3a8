/* SPDX-License-Identifier: Apache-2.0 */
/* s3_upload.c - an object in parts: nothing of it is seen until the end, and what was begun stays until it is ended or given up.
 * */
#include "core/s3/s3_int.h"
#include "core/s3/sigv4.h"

#include <stdio.h>
#include "core/base/cleanup.h"

enum { ARENA = 16 << 20, LIST_BODY = 4 << 20 };

enum errc s3_upload_begin(struct s3 *s, const char *key, char ret_id[S3_UPLOAD_ID], struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(ARENA);
    struct http_result r;
    TRY(s3_call(s, &(struct s3_request){ .method = "POST", .key = key, .query = "uploads=" }, a, &r, e));
    TRY(s3_refusal(&r, e));
    if (!s3_xml_first(r.body, "UploadId", ret_id) || !*ret_id)
        return FAIL(e, IO, "The blob store begins an upload without a name for it");
    return ERR_OK;
}

static const char *query_of(struct arena *a, const char *id, int number)
{
    struct buf q = BUF(8192);
    if (number)
        buf_printf(&q, "partNumber=%d&", number);
    buf_add_c(&q, "uploadId=");
    sigv4_encode(&q, str_c(id), false);
    const char *ret = str_z(a, buf_str(&q));
    buf_release(&q);
    return ret;
}

enum errc s3_upload_part(struct s3 *s, const char *key, const char *id, int number, struct str body, char ret_etag[S3_ETAG],
                         struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(ARENA);
    struct http_result r;
    TRY(s3_call(s, &(struct s3_request){ .method = "PUT", .key = key, .query = query_of(a, id, number), .body = body }, a, &r,
                e));
    TRY(s3_refusal(&r, e));
    struct str etag = http_result_header(&r, "etag");
    if (!etag.len || snprintf(ret_etag, S3_ETAG, "%.*s", STR_ARG(etag)) >= S3_ETAG || strpbrk(ret_etag, "<>&"))
        return FAIL(e, IO, "The blob store does not name a part that it took");
    return ERR_OK;
}

/* An answer 200 may still say in its body that it failed, after a long wait; and one that was lost left the object there. */
enum errc s3_upload_end(struct s3 *s, const char *key, const char *id, char (*etags)[S3_ETAG], int n, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(ARENA);
    CLEANUP(buf_releasep) struct buf body = BUF(LIST_BODY);
    struct http_result r;
    char code[S3_TEXT];
    uint64_t size;
    buf_add_c(&body, "<CompleteMultipartUpload>");
    for (int i = 0; i < n; i++)
        buf_printf(&body, "<Part><PartNumber>%d</PartNumber><ETag>%s</ETag></Part>", i + 1, etags[i]);
    buf_add_c(&body, "</CompleteMultipartUpload>");
    if (body.overflow)
        return FAIL(e, LIMIT, "An object has more parts than the blob store takes");
    TRY(s3_call(s, &(struct s3_request){ .method = "POST", .key = key, .query = query_of(a, id, 0), .body = buf_str(&body) }, a,
                &r, e));
    if (r.status == 404)
        return s3_size(s, key, &size, e);
    TRY(s3_refusal(&r, e));
    if (s3_xml_first(r.body, "Code", code))
        return FAIL(e, UNAVAILABLE, "The blob store could not put the parts of an object together"),
            err_note(e, "S3 says %.80s", code);
    return ERR_OK;
}

enum errc s3_upload_abort(struct s3 *s, const char *key, const char *id, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(ARENA);
    struct http_result r;
    TRY(s3_call(s, &(struct s3_request){ .method = "DELETE", .key = key, .query = query_of(a, id, 0) }, a, &r, e));
    return r.status == 404 ? ERR_OK : s3_refusal(&r, e);
}

static bool entry_of(const struct s3 *s, struct str inner, struct s3_entry *ret)
{
    char key[S3_TEXT], at[S3_TEXT];
    ret->size = 0;
    if (!s3_xml_first(inner, "Key", key) || !s3_xml_first(inner, "UploadId", ret->upload_id) ||
        !s3_xml_first(inner, "Initiated", at) ||
        !s3_own_key(s, key, ret->key))
        return false;
    ret->at_us = s3_when(at);
    return ret->at_us > 0;
}

enum errc s3_uploads(struct s3 *s, const char *prefix, struct s3_entry *out, size_t *ret_n, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(ARENA);
    struct http_result r;
    struct buf q = BUF(4096);
    struct str inner;
    size_t n = 0;
    buf_printf(&q, "max-uploads=%d&prefix=", S3_LIST_MAX);
    sigv4_encode(&q, str_c(s3_prefix(s)), false);
    sigv4_encode(&q, str_c(prefix), false);
    buf_add_c(&q, "&uploads=");
    const char *query = str_z(a, buf_str(&q));
    buf_release(&q);
    TRY(s3_call(s, &(struct s3_request){ .method = "GET", .query = query }, a, &r, e));
    TRY(s3_refusal(&r, e));
    for (struct str rest = r.body; n < S3_LIST_MAX && s3_xml_next(&rest, "Upload", &inner); n++)
        if (!entry_of(s, inner, &out[n]))
            return FAIL(e, IO, "The blob store lists an upload in a way that is not understood");
    *ret_n = n;
    return ERR_OK;
}
