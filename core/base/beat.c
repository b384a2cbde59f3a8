/* SPDX-License-Identifier: Apache-2.0 */
/* beat.c - one thread, one condition, two flags. */
#include "core/base/beat.h"
#include "core/base/assert.h"
#include "core/base/clock.h"
#include "core/base/mono_cond.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_LEN = 15 };             /* pthread_setname_np(3) */

struct beat {
    char name[NAME_MAX_LEN + 1];
    int64_t first_us;
    beat_turn turn;
    void *ctx;
    pthread_t thread;
    pthread_mutex_t lock;               /* guards is_stopping, is_woken */
    pthread_cond_t changed;
    bool is_stopping, is_woken;
};

/* False: the end. */
static bool rest(struct beat *b, int64_t rest_us, bool *ret_woken)
{
    int64_t until = clock_mono_us(&clock_system) + rest_us;
    pthread_mutex_lock(&b->lock);
    while (!b->is_stopping && !b->is_woken && rest_us > 0 && mono_cond_wait(&b->changed, &b->lock, until))
        ;
    bool go_on = !b->is_stopping;
    *ret_woken = b->is_woken;
    b->is_woken = false;
    pthread_mutex_unlock(&b->lock);
    return go_on;
}

static void *beat_main(void *arg)
{
    struct beat *b = arg;
    bool is_woken;
    pthread_setname_np(pthread_self(), b->name);
    for (int64_t rest_us = b->first_us; rest(b, rest_us, &is_woken);)
        rest_us = b->turn(b->ctx, is_woken);
    return NULL;
}

struct beat *beat_new(const char *name, int64_t first_us, beat_turn turn, void *ctx)
{
    struct beat *b = calloc(1, sizeof *b);
    ASSERT(b && strlen(name) <= NAME_MAX_LEN);
    memcpy(b->name, name, strlen(name));
    b->first_us = first_us;
    b->turn = turn;
    b->ctx = ctx;
    pthread_mutex_init(&b->lock, NULL);
    mono_cond_init(&b->changed);
    ASSERT(!pthread_create(&b->thread, NULL, beat_main, b));
    return b;
}

void beat_wake(struct beat *b)
{
    pthread_mutex_lock(&b->lock);
    b->is_woken = true;
    pthread_cond_signal(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

void beat_free(struct beat *b)
{
    if (!b)
        return;
    pthread_mutex_lock(&b->lock);
    b->is_stopping = true;
    pthread_cond_signal(&b->changed);
    pthread_mutex_unlock(&b->lock);
    pthread_join(b->thread, NULL);
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->lock);
    free(b);
}
