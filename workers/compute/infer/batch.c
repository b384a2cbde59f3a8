/* SPDX-License-Identifier: Apache-2.0 */
/* batch.c - one lock, a queue of requests, a stack of free sessions.
 *
 * A thread needs a session and a request; threads and inline callers share the sessions, so never more than `threads` compute at
 * once and a burst of inline callers cannot crowd the cores. The lock is held for list work only. */
#include "workers/compute/infer/batch_int.h"
#include "core/base/assert.h"
#include "core/base/clock.h"
#include "core/base/mono_cond.h"
#include "workers/compute/infer/watch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { QUEUE_ROWS = 65536, QUEUE_REQUESTS = 4096 };

/* Lock held. */
static struct infer_request *take_batch(struct batcher *b, struct infer_request **ret_late)
{
    struct infer_request *first = queue_cut(&b->queue, batcher_now_us(), ret_late);
    size_t rows = 0, requests = 0;
    for (const struct infer_request *r = first; r; r = r->next, requests++)
        rows += r->rows;
    const int64_t now = batcher_now_us();
    for (struct infer_request *r = first; r; r = r->next) {
        r->taken_us = now;
        r->batch_rows = rows;
    }
    for (const struct infer_request *r = *ret_late; r; r = r->next)
        b->stats.late++;
    b->stats.rows_waiting = b->queue.rows;
    b->stats.batches += first != NULL;
    if (rows > b->stats.batched_rows_max)
        b->stats.batched_rows_max = rows;
    if (requests > b->stats.batched_requests_max)
        b->stats.batched_requests_max = requests;
    return first;
}

void batcher_tell(struct infer_request *r, enum errc rc)
{
    while (r) {
        struct infer_request *next = r->next;           /* done may free r */
        r->done(r, rc);
        r = next;
    }
}

static void tell_ran(struct infer_request *r)
{
    while (r) {
        struct infer_request *next = r->next;
        r->done(r, r->rc);
        r = next;
    }
}

static void settle(struct infer_request *r, enum errc rc, const struct err *e)
{
    r->rc = rc;
    snprintf(r->why, sizeof r->why, "%.*s", (int)sizeof r->why - 1, rc == ERR_UNPROCESSABLE || rc == ERR_DEADLINE ? e->msg : "");
}

static enum errc run_joined(struct infer_session *s, const struct infer_request *first, struct err *e)
{
    size_t rows = 0;
    for (const struct infer_request *r = first; r; rows += r->rows, r = r->next)
        infer_put(s, rows, &r->io, r->rows);
    TRY(infer_compute(s, rows, e));
    rows = 0;
    for (const struct infer_request *r = first; r; rows += r->rows, r = r->next)
        infer_take(s, rows, r->rows, &r->io);
    return ERR_OK;
}

/* When an engine that computes r must be done. */
static int64_t until_of(const struct batcher *b, const struct infer_request *r)
{
    int64_t late = queue_late_at(&b->queue, r), most = b->engine_us ? r->taken_us + b->engine_us : INT64_MAX;
    return late < most ? late : most;
}

/* One of so many that are left has its share of the time that it still has. Nothing left: as one whose turn never came. */
static enum errc run_alone(struct batcher *b, struct infer_session *s, struct infer_request *r, size_t left, struct err *e)
{
    if (!b->watch)
        return infer_run(s, &r->io, r->rows, e);
    int64_t now = batcher_now_us(), until = until_of(b, r);
    if (until <= now) {
        *e = (struct err){ 0 };
        return ERR_DEADLINE;
    }
    watch_begin(b->watch, s, now + (until - now) / (int64_t)left);
    enum errc rc = infer_run(s, &r->io, r->rows, e);
    watch_end(b->watch, s);
    return rc;
}

/* Half of the time of who has the least, so that there is some left when one's numbers keep the engine busy. */
static enum errc run_watched(struct batcher *b, struct infer_session *s, struct infer_request *first, struct err *e)
{
    int64_t now = batcher_now_us(), until = INT64_MAX;
    for (const struct infer_request *r = b->watch ? first : NULL; r; r = r->next)
        until = until_of(b, r) < until ? until_of(b, r) : until;
    watch_begin(b->watch, s, now + (until - now) / 2);
    enum errc rc = run_joined(s, first, e);
    watch_end(b->watch, s);
    return rc;
}

/* An engine may refuse the numbers of one, or never be done with them: that must not be the others' answer, so each is computed
 * alone. */
void batcher_run(struct batcher *b, struct infer_session *s, struct infer_request *first)
{
    struct err e;
    size_t left = 0;
    for (const struct infer_request *r = first; r; r = r->next)
        left++;
    enum errc rc = left > 1 ? run_watched(b, s, first, &e) : run_alone(b, s, first, 1, &e);
    bool is_apart = left > 1 && (rc == ERR_UNPROCESSABLE || rc == ERR_DEADLINE);
    for (struct infer_request *r = first; r; r = r->next, left--)
        settle(r, is_apart ? run_alone(b, s, r, left, &e) : rc, &e);
}

void batcher_give(struct batcher *b, struct infer_session *s)
{
    pthread_mutex_lock(&b->lock);
    b->free_sessions[b->free_count++] = s;
    if (b->queue.requests || b->is_stopping)
        pthread_cond_signal(&b->wake);
    pthread_mutex_unlock(&b->lock);
}

