/* SPDX-License-Identifier: Apache-2.0 */
/* blob_local_int.h - what the two files of the local blob store share. */
#pragma once
#include "registry/vault/blob_int.h"

enum { BLOB_PATH = 4096, BLOB_DIR = 3900 };

struct local_store {
    struct blob_store face;
    char dir[BLOB_DIR];
};

static inline struct local_store *local_of(struct blob_store *s)
{
    return (struct local_store *)s;
}

/* IO with errno and path in its detail; LIMIT when the disk is full. */
enum errc blob_io_error(struct err *e, const char *what, const char *path);
/* Give the file `tmp`, already synced, the blob's name. EXISTS: a blob has it. The name tmp stays. */
MUST_CHECK enum errc blob_local_link(const struct local_store *s, const char *tmp, struct uuid tenant, struct uuid object,
                                     struct err *e);
enum errc blob_local_stage_put(struct blob_store *s, struct uuid object, uint64_t offset, struct str part, struct err *e);
enum errc blob_local_stage_hash(struct blob_store *s, struct uuid object, struct arena *scratch, uint64_t size,
                                uint8_t ret_sha256[32], struct err *e);
enum errc blob_local_stage_commit(struct blob_store *s, struct uuid tenant, struct uuid object, struct err *e);
