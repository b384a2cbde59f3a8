/* SPDX-License-Identifier: Apache-2.0 */
/* fair_pool.c - one lock; a table of owners, each with its queue; a ring of those that have work and may start one more task.
 *
 * The ring moves on after each task that is started, so that an owner with credit left does not take all threads at once. When
 * all in it are in debt, the rounds that bring the first of them out of it are paid at once instead of one by one. */
#include "core/base/fair_pool.h"
#include "core/base/assert.h"
#include "core/base/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { BUCKETS = 1024, OWNERS_MAX = 4096 /* remembered; those with work are never forgotten */, QUANTUM_US = 10000 };

struct entry {
    struct entry *next;
    void *item;
};

struct owner {
    struct uuid id;
    struct owner *next_in_bucket, *ring_next, *ring_prev;   /* ring_next NULL: not in the ring */
    struct entry *head, **tail;
    size_t waiting;
    int running;
    int64_t credit_us, idle_at_us;
};

struct fair_pool {
    struct fair_pool_opts o;
    pthread_mutex_t lock;               /* guards all below */
    pthread_cond_t wake;
    struct owner *buckets[BUCKETS], *ring;
    size_t owners, waiting, running;
    int64_t busy_us;
    bool stopping;
    char name[16];
    pthread_t threads[];
};

static struct owner **bucket_of(struct fair_pool *p, struct uuid id)
{
    uint64_t h = 1469598103934665603u;
    for (size_t i = 0; i < sizeof id.b; i++)
        h = (h ^ id.b[i]) * 1099511628211u;
    return &p->buckets[(h >> 20) % BUCKETS];
}

static bool is_away(const struct owner *o)
{
    return !o->waiting && !o->running;
}

/* What time has forgiven. */
static int64_t credit_at(const struct owner *o, int64_t now_us)
{
    int64_t credit = o->credit_us + (now_us - o->idle_at_us);
    return credit < QUANTUM_US ? credit : QUANTUM_US;
}

static void forget_some(struct fair_pool *p, int64_t now_us, bool debtors_too)
{
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct owner **at = &p->buckets[i]; *at;) {
            struct owner *o = *at;
            if (!is_away(o) || (!debtors_too && credit_at(o, now_us) <= 0)) {
                at = &o->next_in_bucket;
                continue;
            }
            *at = o->next_in_bucket;
            free(o);
            p->owners--;
        }
}

static struct owner *owner_of(struct fair_pool *p, struct uuid id)
{
    int64_t now = clock_mono_us(&clock_system);
    for (struct owner *o = *bucket_of(p, id); o; o = o->next_in_bucket)
        if (uuid_eq(o->id, id)) {
            if (is_away(o))
                o->credit_us = credit_at(o, now);
            return o;
        }
    if (p->owners >= OWNERS_MAX)
        forget_some(p, now, false);
    if (p->owners >= OWNERS_MAX)
        forget_some(p, now, true);
    struct owner *o = calloc(1, sizeof *o), **bucket = bucket_of(p, id);
    ASSERT(o);
    *o = (struct owner){ .id = id, .next_in_bucket = *bucket, .credit_us = QUANTUM_US };
    o->tail = &o->head;
    *bucket = o;
    p->owners++;
    return o;
}

/* --- the ring --- */

static void ring_leave(struct fair_pool *p, struct owner *o)
{
    if (p->ring == o)
        p->ring = o->ring_next == o ? NULL : o->ring_next;
    o->ring_prev->ring_next = o->ring_next;
    o->ring_next->ring_prev = o->ring_prev;
    o->ring_next = o->ring_prev = NULL;
}

/* Behind all others: before the one whose turn is next. */
static void ring_join(struct fair_pool *p, struct owner *o)
{
    if (!p->ring) {
        p->ring = o->ring_next = o->ring_prev = o;
        return;
    }
    o->ring_next = p->ring;
    o->ring_prev = p->ring->ring_prev;
    o->ring_prev->ring_next = o->ring_next->ring_prev = o;
}

/* In the ring is who has work and may start it. */
static void ring_update(struct fair_pool *p, struct owner *o)
{
    bool may = o->waiting && o->running < p->o.owner_running;
    if (may && !o->ring_next)
        ring_join(p, o);
    else if (!may && o->ring_next)
        ring_leave(p, o);
}

static void pay_rounds(struct fair_pool *p)
{
    int64_t most = p->ring->credit_us;
    for (struct owner *o = p->ring->ring_next; o != p->ring; o = o->ring_next)
        most = o->credit_us > most ? o->credit_us : most;
    int64_t pay = (-most / QUANTUM_US + 1) * QUANTUM_US;
    struct owner *o = p->ring;
    do {
        o->credit_us += pay;
        o = o->ring_next;
    } while (o != p->ring);
}

