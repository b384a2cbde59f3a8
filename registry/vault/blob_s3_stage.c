/* SPDX-License-Identifier: Apache-2.0 */
/* blob_s3_stage.c - a blob that comes in parts: stage/<object hex>/<offset, 20 digits>, an object for each part, until it is
 * whole.
 *
 * The list of parts says what has come, so any falaj-api takes the next one. Parts abut: one that begins inside another is
 * refused,
 * one that comes again with another length takes what stood behind it with it. At the end the parts are read once more and
 * written as the object: an S3 store joins only parts of 5 MiB and more, and callers may send smaller ones. */
#include "registry/vault/blob_s3_int.h"

#include <stdio.h>
#include <stdlib.h>
#include "core/base/cleanup.h"
#include "core/crypto/hash.h"

static const char STAGE[] = "stage/";

struct stage {
    struct s3_store *store;
    char prefix[S3_KEY];
    struct s3_entry *parts;             /* n of them, which abut from byte 0 */
    size_t n;
    uint64_t size;
};

static uint64_t offset_of(const struct stage *st, size_t i)
{
    return strtoull(st->parts[i].key + strlen(st->prefix), NULL, 10);
}

/* What follows a gap does not count; only a part that was overtaken by a new beginning can leave one. */
static enum errc stage_read(struct blob_store *s, struct uuid object, struct arena *a, struct stage *ret, struct err *e)
{
    char o[UUID_HEX];
    size_t n;
    hex_encode(object.b, 16, o);
    *ret = (struct stage){ .store = s3_store_of(s), .parts = ARENA_ARRAY(a, struct s3_entry, S3_LIST_MAX) };
    snprintf(ret->prefix, sizeof ret->prefix, "%s%s/", STAGE, o);
    TRY(s3_list(ret->store->s3, ret->prefix, "", ret->parts, &n, e));
    for (; ret->n < n && offset_of(ret, ret->n) == ret->size; ret->n++)
        ret->size += ret->parts[ret->n].size;
    return ERR_OK;
}

/* Which part begins there; n: it is the next one. */
static enum errc place_of(const struct stage *st, uint64_t offset, size_t *ret, struct err *e)
{
    if (offset > st->size)
        return FAIL(e, CONFLICT, "The part begins at byte %lu, but only %lu bytes have come; send from there",
                    (unsigned long)offset,
                    (unsigned long)st->size);
    for (size_t i = 0; i < st->n; i++) {
        uint64_t begin = offset_of(st, i);
        if (begin < offset && offset < begin + st->parts[i].size)
            return FAIL(e, CONFLICT, "The part begins at byte %lu, inside of one that came; send from byte %lu",
                        (unsigned long)offset,
                        (unsigned long)begin);
        if (begin == offset)
            return *ret = i, ERR_OK;
    }
    *ret = st->n;
    return st->n < S3_LIST_MAX - 1 ? ERR_OK : FAIL(e, LIMIT, "An upload may have %d parts", S3_LIST_MAX - 1);
}

static enum errc put(struct stage *st, uint64_t offset, struct str part, struct err *e)
{
    char key[S3_KEY + 32];
    size_t at;
    TRY(place_of(st, offset, &at, e));
    bool is_same = at < st->n && st->parts[at].size == part.len && offset > 0;
    for (size_t i = st->n; i > at + 1 && !is_same; i--)         /* from the end: a crash leaves no gap */
        TRY(s3_delete(st->store->s3, st->parts[i - 1].key, e));
    snprintf(key, sizeof key, "%s%020llu", st->prefix, (unsigned long long)offset);
    return s3_put(st->store->s3, key, part, false, e);
}

enum errc blob_s3_stage_put(struct blob_store *s, struct uuid object, uint64_t offset, struct str part, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(BLOB_S3_SCRATCH);
    struct stage st;
    TRY(stage_read(s, object, a, &st, e));
    return put(&st, offset, part, e);
}

typedef enum errc (*take)(void *ctx, const void *p, size_t n, struct err *e);

