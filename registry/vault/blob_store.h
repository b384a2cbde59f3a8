/* SPDX-License-Identifier: Apache-2.0 */
/* blob_store.h - where sealed objects lie: a local directory, a bucket of an S3 store, or both while they move.
 *
 * A blob is written once under its key and never changed; after a crash it is whole or absent. A kind of store is a file with the
 * functions of blob_int.h: blob_local.c syncs a file and links it into place, blob_s3.c ends an upload, blob_moving.c asks two.
 * What is stored is ciphertext (core/crypto/stream.h); the store knows neither keys nor tenants' content, only two ids.
 * Calling order: writer_new -> write* -> commit | abort; stage_put* -> stage_hash -> stage_commit; reader_open -> read* ->
 * close. Readers and writers: one thread each. A stage may be filled by several processes.
 * Errors: NOT_FOUND, IO (detail: errno, path), EXISTS (a blob of that key is there), LIMIT (disk full). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/id.h"
#include "core/base/str.h"

struct blob_store;
struct blob_writer;
struct blob_reader;

struct config;
struct s3_options;
typedef bool (*blob_seen)(void *ctx, struct uuid tenant, struct uuid object);

/* As blob.dir and blob.s3_url say: one of the two, or with both set what moves from the first to the second. */
MUST_CHECK enum errc blob_store_open(const struct config *cfg, struct blob_store **ret, struct err *e);
MUST_CHECK enum errc blob_store_open_local(const char *dir, struct blob_store **ret, struct err *e);
MUST_CHECK enum errc blob_store_open_s3(const struct s3_options *o, struct blob_store **ret, struct err *e);
/* New blobs go to `to`; what is not there is looked for in `from`. Takes both. */
struct blob_store *blob_store_open_moving(struct blob_store *to, struct blob_store *from);
void blob_store_free(struct blob_store *s);

MUST_CHECK enum errc blob_writer_new(struct blob_store *s, struct uuid tenant, struct uuid object, struct blob_writer **ret, struct err *e);
MUST_CHECK enum errc blob_write(struct blob_writer *w, const void *p, size_t n, struct err *e);
/* Ends the writer either way. ret_sha256: of the stored bytes; may be NULL. */
MUST_CHECK enum errc blob_commit(struct blob_writer *w, uint64_t *ret_size, uint8_t ret_sha256[32], struct err *e);
void blob_abort(struct blob_writer *w);         /* NULL is fine */

MUST_CHECK enum errc blob_reader_open(struct blob_store *s, struct uuid tenant, struct uuid object, struct blob_reader **ret, uint64_t *ret_size,
                                      struct err *e);
/* A blob that comes in parts, in order, which survives the process: what was begun and not ended, blob_sweep removes by its age.
 * offset: where the part begins, at most what has come, else CONFLICT; a part may come again,
 * and the first one begins the stage anew. Synced when it returns. */
MUST_CHECK enum errc blob_stage_put(struct blob_store *s, struct uuid object, uint64_t offset, struct str part, struct err *e);
/* SHA-256 of a stage of that size. CONFLICT: it has another size, or is not there. */
MUST_CHECK enum errc blob_stage_hash(struct blob_store *s, struct uuid object, struct arena *scratch, uint64_t size,
                                     uint8_t ret_sha256[32],
                                     struct err *e);
MUST_CHECK enum errc blob_stage_commit(struct blob_store *s, struct uuid tenant, struct uuid object, struct err *e);
ssize_t blob_read(struct blob_reader *r, void *p, size_t n);       /* 0: end, -1: failed */
MUST_CHECK enum errc blob_seek(struct blob_reader *r, uint64_t offset, struct err *e);
void blob_reader_close(struct blob_reader *r);                      /* NULL is fine */
MUST_CHECK enum errc blob_delete(struct blob_store *s, struct uuid tenant, struct uuid object, struct err *e);
/* Removes temporary files left by a crash that are older than age_s. Returns how many. */
int blob_sweep(struct blob_store *s, int64_t age_s);
/* Calls fn for every blob older than age_s until it says false; for the sweep of blobs without a row (registry/vault/orphan.h). */
MUST_CHECK enum errc blob_each(struct blob_store *s, int64_t age_s, blob_seen fn, void *ctx, struct err *e);
/* Does it answer? A local directory does not say; an S3 store is asked at most every five seconds. */
MUST_CHECK enum errc blob_store_look(struct blob_store *s, struct err *e);
/* Copies what lies in the store that is moved from, checks its size, and removes it there. A second call goes on where the first
 * one stopped. INVALID: nothing moves. */
MUST_CHECK enum errc blob_store_move(struct blob_store *s, int64_t *ret_blobs, int64_t *ret_bytes, struct err *e);
