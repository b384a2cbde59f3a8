/* SPDX-License-Identifier: Apache-2.0 */
/* blob_store.h - where sealed objects lie: a local directory. Another store would be another file with these functions.
 *
 * A blob is written once under its key and never changed. Writing goes to a temporary name; commit fsyncs the file, renames it into
 * place and fsyncs the directory, so after a crash a blob is whole or absent. What is stored is ciphertext (core/crypto/stream.h);
 * the store knows neither keys nor tenants' content, only the key text "<tenant hex>/<object hex>".
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

MUST_CHECK enum errc blob_store_open_local(const char *dir, struct blob_store **ret, struct err *e);
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
MUST_CHECK enum errc blob_each(struct blob_store *s, int64_t age_s, bool (*fn)(void *ctx, struct uuid tenant, struct uuid object), void *ctx,
                               struct err *e);
