/* SPDX-License-Identifier: Apache-2.0 */
/* blob_store.c - which kind settings name, and its functions under the store's own names. */
#include "registry/vault/blob_int.h"
#include "core/s3/s3.h"
#include "core/table/config.h"

enum errc blob_store_open(const struct config *cfg, struct blob_store **ret, struct err *e)
{
    struct blob_store *s3, *local;
    struct s3_options o = { cfg->blob_s3_url, cfg->blob_s3_region, cfg->blob_s3_key_id, cfg->blob_s3_secret, cfg->blob_s3_ca,
                            (int)cfg->blob_s3_timeout_ms };
    if (!*cfg->blob_s3_url)
        return blob_store_open_local(cfg->blob_dir, ret, e);
    TRY(blob_store_open_s3(&o, &s3, e));
    if (*cfg->blob_dir && blob_store_open_local(cfg->blob_dir, &local, e) != ERR_OK) {
        blob_store_free(s3);
        return e->code;
    }
    *ret = *cfg->blob_dir ? blob_store_open_moving(s3, local) : s3;
    return ERR_OK;
}

void blob_store_free(struct blob_store *s)
{
    if (s)
        s->ops->free(s);
}

enum errc blob_writer_new(struct blob_store *s, struct uuid tenant, struct uuid object, struct blob_writer **ret, struct err *e)
{
    TRY(s->ops->writer_new(s, tenant, object, ret, e));
    if ((*ret)->hash.ctx)
        return ERR_OK;                  /* of a store behind this one, which has begun it */
    sha256_init(&(*ret)->hash);
    return ERR_OK;
}

enum errc blob_write(struct blob_writer *w, const void *p, size_t n, struct err *e)
{
    sha256_add(&w->hash, p, n);
    w->size += n;
    return w->ops->write(w, p, n, e);
}

enum errc blob_commit(struct blob_writer *w, uint64_t *ret_size, uint8_t ret_sha256[32], struct err *e)
{
    uint8_t sha[SHA256_BYTES];
    sha256_final(&w->hash, sha);
    enum errc rc = w->ops->commit(w, e);
    if (rc == ERR_OK) {
        *ret_size = w->size;
        if (ret_sha256)
            memcpy(ret_sha256, sha, sizeof sha);
    }
    blob_abort(w);
    return rc;
}

void blob_abort(struct blob_writer *w)
{
    if (!w)
        return;
    sha256_release(&w->hash);
    w->ops->abort(w);
}

enum errc blob_reader_open(struct blob_store *s, struct uuid tenant, struct uuid object, struct blob_reader **ret, uint64_t *ret_size,
                           struct err *e)
{
    return s->ops->reader_open(s, tenant, object, ret, ret_size, e);
}

ssize_t blob_read(struct blob_reader *r, void *p, size_t n)
{
    return r->ops->read(r, p, n);
}

enum errc blob_seek(struct blob_reader *r, uint64_t offset, struct err *e)
{
    return r->ops->seek(r, offset, e);
}

void blob_reader_close(struct blob_reader *r)
{
    if (r)
        r->ops->reader_close(r);
}

enum errc blob_stage_put(struct blob_store *s, struct uuid object, uint64_t offset, struct str part, struct err *e)
{
    return s->ops->stage_put(s, object, offset, part, e);
}

enum errc blob_stage_hash(struct blob_store *s, struct uuid object, struct arena *scratch, uint64_t size, uint8_t ret_sha256[32],
                          struct err *e)
{
    return s->ops->stage_hash(s, object, scratch, size, ret_sha256, e);
}

enum errc blob_stage_commit(struct blob_store *s, struct uuid tenant, struct uuid object, struct err *e)
{
    return s->ops->stage_commit(s, tenant, object, e);
}

enum errc blob_delete(struct blob_store *s, struct uuid tenant, struct uuid object, struct err *e)
{
    return s->ops->remove(s, tenant, object, e);
}

int blob_sweep(struct blob_store *s, int64_t age_s)
{
    return s->ops->sweep(s, age_s);
}

enum errc blob_each(struct blob_store *s, int64_t age_s, blob_seen fn, void *ctx, struct err *e)
{
    return s->ops->each(s, age_s, fn, ctx, e);
}

enum errc blob_store_look(struct blob_store *s, struct err *e)
{
    return s->ops->is_there ? s->ops->is_there(s, e) : ERR_OK;
}
