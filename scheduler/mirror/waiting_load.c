/* SPDX-License-Identifier: Apache-2.0 */
/* waiting_load.c - all that waits, in parts. A thread reads the next one while the present one is put in, so that PostgreSQL and
 * the planner work at the same time.
 *
 * First comes what changed, and since when the next read of changes looks (waiting_read.c). The parts are younger, and all of
 * them are put in before that next read, which brings again what happened meanwhile. */
#include "core/base/cleanup.h"
#include "core/db/run_tx.h"
#include "scheduler/mirror/waiting_int.h"

#include <pthread.h>

enum { ARENA_MAX = 512 << 20 };

struct reading {
    const struct app *app;
    struct arena *arena;
    pthread_t thread;
    bool is_thread;
    int64_t most;
    struct waiting_part part;
    enum errc rc;
    struct err e;
};

static void *read_thread(void *arg)
{
    struct reading *r = arg;
    struct work w = { .app = r->app, .arena = r->arena, .now_us = clock_wall_us(r->app->clock) };
    arena_reset(r->arena);
    r->rc = RUN_SYSTEM(&w, r->app->pool, TX_READ_ONLY, waiting_read_part(&w, &r->part, r->most, &r->e), &r->e);
    return NULL;
}

static void begin(struct reading *r, const struct waiters *m, struct waiting_from from)
{
    r->most = m->part;
    r->part = (struct waiting_part){ .from = from, .seen = m->statement };
    r->is_thread = !pthread_create(&r->thread, NULL, read_thread, r);
    if (!r->is_thread)                  /* the machine has none left: one after the other then */
        (void)read_thread(r);
}

static void finish(struct reading *r)
{
    if (r->is_thread)
        pthread_join(r->thread, NULL);
}

static enum errc load_parts(struct waiters *m, struct reading r[2], waiting_enough enough, void *ctx, struct err *e)
{
    begin(&r[0], m, m->from);
    for (int k = 0;; k ^= 1) {
        const struct waiting_part *p = &r[k].part;
        finish(&r[k]);
        if (r[k].rc != ERR_OK) {
            *e = r[k].e;
            return r[k].rc;
        }
        const bool goes_on = !p->is_last && !enough(ctx);
        if (goes_on)
            begin(&r[!k], m, p->next);
        waiting_put(m, p);
        if (goes_on && m->is_off)
            finish(&r[!k]);
        if (!goes_on || m->is_off)
            return ERR_OK;
    }
}

bool waiting_one_part(void *ctx)
{
    (void)ctx;
    return true;
}

enum errc waiting_load(const struct app *app, waiting_enough enough, void *ctx, bool *ret_more, struct err *e)
{
    struct waiters *m = app->waiting;
    *ret_more = false;
    if (!m || m->is_whole || m->is_off)
        return ERR_OK;
    CLEANUP(arena_freep) struct arena *one = arena_new(ARENA_MAX);
    CLEANUP(arena_freep) struct arena *other = arena_new(ARENA_MAX);
    struct work w = { .app = app, .arena = one, .now_us = clock_wall_us(app->clock) };
    struct reading r[2] = { { .app = app, .arena = other }, { .app = app, .arena = one } };
    TRY(RUN_SYSTEM(&w, app->pool, TX_READ_ONLY, waiting_read_changes(&w, e), e));
    if (m->last)                        /* else so much changed that all is begun anew */
        TRY(load_parts(m, r, enough, ctx, e));
    *ret_more = !m->is_whole && !m->is_off;
    return ERR_OK;
}
