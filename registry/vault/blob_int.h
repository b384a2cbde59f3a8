/* SPDX-License-Identifier: Apache-2.0 */
/* blob_int.h - what the two files of the blob store share. */
#pragma once
#include "registry/vault/blob_store.h"

enum { BLOB_PATH = 4096, BLOB_DIR = 3900 };

struct blob_store {
    char dir[BLOB_DIR];
};

/* IO with errno and path in its detail; LIMIT when the disk is full. */
enum errc blob_io_error(struct err *e, const char *what, const char *path);
/* Give the file `tmp`, already synced, the blob's name. EXISTS: a blob has it. The name tmp stays. */
MUST_CHECK enum errc blob_link(const struct blob_store *s, const char *tmp, struct uuid tenant, struct uuid object,
                               struct err *e);
