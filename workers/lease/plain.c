/* SPDX-License-Identifier: Apache-2.0 */
/* plain.c - a mark for each page, so that what was given back is not brought back only to be wiped once more. */
#include "workers/lease/plain.h"

#include <stdlib.h>
#include <unistd.h>
#include "core/base/assert.h"

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static void done(void *ctx, const void *data, size_t n)
{
    struct plain *p = ctx;
    const char *from = data, *first = p->bytes.ptr;
    size_t bytes;
    if (from < first || from + n > first + p->bytes.len)
        return;
    const char *at = pages_within(data, n, &bytes);
    if (!bytes)
        return;
    secret_wipe((void *)(uintptr_t)at, bytes);
    pages_drop(at, bytes);
    for (size_t page = page_bytes(), i = 0; i < bytes; i += page)
        p->gone[((uintptr_t)at - (uintptr_t)first + i) / page] = 1;
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
    ret->once = (struct read_once){ done, ret };
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
