/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h - encryption of objects of any size in 1 MiB chunks (the STREAM construction), so that any chunk opens alone and
 * truncation, reordering, splicing and extension are all refused, by chunk number.
 *
 * A sealed object is: magic "FLJS" | version u8 = 1 | chunk log2 u8 = 20 | nonce prefix 7 | SHA-256 of the associated data 32,
 * then chunks of 2^20 + 16 bytes, the last one shorter or equal. The nonce of chunk i is prefix || u32 i || last flag; the
 * associated data of each chunk is "falaj-obj-v1" || tenant || object_kind || object_id || object_version || dek_id, followed by
 * the header. An empty object is one empty last chunk. One key seals one object version, once.
 * Calling order: new -> feed* -> finish -> free. A sealer or opener that has failed stays failed. Not thread-safe.
 * The opener hands on only verified chunks, but a whole object is good only when finish says so.
 * Errors: DAMAGED (which chunk, why), TOO_LARGE (2^32 chunks), and what the sink returns.
 * Source: Hoang, Reyhanitabar, Rogaway, Vizár, "Online Authenticated-Encryption and its Nonce-Reuse Misuse-Resistance", 2015. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "core/base/id.h"
#include "core/base/str.h"
#include "core/crypto/secmem.h"

enum { STREAM_HEAD = 45, STREAM_CHUNK = 1 << 20, STREAM_TAG = 16 };

/* What the object is. The same values must be given to open it. */
struct stream_ref {
    struct uuid tenant;
    struct str object_kind;
    struct uuid object_id;
    uint32_t object_version;
    struct uuid dek_id;
};

/* Takes the next bytes of output. The bytes are valid only during the call. */
typedef enum errc (*stream_sink)(void *ctx, const void *p, size_t n, struct err *e);

struct stream_sealer;
MUST_CHECK enum errc stream_sealer_new(const struct secret32 *key, const struct stream_ref *ref, stream_sink sink, void *ctx,
                                       struct stream_sealer **ret, struct err *e);
MUST_CHECK enum errc stream_sealer_feed(struct stream_sealer *s, const void *p, size_t n, struct err *e);
MUST_CHECK enum errc stream_sealer_finish(struct stream_sealer *s, struct err *e);
void stream_sealer_free(struct stream_sealer *s);               /* wipes the key; NULL is fine */
void stream_sealer_freep(struct stream_sealer **s);

struct stream_opener;
MUST_CHECK enum errc stream_opener_new(const struct secret32 *key, const struct stream_ref *ref, stream_sink sink, void *ctx,
                                       struct stream_opener **ret, struct err *e);
MUST_CHECK enum errc stream_opener_feed(struct stream_opener *s, const void *p, size_t n, struct err *e);
MUST_CHECK enum errc stream_opener_finish(struct stream_opener *s, struct err *e);
void stream_opener_free(struct stream_opener *s);
void stream_opener_freep(struct stream_opener **s);

/* Sizes. stream_plain_size: INVALID sizes give false. */
uint64_t stream_sealed_size(uint64_t plain_size);
bool stream_plain_size(uint64_t sealed_size, uint64_t *ret);

/* Random access: made from the first STREAM_HEAD bytes and the size of the sealed object. */
struct stream_reader;
MUST_CHECK enum errc stream_reader_new(const struct secret32 *key, const struct stream_ref *ref, const uint8_t head[STREAM_HEAD],
                                       uint64_t sealed_size, struct stream_reader **ret, struct err *e);
uint32_t stream_reader_chunks(const struct stream_reader *r);
/* Where the sealed chunk lies in the object. */
void stream_chunk_at(const struct stream_reader *r, uint32_t chunk, uint64_t *ret_offset, size_t *ret_len);
/* Open one sealed chunk; out needs STREAM_CHUNK bytes. Thread-safe on one reader. */
MUST_CHECK enum errc stream_open_chunk(const struct stream_reader *r, uint32_t chunk, const void *sealed, size_t n, void *out,
                                       size_t *ret_len, struct err *e);
void stream_reader_free(struct stream_reader *r);
void stream_reader_freep(struct stream_reader **r);
