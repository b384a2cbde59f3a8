/* SPDX-License-Identifier: Apache-2.0 */
/* share_count.c - a hash table of chains; who has nothing left is in none. */
#include "core/base/share_count.h"
#include "core/base/assert.h"
#include "core/base/str.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CHAINS = 1024 };

struct share {
    struct share *next, **at;       /* of its chain, and what points to it */
    size_t count;
    uint8_t len, key[SHARE_KEY_MAX];
};

struct share_count { struct share *chains[CHAINS]; };

struct share_count *share_count_new(void)
{
    struct share_count *c = calloc(1, sizeof *c);
    ASSERT(c);
    return c;
}

void share_count_free(struct share_count *c)
{
    free(c);
}

static size_t chain_of(const void *key, size_t n)
{
    return str_hash(str_n(key, n)) % CHAINS;
}

static struct share *find(const struct share_count *c, const void *key, size_t n)
{
    struct share *s = c->chains[chain_of(key, n)];
    while (s && (s->len != n || memcmp(s->key, key, n) != 0))
        s = s->next;
    return s;
}

size_t share_count_of(const struct share_count *c, const void *key, size_t n)
{
    const struct share *s = find(c, key, n);
    return s ? s->count : 0;
}

static struct share *share_new(struct share **at, const void *key, size_t n)
{
    struct share *s = calloc(1, sizeof *s);
    ASSERT(s && n <= SHARE_KEY_MAX);
    *s = (struct share){ .next = *at, .at = at, .len = (uint8_t)n };
    memcpy(s->key, key, n);
    if (s->next)
        s->next->at = &s->next;
    return *at = s;
}

struct share *share_count_take(struct share_count *c, const void *key, size_t n)
{
    return share_count_take_many(c, key, n, 1);
}

void share_count_give(struct share *s)
{
    if (s)
        share_count_give_many(s, 1);
}

struct share *share_count_take_many(struct share_count *c, const void *key, size_t n, size_t many)
{
    struct share *s = find(c, key, n);
    if (!s)
        s = share_new(&c->chains[chain_of(key, n)], key, n);
    s->count += many;
    return s;
}

void share_count_give_many(struct share *s, size_t many)
{
    ASSERT(many <= s->count);
    s->count -= many;
    if (s->count)
        return;
    *s->at = s->next;
    if (s->next)
        s->next->at = s->at;
    free(s);
}
