/* SPDX-License-Identifier: Apache-2.0 */
/* tkek_cache.c - unwrapped tenant keys for a short time. A hash table of indices into a fixed array of slots, which a doubly
 * linked list orders by last use; -1 is "none". The keys (digests) are uniform, so their first bytes are the hash. */
#include "keys/tkek_cache.h"
#include <pthread.h>
#include <stdlib.h>
#include "core/crypto/hash.h"

enum { BUCKETS = 2048, NONE = -1 };

struct slot {
    uint8_t key[32];
    struct secret32 *value;
    int64_t until_us;
    int next_in_bucket;
    int newer, older;
};

struct tkek_cache {
    pthread_mutex_t lock;
    int bucket[BUCKETS];
    struct slot slot[TKEK_CACHE_MAX];
    int newest, oldest, first_free;
    size_t count;
};

static int bucket_of(const uint8_t key[32])
{
    return (key[0] << 8 | key[1]) % BUCKETS;
}

static void reset(struct tkek_cache *c)
{
    for (int i = 0; i < BUCKETS; i++)
        c->bucket[i] = NONE;
    for (int i = 0; i < TKEK_CACHE_MAX; i++)
        c->slot[i].next_in_bucket = i + 1 < TKEK_CACHE_MAX ? i + 1 : NONE;
    c->newest = c->oldest = NONE;
    c->first_free = 0;
    c->count = 0;
}

struct tkek_cache *tkek_cache_new(void)
{
    struct tkek_cache *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    pthread_mutex_init(&c->lock, NULL);
    reset(c);
    return c;
}

static void order_remove(struct tkek_cache *c, int i)
{
    struct slot *s = &c->slot[i];
    if (s->newer == NONE)
        c->newest = s->older;
    else
        c->slot[s->newer].older = s->older;
    if (s->older == NONE)
        c->oldest = s->newer;
    else
        c->slot[s->older].newer = s->newer;
}

static void order_push(struct tkek_cache *c, int i)
{
    struct slot *s = &c->slot[i];
    s->newer = NONE;
    s->older = c->newest;
    if (c->newest == NONE)
        c->oldest = i;
    else
        c->slot[c->newest].newer = i;
    c->newest = i;
}

static void drop(struct tkek_cache *c, int i)
{
    struct slot *s = &c->slot[i];
    int *link = &c->bucket[bucket_of(s->key)];
    while (*link != i)
        link = &c->slot[*link].next_in_bucket;
    *link = s->next_in_bucket;
    order_remove(c, i);
    secret32_freep(&s->value);
    s->next_in_bucket = c->first_free;
    c->first_free = i;
    c->count--;
}

static int find(const struct tkek_cache *c, const uint8_t key[32])
{
    int i = c->bucket[bucket_of(key)];
    while (i != NONE && !mem_eq_ct(c->slot[i].key, key, 32))
        i = c->slot[i].next_in_bucket;
    return i;
}

void tkek_cache_key(const struct aad *aad, const struct key_blob *blob, uint8_t ret[32])
{
    uint8_t digests[64];
    sha256(aad->b, aad->n, digests);
    sha256(blob->b, blob->n, digests + 32);
    sha256(digests, sizeof digests, ret);
}

bool tkek_cache_get(struct tkek_cache *c, const uint8_t key[32], int64_t now_us, struct secret32 *ret)
{
    bool is_found = false;
    pthread_mutex_lock(&c->lock);
    int i = find(c, key);
    if (i != NONE && c->slot[i].until_us <= now_us) {
        drop(c, i);
    } else if (i != NONE) {
        order_remove(c, i);
        order_push(c, i);
        *ret = *c->slot[i].value;
        is_found = true;
    }
    pthread_mutex_unlock(&c->lock);
    return is_found;
}

void tkek_cache_put(struct tkek_cache *c, const uint8_t key[32], int64_t now_us, const struct secret32 *value)
{
    pthread_mutex_lock(&c->lock);
    int i = find(c, key);
    if (i != NONE)
        drop(c, i);
    if (c->first_free == NONE)
        drop(c, c->oldest);
    struct secret32 *copy = secret32_new();
    if (copy) {
        i = c->first_free;
        struct slot *s = &c->slot[i];
        c->first_free = s->next_in_bucket;
        *copy = *value;
        memcpy(s->key, key, sizeof s->key);
        s->value = copy;
        s->until_us = now_us + (int64_t)TKEK_CACHE_TTL_S * 1000000;
        s->next_in_bucket = c->bucket[bucket_of(key)];
        c->bucket[bucket_of(key)] = i;
        order_push(c, i);
        c->count++;
    }
    pthread_mutex_unlock(&c->lock);
}

void tkek_cache_clear(struct tkek_cache *c)
{
    pthread_mutex_lock(&c->lock);
    for (int i = 0; i < TKEK_CACHE_MAX; i++)
        secret32_freep(&c->slot[i].value);
    reset(c);
    pthread_mutex_unlock(&c->lock);
}

size_t tkek_cache_count(struct tkek_cache *c)
{
    pthread_mutex_lock(&c->lock);
    size_t n = c->count;
    pthread_mutex_unlock(&c->lock);
    return n;
}

void tkek_cache_free(struct tkek_cache *c)
{
    if (!c)
        return;
    tkek_cache_clear(c);
    pthread_mutex_destroy(&c->lock);
    free(c);
}
