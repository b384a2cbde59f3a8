/* SPDX-License-Identifier: Apache-2.0 */
/* blob_s3.c - sealed objects in a bucket: objects/<tenant hex>/<object hex>.
 *
 * What fits into one part is put at once, and only where nothing is; a larger object goes up in parts, of which nothing is seen
 * before its end. A crash leaves an upload under way, which the sweep gives up. Readers fetch a part at a time by its range. */
#include "registry/vault/blob_s3_int.h"

#include <stdio.h>
#include <stdlib.h>
#include "core/base/assert.h"
#include "core/base/cleanup.h"

enum { LOOK_US = 5000000 };
static const char OBJECTS[] = "objects/";

struct s3_writer {
    struct blob_writer face;
    struct s3_store *store;
    char key[S3_KEY], upload[S3_UPLOAD_ID];     /* upload "": none yet */
    struct buf etags;                   /* S3_ETAG bytes for each of nparts */
    int nparts;
    char *part;
    size_t n;
};

struct s3_reader {
    struct blob_reader face;
    struct s3_store *store;
    char key[S3_KEY];
    uint64_t size, at, part_at;         /* at: of the next byte; part_at: of part's first */
    size_t n;                           /* bytes in part */
    char *part;
};

static void key_of(struct uuid tenant, struct uuid object, char out[S3_KEY])
{
    char t[UUID_HEX], o[UUID_HEX];
    hex_encode(tenant.b, 16, t);
    hex_encode(object.b, 16, o);
    snprintf(out, S3_KEY, "%s%s/%s", OBJECTS, t, o);
}

static enum errc s3_writer_new(struct blob_store *s, struct uuid tenant, struct uuid object, struct blob_writer **ret,
                               struct err *e)
{
    struct s3_writer *w = calloc(1, sizeof *w);
    (void)e;
    ASSERT(w && (w->part = malloc(BLOB_S3_PART)));
    w->face.ops = s->ops;
    w->store = s3_store_of(s);
    key_of(tenant, object, w->key);
    w->etags = BUF((size_t)S3_PARTS_MAX * S3_ETAG);
    *ret = &w->face;
    return ERR_OK;
}

static enum errc send_part(struct s3_writer *w, struct err *e)
{
    if (!*w->upload)
        TRY(s3_upload_begin(w->store->s3, w->key, w->upload, e));
    if (w->nparts == S3_PARTS_MAX)
        return FAIL(e, LIMIT, "An object may have %ld MiB", (long)S3_PARTS_MAX * (BLOB_S3_PART >> 20));
    char etag[S3_ETAG];
    TRY(s3_upload_part(w->store->s3, w->key, w->upload, w->nparts + 1, str_n(w->part, w->n), etag, e));
    ASSERT(buf_add(&w->etags, etag, sizeof etag));
    w->nparts++;
    w->n = 0;
    return ERR_OK;
}

static enum errc s3_write(struct blob_writer *face, const void *p, size_t n, struct err *e)
{
    struct s3_writer *w = (struct s3_writer *)face;
    const char *from = p;
    while (n > 0) {
        size_t k = n < BLOB_S3_PART - w->n ? n : BLOB_S3_PART - w->n;
        memcpy(w->part + w->n, from, k);
        w->n += k, from += k, n -= k;
        if (w->n == BLOB_S3_PART && n > 0)
            TRY(send_part(w, e));
    }
    return ERR_OK;
}

static void s3_abort(struct blob_writer *face)
{
    struct s3_writer *w = (struct s3_writer *)face;
    struct err e;
    if (*w->upload && s3_upload_abort(w->store->s3, w->key, w->upload, &e) != ERR_OK)
        err_clear(&e);                  /* the sweep comes */
    buf_release(&w->etags);
    free(w->part);
    free(w);
}

static enum errc s3_commit(struct blob_writer *face, struct err *e)
{
    struct s3_writer *w = (struct s3_writer *)face;
    struct err none;
    uint64_t size;
    if (!w->nparts)
        return s3_put(w->store->s3, w->key, str_n(w->part, w->n), true, e);
    if (w->n)
        TRY(send_part(w, e));
    if (s3_size(w->store->s3, w->key, &size, &none) == ERR_OK)
        return FAIL(e, EXISTS, "The object is stored already");
    TRY(s3_upload_end(w->store->s3, w->key, w->upload, (char (*)[S3_ETAG])w->etags.ptr, w->nparts, e));
    w->upload[0] = '\0';
    return ERR_OK;
}

static enum errc s3_reader_open(struct blob_store *s, struct uuid tenant, struct uuid object, struct blob_reader **ret,
                                uint64_t *ret_size, struct err *e)
{
    char key[S3_KEY];
    uint64_t size;
    key_of(tenant, object, key);
    if (s3_size(s3_store_of(s)->s3, key, &size, e) != ERR_OK)
        return e->code == ERR_NOT_FOUND ? FAIL(e, NOT_FOUND, "There is no such blob") : e->code;
    struct s3_reader *r = calloc(1, sizeof *r);
    ASSERT(r && (r->part = malloc(BLOB_S3_PART)));
    r->face.ops = s->ops;
    r->store = s3_store_of(s);
    memcpy(r->key, key, sizeof key);
    *ret_size = r->size = size;
    *ret = &r->face;
    return ERR_OK;
}

static bool has_next_byte(const struct s3_reader *r)
{
    return r->n && r->at >= r->part_at && r->at < r->part_at + r->n;
}

