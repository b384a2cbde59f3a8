/* SPDX-License-Identifier: Apache-2.0 */
/* rate.c - a table of sets of eight buckets each; a key may stand in one set only, so a lookup is eight comparisons under one of 64
 * locks, and a full set makes room by itself. A thread adds ten times a second what was taken to Redis, under a name that holds the
 * key and a window of ten seconds; the sum that comes back, less what this process added, is what the other nodes took. */
#include "core/redis/rate.h"
#include "core/base/assert.h"
#include "core/base/mono_cond.h"
#include "core/redis/client.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WAYS = 8, LOCKS = 64, KEY_MAX = 128, FLUSH_MS = 100, SHARES_MAX = 256, WINDOW_S = 10 };

struct bucket {
    char key[KEY_MAX];
    size_t key_len;             /* 0: free */
    struct rate_rule rule;
    double tokens;
    int64_t at_us;              /* when tokens was right */
    int64_t unshared;           /* taken here, not yet told to Redis */
    int64_t window, mine, others;       /* in the window: told by us, known of the others */
};

/* One INCRBY under way. */
struct share {
    struct rate_limiter *limiter;
    size_t bucket;
    char key[KEY_MAX];          /* the bucket may belong to another key when the answer comes */
    size_t key_len;
    int64_t window, mine;
    bool is_used;
};

struct rate_limiter {
    const struct clock *clock;
    struct redis_client *redis;
    struct bucket *buckets;
    size_t nsets;
    int64_t processes;                  /* set before the first call */
    atomic_bool *is_dirty;              /* by set: something is unshared */
    pthread_mutex_t locks[LOCKS];       /* of set s: s % LOCKS */
    pthread_mutex_t lock;               /* guards shares, in_flight, is_stopping */
    pthread_cond_t changed;
    struct share shares[SHARES_MAX];
    int in_flight;
    bool is_stopping, has_thread;
    pthread_t thread;
};

static pthread_mutex_t *lock_of(struct rate_limiter *l, size_t bucket)
{
    return &l->locks[bucket / WAYS % LOCKS];
}

/* A rule may have become smaller: what is above its burst is lost, in the same moment too. */
static void refill(struct bucket *b, int64_t now_us)
{
    double earned = now_us > b->at_us ? (double)(now_us - b->at_us) / 1e6 * b->rule.per_s : 0;
    b->tokens = fmin((double)b->rule.burst, b->tokens + earned);
    b->at_us = now_us;
}

static bool is_full_again(const struct bucket *b, int64_t now_us)
{
    return b->tokens + (double)(now_us - b->at_us) / 1e6 * b->rule.per_s >= (double)b->rule.burst;
}

/* The key's bucket in its set; a new one takes a free place, else one that is full again, else the one longest unused. */
static struct bucket *find(struct rate_limiter *l, size_t set, struct str key, struct rate_rule rule, int64_t now_us)
{
    struct bucket *ways = &l->buckets[set * WAYS], *vacant = NULL, *full = NULL, *oldest = &ways[0];
    for (int i = 0; i < WAYS; i++) {
        struct bucket *b = &ways[i];
        if (b->key_len == key.len && memcmp(b->key, key.ptr, key.len) == 0)
            return b;
        if (!b->key_len)
            vacant = b;
        else if (is_full_again(b, now_us))
            full = b;
        if (b->at_us < oldest->at_us)
            oldest = b;
    }
    struct bucket *place = vacant ? vacant : full ? full : oldest;
    *place = (struct bucket){ .key_len = key.len, .rule = rule, .tokens = (double)rule.burst, .at_us = now_us };
    memcpy(place->key, key.ptr, key.len);
    return place;
}

