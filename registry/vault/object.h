/* SPDX-License-Identifier: Apache-2.0 */
/* object.h - a stored thing of a tenant: sealed under its own data key, in one zone, written once.
 *
 * Invariants: what lies in the blob store is ciphertext; size and SHA-256 are of the plaintext, stored_* of the file; a COMMITTED object
 * has its blob, its data key and its quota ("stored_bytes", "objects"). The blob is written before the rows: a crash between leaves a
 * blob without a row, which nobody sees and orphan_sweep removes.
 * Calling order: object_seal without a transaction, then object_book inside one; for a few kB object_put inside of one: a
 * transaction that stands idle is ended after 10 s, and what is large takes longer than that on a busy machine.
 * object_open -> object_read* | object_read_all -> object_reader_free, the reader living
 * longer than the transaction if need be. The tenant is w->tenant_id.
 * Memory: a reader holds one chunk and one key in secure memory. Errors: RESIDENCY, UNAVAILABLE and SEALED (keys), QUOTA, NOT_FOUND (also
 * another tenant's, and what is not COMMITTED), DAMAGED (names the object and the chunk; no byte of a bad chunk is given out), IO. */
#pragma once
#include <sys/types.h>
#include "core/base/work.h"
#include "core/table/schema.h"

enum { OBJECT_WHOLE_MAX = 64 << 20 };       /* bytes; up to here a download is verified to its end before its first byte leaves */

struct object {
    struct uuid object_id;
    struct str zone, kind;
    int64_t version;
    struct str data_class, state;
    int64_t size_bytes;
    struct bytes sha256;
    int64_t stored_bytes;
    struct bytes stored_sha256;
    struct timestamp created_at;
};
extern const struct schema object_schema;

struct object_new {
    struct str zone;            /* STR_NULL: the tenant's home zone */
    const char *kind;           /* "dataset", "model", "checkpoint", "artifact", "part", "secret" */
    struct str data_class;
    struct str from, purpose;   /* a copy of what lies in another zone: where, and what for; STR_NULL: an upload */
    const uint8_t *sha256;      /* what the content must have, else BAD_DATA; NULL: any */
    int64_t freed_objects, freed_bytes; /* of other objects that this transaction ends: booked off in the same step */
};

/* Seals, stores and books in one step: for small contents alone. Makes the tenant's key in that zone when there is none. */
enum errc object_put(struct work *w, const struct object_new *in, struct str plain, struct object *ret, struct err *e) MUST_CHECK;
/* The same of a content that comes piece by piece: feed calls object_add with each and returns what that returned. */
struct object_sink;
struct object_source {
    enum errc (*feed)(void *ctx, struct object_sink *to, struct err *e);
    void *ctx;
};
enum errc object_put_from(struct work *w, const struct object_new *in, const struct object_source *from, struct object *ret, struct err *e) MUST_CHECK;
enum errc object_add(struct object_sink *to, const void *p, size_t n, struct err *e) MUST_CHECK;
/* In two steps, for a content that takes long to come: sealed and stored without any transaction (w->tx is NULL), with short
 * ones of its own for the rule and the key; then booked inside one. What is not booked is removed by object_drop, or by
 * orphan_sweep. In w->arena. */
struct object_sealed;
enum errc object_seal(struct work *w, const struct object_new *in, const struct object_source *from,
    const struct object_sealed **ret,
                      struct err *e) MUST_CHECK;
enum errc object_book(struct work *w, const struct object_new *in, const struct object_sealed *s, struct object *ret,
    struct err *e) MUST_CHECK;
/* The same of a content that is whole in memory. */
enum errc object_seal_whole(struct work *w, const struct object_new *in, struct str plain, const struct object_sealed **ret,
                            struct err *e) MUST_CHECK;
void object_drop(struct work *w, const struct object_sealed *s);
/* The blobs of objects whose rows this transaction ends go after its commit; orphan_sweep finds what stays. objects: in
 * w->arena. */
void object_gone(struct work *w, const struct uuid *objects, size_t n);
/* Would residency let it be put there now? object_put asks the same. */
enum errc object_may_lie(struct work *w, const struct object_new *in, struct err *e) MUST_CHECK;
enum errc object_get(struct work *w, struct uuid object_id, struct object *ret, struct err *e) MUST_CHECK;

struct object_reader;
/* In two steps, for who holds no transaction while files are read and keyd is asked: what the database knows, in w->arena; then
 * the file, its stored size and its head checked. kind NULL: any. */
struct object_keys;
enum errc object_find(struct work *w, struct uuid object_id, const char *kind, const struct object_keys **ret,
                      struct err *e) MUST_CHECK;
enum errc object_open_found(struct work *w, const struct object_keys *k, struct object_reader **ret, struct err *e) MUST_CHECK;
/* Both at once. */
enum errc object_open(struct work *w, struct uuid object_id, const char *kind, struct object_reader **ret, struct err *e) MUST_CHECK;
const struct object *object_reader_object(const struct object_reader *r);
/* 0: the end, -1: damaged or unreadable; then object_reader_error tells. */
ssize_t object_read(struct object_reader *r, void *p, size_t n);
const struct err *object_reader_error(const struct object_reader *r);
/* All of it, and its SHA-256 compared; ret (a BUF large enough) gets nothing unless all is good. */
enum errc object_read_all(struct object_reader *r, struct buf *ret, struct err *e) MUST_CHECK;
void object_reader_free(struct object_reader *r);
void object_reader_freep(struct object_reader **r);

/* 64 hex digits of a digest, in the arena. */
struct str object_sha_hex(struct arena *a, struct bytes sha);
