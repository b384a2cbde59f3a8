/* SPDX-License-Identifier: Apache-2.0 */
/* key_keeper.c - an edge: it opens the transactions, logs their errors and tries again a second later. */
#include "scheduler/duty/key_keeper.h"
#include "core/base/assert.h"
#include "core/base/beat.h"
#include "core/base/log.h"
#include "core/db/run_tx.h"
#include "registry/vault/key_rewrap.h"
#include "registry/vault/key_shred.h"

#include <stdlib.h>

enum { ARENA_MAX = 64 << 20, PAUSE_US = 1000000, SHRED_EVERY = 10, LEFT_EVERY = 60, SHRED_MAX = 20 };

struct key_keeper {
    const struct app *app;
    bool (*is_leading)(void *ctx);
    void *ctx;
    struct arena *arena;
    int64_t tick;                       /* rounds that found nothing left to do */
    bool has_more;
    struct beat *beat;
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

static int64_t keep(void *ctx, bool is_woken)
{
    struct key_keeper *k = ctx;
    bool is_fresh = !k->has_more;
    (void)is_woken;
    k->has_more = k->is_leading(k->ctx) &&
                  key_keeper_round(k->app, k->arena, is_fresh && k->tick % SHRED_EVERY == 0, is_fresh && k->tick % LEFT_EVERY == 0);
    k->tick += !k->has_more;
    return k->has_more ? 0 : PAUSE_US;
}

struct key_keeper *key_keeper_new(const struct app *app, bool (*is_leading)(void *ctx), void *ctx)
{
    struct key_keeper *k = calloc(1, sizeof *k);
    ASSERT(k);
    k->app = app;
    k->is_leading = is_leading;
    k->ctx = ctx;
    k->arena = arena_new(ARENA_MAX);
    k->beat = beat_new("key-keeper", PAUSE_US, keep, k);
    return k;
}

void key_keeper_free(struct key_keeper *k)
{
    if (!k)
        return;
    beat_free(k->beat);
    arena_free(k->arena);
    free(k);
}