/* Takes the price where it is there, or (forced) whatever is left. */
static bool take(struct rate_limiter *l, struct str key, struct rate_rule rule, int64_t cost, bool is_forced,
    struct rate_result *ret)
{
    ASSERT(rule.per_s > 0 && rule.burst >= 1 && key.len > 0);
    char shortened[17];
    if (l->processes > 1 && !(l->redis && redis_is_up(l->redis)))
        rule = (struct rate_rule){ rule.per_s / (double)l->processes, rule.burst / l->processes ? rule.burst / l->processes : 1 };
    uint64_t hash = str_hash(key);
    if (key.len > KEY_MAX) {
        snprintf(shortened, sizeof shortened, "%016llx", (unsigned long long)hash);
        key = str_c(shortened);
    }
    size_t set = (size_t)(hash % l->nsets);
    int64_t now = clock_mono_us(l->clock);
    pthread_mutex_lock(&l->locks[set % LOCKS]);
    struct bucket *b = find(l, set, key, rule, now);
    b->rule = rule;
    refill(b, now);
    double price = cost > 0 ? (double)cost : 0;
    bool is_allowed = b->tokens >= price;
    if ((is_allowed || is_forced) && cost > 0) {
        b->tokens = fmax(-(double)rule.burst, b->tokens - price);
        b->unshared += cost;
        atomic_store_explicit(&l->is_dirty[set], true, memory_order_relaxed);
    }
    double wait = is_allowed ? (double)rule.burst - b->tokens : price - b->tokens;
    *ret = (struct rate_result){ is_allowed, rule.burst, b->tokens > 0 ? (int64_t)b->tokens : 0, (int64_t)ceil(wait / rule.per_s) };
    pthread_mutex_unlock(&l->locks[set % LOCKS]);
    return is_allowed;
}

bool rate_take(struct rate_limiter *l, struct str key, struct rate_rule rule, int64_t cost, struct rate_result *ret)
{
    return take(l, key, rule, cost, false, ret);
}

void rate_charge(struct rate_limiter *l, struct str key, struct rate_rule rule, int64_t cost)
{
    struct rate_result ignored;
    take(l, key, rule, cost, true, &ignored);
}

static void end_share(struct share *s)
{
    struct rate_limiter *l = s->limiter;
    pthread_mutex_lock(&l->lock);
    s->is_used = false;
    l->in_flight--;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
}

/* On the Redis thread: what the others took since we last heard is taken here too, down to one burst of debt. */
static void shared(void *ctx, bool ok, int64_t total)
{
    struct share *s = ctx;
    struct rate_limiter *l = s->limiter;
    struct bucket *b = &l->buckets[s->bucket];
    pthread_mutex_lock(lock_of(l, s->bucket));
    bool is_same = b->key_len == s->key_len && memcmp(b->key, s->key, s->key_len) == 0 && b->window == s->window;
    int64_t others = total - s->mine;
    if (ok && is_same && others > b->others) {
        refill(b, clock_mono_us(l->clock));
        b->tokens = fmax(-(double)b->rule.burst, b->tokens - (double)(others - b->others));
        b->others = others;
    }
    pthread_mutex_unlock(lock_of(l, s->bucket));
    end_share(s);
}

static struct share *new_share(struct rate_limiter *l)
{
    struct share *found = NULL;
    pthread_mutex_lock(&l->lock);
    for (int i = 0; i < SHARES_MAX && !found; i++)
        if (!l->shares[i].is_used)
            found = &l->shares[i];
    if (found) {
        found->is_used = true;
        l->in_flight++;
    }
    pthread_mutex_unlock(&l->lock);
    return found;
}

