/* SPDX-License-Identifier: Apache-2.0 */
/* prefetch.c - one slot, one thread. */
#include "workers/compute/train/prefetch.h"

#include <pthread.h>
#include <string.h>

enum { STACK_BYTES = 256 << 10 };

struct prefetch {
    const struct train_data *data;
    const float *taught;
    uint32_t *rows;                     /* of the slot; written while nothing is under way */
    size_t n;                           /* 0: nothing was asked for */
    struct prefetch_batch batch;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_asked, is_stopping;         /* lock: is_asked until it is fetched */
    pthread_t thread;
};

static void fetch(struct prefetch *p)
{
    size_t classes = p->data->shape.outputs;
    p->data->fetch(p->data, p->rows, p->n, p->batch.x, p->batch.target);
    for (size_t i = 0; p->taught && i < p->n; i++)
        memcpy(p->batch.soft + i * classes, p->taught + p->rows[i] * classes, classes * sizeof *p->taught);
}

static void *thread_main(void *arg)
{
    struct prefetch *p = arg;
    pthread_setname_np(pthread_self(), "falaj-prefetch");
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (!p->is_asked && !p->is_stopping)
            pthread_cond_wait(&p->changed, &p->lock);
        if (p->is_stopping)
            break;
        pthread_mutex_unlock(&p->lock);
        fetch(p);
        pthread_mutex_lock(&p->lock);
        p->is_asked = false;
        pthread_cond_signal(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

enum errc prefetch_new(struct arena *a, const struct train_data *d, const float *taught, size_t rows_max,
                       struct prefetch_batch room, struct prefetch **ret, struct err *e)
{
    struct prefetch *p = ARENA_NEW(a, struct prefetch);
    pthread_attr_t attr;
    *p = (struct prefetch){ .data = d, .taught = taught, .rows = arena_try(a, rows_max * sizeof *p->rows) };
    p->batch = room;
    if (!p->rows)
        return FAIL(e, LIMIT, "the batch that is fetched ahead does not fit in the memory of this job");
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    int failed = pthread_create(&p->thread, &attr, thread_main, p);
    pthread_attr_destroy(&attr);
    if (failed) {
        pthread_cond_destroy(&p->changed);
        pthread_mutex_destroy(&p->lock);
        return FAIL(e, LIMIT, "the thread that fetches ahead cannot be started");
    }
    *ret = p;
    return ERR_OK;
}

void prefetch_free(struct prefetch *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->is_stopping = true;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
}

/* Lock held. */
static void await(struct prefetch *p)
{
    while (p->is_asked)
        pthread_cond_wait(&p->changed, &p->lock);
}

void prefetch_ask(struct prefetch *p, const uint32_t *rows, size_t n)
{
    pthread_mutex_lock(&p->lock);
    await(p);
    memcpy(p->rows, rows, n * sizeof *rows);
    p->n = n;
    p->is_asked = n > 0;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

bool prefetch_take(struct prefetch *p, const uint32_t *rows, size_t n, struct prefetch_batch *b)
{
    if (n != p->n || memcmp(rows, p->rows, n * sizeof *rows) != 0)
        return false;
    pthread_mutex_lock(&p->lock);
    await(p);
    pthread_mutex_unlock(&p->lock);
    struct prefetch_batch own = *b;
    *b = p->batch;
    p->batch = own;
    p->n = 0;
    return true;
}
