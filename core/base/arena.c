/* SPDX-License-Identifier: Apache-2.0 */
/* arena.c - bump allocation in blocks that double up to 1 MiB; large requests get a block of their own.
 *
 * The first block (4 KiB) is part of the handle, so that a small request costs one malloc in all. */
#include "core/base/arena.h"
#include "core/base/assert.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 16, FIRST = 4096, BLOCK_MAX = 1 << 20 };

struct block {
    struct block *next;
    size_t cap;
    _Alignas(ALIGN) unsigned char data[];
};

struct defer {
    struct defer *next;
    void (*fn)(void *);
    void *p;
};

struct arena {
    struct block *blocks;  /* newest first; excludes `first` */
    struct defer *defers;  /* newest first */
    unsigned char *at, *end;
    size_t used, limit, next_cap;
    _Alignas(ALIGN) unsigned char first[FIRST];
};

struct arena *arena_new(size_t limit_bytes)
{
    struct arena *a = malloc(sizeof *a);
    ASSERT(a);
    a->blocks = NULL;
    a->defers = NULL;
    a->at = a->first;
    a->end = a->first + FIRST;
    a->used = 0;
    a->limit = limit_bytes;
    a->next_cap = 4 * FIRST;
    return a;
}

void arena_reset(struct arena *a)
{
    /* Defers live in arena memory, so they run before any block goes. */
    for (struct defer *d = a->defers; d; d = d->next)
        d->fn(d->p);
    while (a->blocks) {
        struct block *b = a->blocks;
        a->blocks = b->next;
        free(b);
    }
    a->defers = NULL;
    a->at = a->first;
    a->end = a->first + FIRST;
    a->used = 0;
    a->next_cap = 4 * FIRST;
}

void arena_free(struct arena *a)
{
    if (!a)
        return;
    arena_reset(a);
    free(a);
}

void arena_freep(struct arena **a)
{
    arena_free(*a);
    *a = NULL;
}

void *arena_try(struct arena *a, size_t n)
{
    if (n > SIZE_MAX - ALIGN)
        return NULL;
    n = (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (n == 0)
        n = ALIGN;
    if (n > a->limit - a->used)
        return NULL;
    if (n > (size_t)(a->end - a->at)) {
        size_t cap = n > a->next_cap ? n : a->next_cap;
        struct block *b = malloc(sizeof *b + cap);
        ASSERT(b);
        b->cap = cap;
        b->next = a->blocks;
        a->blocks = b;
        a->at = b->data;
        a->end = b->data + cap;
        if (a->next_cap < BLOCK_MAX)
            a->next_cap *= 2;
    }
    void *p = a->at;
    a->at += n;
    a->used += n;
    return memset(p, 0, n);
}

void *arena_alloc(struct arena *a, size_t n)
{
    void *p = arena_try(a, n);
    ASSERT(p && "arena limit passed: a user-driven size lacks its own limit");
    return p;
}

void arena_defer(struct arena *a, void (*fn)(void *), void *p)
{
    struct defer *d = ARENA_NEW(a, struct defer);
    d->fn = fn;
    d->p = p;
    d->next = a->defers;
    a->defers = d;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    char *p = arena_alloc(a, n + 1);
    if (n)
        memcpy(p, s, n);
    return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    ASSERT(n >= 0);
    char *p = arena_alloc(a, (size_t)n + 1);
    vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return p;
}

size_t arena_used(const struct arena *a)
{
    return a->used;
}
