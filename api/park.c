/* SPDX-License-Identifier: Apache-2.0 */
/* park.c - long polls wait outside any thread: a list, its lock and one timer thread.
 *
 * Lost wake-ups: each wake raises the number of its bucket (by the last byte of the id); a call remembers the numbers before its
 * handler looked, and is not parked but run again when its bucket has moved since. */
#include "api/api_int.h"
#include "core/base/assert.h"

#include <stdlib.h>

struct park {
    struct pipeline *pipeline;
    pthread_mutex_t lock;       /* guards seq, list, stopping */
    pthread_cond_t changed;
    uint64_t seq[WAKE_BUCKETS];
    struct flight *list;
    bool stopping;
    pthread_t timer;
};

static int bucket(struct uuid id)
{
    return id.b[15] % WAKE_BUCKETS;
}

/* Cut off the list what `due` says; the lock is held. */
static struct flight *take(struct park *k, bool all, const struct uuid *id, int64_t now_us, int64_t *ret_next)
{
    struct flight *out = NULL, **at = &k->list;
    while (*at) {
        struct flight *f = *at;
        bool due = all || (id && uuid_eq(f->wake_id, *id)) || (now_us && f->call.work.deadline_mono_us <= now_us);
        if (!due) {
            if (ret_next && (!*ret_next || f->call.work.deadline_mono_us < *ret_next))
                *ret_next = f->call.work.deadline_mono_us;
            at = &f->next;
            continue;
        }
        *at = f->next;
        f->next = out;
        out = f;
    }
    return out;
}

static void submit_all(struct flight *list)
{
    while (list) {
        struct flight *f = list;
        list = f->next;
        f->next = NULL;
        f->is_parked = false;
        flight_submit(f);
    }
}

static void *timer_main(void *arg)
{
    struct park *k = arg;
    pthread_setname_np(pthread_self(), "park");
    pthread_mutex_lock(&k->lock);
    while (!k->stopping) {
        int64_t next = 0, now = clock_mono_us(&clock_system);
        struct flight *due = take(k, false, NULL, now, &next);
        if (due) {
            pthread_mutex_unlock(&k->lock);
            submit_all(due);
            pthread_mutex_lock(&k->lock);
            continue;
        }
        int64_t until = next ? next : now + 1000000;
        struct timespec t = { until / 1000000, until % 1000000 * 1000 };
        pthread_cond_timedwait(&k->changed, &k->lock, &t);
    }
    pthread_mutex_unlock(&k->lock);
    return NULL;
}

struct park *park_new(struct pipeline *p)
{
    struct park *k = calloc(1, sizeof *k);
    ASSERT(k);
    k->pipeline = p;
    pthread_mutex_init(&k->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&k->changed, &attr);
    pthread_condattr_destroy(&attr);
    ASSERT(!pthread_create(&k->timer, NULL, timer_main, k));
    return k;
}

void park_note(struct park *k, struct flight *f)
{
    pthread_mutex_lock(&k->lock);
    memcpy(f->wake_seq, k->seq, sizeof k->seq);
    pthread_mutex_unlock(&k->lock);
}

void park_add(struct park *k, struct flight *f)
{
    int b = bucket(f->wake_id);
    pthread_mutex_lock(&k->lock);
    bool missed = k->seq[b] != f->wake_seq[b];
    if (k->stopping)
        f->call.work.deadline_mono_us = 1;
    if (!missed && !k->stopping) {
        f->next = k->list;
        k->list = f;
        pthread_cond_signal(&k->changed);
    }
    bool again = missed || k->stopping;
    pthread_mutex_unlock(&k->lock);
    if (again) {
        f->is_parked = false;
        flight_submit(f);
    }
}

void park_wake(struct park *k, struct uuid wake_id)
{
    bool all = uuid_is_nil(wake_id);
    pthread_mutex_lock(&k->lock);
    for (int i = 0; i < WAKE_BUCKETS; i++)
        if (all || i == bucket(wake_id))
            k->seq[i]++;
    struct flight *due = take(k, all, &wake_id, 0, NULL);
    pthread_mutex_unlock(&k->lock);
    submit_all(due);
}

void park_stop(struct park *k)
{
    pthread_mutex_lock(&k->lock);
    k->stopping = true;
    for (struct flight *f = k->list; f; f = f->next)
        f->call.work.deadline_mono_us = 1;
    struct flight *due = take(k, true, NULL, 0, NULL);
    pthread_cond_signal(&k->changed);
    pthread_mutex_unlock(&k->lock);
    pthread_join(k->timer, NULL);
    submit_all(due);
}

void park_free(struct park *k)
{
    if (!k)
        return;
    pthread_mutex_destroy(&k->lock);
    pthread_cond_destroy(&k->changed);
    free(k);
}
