/* SPDX-License-Identifier: Apache-2.0 */
/* blob_moving.c - two stores as one, while blobs move from one to the other under programs that go on.
 *
 * Readers look where blobs go to first. A blob is removed from where it was only once it is whole at the other place, so at
 * every moment it is in one of the two. Parts of uploads go to the new place alone: an upload that was under way begins anew. */
#include "registry/vault/blob_int.h"

#include <stdlib.h>
#include "core/base/assert.h"
#include "core/base/cleanup.h"

enum { PIECE = 1 << 20 };

struct moving_store {
    struct blob_store face;
    struct blob_store *to, *from;
};

static struct moving_store *moving_of(struct blob_store *s)
{
    return (struct moving_store *)s;
}

static enum errc moving_writer_new(struct blob_store *s, struct uuid tenant, struct uuid object, struct blob_writer **ret,
                                   struct err *e)
{
    return blob_writer_new(moving_of(s)->to, tenant, object, ret, e);
}

/* Between the two looks the blob may have moved: then it is at the first place. */
static enum errc moving_reader_open(struct blob_store *s, struct uuid tenant, struct uuid object, struct blob_reader **ret,
                                    uint64_t *ret_size, struct err *e)
{
    struct moving_store *m = moving_of(s);
    enum errc rc = blob_reader_open(m->to, tenant, object, ret, ret_size, e);
    if (rc == ERR_NOT_FOUND)
        rc = blob_reader_open(m->from, tenant, object, ret, ret_size, e);
    if (rc == ERR_NOT_FOUND)
        rc = blob_reader_open(m->to, tenant, object, ret, ret_size, e);
    return rc;
}

static enum errc moving_stage_put(struct blob_store *s, struct uuid object, uint64_t offset, struct str part, struct err *e)
{
    return blob_stage_put(moving_of(s)->to, object, offset, part, e);
}

static enum errc moving_stage_hash(struct blob_store *s, struct uuid object, struct arena *scratch, uint64_t size,
                                   uint8_t ret_sha256[32], struct err *e)
{
    return blob_stage_hash(moving_of(s)->to, object, scratch, size, ret_sha256, e);
}

static enum errc moving_stage_commit(struct blob_store *s, struct uuid tenant, struct uuid object, struct err *e)
{
    return blob_stage_commit(moving_of(s)->to, tenant, object, e);
}

/* From the old place first: the mover, which may be at this blob, then finds nothing to copy or removes its copy's origin. */
static enum errc moving_remove(struct blob_store *s, struct uuid tenant, struct uuid object, struct err *e)
{
    struct moving_store *m = moving_of(s);
    enum errc old = blob_delete(m->from, tenant, object, e);
    if (old != ERR_OK && old != ERR_NOT_FOUND)
        return old;
    enum errc new = blob_delete(m->to, tenant, object, e);
    return new == ERR_NOT_FOUND ? old : new;
}

static int moving_sweep(struct blob_store *s, int64_t age_s)
{
    return blob_sweep(moving_of(s)->from, age_s) + blob_sweep(moving_of(s)->to, age_s);
}

static enum errc moving_each(struct blob_store *s, int64_t age_s, blob_seen fn, void *ctx, struct err *e)
{
    TRY(blob_each(moving_of(s)->from, age_s, fn, ctx, e));
    return blob_each(moving_of(s)->to, age_s, fn, ctx, e);
}

static enum errc moving_is_there(struct blob_store *s, struct err *e)
{
    TRY(blob_store_look(moving_of(s)->from, e));
    return blob_store_look(moving_of(s)->to, e);
}

static void moving_free(struct blob_store *s)
{
    blob_store_free(moving_of(s)->to);
    blob_store_free(moving_of(s)->from);
    free(s);
}

static const struct blob_ops moving_ops = {
    .free = moving_free, .writer_new = moving_writer_new, .reader_open = moving_reader_open, .stage_put = moving_stage_put,
    .stage_hash = moving_stage_hash, .stage_commit = moving_stage_commit, .remove = moving_remove, .sweep = moving_sweep,
    .each = moving_each, .is_there = moving_is_there,
};

struct blob_store *blob_store_open_moving(struct blob_store *to, struct blob_store *from)
{
    struct moving_store *m = calloc(1, sizeof *m);
    ASSERT(m);
    *m = (struct moving_store){ { &moving_ops }, to, from };
    return &m->face;
}

struct move {
    struct moving_store *m;
    char *piece;
    int64_t blobs, bytes;
    struct err *e;
};

static enum errc copy_all(struct move *v, struct blob_reader *r, struct blob_writer *w)
{
    for (;;) {
        ssize_t n = blob_read(r, v->piece, PIECE);
        if (n < 0)
            return FAIL(v->e, IO, "A blob could not be read where it lies");
        if (n == 0)
            return ERR_OK;
        TRY(blob_write(w, v->piece, (size_t)n, v->e));
    }
}

static enum errc copy(struct move *v, struct uuid tenant, struct uuid object)
{
    struct blob_reader *r;
    struct blob_writer *w;
    uint64_t size, written;
    enum errc rc = blob_reader_open(v->m->from, tenant, object, &r, &size, v->e);
    if (rc != ERR_OK)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;               /* deleted meanwhile */
    rc = blob_writer_new(v->m->to, tenant, object, &w, v->e);
    if (rc == ERR_OK && (rc = copy_all(v, r, w)) != ERR_OK)
        blob_abort(w);
    else if (rc == ERR_OK)
        rc = blob_commit(w, &written, NULL, v->e);
    blob_reader_close(r);
    if (rc == ERR_EXISTS)                                       /* an earlier move ended before it removed the origin */
        rc = ERR_OK;
    else if (rc == ERR_OK && written != size)
        rc = FAIL(v->e, IO, "A blob had another size at its new place");
    if (rc == ERR_OK)
        v->blobs++, v->bytes += (int64_t)size;
    return rc;
}

static bool move_one(void *ctx, struct uuid tenant, struct uuid object)
{
    struct move *v = ctx;
    if (copy(v, tenant, object) != ERR_OK)
        return false;
    enum errc rc = blob_delete(v->m->from, tenant, object, v->e);
    /* deleted by its owner while it was copied: then the copy goes too */
    if (rc == ERR_NOT_FOUND)
        rc = blob_delete(v->m->to, tenant, object, v->e);
    if (rc == ERR_OK || rc == ERR_NOT_FOUND)
        v->e->code = ERR_OK;
    return v->e->code == ERR_OK;
}

enum errc blob_store_move(struct blob_store *s, int64_t *ret_blobs, int64_t *ret_bytes, struct err *e)
{
    struct err why = { 0 };
    if (s->ops != &moving_ops)
        return FAIL(e, INVALID, "Nothing moves: blob.dir and blob.s3_url must both be set");
    CLEANUP(arena_freep) struct arena *a = arena_new(2 * PIECE);
    struct move v = { .m = moving_of(s), .piece = arena_alloc(a, PIECE), .e = &why };
    enum errc rc = blob_each(v.m->from, 0, move_one, &v, e);
    *ret_blobs = v.blobs;
    *ret_bytes = v.bytes;
    if (rc == ERR_OK && why.code != ERR_OK)
        *e = why, rc = why.code;
    return rc;
}
