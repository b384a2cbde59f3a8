/* SPDX-License-Identifier: Apache-2.0 */
/* object.c - writing objects: seal into the blob store first, then the rows, the quota and the count of the tenant key's uses.
 *
 * The quota row and the key row are touched last, because they stay locked until the commit and the sealing takes long. When anything
 * after the blob fails, the blob is removed at once; when the process dies instead, orphan_sweep does it later. */
#include "registry/vault/object.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/crypto/hash.h"
#include "core/crypto/stream.h"
#include "core/db/run_tx.h"
#include "keys/client.h"
#include "registry/vault/blob_store.h"
#include "registry/registry_int.h"
#include "registry/vault/tenant_key.h"
#include "tenants/access/principal.h"
#include "tenants/accounts/quota.h"
#include "tenants/home/residency_facts.h"

SCHEMA_EXTERN(object, "A stored object",
    FIELD_ID(object, object_id, "obj", 0, .doc = "The object"), FIELD(object, zone, 0, .doc = "Where it lies"),
    FIELD(object, kind, 0, .doc = "dataset, model, checkpoint, artifact, part or secret"),
        FIELD(object, version, 0, .doc = "Version of the object"),
    FIELD(object, data_class, 0, .doc = "Class of the data"), FIELD(object, state, 0, .doc = "WRITING, COMMITTED or DELETED"),
    FIELD(object, size_bytes, 0, .doc = "Bytes of the content"), FIELD(object, sha256, F_NOOUT, .max = 32, .doc = "Of the content"),
    FIELD(object, stored_bytes, 0, .doc = "Bytes stored"), FIELD(object, stored_sha256, F_NOOUT, .max = 32, .doc = "Of what is stored"),
    FIELD(object, created_at, 0, .doc = "When it was made"));

const struct stmt object_insert_stmt = { .name = "object_insert", .params = "uusssiyiyuiy", .row = &object_schema, .card = CARD_ONE, .sql =
    "WITH o AS (\n"
    "  INSERT INTO object (tenant_id, object_id, zone, kind, data_class, state, size_bytes, sha256, stored_bytes, stored_sha256)\n"
    "  VALUES ($1, $2, $3, $4, $5, 'COMMITTED', $6, $7, $8, $9) RETURNING " ROW_COLUMNS "),\n"
    "d AS (\n"
    "  INSERT INTO dek (tenant_id, dek_id, object_id, zone, key_version, wrapped) VALUES ($1, $10, $2, $3, $11, $12))\n"
    "SELECT " ROW_COLUMNS " FROM o" };
const struct stmt object_get_stmt = { .name = "object_get", .params = "uu", .row = &object_schema, .card = CARD_ONE, .sql =
    "SELECT " ROW_COLUMNS " FROM object WHERE tenant_id = $1 AND object_id = $2 AND state = 'COMMITTED'" };

enum errc object_may_lie(struct work *w, const struct object_new *in, struct err *e)
{
    struct str zone = in->zone.ptr || !w->principal ? in->zone : w->principal->home_zone;
    struct residency_question q = { .data_class = data_class_of(in->data_class), .zone = zone, .from = in->from, .purpose = in->purpose };
    if (!w->principal)
        return FAIL_AT(e, RESIDENCY, "/zone", "No user asks to store this in zone %.*s", STR_ARG(zone));
    enum errc rc = residency_check(w, in->from.ptr ? RACT_TRANSFER : RACT_UPLOAD, &q, in->from.ptr != NULL, NULL, e);
    return rc == ERR_RESIDENCY ? err_field(e, "/zone") : rc;
}

static enum errc blob_sink(void *ctx, const void *p, size_t n, struct err *e)
{
    return blob_write(ctx, p, n, e);
}

struct object_sink {
    struct stream_sealer *sealer;
    struct sha256 hash;
    uint64_t size;
};

enum errc object_add(struct object_sink *s, const void *p, size_t n, struct err *e)
{
    sha256_add(&s->hash, p, n);
    s->size += n;
    return stream_sealer_feed(s->sealer, p, n, e);
}

struct stored {
    struct uuid object_id, dek_id;
    struct key_blob wrapped;
    uint64_t plain_bytes, bytes;
    uint8_t plain_sha[SHA256_BYTES], sha[SHA256_BYTES];
};

static enum errc seal_into(struct blob_writer *b, const struct secret32 *key, const struct stream_ref *ref, const struct object_source *from,
                           struct stored *s, struct err *e)
{
    CLEANUP(stream_sealer_freep) struct stream_sealer *sealer = NULL;
    struct object_sink sink = { 0 };
    TRY(stream_sealer_new(key, ref, blob_sink, b, &sealer, e));
    sink.sealer = sealer;
    sha256_init(&sink.hash);
    enum errc rc = from->feed(from->ctx, &sink, e);
    sha256_final(&sink.hash, s->plain_sha);
    s->plain_bytes = sink.size;
    return rc == ERR_OK ? stream_sealer_finish(sealer, e) : rc;
}

static enum errc store_blob(struct work *w, const struct tenant_key *tk, const struct object_new *in, const struct object_source *from,
                            struct stored *s, struct err *e)
{
    CLEANUP(secret32_freep) struct secret32 *key = secret32_new();
    struct blob_writer *b = NULL;
    struct dek_ref dek = { tk->ref.zone, w->tenant_id, str_c(in->kind), s->object_id, 1, s->dek_id };
    struct stream_ref ref = { w->tenant_id, str_c(in->kind), s->object_id, 1, s->dek_id };
    if (!key)
        return FAIL(e, UNAVAILABLE, "No secure memory is left for a key");
    TRY(keyd_dek_new(w->app->keyd, &tk->ref, &tk->blob, &dek, &s->wrapped, key, e));
    TRY(blob_writer_new(w->app->blobs, w->tenant_id, s->object_id, &b, e));
    enum errc rc = seal_into(b, key, &ref, from, s, e);
    if (rc == ERR_OK && in->sha256 && !mem_eq_ct(in->sha256, s->plain_sha, SHA256_BYTES))
        rc = FAIL(e, BAD_DATA, "The content has the SHA-256 %.*s, not the one that was announced",
                  STR_ARG(object_sha_hex(w->arena, (struct bytes){ str_n((const char *)s->plain_sha, SHA256_BYTES) })));
    if (rc != ERR_OK) {
        blob_abort(b);
        return rc;
    }
    return blob_commit(b, &s->bytes, s->sha, e);
}

