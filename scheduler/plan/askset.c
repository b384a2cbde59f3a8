/* SPDX-License-Identifier: Apache-2.0 */
/* askset.c - open addressing over an array; the index is twice as long as the array. */
#include "scheduler/plan/askset.h"
#include "core/base/assert.h"

#include <stdlib.h>
#include <string.h>

void *list_alloc(void *p, size_t n, size_t size)
{
    p = realloc(p, n * size);
    ASSERT(p);
    return p;
}

uint32_t *index_alloc(uint32_t *p, size_t n)
{
    p = list_alloc(p, n, sizeof *p);
    memset(p, 0, n * sizeof *p);
    return p;
}

static uint64_t hash(const struct ask *a)
{
    uint64_t h = 0, v;
    for (size_t i = 0; i < sizeof *a; i += 8) {
        memcpy(&v, (const char *)a + i, 8);
        h = (h ^ v) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h;
}

static size_t place_of(const struct askset *s, const struct ask *a)
{
    size_t mask = s->cap * 2 - 1, at = hash(a) & mask;
    while (s->index[at] && memcmp(&s->asks[s->index[at] - 1], a, sizeof *a) != 0)
        at = (at + 1) & mask;
    return at;
}

static void grow(struct askset *s)
{
    s->cap = s->cap ? s->cap * 2 : 16;
    s->asks = list_alloc(s->asks, s->cap, sizeof *s->asks);
    s->index = index_alloc(s->index, s->cap * 2);
    for (size_t i = 0; i < s->n; i++)
        s->index[place_of(s, &s->asks[i])] = (uint32_t)i + 1;
}

uint32_t askset_find(struct askset *s, const struct ask *a, size_t max)
{
    if (s->n == s->cap)
        grow(s);
    size_t at = place_of(s, a);
    if (s->index[at])
        return s->index[at] - 1;
    if (s->n >= max)
        return ASK_NONE;
    s->asks[s->n] = *a;
    s->index[at] = (uint32_t)++s->n;
    return (uint32_t)s->n - 1;
}

void askset_release(struct askset *s)
{
    free(s->asks);
    free(s->index);
    *s = (struct askset){ 0 };
}
