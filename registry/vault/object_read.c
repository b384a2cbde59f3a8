/* SPDX-License-Identifier: Apache-2.0 */
/* object_read.c - reading objects: chunk by chunk, each verified before a byte of it is given out.
 *
 * The number of chunks follows from the stored size, which must be the row's; so a cut, grown, altered or exchanged file is DAMAGED, and
 * the error names the object and the chunk. object_read_all also compares the digest of the content with the row's. */
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/crypto/hash.h"
#include "core/db/tx.h"
#include "registry/vault/blob_store.h"
#include "registry/registry_int.h"
#include "registry/vault/object_keys.h"

#include <stdlib.h>

struct object_reader {
    struct object object;               /* its strings live in the arena of the work that opened it */
    char name[UUID_HEX + 4];            /* "obj_…", for errors after that arena is gone */
    struct blob_reader *blob;
    struct stream_reader *stream;
    uint32_t chunk;                     /* next to open */
    uint8_t *sealed, *plain;
    size_t have, at;                    /* of plain */
    bool failed;
    struct err err;
};

SCHEMA_OF(object_keys, "An object with its keys",
    FIELD(object_keys, tenant_id, 0, .doc = "Whose it is"),
    FIELD_AS(object_keys, object.object_id, "object_id", 0, .doc = "The object"), FIELD_AS(object_keys, object.zone, "zone", 0, .doc = "Zone"),
    FIELD_AS(object_keys, object.kind, "kind", 0, .doc = "Kind"), FIELD_AS(object_keys, object.version, "version", 0, .doc = "Version"),
    FIELD_AS(object_keys, object.data_class, "data_class", 0, .doc = "Class"), FIELD_AS(object_keys, object.state, "state", 0, .doc = "State"),
    FIELD_AS(object_keys, object.size_bytes, "size_bytes", 0, .doc = "Size"), FIELD_AS(object_keys, object.sha256, "sha256", 0, .doc = "Digest"),
    FIELD_AS(object_keys, object.stored_bytes, "stored_bytes", 0, .doc = "Stored size"),
    FIELD_AS(object_keys, object.stored_sha256, "stored_sha256", 0, .doc = "Stored digest"),
    FIELD_AS(object_keys, object.created_at, "created_at", 0, .doc = "When"), FIELD(object_keys, dek_id, 0, .doc = "Data key"),
    FIELD(object_keys, key_version, 0, .doc = "Tenant key's version"), FIELD(object_keys, dek, 0, .doc = "Wrapped data key"),
    FIELD(object_keys, tkek, 0, .doc = "Wrapped tenant key; absent while it may not be used"),
    FIELD(object_keys, key_state, 0, .doc = "State of the tenant key's version"));

#define KEYS_COLUMNS \
    "o.tenant_id, o.object_id, o.zone, o.kind, o.version, o.data_class, o.state, o.size_bytes, o.sha256, o.stored_bytes, o.stored_sha256, o.created_at,\n" \
    "       d.dek_id, d.key_version, d.wrapped AS dek, CASE WHEN k.state IN ('PRIMARY', 'DECRYPT_ONLY') THEN k.wrapped END AS tkek,\n" \
    "       k.state AS key_state\n"
#define KEYS_JOIN \
    "  JOIN dek d ON d.tenant_id = o.tenant_id AND d.object_id = o.object_id\n" \
    "  JOIN tenant_key k ON k.tenant_id = d.tenant_id AND k.zone = d.zone AND k.version = d.key_version\n"

const struct stmt object_keys_stmt = { .name = "object_keys", .params = "uu", .row = &object_keys_schema, .card = CARD_ONE, .sql =
    "SELECT " KEYS_COLUMNS "  FROM object o\n" KEYS_JOIN " WHERE o.tenant_id = $1 AND o.object_id = $2 AND o.state = 'COMMITTED'" };
/* Declared inputs and checkpoints of a job, in the order asked. */
const struct stmt worker_keys_stmt = { .name = "worker_keys", .params = "uuU", .row = &object_keys_schema, .card = CARD_MANY, .sql =
    "SELECT " KEYS_COLUMNS "  FROM unnest($3) WITH ORDINALITY AS i(object_id, ord)\n"
    "  JOIN object o ON o.tenant_id = $1 AND o.object_id = i.object_id AND o.state = 'COMMITTED'\n" KEYS_JOIN
    " WHERE EXISTS (SELECT FROM job_object j WHERE j.tenant_id = $1 AND j.job_id = $2 AND j.direction = 'input' AND j.object_id = i.object_id)\n"
    "    OR EXISTS (SELECT FROM checkpoint c WHERE c.tenant_id = $1 AND c.job_id = $2 AND c.object_id = i.object_id)\n"
    " ORDER BY i.ord LIMIT 64" };
