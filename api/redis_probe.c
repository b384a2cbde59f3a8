/* SPDX-License-Identifier: Apache-2.0 */
/* redis_probe.c - the answer may arrive after the caller stopped waiting, so whoever is last frees the probe. */
#include "api/redis_probe.h"
#include "core/base/assert.h"
#include "core/base/clock.h"
#include "core/redis/client.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct probe {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int holders;
    bool is_done, is_ok;
    int64_t until_us;
};

static void leave(struct probe *p)
{
    bool is_last = --p->holders == 0;
    pthread_mutex_unlock(&p->lock);
    if (!is_last)
        return;
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static void answered(void *ctx, bool ok, int64_t value)
{
    struct probe *p = ctx;
    (void)value;
    pthread_mutex_lock(&p->lock);
    p->is_done = true;
    p->is_ok = ok;
    p->until_us = clock_mono_us(&clock_system);
    pthread_cond_signal(&p->changed);
    leave(p);
}

static struct probe *probe_new(void)
{
    struct probe *p = calloc(1, sizeof *p);
    pthread_condattr_t attr;
    ASSERT(p);
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&p->changed, &attr);
    pthread_condattr_destroy(&attr);
    p->holders = 2;
    return p;
}

bool redis_probe(struct redis_client *c, int wait_ms, int64_t *ret_us)
{
    struct probe *p = probe_new();
    int64_t began = clock_mono_us(&clock_system), end = began + wait_ms * INT64_C(1000);
    struct timespec t = { end / 1000000, end % 1000000 * 1000 };
    int rc = 0;
    bool is_sent = redis_send(c, (const struct str[]){ STR("PING") }, 1, REDIS_STATUS, answered, p);
    pthread_mutex_lock(&p->lock);
    if (!is_sent)
        p->holders--;
    while (is_sent && !p->is_done && rc == 0)
        rc = pthread_cond_timedwait(&p->changed, &p->lock, &t);
    bool is_ok = p->is_done && p->is_ok;
    *ret_us = is_ok ? p->until_us - began : 0;
    leave(p);
    return is_ok;
}
