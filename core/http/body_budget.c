/* SPDX-License-Identifier: Apache-2.0 */
/* body_budget.c - sums under one lock; the bound of an owner is what is free (Choudhury, Hahne, dynamic queue length thresholds,
 * IEEE/ACM ToN 1998, with a factor of one), so nobody has to say how many owners there will be. */
#include "core/http/body_budget.h"
#include "core/base/assert.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>

struct body_budget {
    size_t max;
    pthread_mutex_t mutex;          /* guards all below */
    size_t used[2];                 /* by owners that are not known, that are */
    size_t refused[BODY_ALL_USED + 1];
    struct share_count *owners[2];
};

struct body_budget *body_budget_new(size_t max_bytes)
{
    ASSERT(max_bytes > 0);
    struct body_budget *b = calloc(1, sizeof *b);
    ASSERT(b);
    b->max = max_bytes;
    pthread_mutex_init(&b->mutex, NULL);
    for (int i = 0; i < 2; i++)
        b->owners[i] = share_count_new();
    return b;
}

void body_budget_free(struct body_budget *b)
{
    if (!b)
        return;
    for (int i = 0; i < 2; i++)
        share_count_free(b->owners[i]);
    pthread_mutex_destroy(&b->mutex);
    free(b);
}

static size_t free_for(const struct body_budget *b, bool is_known)
{
    size_t all = b->max - b->used[0] - b->used[1];
    size_t unknown = b->max / 2 > b->used[0] ? b->max / 2 - b->used[0] : 0;
    return is_known || all < unknown ? all : unknown;
}

enum body_room body_budget_take(struct body_budget *b, const struct body_owner *o, size_t more, struct body_hold *h)
{
    ASSERT(more > 0);
    pthread_mutex_lock(&b->mutex);
    size_t has = share_count_of(b->owners[o->is_known], o->key, o->n), is_free = free_for(b, o->is_known);
    enum body_room room = more <= is_free && has + more <= is_free - more ? BODY_TAKEN : has ? BODY_SHARE_USED : BODY_ALL_USED;
    if (room == BODY_TAKEN) {
        struct share *s = share_count_take_many(b->owners[o->is_known], o->key, o->n, more);
        ASSERT(!h->share || h->share == s);
        *h = (struct body_hold){ s, h->bytes + more, o->is_known };
        b->used[o->is_known] += more;
    } else {
        b->refused[room]++;
    }
    pthread_mutex_unlock(&b->mutex);
    return room;
}

void body_budget_give(struct body_budget *b, struct body_hold *h)
{
    if (!h->share)
        return;
    pthread_mutex_lock(&b->mutex);
    share_count_give_many(h->share, h->bytes);
    b->used[h->is_known] -= h->bytes;
    pthread_mutex_unlock(&b->mutex);
    *h = (struct body_hold){ 0 };
}

size_t body_budget_used(struct body_budget *b, bool is_known)
{
    pthread_mutex_lock(&b->mutex);
    size_t n = b->used[is_known];
    pthread_mutex_unlock(&b->mutex);
    return n;
}

size_t body_budget_refused(struct body_budget *b, enum body_room why)
{
    pthread_mutex_lock(&b->mutex);
    size_t n = b->refused[why];
    pthread_mutex_unlock(&b->mutex);
    return n;
}

struct body_owner body_owner_address(struct str address)
{
    struct body_owner o = { .n = 0 };
    char text[64];
    struct in6_addr a;
    size_t len = address.len < sizeof text - 1 ? address.len : sizeof text - 1;
    memcpy(text, address.ptr, len);
    text[len] = 0;
    if (inet_pton(AF_INET, text, o.key) == 1) {
        o.n = 4;
    } else if (inet_pton(AF_INET6, text, &a) == 1) {
        bool is_v4 = IN6_IS_ADDR_V4MAPPED(&a);
        o.n = is_v4 ? 4 : 8;
        memcpy(o.key, a.s6_addr + (is_v4 ? 12 : 0), o.n);
    } else {
        o.n = len < sizeof o.key ? len : sizeof o.key;
        memcpy(o.key, text, o.n);
    }
    return o;
}