/* The shared image that the job names, while it is published: an object of another tenant's, under that tenant's key. */
const struct stmt worker_shared_keys_stmt = { .name = "worker_shared_keys", .params = "uu", .row = &object_keys_schema,
    .card = CARD_MAYBE, .sql =
    "SELECT " KEYS_COLUMNS "  FROM shared_environment_of($1, $2) s\n"
    "  JOIN object o ON o.tenant_id = s.owner_id AND o.object_id = s.object_id AND o.state = 'COMMITTED'\n" KEYS_JOIN
    " WHERE NOT s.is_withdrawn" };
/* An output that this attempt began and has not filled. */
const struct stmt worker_output_find_stmt = { .name = "worker_output_find", .params = "uuis", .row = &object_keys_schema, .card = CARD_MAYBE, .sql =
    "SELECT " KEYS_COLUMNS "  FROM job_object j JOIN object o ON o.tenant_id = j.tenant_id AND o.object_id = j.object_id\n" KEYS_JOIN
    " WHERE j.tenant_id = $1 AND j.job_id = $2 AND j.direction = 'output' AND j.fence = $3 AND j.name = $4" };

enum errc object_release_item(struct uuid tenant, const struct object_keys *k, struct keyd_release_item *ret, struct err *e)
{
    if (!k->tkek.data.len)
        return str_eq_c(k->key_state, "DESTROYED") ? FAIL(e, KEY_DESTROYED, "The key of this object has been destroyed; nobody can read it any more")
                                                   : FAIL(e, SEALED, "The key of this object is %.*s and may not be used", STR_ARG(k->key_state));
    ret->tkek = (struct tkek_ref){ k->object.zone, tenant, STR(KEY_PURPOSE_DATA), (uint32_t)k->key_version };
    ret->dek = (struct dek_ref){ k->object.zone, tenant, k->object.kind, k->object.object_id, (uint32_t)k->object.version, k->dek_id };
    TRY(key_blob_from(k->tkek, &ret->tkek_blob, e));
    return key_blob_from(k->dek, &ret->wrapped, e);
}

struct stream_ref object_stream_ref(struct uuid tenant, const struct object_keys *k)
{
    return (struct stream_ref){ tenant, k->object.kind, k->object.object_id, (uint32_t)k->object.version, k->dek_id };
}

static bool read_exactly(struct blob_reader *b, uint8_t *p, size_t n)
{
    while (n > 0) {
        ssize_t k = blob_read(b, p, n);
        if (k <= 0)
            return false;
        p += k;
        n -= (size_t)k;
    }
    return true;
}

static enum errc open_stream(struct work *w, const struct object_keys *k, struct object_reader *r, struct err *e)
{
    CLEANUP(secret32_freep) struct secret32 *key = secret32_new();
    struct keyd_release_item item;
    uint8_t head[STREAM_HEAD];
    uint64_t size;
    struct stream_ref ref = object_stream_ref(w->tenant_id, k);
    enum errc rc = blob_reader_open(w->app->blobs, w->tenant_id, k->object.object_id, &r->blob, &size, e);
    if (rc == ERR_NOT_FOUND)
        return FAIL(e, DAMAGED, "Object %s is missing from the store", r->name);
    if (rc != ERR_OK)
        return rc;
    if (size != (uint64_t)k->object.stored_bytes)
        return FAIL(e, DAMAGED, "Object %s is damaged: %lu bytes are stored, %ld were written", r->name, (unsigned long)size,
                    (long)k->object.stored_bytes);
    if (!read_exactly(r->blob, head, sizeof head))
        return FAIL(e, DAMAGED, "Object %s is damaged: it has no head", r->name);
    if (!key)
        return FAIL(e, UNAVAILABLE, "No secure memory is left for a key");
    TRY(object_release_item(w->tenant_id, k, &item, e));
    TRY(keyd_dek_open(w->app->keyd, &item.tkek, &item.tkek_blob, &item.dek, &item.wrapped, key, e));
    rc = stream_reader_new(key, &ref, head, size, &r->stream, e);
    if (rc == ERR_DAMAGED)
        return FAIL(e, DAMAGED, "Object %s is damaged: its head is not what was written", r->name);
    return rc;
}

