/* SPDX-License-Identifier: Apache-2.0 */
/* cpu.c - contexts, buffers and scratch memory of the backends that compute in host memory.
 *
 * Buffers are aligned to 64 bytes (one AVX-512 register, one cache line) and padded to a multiple of it, zeroed. */
#include "workers/compute/kernels/cpu_int.h"
#include "core/base/assert.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 64 };

static void *line_alloc(size_t n)
{
    size_t padded = (n + LINE - 1) / LINE * LINE + LINE;
    return padded < n ? NULL : aligned_alloc(LINE, padded);
}

enum errc cpu_open(const struct backend *be, struct backend_ctx **ret, struct err *e)
{
    struct backend_ctx *c = calloc(1, sizeof *c);
    if (!c)
        return FAIL(e, LIMIT, "no memory for a compute context");
    c->be = be;
    *ret = c;
    return ERR_OK;
}

void cpu_close(struct backend_ctx *c)
{
    if (!c)
        return;
    free(c->scratch);
    free(c);
}

struct buffer *cpu_alloc(struct backend_ctx *c, size_t size_bytes)
{
    (void)c;
    struct buffer *b = calloc(1, sizeof *b);
    void *p = line_alloc(size_bytes);
    if (!b || !p) {
        free(b);
        free(p);
        return NULL;
    }
    memset(p, 0, size_bytes);
    b->ptr = p;
    b->size_bytes = size_bytes;
    return b;
}

void cpu_free(struct backend_ctx *c, struct buffer *b)
{
    (void)c;
    if (!b)
        return;
    free(b->ptr);
    free(b);
}

void cpu_put(struct backend_ctx *c, struct buffer *b, size_t offset_bytes, const void *src, size_t n)
{
    (void)c;
    ASSERT(offset_bytes <= b->size_bytes && n <= b->size_bytes - offset_bytes);
    if (n)
        memcpy((char *)b->ptr + offset_bytes, src, n);
}

void cpu_get(struct backend_ctx *c, const struct buffer *b, size_t offset_bytes, void *dst, size_t n)
{
    (void)c;
    ASSERT(offset_bytes <= b->size_bytes && n <= b->size_bytes - offset_bytes);
    if (n)
        memcpy(dst, (const char *)b->ptr + offset_bytes, n);
}

enum errc cpu_sync(struct backend_ctx *c, struct err *e)
{
    (void)c;
    (void)e;
    return ERR_OK;
}

void *cpu_scratch(struct backend_ctx *c, size_t n)
{
    if (n > c->scratch_bytes) {
        free(c->scratch);
        c->scratch = line_alloc(n);
        ASSERT(c->scratch);
        c->scratch_bytes = n;
    }
    return c->scratch;
}
