/* SPDX-License-Identifier: Apache-2.0 */
/* range.c - pread(2), piece by piece. */
#include "workers/image/range.h"

#include <unistd.h>

void range_close(struct range *r)
{
    sha256_release(&r->sha);
}

enum errc range_read(void *range, void *p, size_t n, size_t *ret, struct err *e)
{
    struct range *r = range;
    *ret = 0;
    if (n > r->left)
        n = (size_t)r->left;
    if (!n)
        return ERR_OK;
    const ssize_t got = pread(r->fd, p, n, (off_t)r->at);
    if (got < 0)
        return FAIL(e, IO, "the image's archive cannot be read");
    if (!got)
        return FAIL(e, BAD_DATA, "the archive is cut off");
    if (!r->is_trusted)
        sha256_add(&r->sha, p, (size_t)got);
    r->at += (uint64_t)got;
    r->left -= (uint64_t)got;
    *ret = (size_t)got;
    return ERR_OK;
}

struct source range_of(struct range *r, int fd, uint64_t at, uint64_t size)
{
    *r = (struct range){ .fd = fd, .at = at, .left = size };
    sha256_init(&r->sha);
    return (struct source){ range_read, r };
}

struct source range_of_trusted(struct range *r, int fd, uint64_t at, uint64_t size)
{
    *r = (struct range){ .fd = fd, .at = at, .left = size, .is_trusted = true };
    return (struct source){ range_read, r };
}
