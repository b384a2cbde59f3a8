/* SPDX-License-Identifier: Apache-2.0 */
/* thread.c - one mutex, one condition, a ring of pointers. Threads wake one by one; a burst wakes as many as it has items. */
#include "core/base/thread.h"
#include "core/base/assert.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct thread_pool {
    pthread_mutex_t lock;       /* guards ring, head, count, stopping */
    pthread_cond_t wake;
    void **ring;
    size_t cap, head, count;
    bool stopping;
    thread_task task;
    void *ctx;
    int nthreads;
    char name[16];
    pthread_t threads[];
};

static void *pool_main(void *arg)
{
    struct thread_pool *p = arg;
    pthread_setname_np(pthread_self(), p->name);
    for (;;) {
        pthread_mutex_lock(&p->lock);
        while (p->count == 0 && !p->stopping)
            pthread_cond_wait(&p->wake, &p->lock);
        if (p->count == 0) {
            pthread_mutex_unlock(&p->lock);
            return NULL;
        }
        void *item = p->ring[p->head];
        p->head = (p->head + 1) % p->cap;
        p->count--;
        pthread_mutex_unlock(&p->lock);
        p->task(p->ctx, item);
    }
}

struct thread_pool *thread_pool_new(const char *name, int threads, size_t queue_max, thread_task task, void *ctx)
{
    ASSERT(threads > 0 && queue_max > 0);
    struct thread_pool *p = calloc(1, sizeof *p + (size_t)threads * sizeof *p->threads);
    ASSERT(p);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    p->ring = calloc(queue_max, sizeof *p->ring);
    ASSERT(p->ring);
    p->cap = queue_max;
    p->task = task;
    p->ctx = ctx;
    p->nthreads = threads;
    strncpy(p->name, name, sizeof p->name - 1);
    for (int i = 0; i < threads; i++)
        ASSERT(!pthread_create(&p->threads[i], NULL, pool_main, p));
    return p;
}

bool thread_pool_submit(struct thread_pool *p, void *item)
{
    pthread_mutex_lock(&p->lock);
    bool ok = p->count < p->cap && !p->stopping;
    if (ok) {
        p->ring[(p->head + p->count++) % p->cap] = item;
        pthread_cond_signal(&p->wake);
    }
    pthread_mutex_unlock(&p->lock);
    return ok;
}

size_t thread_pool_waiting(struct thread_pool *p)
{
    pthread_mutex_lock(&p->lock);
    size_t n = p->count;
    pthread_mutex_unlock(&p->lock);
    return n;
}

void thread_pool_free(struct thread_pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->stopping = true;
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->nthreads; i++)
        pthread_join(p->threads[i], NULL);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->wake);
    free(p->ring);
    free(p);
}

int thread_computing_max(int64_t wanted, int64_t processors)
{
    int64_t half = processors > 1 ? processors / 2 : 1;
    return (int)(wanted < half ? wanted : half);
}

int64_t thread_processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : sysconf(_SC_NPROCESSORS_ONLN);
}
