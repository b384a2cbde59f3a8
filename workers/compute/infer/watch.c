/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c - a place for each session that runs. A session is stopped under the lock that its end takes, so it is alive then. */
#include "workers/compute/infer/watch.h"
#include "core/base/assert.h"

#include <pthread.h>
#include <stdlib.h>

struct running {
    struct infer_session *session;      /* NULL: the place is free */
    int64_t until_us;
};

struct infer_watch {
    pthread_mutex_t lock;               /* guards what runs */
    int count;
    struct running *running;
};

struct infer_watch *watch_new(int sessions)
{
    struct infer_watch *w = calloc(1, sizeof *w);
    ASSERT(w && sessions >= 1);
    w->count = sessions;
    w->running = calloc((size_t)sessions, sizeof *w->running);
    ASSERT(w->running);
    pthread_mutex_init(&w->lock, NULL);
    return w;
}

void watch_free(struct infer_watch *w)
{
    if (!w)
        return;
    pthread_mutex_destroy(&w->lock);
    free(w->running);
    free(w);
}

/* The place of a session, NULL: a free one. Lock held. */
static struct running *place_of(struct infer_watch *w, const struct infer_session *s)
{
    for (int i = 0; i < w->count; i++)
        if (w->running[i].session == s)
            return &w->running[i];
    ASSERT(!"more sessions run than were said");
    return NULL;
}

void watch_begin(struct infer_watch *w, struct infer_session *s, int64_t until_us)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    *place_of(w, NULL) = (struct running){ s, until_us };
    pthread_mutex_unlock(&w->lock);
}

void watch_end(struct infer_watch *w, struct infer_session *s)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    place_of(w, s)->session = NULL;
    pthread_mutex_unlock(&w->lock);
}

void watch_stop_late(struct infer_watch *w, int64_t now_us)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    for (int i = 0; i < w->count; i++)
        if (w->running[i].session && now_us > w->running[i].until_us)
            infer_stop(w->running[i].session);
    pthread_mutex_unlock(&w->lock);
}