static enum errc each_piece(const struct stage *st, char *piece, take fn, void *ctx, struct err *e)
{
    for (size_t i = 0; i < st->n; i++)
        for (uint64_t at = 0; at < st->parts[i].size;) {
            uint64_t left = st->parts[i].size - at;
            size_t want = left < BLOB_S3_PART ? (size_t)left : BLOB_S3_PART, n;
            TRY(s3_get(st->store->s3, st->parts[i].key, at, piece, want, &n, e));
            if (n != want)
                return FAIL(e, CONFLICT, "A part of the object has gone; send from byte 0");
            TRY(fn(ctx, piece, n, e));
            at += n;
        }
    return ERR_OK;
}

static enum errc add_to_hash(void *ctx, const void *p, size_t n, struct err *e)
{
    (void)e;
    sha256_add(ctx, p, n);
    return ERR_OK;
}

enum errc blob_s3_stage_hash(struct blob_store *s, struct uuid object, struct arena *scratch, uint64_t size,
                             uint8_t ret_sha256[32],
                             struct err *e)
{
    struct stage st;
    struct sha256 h;
    enum errc rc;
    CLEANUP(arena_freep) struct arena *a = arena_new(BLOB_S3_SCRATCH);
    (void)scratch;                      /* of whoever calls, and too small for a part */
    TRY(stage_read(s, object, a, &st, e));
    char *piece = arena_alloc(a, BLOB_S3_PART);
    sha256_init(&h);
    if (!st.n)
        rc = FAIL(e, CONFLICT, "No part of the object is here; send from byte 0");
    else if (st.size != size)
        rc = FAIL(e, CONFLICT, "%lu bytes came, %lu were announced; send from byte 0", (unsigned long)st.size,
                  (unsigned long)size);
    else
        rc = each_piece(&st, piece, add_to_hash, &h, e);
    if (rc == ERR_OK)
        sha256_final(&h, ret_sha256);
    sha256_release(&h);
    return rc;
}

static enum errc add_to_blob(void *ctx, const void *p, size_t n, struct err *e)
{
    return blob_write(ctx, p, n, e);
}

enum errc blob_s3_stage_commit(struct blob_store *s, struct uuid tenant, struct uuid object, struct err *e)
{
    struct stage st;
    struct blob_writer *w;
    uint64_t size;
    CLEANUP(arena_freep) struct arena *a = arena_new(BLOB_S3_SCRATCH);
    TRY(stage_read(s, object, a, &st, e));
    char *piece = arena_alloc(a, BLOB_S3_PART);
    enum errc rc = blob_writer_new(s, tenant, object, &w, e);
    if (rc == ERR_OK) {
        rc = each_piece(&st, piece, add_to_blob, w, e);
        if (rc == ERR_OK)
            rc = blob_commit(w, &size, NULL, e);
        else
            blob_abort(w);
    }
    struct err gone;
    for (size_t i = st.n; i > 0 && rc == ERR_OK; i--)
        if (s3_delete(st.store->s3, st.parts[i - 1].key, &gone) != ERR_OK)
            break;                      /* the sweep takes the rest */
    return rc;
}

int blob_s3_stage_sweep(struct s3_store *s, int64_t before_us)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(BLOB_S3_SCRATCH);
    struct s3_entry *list = ARENA_ARRAY(a, struct s3_entry, S3_LIST_MAX);
    char after[S3_KEY] = "";
    struct err e;
    int swept = 0;
    for (size_t n = S3_LIST_MAX; n == S3_LIST_MAX;) {
        n = 0;
        if (s3_list(s->s3, STAGE, after, list, &n, &e) != ERR_OK)
            break;
        for (size_t i = 0; i < n; i++)
            swept += list[i].at_us <= before_us && s3_delete(s->s3, list[i].key, &e) == ERR_OK;
        if (n)
            memcpy(after, list[n - 1].key, sizeof after);
    }
    return swept;
}
