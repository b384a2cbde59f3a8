/* SPDX-License-Identifier: Apache-2.0 */
/* blob_int.h - what a kind of blob store is: a file with these functions. Each means what its namesake in blob_store.h means.
 *
 * A kind's own store, writer and reader begin with these faces. abort and reader_close are not called with NULL.
 * abort frees the writer; size counts what is being written already. */
#pragma once
#include "core/crypto/hash.h"
#include "registry/vault/blob_store.h"

struct blob_ops {
    void (*free)(struct blob_store *s);
    enum errc (*writer_new)(struct blob_store *s, struct uuid tenant, struct uuid object, struct blob_writer **ret,
                            struct err *e);
    enum errc (*write)(struct blob_writer *w, const void *p, size_t n, struct err *e);
    enum errc (*commit)(struct blob_writer *w, struct err *e);      /* abort follows, whether it went well or not */
    void (*abort)(struct blob_writer *w);
    enum errc (*reader_open)(struct blob_store *s, struct uuid tenant, struct uuid object, struct blob_reader **ret,
                             uint64_t *ret_size, struct err *e);
    ssize_t (*read)(struct blob_reader *r, void *p, size_t n);
    enum errc (*seek)(struct blob_reader *r, uint64_t offset, struct err *e);
    void (*reader_close)(struct blob_reader *r);
    enum errc (*stage_put)(struct blob_store *s, struct uuid object, uint64_t offset, struct str part, struct err *e);
    enum errc (*stage_hash)(struct blob_store *s, struct uuid object, struct arena *scratch, uint64_t size,
                            uint8_t ret_sha256[32],
                            struct err *e);
    enum errc (*stage_commit)(struct blob_store *s, struct uuid tenant, struct uuid object, struct err *e);
    enum errc (*remove)(struct blob_store *s, struct uuid tenant, struct uuid object, struct err *e);
    int (*sweep)(struct blob_store *s, int64_t age_s);
    enum errc (*each)(struct blob_store *s, int64_t age_s, blob_seen fn, void *ctx, struct err *e);
    enum errc (*is_there)(struct blob_store *s, struct err *e);         /* NULL: whoever opened it knows */
};

struct blob_store { const struct blob_ops *ops; };
struct blob_writer {
    const struct blob_ops *ops;
    struct sha256 hash;         /* of what was written, and how much: kept by blob_store.c for all kinds */
    uint64_t size;
};
struct blob_reader { const struct blob_ops *ops; };