/* Until there is a batch to run and a session for it. False: the batcher stops, and nothing waits. Lock held. */
static bool wait_for_batch(struct batcher *b)
{
    for (;;) {
        int64_t due = b->free_count > 0 ? queue_due_us(&b->queue) : INT64_MAX;
        if (due != INT64_MAX && (b->is_stopping || due <= batcher_now_us()))
            return true;
        if (b->is_stopping && !b->queue.requests)
            return false;
        if (due == INT64_MAX)
            pthread_cond_wait(&b->wake, &b->lock);
        else
            (void)mono_cond_wait(&b->wake, &b->lock, due);      /* either way it looks again */
    }
}

static void *thread_main(void *arg)
{
    struct batcher *b = arg;
    pthread_setname_np(pthread_self(), "falaj-infer");
    for (;;) {
        struct infer_request *late;
        pthread_mutex_lock(&b->lock);
        if (!wait_for_batch(b)) {
            pthread_cond_signal(&b->wake);      /* the next thread shall see the end, too */
            pthread_mutex_unlock(&b->lock);
            return NULL;
        }
        struct infer_session *s = b->free_sessions[--b->free_count];
        struct infer_request *r = take_batch(b, &late);
        if (b->queue.requests && b->free_count > 0)
            pthread_cond_signal(&b->wake);
        pthread_mutex_unlock(&b->lock);
        if (r)
            batcher_run(b, s, r);
        batcher_give(b, s);
        batcher_tell(late, ERR_DEADLINE);
        tell_ran(r);
    }
}

enum errc batcher_new(const struct infer_model *m, const struct batcher_options *o, struct batcher **ret, struct err *e)
{
    const size_t most = infer_model_info(m)->max_rows;
    const int threads = o->threads;
    ASSERT(threads >= 1);
    struct batcher *b = calloc(1, sizeof *b);
    ASSERT(b);
    b->model = m;
    b->queue.rows_max = o->queue_rows ? o->queue_rows : QUEUE_ROWS;
    b->queue.requests_max = o->queue_requests ? o->queue_requests : QUEUE_REQUESTS;
    b->queue.batch_rows = o->batch_rows && o->batch_rows < most ? o->batch_rows : most;
    b->queue.delay_us = o->delay_us;
    b->queue.timeout_us = o->timeout_us;
    b->watch = infer_model_info(m)->engine ? watch_new(threads) : NULL;
    b->engine_us = o->engine_us;
    pthread_mutex_init(&b->lock, NULL);
    mono_cond_init(&b->wake);
    b->free_sessions = calloc((size_t)threads, sizeof *b->free_sessions);
    b->threads = calloc((size_t)threads, sizeof *b->threads);
    ASSERT(b->free_sessions && b->threads);
    enum errc rc = ERR_OK;
    for (; b->free_count < threads && rc == ERR_OK; b->free_count += rc == ERR_OK)
        rc = infer_session_new(m, &b->free_sessions[b->free_count], e);
    /* Sessions first: no thread runs before all are there, so the count is stable here. */
    for (; b->thread_count < threads && rc == ERR_OK; b->thread_count += rc == ERR_OK)
        if (pthread_create(&b->threads[b->thread_count], NULL, thread_main, b))
            rc = FAIL(e, LIMIT, "a serving thread cannot be started");
    if (rc != ERR_OK) {
        batcher_free(b);
        return rc;
    }
    *ret = b;
    return ERR_OK;
}

/* Nobody else watches by now. */
static void join(struct batcher *b, pthread_t t)
{
    while (b->watch) {
        int64_t until = batcher_now_us() + WATCH_US;
        struct timespec at = { until / 1000000, until % 1000000 * 1000 };
        if (pthread_clockjoin_np(t, NULL, CLOCK_MONOTONIC, &at) == 0)
            return;
        batcher_watch(b);
    }
    pthread_join(t, NULL);
}

void batcher_free(struct batcher *b)
{
    if (!b)
        return;
    pthread_mutex_lock(&b->lock);
    b->is_stopping = true;
    pthread_cond_broadcast(&b->wake);
    pthread_mutex_unlock(&b->lock);
    for (int i = 0; i < b->thread_count; i++)
        join(b, b->threads[i]);
    for (int i = 0; i < b->free_count; i++)
        infer_session_free(b->free_sessions[i]);
    pthread_cond_destroy(&b->wake);
    pthread_mutex_destroy(&b->lock);
    watch_free(b->watch);
    free(b->free_sessions);
    free(b->threads);
    free(b);
}

enum errc batcher_enqueue(struct batcher *b, struct infer_request *r, struct infer_request **gone, struct err *e)
{
    bool is_in = queue_put(&b->queue, r, batcher_now_us(), gone);
    for (const struct infer_request *g = *gone; g; g = g->next)
        b->stats.gave_way++;
    b->stats.rows_waiting = b->queue.rows;
    if (!is_in)
        return FAIL(e, RATE, "the model has %zu rows waiting already, of %zu requests", b->queue.rows, b->queue.requests);
    b->stats.requests++;
    b->stats.rows += r->rows;
    if (b->free_count > 0)
        pthread_cond_signal(&b->wake);
    return ERR_OK;
}

enum errc batcher_submit(struct batcher *b, struct infer_request *r, struct err *e)
{
    struct infer_request *gone;
    ASSERT(r->rows >= 1 && r->done);
    if (batcher_compute_own(b, r))
        return ERR_OK;
    pthread_mutex_lock(&b->lock);
    enum errc rc = batcher_enqueue(b, r, &gone, e);
    pthread_mutex_unlock(&b->lock);
    batcher_tell(gone, ERR_RATE);
    return rc;
}

void batcher_watch(struct batcher *b)
{
    watch_stop_late(b->watch, batcher_now_us());
}

void batcher_get_stats(struct batcher *b, struct batcher_stats *ret)
{
    pthread_mutex_lock(&b->lock);
    *ret = b->stats;
    pthread_mutex_unlock(&b->lock);
}