static enum errc insert_rows(struct work *w, const struct object_new *in, const struct tenant_key *tk, const struct stored *s, struct object *ret,
                             struct err *e)
{
    TRY(db_one(w->tx, &object_insert_stmt, ARGS(
        A_UUID(w->tenant_id), A_UUID(s->object_id), A_STR(tk->ref.zone), A_TEXT(in->kind), A_STR(in->data_class), A_I64((int64_t)s->plain_bytes),
        A_BYTES(s->plain_sha, SHA256_BYTES), A_I64((int64_t)s->bytes), A_BYTES(s->sha, SHA256_BYTES), A_UUID(s->dek_id),
        A_I64(tk->ref.version), A_BYTES(s->wrapped.b, s->wrapped.n)), ret, e));
    TRY(quota_reserve(w, "objects", 1 - in->freed_objects, e));
    TRY(quota_reserve(w, "stored_bytes", (int64_t)s->bytes - in->freed_bytes, e));
    tenant_key_count(w, tk);
    return ERR_OK;
}

enum errc object_put_from(struct work *w, const struct object_new *in, const struct object_source *from, struct object *ret, struct err *e)
{
    struct tenant_key tk;
    struct err ignored;
    struct stored s = { .object_id = uuid_v7(w->now_us), .dek_id = uuid_v7(w->now_us) };
    struct str zone = in->zone.ptr || !w->principal ? in->zone : w->principal->home_zone;
    TRY(object_may_lie(w, in, e));
    TRY(tenant_key_primary(w, zone, true, &tk, e));
    TRY(store_blob(w, &tk, in, from, &s, e));
    enum errc rc = insert_rows(w, in, &tk, &s, ret, e);
    if (rc != ERR_OK)
        (void)!blob_delete(w->app->blobs, w->tenant_id, s.object_id, &ignored);
    return rc;
}

struct object_sealed {
    struct tenant_key key;
    struct stored stored;
};

static enum errc may_seal(struct work *w, const struct object_new *in, struct str zone, struct tenant_key *ret, struct err *e)
{
    TRY(object_may_lie(w, in, e));
    return tenant_key_primary(w, zone, true, ret, e);
}

enum errc object_seal(struct work *w, const struct object_new *in, const struct object_source *from,
    const struct object_sealed **ret,
                      struct err *e)
{
    ASSERT(!w->tx);
    struct object_sealed *s = ARENA_NEW(w->arena, struct object_sealed);
    struct str zone = in->zone.ptr || !w->principal ? in->zone : w->principal->home_zone;
    s->stored = (struct stored){ .object_id = uuid_v7(w->now_us), .dek_id = uuid_v7(w->now_us) };
    TRY(RUN_WRITE(w, may_seal(w, in, zone, &s->key, e), e));
    TRY(store_blob(w, &s->key, in, from, &s->stored, e));
    *ret = s;
    return ERR_OK;
}

enum errc object_book(struct work *w, const struct object_new *in, const struct object_sealed *s, struct object *ret,
    struct err *e)
{
    TRY(object_may_lie(w, in, e));
    return insert_rows(w, in, &s->key, &s->stored, ret, e);
}

void object_drop(struct work *w, const struct object_sealed *s)
{
    struct err ignored;
    (void)!blob_delete(w->app->blobs, w->tenant_id, s->stored.object_id, &ignored);
}

struct gone_blobs {
    struct blob_store *blobs;
    struct uuid tenant_id;
    const struct uuid *objects;
    size_t n;
};

static void remove_blobs(void *ctx)
{
    const struct gone_blobs *b = ctx;
    struct err ignored;
    for (size_t i = 0; i < b->n; i++)
        (void)!blob_delete(b->blobs, b->tenant_id, b->objects[i], &ignored);
}

void object_gone(struct work *w, const struct uuid *objects, size_t n)
{
    struct gone_blobs *b = ARENA_NEW(w->arena, struct gone_blobs);
    *b = (struct gone_blobs){ w->app->blobs, w->tenant_id, objects, n };
    db_after_commit(w->tx, remove_blobs, b);
}

static enum errc feed_all(void *plain, struct object_sink *to, struct err *e)
{
    const struct str *s = plain;
    return object_add(to, s->ptr, s->len, e);
}

enum errc object_seal_whole(struct work *w, const struct object_new *in, struct str plain, const struct object_sealed **ret,
                            struct err *e)
{
    return object_seal(w, in, &(struct object_source){ feed_all, &plain }, ret, e);
}

enum errc object_put(struct work *w, const struct object_new *in, struct str plain, struct object *ret, struct err *e)
{
    return object_put_from(w, in, &(struct object_source){ feed_all, &plain }, ret, e);
}

enum errc object_get(struct work *w, struct uuid object_id, struct object *ret, struct err *e)
{
    return db_one(w->tx, &object_get_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(object_id)), ret, e);
}

struct str object_sha_hex(struct arena *a, struct bytes sha)
{
    char *text = arena_alloc(a, 2 * sha.data.len + 1);
    return str_n(text, hex_encode(sha.data.ptr, sha.data.len, text));
}
