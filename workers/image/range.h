/* SPDX-License-Identifier: Apache-2.0 */
/* range.h - part of a file as a source, and the digest of what was read of it. The file's own place is not moved, so several
 * ranges of one are read at once. Errors: IO, BAD_DATA (the file ends before the range). */
#pragma once
#include <stdint.h>
#include "core/crypto/hash.h"
#include "workers/image/source.h"

struct range {
    int fd;                             /* borrowed */
    uint64_t at, left;
    bool is_trusted;                    /* no digest is taken */
    struct sha256 sha;
};

/* The source lives as long as *r, which range_close ends. */
struct source range_of(struct range *r, int fd, uint64_t at, uint64_t size);
/* The same of bytes whose digest nobody asks for. */
struct source range_of_trusted(struct range *r, int fd, uint64_t at, uint64_t size);
MUST_CHECK enum errc range_read(void *range, void *p, size_t n, size_t *ret, struct err *e);
void range_close(struct range *r);
