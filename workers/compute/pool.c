/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c - a list of calls under way behind one lock; a task is claimed by an atomic counter of its call.
 *
 * A call lives on its caller's stack: it leaves the list when its last task is claimed, and its caller returns only when no
 * helper is in it. A helper takes work only while fewer threads are at work than the pool has, which is what keeps many
 * callers from being helped to death. */
#include "workers/compute/pool.h"
#include "core/base/assert.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum { THREADS_MAX = 256, STACK_BYTES = 512 << 10 };

struct call {
    void (*fn)(void *ctx, size_t task);
    void *ctx;
    size_t tasks;
    _Atomic size_t next;
    int helpers;                        /* lock: inside this call now */
    bool is_listed;                     /* lock */
    struct call *before, *after;        /* lock */
    pthread_cond_t done;
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct call *first;                 /* lock: calls that may have tasks to claim */
    int threads, helper_count;
    int at_work, idle;                  /* lock: callers and helpers inside tasks; helpers asleep */
    bool is_stopping;                   /* lock */
    pthread_t helper[THREADS_MAX];
};

static _Thread_local bool is_inside;    /* this thread runs a task: what it calls stays on it */

static void claim_all(struct call *c)
{
    is_inside = true;
    for (size_t task; (task = atomic_fetch_add_explicit(&c->next, 1, memory_order_relaxed)) < c->tasks;)
        c->fn(c->ctx, task);
    is_inside = false;
}

/* Lock held. */
static void unlist(struct pool *p, struct call *c)
{
    if (!c->is_listed)
        return;
    c->is_listed = false;
    *(c->before ? &c->before->after : &p->first) = c->after;
    if (c->after)
        c->after->before = c->before;
}

static void *helper_main(void *arg)
{
    struct pool *p = arg;
    pthread_setname_np(pthread_self(), "falaj-pool");
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (!p->is_stopping && !(p->first && p->at_work < p->threads)) {
            p->idle++;
            pthread_cond_wait(&p->work, &p->lock);
            p->idle--;
        }
        if (p->is_stopping)
            break;
        struct call *c = p->first;
        c->helpers++;
        p->at_work++;
        pthread_mutex_unlock(&p->lock);
        claim_all(c);
        pthread_mutex_lock(&p->lock);
        p->at_work--;
        unlist(p, c);                   /* all its tasks are claimed */
        if (--c->helpers == 0)
            pthread_cond_signal(&c->done);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Small stacks: they count against the data limit of a lease, and tasks keep little on them. */
static bool start_helpers(struct pool *p)
{
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    while (p->helper_count < p->threads - 1 && !pthread_create(&p->helper[p->helper_count], &attr, helper_main, p))
        p->helper_count++;
    pthread_attr_destroy(&attr);
    return p->helper_count == p->threads - 1;
}

enum errc pool_new(int threads, struct pool **ret, struct err *e)
{
    ASSERT(threads >= 1);
    struct pool *p = calloc(1, sizeof *p);
    ASSERT(p);
    p->threads = threads < THREADS_MAX ? threads : THREADS_MAX;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    if (!start_helpers(p)) {
        enum errc rc = FAIL(e, LIMIT, "thread %d of %d of the compute pool cannot be started", p->helper_count + 2, p->threads);
        pool_free(p);
        return rc;
    }
    *ret = p;
    return ERR_OK;
}

void pool_free(struct pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    ASSERT(!p->first);
    p->is_stopping = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->helper_count; i++)
        pthread_join(p->helper[i], NULL);
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

void pool_freep(struct pool **p)
{
    pool_free(*p);
    *p = NULL;
}

int pool_threads(const struct pool *p)
{
    return p ? p->threads : 1;
}

/* Lock held: wakes as many helpers as there are places and tasks beside the caller's. */
static void wake_helpers(struct pool *p, size_t tasks)
{
    int places = p->threads - p->at_work;
    int n = places < p->idle ? places : p->idle;
    for (int i = 0; i < n && (size_t)i + 1 < tasks; i++)
        pthread_cond_signal(&p->work);
}

void pool_run(struct pool *p, size_t tasks, void (*fn)(void *ctx, size_t task), void *ctx)
{
    if (!p || p->threads == 1 || tasks < 2 || is_inside) {
        for (size_t i = 0; i < tasks; i++)
            fn(ctx, i);
        return;
    }
    struct call c = { .fn = fn, .ctx = ctx, .tasks = tasks, .is_listed = true };
    pthread_cond_init(&c.done, NULL);
    pthread_mutex_lock(&p->lock);
    c.after = p->first;
    if (c.after)
        c.after->before = &c;
    p->first = &c;
    p->at_work++;
    wake_helpers(p, tasks);
    pthread_mutex_unlock(&p->lock);
    claim_all(&c);
    pthread_mutex_lock(&p->lock);
    p->at_work--;
    unlist(p, &c);
    while (c.helpers > 0)
        pthread_cond_wait(&c.done, &p->lock);
    if (p->first && p->idle)
        pthread_cond_signal(&p->work);  /* a place is free */
    pthread_mutex_unlock(&p->lock);
    pthread_cond_destroy(&c.done);
}
