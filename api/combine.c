/* SPDX-License-Identifier: Apache-2.0 */
/* combine.c - one thread per combined row takes all that waits as one transaction: nobody waits for a timer, a batch is what came
 * in during the last commit. Each call keeps its own verdict. When more waits than a batch takes, tenants take turns
 * (fair_pick.h), so
 * that nobody's call waits for more than the batch that is under way and its own, however much another tenant sends.
 *
 * Two calls with the same Idempotency-Key of one user are never in the same batch: the later one waits for the next, where it
 * finds the first one's answer. */
#include "api/api_int.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/fair_pick.h"

#include <stdlib.h>

enum { BATCH_MAX = 256, BATCH_ARENA = 64 << 20 };

struct combiner {
    struct pipeline *pipeline;
    const struct route_match *match;
    pthread_mutex_t lock;           /* guards head, tail, waiting, stopping */
    pthread_cond_t wake;
    struct flight *head, **tail;
    size_t waiting;
    bool stopping;
    pthread_t thread;
};

static bool same_key(const struct call *a, const struct call *b)
{
    return a->idempotency_key.len && str_eq(a->idempotency_key, b->idempotency_key) &&
           uuid_eq(a->principal->user_id, b->principal->user_id) && uuid_eq(a->principal->tenant_id, b->principal->tenant_id);
}

/* Which of the queue have their turn; NULL: all. The lock is held. */
static bool *turns(const struct combiner *c, struct arena *a)
{
    if (c->waiting <= BATCH_MAX)
        return NULL;
    struct uuid *owners = ARENA_ARRAY(a, struct uuid, c->waiting);
    bool *picked = ARENA_ARRAY(a, bool, c->waiting);
    size_t n = 0;
    for (const struct flight *f = c->head; f; f = f->next)
        owners[n++] = f->call.principal->tenant_id;
    fair_pick(owners, n, BATCH_MAX, picked);
    return picked;
}

/* Takes a batch off the queue; the lock is held. */
static size_t take_batch(struct combiner *c, struct arena *a, struct call *batch[BATCH_MAX])
{
    uint64_t seen[BATCH_MAX];
    const bool *has_turn = turns(c, a);
    size_t n = 0, place = 0;
    struct flight **at = &c->head;
    while (*at && n < BATCH_MAX) {
        struct flight *f = *at;
        if (has_turn && !has_turn[place++]) {
            at = &f->next;
            continue;
        }
        uint64_t h = str_hash(f->call.idempotency_key);
        bool held_back = false;
        for (size_t i = 0; i < n && !held_back; i++)
            held_back = seen[i] == h && same_key(batch[i], &f->call);
        if (held_back) {
            at = &f->next;
            continue;
        }
        seen[n] = h;
        batch[n++] = &f->call;
        *at = f->next;
    }
    for (at = &c->head; *at;)
        at = &(*at)->next;
    c->tail = at;
    c->waiting -= n;
    return n;
}

static void finish(struct call *call)
{
    struct flight *f = (struct flight *)call;
    struct err e = call->err;
    if (e.code == ERR_OK && flight_encode(f, &e) == ERR_OK)
        flight_send(f);
    else
        flight_fail(f, &e);
}

static void *combiner_main(void *arg)
{
    struct combiner *c = arg;
    pthread_setname_np(pthread_self(), "combine");
    struct arena *arena = arena_new(BATCH_ARENA);
    struct call *batch[BATCH_MAX];
    for (;;) {
        pthread_mutex_lock(&c->lock);
        while (!c->head && !c->stopping)
            pthread_cond_wait(&c->wake, &c->lock);
        size_t n = take_batch(c, arena, batch);
        bool end = n == 0 && c->stopping;
        pthread_mutex_unlock(&c->lock);
        if (end)
            break;
        const struct app *app = c->pipeline->app;
        struct work w = { .app = app, .arena = arena, .now_us = clock_wall_us(app->clock) };
        int64_t began = clock_mono_us(&clock_system);
        c->match->row->combine(&w, batch, n);
        int64_t each_us = n ? (clock_mono_us(&clock_system) - began) / (int64_t)n : 0;
        for (size_t i = 0; i < n; i++)
            lane_charge(c->pipeline, batch[i]->principal->tenant_id, each_us);
        for (size_t i = 0; i < n; i++)
            finish(batch[i]);
        arena_reset(arena);
    }
    arena_free(arena);
    return NULL;
}

struct combiner *combiner_new(struct pipeline *p, const struct route_match *m)
{
    struct combiner *c = calloc(1, sizeof *c);
    ASSERT(c);
    c->pipeline = p;
    c->match = m;
    c->tail = &c->head;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->wake, NULL);
    ASSERT(!pthread_create(&c->thread, NULL, combiner_main, c));
    return c;
}

void combiner_submit(struct combiner *c, struct flight *f)
{
    f->next = NULL;
    pthread_mutex_lock(&c->lock);
    bool was_empty = !c->head;
    *c->tail = f;
    c->tail = &f->next;
    c->waiting++;
    if (was_empty)
        pthread_cond_signal(&c->wake);
    pthread_mutex_unlock(&c->lock);
}

void combiner_free(struct combiner *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    c->stopping = true;
    pthread_cond_signal(&c->wake);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->thread, NULL);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->wake);
    free(c);
}