enum errc object_find(struct work *w, struct uuid object_id, const char *kind, const struct object_keys **ret, struct err *e)
{
    struct object_keys *k = ARENA_NEW(w->arena, struct object_keys);
    TRY(db_one(w->tx, &object_keys_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(object_id)), k, e));
    if (kind && !str_eq_c(k->object.kind, kind))
        return FAIL(e, NOT_FOUND, "There is no such object");
    *ret = k;
    return ERR_OK;
}

enum errc object_open_found(struct work *w, const struct object_keys *k, struct object_reader **ret, struct err *e)
{
    char hex[UUID_HEX];
    CLEANUP(object_reader_freep) struct object_reader *r = calloc(1, sizeof *r);
    ASSERT(r);
    r->sealed = malloc(STREAM_CHUNK + STREAM_TAG);
    r->plain = malloc(STREAM_CHUNK);
    ASSERT(r->sealed && r->plain);
    r->object = k->object;
    hex_encode(k->object.object_id.b, 16, hex);
    memcpy(r->name, "obj_", 4);
    memcpy(r->name + 4, hex, UUID_HEX);
    TRY(open_stream(w, k, r, e));
    *ret = TAKE(r);
    return ERR_OK;
}

enum errc object_open(struct work *w, struct uuid object_id, const char *kind, struct object_reader **ret, struct err *e)
{
    const struct object_keys *k;
    TRY(object_find(w, object_id, kind, &k, e));
    return object_open_found(w, k, ret, e);
}

const struct object *object_reader_object(const struct object_reader *r)
{
    return &r->object;
}

/* The next chunk into r->plain; false at the end or when failed. */
static bool next_chunk(struct object_reader *r)
{
    uint64_t offset;
    size_t n;
    r->at = r->have = 0;
    if (r->failed || r->chunk >= stream_reader_chunks(r->stream))
        return false;
    stream_chunk_at(r->stream, r->chunk, &offset, &n);
    if (!read_exactly(r->blob, r->sealed, n)) {
        r->failed = true;
        FAIL(&r->err, DAMAGED, "Object %s is damaged: chunk %u cannot be read", r->name, r->chunk);
    } else if (stream_open_chunk(r->stream, r->chunk, r->sealed, n, r->plain, &r->have, &r->err) != ERR_OK) {
        r->failed = true;
        r->have = 0;
        FAIL(&r->err, DAMAGED, "Object %s is damaged: chunk %u is not what was written", r->name, r->chunk);
    }
    if (r->failed)
        log_err(LOG_ERROR, "object.damaged", &r->err);
    r->chunk++;
    return !r->failed;
}

ssize_t object_read(struct object_reader *r, void *p, size_t n)
{
    while (r->at == r->have)
        if (!next_chunk(r))
            return r->failed ? -1 : 0;
    size_t k = r->have - r->at < n ? r->have - r->at : n;
    memcpy(p, r->plain + r->at, k);
    r->at += k;
    return (ssize_t)k;
}

const struct err *object_reader_error(const struct object_reader *r)
{
    return &r->err;
}

enum errc object_read_all(struct object_reader *r, struct buf *ret, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(ret->max);
    uint8_t sha[SHA256_BYTES];
    if (!buf_reserve(&b, (size_t)r->object.size_bytes + 1))
        return FAIL(e, LIMIT, "The object is larger than what can be held at once");
    while (next_chunk(r))
        if (!buf_add(&b, r->plain, r->have))
            return FAIL(e, LIMIT, "The object is larger than what can be held at once");
    if (r->failed) {
        *e = r->err;
        return e->code;
    }
    sha256(b.ptr ? b.ptr : "", b.len, sha);
    if (r->object.sha256.data.len != SHA256_BYTES || !mem_eq_ct(sha, r->object.sha256.data.ptr, SHA256_BYTES))
        return FAIL(e, DAMAGED, "Object %s is damaged: its content has another digest than was written", r->name);
    buf_release(ret);
    *ret = b;
    b = BUF(0);
    return ERR_OK;
}

void object_reader_free(struct object_reader *r)
{
    if (!r)
        return;
    stream_reader_free(r->stream);
    blob_reader_close(r->blob);
    if (r->plain)
        secret_wipe(r->plain, STREAM_CHUNK);
    free(r->plain);
    free(r->sealed);
    free(r);
}

void object_reader_freep(struct object_reader **r)
{
    object_reader_free(*r);
    *r = NULL;
}
