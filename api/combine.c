/* SPDX-License-Identifier: Apache-2.0 */
/* combine.c - all that waits for a combined row is taken as one transaction: nobody waits for a timer, a batch is what came
 * in during the last commit. Two threads take turns, so that one batch is at the database while the answers of the one
 * before it go out; never are two of them there. Each call keeps its own verdict. When more waits than a batch takes, tenants
 * take turns (fair_pick.h), so that nobody's call waits for more than the batch that is under way and its own, however much
 * another tenant sends.
 *
 * What meets a lock that another transaction holds comes back from its batch as RETRY, and with it all that was in the batch.
 * It waits aside: a second thread takes it again, one tenant's calls at a time, and what else comes of these tenants meanwhile
 * goes there too. So a tenant whose rows are locked costs the others the time of one such wait, and then waits alone.
 *
 * Two calls with the same Idempotency-Key of one user are never in the same batch: the later one waits for the next, where it
 * finds the first one's answer. */
#include "api/api_int.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/fair_pick.h"
#include "core/base/log.h"
#include "core/table/config.h"

#include <stdlib.h>

/* TOGETHER: so many answers go to their connections at once. */
enum { BATCH_MAX = 256, TOGETHER = 16, BATCH_ARENA = 64 << 20 };

struct queue {
    struct flight *head, **tail;
    size_t n;
};

struct combiner {
    struct pipeline *pipeline;
    const struct route_match *match;
    pthread_mutex_t turn;           /* held from the taking of a batch to the end of its transaction; comes before lock */
    pthread_mutex_t lock;           /* guards the queues, at_aside, stopping */
    pthread_cond_t wake, wake_aside;
    struct queue waiting, aside;
    struct uuid at_aside;           /* whose calls the second thread has taken; nil: nobody's */
    bool stopping;
    pthread_t threads[2], aside_thread;
};

static void queue_put(struct queue *q, struct flight *f)
{
    f->next = NULL;
    *q->tail = f;
    q->tail = &f->next;
    q->n++;
}

static struct uuid tenant_of(const struct flight *f)
{
    return f->call.principal->tenant_id;
}

static bool same_key(const struct call *a, const struct call *b)
{
    return a->idempotency_key.len && str_eq(a->idempotency_key, b->idempotency_key) &&
           uuid_eq(a->principal->user_id, b->principal->user_id) && uuid_eq(a->principal->tenant_id, b->principal->tenant_id);
}

/* Which of the queue have their turn; NULL: all. The lock is held. */
static bool *turns(const struct queue *q, const struct uuid *only, struct arena *a)
{
    if (q->n <= BATCH_MAX && !only)
        return NULL;
    struct uuid *owners = ARENA_ARRAY(a, struct uuid, q->n);
    bool *picked = ARENA_ARRAY(a, bool, q->n);
    size_t n = 0;
    for (const struct flight *f = q->head; f; f = f->next) {
        picked[n] = only && uuid_eq(tenant_of(f), *only);
        owners[n++] = tenant_of(f);
    }
    if (!only)
        fair_pick(owners, n, BATCH_MAX, picked);
    return picked;
}

