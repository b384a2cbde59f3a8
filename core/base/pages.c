/* SPDX-License-Identifier: Apache-2.0 */
/* pages.c - rounds inwards, and asks the kernel. */
#include "core/base/pages.h"
#include "core/base/assert.h"

#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static const size_t LARGE = (size_t)2 << 20;
enum { COLLAPSE = 25 };                 /* MADV_COLLAPSE of Linux 6.1 */

static const void *within(const void *p, size_t n, size_t page, size_t *ret_bytes)
{
    const uintptr_t from = ((uintptr_t)p + page - 1) / page * page, to = ((uintptr_t)p + n) / page * page;
    *ret_bytes = to > from ? to - from : 0;
    return (const char *)p + (from - (uintptr_t)p);
}

const void *pages_within(const void *p, size_t n, size_t *ret_bytes)
{
    return within(p, n, (size_t)sysconf(_SC_PAGESIZE), ret_bytes);
}

static void advise(const void *p, size_t n, int how)
{
    if (n)
        (void)madvise((void *)(uintptr_t)p, n, how);    /* refused (locked memory, no such pages): it is as before */
}

void pages_drop(const void *p, size_t n)
{
    size_t bytes;
    const void *from = pages_within(p, n, &bytes);
    advise(from, bytes, MADV_DONTNEED);
}

void pages_bring(const void *p, size_t n, bool is_written)
{
    size_t bytes;
    const void *from = pages_within(p, n, &bytes);
    advise(from, bytes, is_written ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
}

const void *pages_end(const void *p)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    return (const char *)p + (page - (uintptr_t)p % page) % page;
}

/* The place they leave stays ours: nothing else that is allocated may come to lie there. A refusal may leave a hole at `to`. */
bool pages_move(const void *to, const void *from, size_t n)
{
    void *at = (void *)(uintptr_t)to, *was = (void *)(uintptr_t)from;
    if (mremap(was, n, n, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, at) == at)
        return true;
    ASSERT(mmap(at, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at);
    return false;
}

void pages_large(const void *p, size_t n, const _Atomic bool *stop)
{
    size_t bytes;
    const void *from = within(p, n, LARGE, &bytes);
    advise(from, bytes, MADV_HUGEPAGE);
    for (size_t at = 0; at < bytes && !(stop && *stop); at += LARGE)    /* one at a time: readers are held up for little */
        advise((const char *)from + at, LARGE, COLLAPSE);
}

static int drop_object(struct dl_phdr_info *o, size_t size, void *ctx)
{
    (void)size, (void)ctx;
    for (int i = 0; i < o->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &o->dlpi_phdr[i];
        if (h->p_type == PT_LOAD && !(h->p_flags & PF_W))
            pages_drop((const char *)(uintptr_t)(o->dlpi_addr + h->p_vaddr), h->p_memsz);
    }
    return 0;
}

void pages_drop_code(void)
{
    (void)dl_iterate_phdr(drop_object, NULL);
}
