/* SPDX-License-Identifier: Apache-2.0 */
/* plain.c - a mark for each page, so that what was given back is not brought back only to be wiped once more. */
#include "workers/lease/plain.h"

#include <stdlib.h>
#include <unistd.h>
#include "core/base/assert.h"

enum { SPARE_BYTES = 4 * PAGES_SLAB };

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static void mark_gone(struct plain *p, const char *at, size_t n)
{
    for (size_t page = page_bytes(), i = 0; i < n; i += page)
        p->gone[((uintptr_t)at - (uintptr_t)p->bytes.ptr + i) / page] = 1;
}

/* So many bytes that wait for being written over, at most; what waits longest goes. */
static void wipe_spares(struct plain *p, size_t most)
{
    size_t bytes = 0;
    const char *at = p->spare ? pages_within(p->spare, (size_t)(p->read - p->spare), &bytes) : NULL;
    if (bytes <= most)
        return;
    bytes -= most;
    secret_wipe((void *)(uintptr_t)at, bytes);
    pages_drop(at, bytes);
    mark_gone(p, at, bytes);
    p->spare = at + bytes;
}

static void done(void *ctx, const void *data, size_t n)
{
    struct plain *p = ctx;
    const char *from = data, *first = p->bytes.ptr;
    if (from < first || from + n > first + p->bytes.len)
        return;
    if (p->read != from) {
        wipe_spares(p, 0);
        p->spare = pages_end(from);
    }
    p->read = from + n;
    wipe_spares(p, SPARE_BYTES);
}

/* In the order in which they were read, and new ones in front of them: what lay in one piece lies in one again, which large
 * pages need. */
static void bring(void *ctx, const void *to, size_t n)
{
    struct plain *p = ctx;
    size_t bytes = 0;
    const char *at = p->spare ? pages_within(p->spare, (size_t)(p->read - p->spare), &bytes) : NULL;
    bytes = bytes < n ? bytes : n;
    const char *moved = (const char *)to + (n - bytes);
    if (bytes && pages_move(moved, at, bytes)) {
        mark_gone(p, at, bytes);
        p->spare = at + bytes;
        n -= bytes;
    }
    pages_bring(to, n, true);
}

enum errc plain_open(struct child *c, size_t input, struct plain *ret, struct err *e)
{
    const int64_t size = c->inputs[input].about.size_bytes, all = c->grant.memory_bytes;
    *ret = (struct plain){ .bytes = BUF(0) };
    if (all > 0 && size > all / 16 * 15)
        return FAIL(e, LIMIT, "the model has %ld MiB, which do not fit in the %ld MiB of memory that this lease has",
                    (long)(size >> 20), (long)(all >> 20));
    TRY(child_open_input(c, input, &ret->bytes, e));
    ret->gone = calloc(ret->bytes.len / page_bytes() + 2, 1);
    ASSERT(ret->gone);
    ret->once = (struct read_once){ done, ret, bring };
    return ERR_OK;
}

/* A page is where it begins: the first may begin before the bytes, so the mark is of the place within them. */
void plain_close(struct plain *p)
{
    const size_t page = page_bytes(), len = p->bytes.len;
    char *first = p->bytes.ptr;
    size_t lead = first ? (page - (uintptr_t)first % page) % page : 0;
    if (first)
        secret_wipe(first, lead < len ? lead : len);
    for (size_t at = lead; first && at < len; at += page)
        if (!p->gone || !p->gone[at / page])
            secret_wipe(first + at, len - at < page ? len - at : page);
    free(p->gone);
    p->gone = NULL;
    buf_release(&p->bytes);
}