/* Takes a batch off the queue, of one tenant only or of all; the lock is held. */
static size_t take_batch(struct queue *q, const struct uuid *only, struct arena *a, struct call *batch[BATCH_MAX])
{
    uint64_t seen[BATCH_MAX];
    const bool *has_turn = turns(q, only, a);
    size_t n = 0, place = 0;
    struct flight **at = &q->head;
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
    for (at = &q->head; *at;)
        at = &(*at)->next;
    q->tail = at;
    q->n -= n;
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

/* A call waits aside for as long as a statement might have waited. */
static bool may_wait(const struct combiner *c, const struct call *call)
{
    int64_t waited_us = clock_mono_us(&clock_system) - call->started_mono_us;
    return call->err.code == ERR_RETRY && waited_us < c->pipeline->app->config->db_statement_timeout_ms * 1000;
}

static void settle(struct combiner *c, struct call *call)
{
    if (may_wait(c, call)) {
        pthread_mutex_lock(&c->lock);
        bool waits = !c->stopping;
        if (waits) {
            call->err = (struct err){ 0 };
            queue_put(&c->aside, (struct flight *)call);
            pthread_cond_signal(&c->wake_aside);
        }
        pthread_mutex_unlock(&c->lock);
        if (waits)
            return;
    }
    if (call->err.code == ERR_RETRY)
        FAIL(&call->err, DEADLINE, "Another call of the organisation holds what this one needs; try again");
    finish(call);
}

/* Their lines in the log are written before their answers go, some at a time: each by itself would be a write, and a wake of the
 * connections' thread. A refusal may have to be written down first: nobody's answer waits for that. */
static void settle_all(struct combiner *c, struct call **batch, size_t n)
{
    for (size_t i = 0; i < n;) {
        log_hold();
        http_answers_hold();
        for (size_t k = 0; k < TOGETHER && i < n && batch[i]->err.code == ERR_OK; k++)
            settle(c, batch[i++]);
        log_release();
        http_answers_release();
        if (i < n && batch[i]->err.code != ERR_OK)
            settle(c, batch[i++]);
    }
}

static void transact(struct combiner *c, struct call **batch, size_t n, struct arena *arena)
{
    const struct app *app = c->pipeline->app;
    struct work w = { .app = app, .arena = arena, .now_us = clock_wall_us(app->clock) };
    int64_t began = clock_mono_us(&clock_system);
    c->match->row->combine(&w, batch, n);
    int64_t each_us = n ? (clock_mono_us(&clock_system) - began) / (int64_t)n : 0;
    for (size_t i = 0; i < n; i++)
        lane_charge(c->pipeline, batch[i]->principal->tenant_id, each_us);
}

static void *combiner_main(void *arg)
{
    struct combiner *c = arg;
    pthread_setname_np(pthread_self(), "combine");
    struct arena *arena = arena_new(BATCH_ARENA);
    struct call *batch[BATCH_MAX];
    for (;;) {
        pthread_mutex_lock(&c->turn);
        pthread_mutex_lock(&c->lock);
        while (!c->waiting.head && !c->stopping)
            pthread_cond_wait(&c->wake, &c->lock);
        size_t n = take_batch(&c->waiting, NULL, arena, batch);
        bool end = n == 0 && c->stopping;
        pthread_mutex_unlock(&c->lock);
        if (!end)
            transact(c, batch, n, arena);
        pthread_mutex_unlock(&c->turn);
        if (end)
            break;
        settle_all(c, batch, n);
        arena_reset(arena);
    }
    arena_free(arena);
    return NULL;
}

static void *aside_main(void *arg)
{
    struct combiner *c = arg;
    pthread_setname_np(pthread_self(), "combine-aside");
    struct arena *arena = arena_new(BATCH_ARENA);
    struct call *batch[BATCH_MAX];
    pthread_mutex_lock(&c->lock);
    for (;;) {
        while (!c->aside.head && !c->stopping)
            pthread_cond_wait(&c->wake_aside, &c->lock);
        if (!c->aside.head)
            break;
        c->at_aside = tenant_of(c->aside.head);
        size_t n = take_batch(&c->aside, &c->at_aside, arena, batch);
        pthread_mutex_unlock(&c->lock);
        transact(c, batch, n, arena);
        settle_all(c, batch, n);
        arena_reset(arena);
        pthread_mutex_lock(&c->lock);
        c->at_aside = UUID_NIL;
    }
    pthread_mutex_unlock(&c->lock);
    arena_free(arena);
    return NULL;
}

/* How many earlier calls of its tenant wait aside, those that are at it counted as one? The lock is held. */
static size_t aside_of(const struct combiner *c, const struct flight *f)
{
    size_t n = !uuid_is_nil(c->at_aside) && uuid_eq(c->at_aside, tenant_of(f));
    for (const struct flight *g = c->aside.head; g; g = g->next)
        n += uuid_eq(tenant_of(g), tenant_of(f));
    return n;
}

struct combiner *combiner_new(struct pipeline *p, const struct route_match *m)
{
    struct combiner *c = calloc(1, sizeof *c);
    ASSERT(c);
    c->pipeline = p;
    c->match = m;
    c->waiting.tail = &c->waiting.head;
    c->aside.tail = &c->aside.head;
    pthread_mutex_init(&c->turn, NULL);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->wake, NULL);
    pthread_cond_init(&c->wake_aside, NULL);
    for (int i = 0; i < 2; i++)
        ASSERT(!pthread_create(&c->threads[i], NULL, combiner_main, c));
    ASSERT(!pthread_create(&c->aside_thread, NULL, aside_main, c));
    return c;
}

void combiner_submit(struct combiner *c, struct flight *f)
{
    pthread_mutex_lock(&c->lock);
    bool was_empty = !c->waiting.head;
    size_t before = aside_of(c, f);
    bool is_room = before < lane_owner_queue(c->pipeline->app->config);
    if (before && is_room) {
        queue_put(&c->aside, f);
        pthread_cond_signal(&c->wake_aside);
    } else if (is_room) {
        queue_put(&c->waiting, f);
        if (was_empty)
            pthread_cond_signal(&c->wake);
    }
    pthread_mutex_unlock(&c->lock);
    struct err e;
    if (!is_room && FAIL(&e, UNAVAILABLE, "Too many calls of the organisation wait for a row that another one holds; try again"))
        flight_fail(f, &e);
}

void combiner_free(struct combiner *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    c->stopping = true;
    pthread_cond_signal(&c->wake);
    pthread_cond_signal(&c->wake_aside);
    pthread_mutex_unlock(&c->lock);
    for (int i = 0; i < 2; i++)
        pthread_join(c->threads[i], NULL);
    pthread_join(c->aside_thread, NULL);
    pthread_mutex_destroy(&c->turn);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->wake);
    pthread_cond_destroy(&c->wake_aside);
    free(c);
}