static ssize_t s3_read(struct blob_reader *face, void *p, size_t n)
{
    struct s3_reader *r = (struct s3_reader *)face;
    struct err e;
    if (r->at >= r->size || n == 0)
        return 0;
    if (!has_next_byte(r)) {
        uint64_t left = r->size - r->at;
        size_t want = left < BLOB_S3_PART ? (size_t)left : BLOB_S3_PART;
        r->part_at = r->at;
        r->n = 0;
        if (s3_get(r->store->s3, r->key, r->at, r->part, want, &r->n, &e) != ERR_OK || r->n != want) {
            r->n = 0;
            return -1;
        }
    }
    size_t from = (size_t)(r->at - r->part_at), k = r->n - from < n ? r->n - from : n;
    memcpy(p, r->part + from, k);
    r->at += k;
    return (ssize_t)k;
}

static enum errc s3_seek(struct blob_reader *face, uint64_t offset, struct err *e)
{
    (void)e;
    ((struct s3_reader *)face)->at = offset;
    return ERR_OK;
}

static void s3_reader_close(struct blob_reader *face)
{
    struct s3_reader *r = (struct s3_reader *)face;
    free(r->part);
    free(r);
}

static enum errc s3_remove(struct blob_store *s, struct uuid tenant, struct uuid object, struct err *e)
{
    char key[S3_KEY];
    uint64_t size;
    key_of(tenant, object, key);
    if (s3_size(s3_store_of(s)->s3, key, &size, e) != ERR_OK)
        return e->code == ERR_NOT_FOUND ? FAIL(e, NOT_FOUND, "There is no such blob") : e->code;
    return s3_delete(s3_store_of(s)->s3, key, e);
}

static int s3_sweep(struct blob_store *face, int64_t age_s)
{
    struct s3_store *s = s3_store_of(face);
    int64_t before = clock_wall_us(&clock_system) - age_s * 1000000;
    CLEANUP(arena_freep) struct arena *a = arena_new(BLOB_S3_SCRATCH);
    struct s3_entry *list = ARENA_ARRAY(a, struct s3_entry, S3_LIST_MAX);
    struct err e;
    size_t n = 0;
    int swept = blob_s3_stage_sweep(s, before);
    if (s3_uploads(s->s3, OBJECTS, list, &n, &e) == ERR_OK)
        for (size_t i = 0; i < n; i++)
            swept += list[i].at_us <= before && s3_upload_abort(s->s3, list[i].key, list[i].upload_id, &e) == ERR_OK;
    return swept;
}

/* "<tenant hex>/<object hex>" */
static bool ids_of(const char *name, struct uuid *tenant, struct uuid *object)
{
    return strlen(name) == 65 && name[32] == '/' && uuid_parse(str_n(name, 32), tenant) &&
        uuid_parse(str_n(name + 33, 32), object);
}

static enum errc s3_each(struct blob_store *s, int64_t age_s, blob_seen fn, void *ctx, struct err *e)
{
    int64_t before = clock_wall_us(&clock_system) - age_s * 1000000;
    CLEANUP(arena_freep) struct arena *a = arena_new(BLOB_S3_SCRATCH);
    struct s3_entry *list = ARENA_ARRAY(a, struct s3_entry, S3_LIST_MAX);
    char after[S3_KEY] = "";
    enum errc rc = ERR_OK;
    bool goes_on = true;
    for (size_t n = S3_LIST_MAX; n == S3_LIST_MAX && goes_on && rc == ERR_OK;) {
        n = 0;
        rc = s3_list(s3_store_of(s)->s3, OBJECTS, after, list, &n, e);
        for (size_t i = 0; i < n && goes_on; i++) {
            struct uuid tenant, object;
            if (list[i].at_us <= before && ids_of(list[i].key + sizeof OBJECTS - 1, &tenant, &object))
                goes_on = fn(ctx, tenant, object);
        }
        if (n)
            memcpy(after, list[n - 1].key, sizeof after);
    }
    return rc;
}

/* Asked at most every LOOK_US: whoever watches /readyz must not load the store. */
static enum errc s3_is_there(struct blob_store *face, struct err *e)
{
    struct s3_store *s = s3_store_of(face);
    pthread_mutex_lock(&s->lock);
    int64_t now = clock_mono_us(&clock_system);
    if (!s->asked_us || now - s->asked_us >= LOOK_US) {
        s->asked_us = now;
        err_clear(&s->answer);
        if (s3_ping(s->s3, &s->answer) == ERR_OK)
            s->answer.code = ERR_OK;
    }
    *e = s->answer;
    pthread_mutex_unlock(&s->lock);
    return e->code;
}

static void s3_store_free(struct blob_store *face)
{
    struct s3_store *s = s3_store_of(face);
    s3_free(s->s3);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static const struct blob_ops s3_ops = {
    .free = s3_store_free, .writer_new = s3_writer_new, .write = s3_write, .commit = s3_commit, .abort = s3_abort,
    .reader_open = s3_reader_open, .read = s3_read, .seek = s3_seek, .reader_close = s3_reader_close,
    .stage_put = blob_s3_stage_put, .stage_hash = blob_s3_stage_hash, .stage_commit = blob_s3_stage_commit,
    .remove = s3_remove, .sweep = s3_sweep, .each = s3_each, .is_there = s3_is_there,
};

enum errc blob_store_open_s3(const struct s3_options *o, struct blob_store **ret, struct err *e)
{
    struct s3_store *s = calloc(1, sizeof *s);
    ASSERT(s);
    if (s3_new(o, &s->s3, e) != ERR_OK) {
        free(s);
        return e->code;
    }
    s->face.ops = &s3_ops;
    pthread_mutex_init(&s->lock, NULL);
    *ret = &s->face;
    return ERR_OK;
}
