/* SPDX-License-Identifier: Apache-2.0 */
/* park.c - long polls wait outside any thread: a list, its lock and one timer thread.
 *
 * Lost wake-ups: each wake raises the number of its bucket (by the last byte of the id); a call remembers the numbers before its
 * handler looked, and is not parked but run again when its bucket has moved since. A hint that never came (a publisher that was just
 * starting, Redis killed or hanging) costs look_us: the timer runs a call again that has waited so long, and as often as the scheduler
 * itself looks while Redis is known to be away. Else leases would run out before the machine they are for has asked for
 * them.
 *
 * A machine that was given leases asks again at once, when nothing can be there yet. What a handler saw is kept by id with the
 * number of its bucket before it looked; while that number stands the next call parks without asking the database
 * (call_is_seen), and what it waits for its own look counts from the look that it rests on. */
#include "api/api_int.h"
#include "core/base/assert.h"
#include "core/base/mono_cond.h"
#include "core/redis/client.h"

#include <stdlib.h>

static const int64_t LOOK_US = 2000000, LOOK_ALONE_US = 250000, SEEN_US = 1000000;

enum { SIGHTS = 1024 };             /* ids that fall together take each other's place */

/* Up to cursor all that there was of id was given; as of the bucket's number and of that time. */
struct sight {
    struct uuid id, cursor;
    uint64_t seq;
    int64_t mono_us;
};

struct park {
    struct pipeline *pipeline;
    pthread_mutex_t lock;       /* guards seq, list, sights, stopping */
    pthread_cond_t changed;
    uint64_t seq[WAKE_BUCKETS];
    struct flight *list;
    struct sight sights[SIGHTS];
    bool stopping;
    _Atomic int64_t look_us, look_alone_us, seen_us;
    pthread_t timer;
};

static int bucket(struct uuid id)
{
    return id.b[15] % WAKE_BUCKETS;
}

/* Cut what is to run off the list: all, those that wait for id, or (both absent) those whose time has come by now_us, of which
 * *ret_next is the next time. The lock is held. */
static struct flight *take(struct park *k, bool all, const struct uuid *id, int64_t now_us, int64_t look_us, int64_t *ret_next)
{
    struct flight *out = NULL, **at = &k->list;
    while (*at) {
        struct flight *f = *at;
        int64_t end = f->call.work.deadline_mono_us, look = f->parked_mono_us + look_us, time = end < look ? end : look;
        bool due = all || (id ? uuid_eq(f->wake_id, *id) : time <= now_us);
        if (!due) {
            if (ret_next && (!*ret_next || time < *ret_next))
                *ret_next = time;
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

static bool is_alone(const struct park *k)
{
    struct redis_client *hints = k->pipeline->app->redis;
    return !hints || !redis_is_up(hints);
}

static void *timer_main(void *arg)
{
    struct park *k = arg;
    pthread_setname_np(pthread_self(), "park");
    pthread_mutex_lock(&k->lock);
    while (!k->stopping) {
        int64_t next = 0, now = clock_mono_us(&clock_system);
        struct flight *due = take(k, false, NULL, now, is_alone(k) ? k->look_alone_us : k->look_us, &next);
        if (due) {
            pthread_mutex_unlock(&k->lock);
            submit_all(due);
            pthread_mutex_lock(&k->lock);
            continue;
        }
        int64_t most = now + (next ? k->look_alone_us : k->look_us), until = next && next < most ? next : most;      /* Redis may go away meanwhile */
        mono_cond_wait(&k->changed, &k->lock, until);
    }
    pthread_mutex_unlock(&k->lock);
    return NULL;
}

struct park *park_new(struct pipeline *p)
{
    struct park *k = calloc(1, sizeof *k);
    ASSERT(k);
    k->pipeline = p;
    k->look_us = LOOK_US;
    k->look_alone_us = LOOK_ALONE_US;
    k->seen_us = SEEN_US;
    pthread_mutex_init(&k->lock, NULL);
    mono_cond_init(&k->changed);
    ASSERT(!pthread_create(&k->timer, NULL, timer_main, k));
    return k;
}

void park_set_look(struct park *k, int64_t look_us, int64_t look_alone_us, int64_t seen_us)
{
    k->seen_us = seen_us;
    k->look_us = look_us;
    k->look_alone_us = look_alone_us;
}

void park_note(struct park *k, struct flight *f)
{
    pthread_mutex_lock(&k->lock);
    memcpy(f->wake_seq, k->seq, sizeof k->seq);
    pthread_mutex_unlock(&k->lock);
    f->seen_mono_us = 0;
    f->looked_mono_us = clock_mono_us(&clock_system);
}

static struct sight *sight_of(struct park *k, struct uuid id)
{
    uint32_t seed;
    memcpy(&seed, id.b + 12, sizeof seed);
    return &k->sights[seed % SIGHTS];
}

void park_see(struct park *k, const struct flight *f, struct uuid wake_id, struct uuid cursor)
{
    pthread_mutex_lock(&k->lock);
    *sight_of(k, wake_id) = (struct sight){ wake_id, cursor, f->wake_seq[bucket(wake_id)], f->looked_mono_us };
    pthread_mutex_unlock(&k->lock);
}

bool park_is_seen(struct park *k, struct flight *f, struct uuid wake_id, struct uuid cursor)
{
    pthread_mutex_lock(&k->lock);
    const struct sight s = *sight_of(k, wake_id);
    pthread_mutex_unlock(&k->lock);
    if (!s.mono_us || !uuid_eq(s.id, wake_id) || !uuid_eq(s.cursor, cursor) || s.seq != f->wake_seq[bucket(wake_id)]
        || f->looked_mono_us - s.mono_us >= k->seen_us || is_alone(k))
        return false;
    f->seen_mono_us = s.mono_us;
    return true;
}

void park_add(struct park *k, struct flight *f)
{
    int b = bucket(f->wake_id);
    pthread_mutex_lock(&k->lock);
    bool missed = k->seq[b] != f->wake_seq[b];
    if (k->stopping)
        f->call.work.deadline_mono_us = 1;
    if (!missed && !k->stopping) {
        f->parked_mono_us = f->seen_mono_us ? f->seen_mono_us : clock_mono_us(&clock_system);
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
    struct flight *due = take(k, all, &wake_id, 0, 0, NULL);
    pthread_mutex_unlock(&k->lock);
    submit_all(due);
}

void park_stop(struct park *k)
{
    pthread_mutex_lock(&k->lock);
    k->stopping = true;
    for (struct flight *f = k->list; f; f = f->next)
        f->call.work.deadline_mono_us = 1;
    struct flight *due = take(k, true, NULL, 0, 0, NULL);
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