/* Tells Redis about one bucket; false: no share is free now. */
static bool share_one(struct rate_limiter *l, size_t at, int64_t window)
{
    struct bucket *b = &l->buckets[at];
    struct share *s = new_share(l);
    if (!s)
        return false;
    pthread_mutex_lock(lock_of(l, at));
    int64_t delta = b->unshared;
    if (b->window != window) {
        b->window = window;
        b->mine = b->others = 0;
    }
    b->unshared = 0;
    b->mine += delta;
    *s = (struct share){ l, at, .key_len = b->key_len, .window = window, .mine = b->mine, .is_used = true };
    memcpy(s->key, b->key, b->key_len);
    pthread_mutex_unlock(lock_of(l, at));
    char name[KEY_MAX + 40], amount[24], life[8];
    int n = snprintf(name, sizeof name, "rl:%lld:", (long long)window);
    memcpy(name + n, s->key, s->key_len);
    struct str full = str_n(name, (size_t)n + s->key_len);
    snprintf(amount, sizeof amount, "%lld", (long long)delta);
    snprintf(life, sizeof life, "%d", 2 * WINDOW_S);
    if (delta == 0 || !redis_send(l->redis, (const struct str[]){ STR("INCRBY"), full, str_c(amount) }, 3, REDIS_INT, shared, s))
        end_share(s);
    else
        redis_send(l->redis, (const struct str[]){ STR("EXPIRE"), full, str_c(life) }, 3, REDIS_INT, NULL, NULL);
    return true;
}

static void flush(struct rate_limiter *l)
{
    int64_t window = clock_wall_us(l->clock) / 1000000 / WINDOW_S;
    for (size_t set = 0; set < l->nsets; set++) {
        if (!atomic_load_explicit(&l->is_dirty[set], memory_order_relaxed))
            continue;
        atomic_store(&l->is_dirty[set], false);
        for (size_t at = set * WAYS; at < (set + 1) * WAYS; at++) {
            pthread_mutex_lock(lock_of(l, at));
            bool is_due = l->buckets[at].unshared > 0;
            pthread_mutex_unlock(lock_of(l, at));
            if (is_due && !share_one(l, at, window)) {
                atomic_store(&l->is_dirty[set], true);      /* the rest goes next time */
                return;
            }
        }
    }
}

static void *rate_main(void *arg)
{
    struct rate_limiter *l = arg;
    pthread_setname_np(pthread_self(), "rate");
    int64_t next = clock_mono_us(&clock_system) + FLUSH_MS * 1000;
    pthread_mutex_lock(&l->lock);
    while (!l->is_stopping) {
        mono_cond_wait(&l->changed, &l->lock, next);
        if (l->is_stopping || clock_mono_us(&clock_system) < next)
            continue;
        pthread_mutex_unlock(&l->lock);
        if (redis_is_up(l->redis))
            flush(l);
        next = clock_mono_us(&clock_system) + FLUSH_MS * 1000;
        pthread_mutex_lock(&l->lock);
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

struct rate_limiter *rate_limiter_new(const struct clock *clock, struct redis_client *redis, size_t max_keys)
{
    struct rate_limiter *l = calloc(1, sizeof *l);
    ASSERT(l);
    l->clock = clock;
    l->redis = redis;
    l->nsets = ((max_keys ? max_keys : 100000) + WAYS - 1) / WAYS;
    l->buckets = calloc(l->nsets * WAYS, sizeof *l->buckets);
    l->is_dirty = calloc(l->nsets, sizeof *l->is_dirty);
    ASSERT(l->buckets && l->is_dirty);
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_init(&l->locks[i], NULL);
    pthread_mutex_init(&l->lock, NULL);
    mono_cond_init(&l->changed);
    if (redis) {
        ASSERT(pthread_create(&l->thread, NULL, rate_main, l) == 0);
        l->has_thread = true;
    }
    return l;
}

void rate_limiter_share(struct rate_limiter *l, int64_t processes)
{
    l->processes = processes;
}

void rate_limiter_free(struct rate_limiter *l)
{
    if (!l)
        return;
    pthread_mutex_lock(&l->lock);
    l->is_stopping = true;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    if (l->has_thread)
        pthread_join(l->thread, NULL);
    pthread_mutex_lock(&l->lock);
    while (l->in_flight)
        pthread_cond_wait(&l->changed, &l->lock);
    pthread_mutex_unlock(&l->lock);
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_destroy(&l->locks[i]);
    pthread_cond_destroy(&l->changed);
    pthread_mutex_destroy(&l->lock);
    free(l->buckets);
    free(l->is_dirty);
    free(l);
}

void rate_limiter_freep(struct rate_limiter **l)
{
    rate_limiter_free(*l);
    *l = NULL;
}