/* Whose turn it is, or NULL. */
static struct owner *choose(struct fair_pool *p)
{
    if (!p->ring)
        return NULL;
    struct owner *first = p->ring;
    while (p->ring->credit_us <= 0) {
        p->ring = p->ring->ring_next;
        if (p->ring == first)
            pay_rounds(p);
    }
    struct owner *o = p->ring;
    p->ring = o->ring_next;
    return o;
}

static void *take(struct fair_pool *p, struct owner *o)
{
    struct entry *en = o->head;
    void *item = en->item;
    o->head = en->next;
    if (!o->head)
        o->tail = &o->head;
    free(en);
    o->waiting--;
    o->running++;
    p->waiting--;
    p->running++;
    ring_update(p, o);
    return item;
}

static void settle(struct fair_pool *p, struct owner *o, int64_t cost_us, int64_t now_us)
{
    o->credit_us -= cost_us;
    o->running--;
    p->running--;
    p->busy_us += cost_us;
    if (is_away(o))
        o->idle_at_us = now_us;
    ring_update(p, o);
}

/* Of this thread alone, as Linux has it. What it holds meanwhile are locks of microseconds; who waits for one sleeps, and so
 * leaves its processor to the holder. */
static void stand_back(int nice_by)
{
    if (nice_by > 0)
        (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + nice_by);     /* else it runs as the others do */
}

static void *pool_main(void *arg)
{
    struct fair_pool *p = arg;
    pthread_setname_np(pthread_self(), p->name);
    stand_back(p->o.nice);
    pthread_mutex_lock(&p->lock);
    for (;;) {
        struct owner *o = choose(p);
        if (!o && p->stopping && !p->waiting)
            break;
        if (!o) {
            pthread_cond_wait(&p->wake, &p->lock);
            continue;
        }
        void *item = take(p, o);
        struct uuid id = o->id;
        pthread_mutex_unlock(&p->lock);
        int64_t began = clock_mono_us(&clock_system);
        p->o.task(p->o.ctx, item);
        int64_t now = clock_mono_us(&clock_system);
        if (p->o.cost)
            p->o.cost(p->o.ctx, id, now - began);
        pthread_mutex_lock(&p->lock);
        settle(p, o, now - began, now);
        if (p->stopping)
            pthread_cond_broadcast(&p->wake);   /* who waits for the end of the queue, or for this owner's turn */
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* --- life --- */

struct fair_pool *fair_pool_new(const struct fair_pool_opts *o)
{
    ASSERT(o->threads > 0 && o->queue_max > 0 && o->task);
    struct fair_pool *p = calloc(1, sizeof *p + (size_t)o->threads * sizeof *p->threads);
    ASSERT(p);
    p->o = *o;
    if (p->o.owner_running <= 0 || p->o.owner_running > o->threads)
        p->o.owner_running = o->threads;
    if (!p->o.owner_queue_max)
        p->o.owner_queue_max = o->queue_max;
    strncpy(p->name, o->name, sizeof p->name - 1);
    p->o.name = p->name;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    for (int i = 0; i < o->threads; i++)
        ASSERT(!pthread_create(&p->threads[i], NULL, pool_main, p));
    return p;
}

bool fair_pool_submit(struct fair_pool *p, struct uuid owner, void *item)
{
    struct entry *en = calloc(1, sizeof *en);
    ASSERT(en);
    en->item = item;
    pthread_mutex_lock(&p->lock);
    bool is_room = !p->stopping && p->waiting < p->o.queue_max;
    struct owner *o = is_room ? owner_of(p, owner) : NULL;
    bool ok = o && o->waiting < p->o.owner_queue_max;
    if (ok) {
        *o->tail = en;
        o->tail = &en->next;
        o->waiting++;
        p->waiting++;
        ring_update(p, o);
        pthread_cond_signal(&p->wake);
    }
    pthread_mutex_unlock(&p->lock);
    if (!ok)
        free(en);
    return ok;
}

void fair_pool_stats(struct fair_pool *p, struct fair_pool_stats *ret)
{
    pthread_mutex_lock(&p->lock);
    *ret = (struct fair_pool_stats){ p->waiting, p->running, p->busy_us };
    pthread_mutex_unlock(&p->lock);
}

void fair_pool_free(struct fair_pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->stopping = true;
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->o.threads; i++)
        pthread_join(p->threads[i], NULL);
    forget_some(p, 0, true);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->wake);
    free(p);
}
