/* SPDX-License-Identifier: Apache-2.0 */
/* key_keeper.c - an edge: it opens the transactions, logs their errors and tries again a second later. */
#include "scheduler/duty/key_keeper.h"
#include "core/base/assert.h"
#include "core/base/log.h"
#include "core/base/mono_cond.h"
#include "core/db/run_tx.h"
#include "registry/vault/key_rewrap.h"
#include "registry/vault/key_shred.h"

#include <pthread.h>
#include <stdlib.h>

enum { ARENA_MAX = 64 << 20, PAUSE_US = 1000000, SHRED_EVERY = 10, LEFT_EVERY = 60, SHRED_MAX = 20 };

struct key_keeper {
    const struct app *app;
    bool (*is_leading)(void *ctx);
    void *ctx;
    struct arena *arena;
    pthread_t thread;
    pthread_mutex_t lock;               /* guards is_stopping */
    pthread_cond_t changed;
    bool is_stopping;
};

typedef enum errc (*step)(struct work *w, int64_t *ret, struct err *e);

static enum errc rewrap_step(struct work *w, int64_t *ret, struct err *e)
{
    bool any;
    int64_t moved;
    TRY(rewrap_next(w, &any, &moved, e));
    *ret = any;
    return ERR_OK;
}

static enum errc shred_step(struct work *w, int64_t *ret, struct err *e)
{
    return key_shred_due(w, SHRED_MAX, ret, e);
}

static int64_t run(const struct app *app, struct arena *a, step fn, const char *event)
{
    struct err e = { 0 };
    int64_t n = 0;
    arena_reset(a);
    struct work w = { .app = app, .arena = a, .now_us = clock_wall_us(app->clock) };
    enum errc rc = RUN_SYSTEM(&w, app->pool, 0, fn(&w, &n, &e), &e);
    if (rc == ERR_OK)
        return n;
    log_err(rc == ERR_RETRY ? LOG_INFO : LOG_ERROR, event, &e);
    return 0;
}

bool key_keeper_round(const struct app *app, struct arena *a, bool with_shred, bool with_left)
{
    if (with_shred) {
        int64_t n = run(app, a, shred_step, "key_keeper.shred");
        if (n)
            log_event(LOG_INFO, "key_keeper.destroyed", "keys", LOG_I(n), NULL);
    }
    if (with_left)
        run(app, a, rewrap_find_left, "key_keeper.left");
    return run(app, a, rewrap_step, "key_keeper.rewrap") > 0;
}

static bool pause_until(struct key_keeper *k, int64_t wait_us)
{
    int64_t until = clock_mono_us(&clock_system) + wait_us;
    pthread_mutex_lock(&k->lock);
    while (!k->is_stopping && wait_us && mono_cond_wait(&k->changed, &k->lock, until))
        ;
    bool go_on = !k->is_stopping;
    pthread_mutex_unlock(&k->lock);
    return go_on;
}

static void *keeper_main(void *arg)
{
    struct key_keeper *k = arg;
    bool more = false;
    pthread_setname_np(pthread_self(), "key-keeper");
    for (int64_t tick = 0; pause_until(k, more ? 0 : PAUSE_US); tick += !more)
        more = k->is_leading(k->ctx) && key_keeper_round(k->app, k->arena, !more && tick % SHRED_EVERY == 0, !more && tick % LEFT_EVERY == 0);
    return NULL;
}

struct key_keeper *key_keeper_new(const struct app *app, bool (*is_leading)(void *ctx), void *ctx)
{
    struct key_keeper *k = calloc(1, sizeof *k);
    ASSERT(k);
    k->app = app;
    k->is_leading = is_leading;
    k->ctx = ctx;
    k->arena = arena_new(ARENA_MAX);
    pthread_mutex_init(&k->lock, NULL);
    mono_cond_init(&k->changed);
    ASSERT(!pthread_create(&k->thread, NULL, keeper_main, k));
    return k;
}

void key_keeper_free(struct key_keeper *k)
{
    if (!k)
        return;
    pthread_mutex_lock(&k->lock);
    k->is_stopping = true;
    pthread_cond_signal(&k->changed);
    pthread_mutex_unlock(&k->lock);
    pthread_join(k->thread, NULL);
    pthread_cond_destroy(&k->changed);
    pthread_mutex_destroy(&k->lock);
    arena_free(k->arena);
    free(k);
}
