/* SPDX-License-Identifier: Apache-2.0 */
/* engines.c - threads of engines. A row that an operator changed is another engine to its thread from the next turn on. */
#include "scheduler/duty/engines.h"
#include "core/base/assert.h"
#include "core/base/beat.h"
#include "core/base/log.h"
#include "core/db/run_tx.h"
#include "scheduler/duty/engine_turn.h"
#include "scheduler/engines/run.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { LIST_ARENA = 8 << 20, LOOK_US = 1000000, PURGE_US = 600000000 };
/* A list's text, and at most as much again that is kept of it (ENGINE_SEEN_MAX objects of ours). */
static const size_t TURN_ARENA = (size_t)3 * ENGINE_LIST_MAX;

struct place {
    struct engine_keeper *of;
    struct uuid engine_id;                                  /* nil: free */
    struct arena *arena;
    struct engine_memory memory;
    _Atomic bool is_over;
    struct beat *beat;
};

struct engine_keeper {
    const struct app *app;
    bool (*is_leading)(void *ctx);
    void *ctx;
    struct arena *arena;
    _Atomic bool is_over;
    int64_t purge_us;
    struct place places[ENGINES_MAX];                       /* the listing thread's */
    struct beat *beat;
};

static bool is_unwanted(void *ctx)
{
    const struct place *p = ctx;
    return p->is_over || p->of->is_over || !p->of->is_leading(p->of->ctx);
}

static enum errc find(struct work *w, struct uuid id, const struct engine **ret, struct err *e)
{
    struct slice rows = { 0 };
    TRY(engine_run_engines(w, &rows, e));
    const struct engine *g = rows.items;
    for (size_t i = 0; i < rows.n; i++)
        if (uuid_eq(g[i].engine_id, id))
            *ret = &g[i];
    return ERR_OK;
}

static int64_t turn(void *ctx, bool is_woken)
{
    struct place *p = ctx;
    const struct app *app = p->of->app;
    struct err e = { 0 };
    const struct engine *g = NULL;
    (void)is_woken;
    if (is_unwanted(p))
        return LOOK_US;
    arena_reset(p->arena);
    struct work w = { .app = app, .arena = p->arena, .now_us = clock_wall_us(app->clock) };
    if (RUN_SYSTEM(&w, app->pool, 0, find(&w, p->engine_id, &g, &e), &e) != ERR_OK)
        log_err(LOG_WARN, "engine.read", &e);
    if (g)
        engine_turn(app, p->arena, g, &p->memory, is_unwanted, p);
    return ENGINE_REST_US;
}

static void place_begin(struct engine_keeper *k, struct place *p, struct uuid id)
{
    *p = (struct place){ .of = k, .engine_id = id, .arena = arena_new(TURN_ARENA) };
    p->beat = beat_new("engine", 0, turn, p);
}

static void place_end(struct place *p)
{
    p->is_over = true;
    beat_free(p->beat);
    arena_free(p->arena);
    p->beat = NULL;
    p->arena = NULL;
    p->engine_id = UUID_NIL;
}

static struct place *place_of(struct engine_keeper *k, struct uuid id)
{
    for (size_t i = 0; i < ENGINES_MAX; i++)
        if (uuid_eq(k->places[i].engine_id, id))
            return &k->places[i];
    return NULL;
}

static bool is_listed(const struct slice *rows, struct uuid id)
{
    const struct engine *g = rows->items;
    for (size_t i = 0; i < rows->n; i++)
        if (uuid_eq(g[i].engine_id, id))
            return true;
    return false;
}

static int64_t look(void *ctx, bool is_woken)
{
    struct engine_keeper *k = ctx;
    struct err e = { 0 };
    struct slice rows = { 0 };
    (void)is_woken;
    if (!k->is_leading(k->ctx))
        return LOOK_US;
    arena_reset(k->arena);
    struct work w = { .app = k->app, .arena = k->arena, .now_us = clock_wall_us(k->app->clock) };
    if (RUN_SYSTEM(&w, k->app->pool, 0, engine_run_engines(&w, &rows, &e), &e) != ERR_OK) {
        log_err(LOG_WARN, "engine.list", &e);
        return LOOK_US;
    }
    for (size_t i = 0; i < ENGINES_MAX; i++)
        if (!uuid_is_nil(k->places[i].engine_id) && !is_listed(&rows, k->places[i].engine_id))
            place_end(&k->places[i]);
    const struct engine *g = rows.items;
    for (size_t i = 0; i < rows.n; i++)
        if (!place_of(k, g[i].engine_id) && place_of(k, UUID_NIL))
            place_begin(k, place_of(k, UUID_NIL), g[i].engine_id);
    if (rows.n && w.now_us >= k->purge_us) {
        k->purge_us = w.now_us + PURGE_US;
        if (RUN_SYSTEM(&w, k->app->pool, 0, engine_run_purge(&w, &e), &e) != ERR_OK)
            log_err(LOG_WARN, "engine.purge", &e);
    }
    return LOOK_US;
}

struct engine_keeper *engine_keeper_new(const struct app *app, bool (*is_leading)(void *ctx), void *ctx)
{
    struct engine_keeper *k = calloc(1, sizeof *k);
    ASSERT(k);
    k->app = app;
    k->is_leading = is_leading;
    k->ctx = ctx;
    k->arena = arena_new(LIST_ARENA);
    k->beat = beat_new("engines", LOOK_US, look, k);
    return k;
}

void engine_keeper_free(struct engine_keeper *k)
{
    if (!k)
        return;
    k->is_over = true;
    beat_free(k->beat);
    for (size_t i = 0; i < ENGINES_MAX; i++)
        if (!uuid_is_nil(k->places[i].engine_id))
            place_end(&k->places[i]);
    arena_free(k->arena);
    free(k);
}
