/* SPDX-License-Identifier: Apache-2.0 */
/* keys_watch.c - each zone has a thread, so that one that hangs hides no other. */
#include "api/keys_watch.h"
#include "core/base/assert.h"
#include "core/base/beat.h"
#include "core/base/clock.h"
#include "core/base/mono_cond.h"
#include "keys/client.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { LOOK_US = 1000000, SLOW_US = 1000000 };

struct watched {
    struct keys_watch *of;
    const char *zone;
    struct beat *beat;
    struct keys_seen seen;
    bool is_seen;
    int64_t asked_us;               /* since when an answer is owed; 0: none */
};

struct keys_watch {
    struct keyd_client *keyd;
    pthread_mutex_t lock;           /* guards what was seen */
    pthread_cond_t first;
    size_t n;
    struct watched zones[];
};

static int64_t look(void *ctx, bool is_woken)
{
    struct watched *z = ctx;
    struct keyd_health h;
    struct keys_seen seen = { .state = KEYS_DOWN };
    (void)is_woken;
    pthread_mutex_lock(&z->of->lock);
    z->asked_us = clock_mono_us(&clock_system);
    pthread_mutex_unlock(&z->of->lock);
    if (keyd_health(z->of->keyd, str_c(z->zone), &h, NULL) == ERR_OK) {
        seen.state = h.is_sealed ? KEYS_SEALED : KEYS_OK;
        snprintf(seen.reason, sizeof seen.reason, "%s", h.reason);
    }
    pthread_mutex_lock(&z->of->lock);
    z->asked_us = 0;
    z->seen = seen;
    z->is_seen = true;
    pthread_cond_broadcast(&z->of->first);
    pthread_mutex_unlock(&z->of->lock);
    return LOOK_US;
}

struct keys_watch *keys_watch_new(struct keyd_client *keyd)
{
    const size_t n = keyd_client_zones(keyd);
    struct keys_watch *w = calloc(1, sizeof *w + n * sizeof w->zones[0]);
    ASSERT(w);
    w->keyd = keyd;
    w->n = n;
    pthread_mutex_init(&w->lock, NULL);
    mono_cond_init(&w->first);
    for (size_t i = 0; i < n; i++) {
        w->zones[i].of = w;
        w->zones[i].zone = keyd_client_zone(keyd, i);
        w->zones[i].beat = beat_new("keys-watch", 0, look, &w->zones[i]);
    }
    return w;
}

void keys_watch_free(struct keys_watch *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->n; i++)
        beat_free(w->zones[i].beat);
    pthread_cond_destroy(&w->first);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

struct keys_seen keys_watch_see(struct keys_watch *w, size_t zone)
{
    struct watched *z = &w->zones[zone];
    pthread_mutex_lock(&w->lock);
    const int64_t until_us = clock_mono_us(&clock_system) + SLOW_US;
    bool is_late = false;
    while (!z->is_seen && !is_late)
        is_late = !mono_cond_wait(&w->first, &w->lock, until_us);
    struct keys_seen seen = z->seen;
    if (is_late || (z->asked_us && clock_mono_us(&clock_system) - z->asked_us > SLOW_US))
        seen = (struct keys_seen){ .state = KEYS_DOWN };
    pthread_mutex_unlock(&w->lock);
    return seen;
}
