/* SPDX-License-Identifier: Apache-2.0 */
/* worker_output.c - the sealed bytes of an output, in parts: staged outside of transactions, made a blob inside of one.
 *
 * A part costs no row: the stage's size says what has come (registry/vault/blob_stage.c). The row is locked before the stage
 * becomes the blob, so of two calls that bring the last part one does it and the other finds it done. */
#include "core/crypto/hash.h"
#include "core/crypto/stream.h"
#include "core/db/tx.h"
#include "core/wire/lease_wire.h"
#include "registry/registry_int.h"
#include "registry/vault/object_keys.h"
#include "registry/vault/worker_object.h"

const struct stmt worker_output_store_stmt = { .name = "worker_output_store", .params = "uuiyiy", .card = CARD_ONE, .sql =
    "UPDATE object SET size_bytes = $3, sha256 = $4, stored_bytes = $5, stored_sha256 = $6\n"
    " WHERE tenant_id = $1 AND object_id = $2 AND state = 'WRITING'" };

/* The answer to a part may be lost, so it comes again when all is stored: the same bytes at the same place are no fault. */
static enum errc is_there_already(struct work *w, const struct output_part *p, struct err *e)
{
    struct blob_reader *r;
    uint64_t size;
    size_t n = 0;
    char *stored = arena_alloc(w->arena, p->sealed.len);
    TRY(blob_reader_open(w->app->blobs, w->tenant_id, p->object_id, &r, &size, e));
    enum errc rc = blob_seek(r, (uint64_t)p->offset, e);
    for (ssize_t k; rc == ERR_OK && n < p->sealed.len && (k = blob_read(r, stored + n, p->sealed.len - n)) > 0;)
        n += (size_t)k;
    blob_reader_close(r);
    if (rc == ERR_OK && (n != p->sealed.len || memcmp(stored, p->sealed.ptr, n) != 0))
        rc = FAIL(e, CONFLICT, "The output has been written already, with other bytes");
    return rc;
}

enum errc worker_output_expects(struct work *w, const struct worker_lease *l, const struct output_part *p, bool *ret_is_stored,
                                struct err *e)
{
    struct output_file f;
    uint64_t whole = stream_sealed_size((uint64_t)p->size_bytes);
    TRY(worker_output_find(w, l, p->object_id, &f, e));
    *ret_is_stored = f.stored_sha256.data.len > 0;
    if (p->size_bytes > LEASE_OUTPUT_MAX && !str_eq_c(f.kind, "checkpoint"))
        return FAIL(e, TOO_LARGE, "An output has at most %d bytes; %ld were announced", LEASE_OUTPUT_MAX, (long)p->size_bytes);
    if (p->sealed.len == 0 || p->sealed.len > LEASE_PART_MAX)
        return FAIL(e, TOO_LARGE, "A part of an output has 1 to %d bytes; %zu came", LEASE_PART_MAX, p->sealed.len);
    if ((uint64_t)p->offset > whole || p->sealed.len > whole - (uint64_t)p->offset)
        return FAIL(e, BAD_DATA, "A part of %zu bytes at byte %ld does not lie in the %lu that a sealed object of %ld bytes has",
                    p->sealed.len,
                    (long)p->offset, (unsigned long)whole, (long)p->size_bytes);
    return *ret_is_stored ? is_there_already(w, p, e) : ERR_OK;
}

bool worker_output_ends(const struct output_part *p)
{
    return (uint64_t)p->offset + p->sealed.len == stream_sealed_size((uint64_t)p->size_bytes);
}

enum errc worker_output_stage(struct work *w, const struct output_part *p, uint8_t ret_sha256[32], struct err *e)
{
    TRY(blob_stage_put(w->app->blobs, p->object_id, (uint64_t)p->offset, p->sealed, e));
    if (!worker_output_ends(p))
        return ERR_OK;
    return blob_stage_hash(w->app->blobs, p->object_id, w->arena, stream_sealed_size((uint64_t)p->size_bytes), ret_sha256, e);
}

enum errc worker_output_store(struct work *w, const struct worker_lease *l, const struct output_part *p,
                              const uint8_t stored_sha256[32], struct err *e)
{
    struct output_file f;
    TRY(worker_output_find(w, l, p->object_id, &f, e));
    if (f.stored_sha256.data.len)
        return is_there_already(w, p, e);
    enum errc rc = blob_stage_commit(w->app->blobs, w->tenant_id, p->object_id, e);
    if (rc == ERR_EXISTS) {
        TRY(blob_delete(w->app->blobs, w->tenant_id, p->object_id,
                        e));    /* no row speaks of it: left by a call that did not commit */
        rc = blob_stage_commit(w->app->blobs, w->tenant_id, p->object_id, e);
    }
    if (rc != ERR_OK)
        return rc;
    int64_t stored = (int64_t)stream_sealed_size((uint64_t)p->size_bytes);
    return db_exec(w->tx, &worker_output_store_stmt, ARGS(
        A_UUID(w->tenant_id), A_UUID(p->object_id), A_I64(p->size_bytes), A_BYTES(p->sha256, SHA256_BYTES), A_I64(stored),
        A_BYTES(stored_sha256, SHA256_BYTES)), NULL, e);
}
