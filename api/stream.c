/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - one thread, a list of open streams, a condition that wake-ups signal.
 *
 * A stream reads in the scope of its own tenant, one short read-only transaction a round; streams that nothing woke are read once
 * a second, so a lost wake-up costs a second and nothing else. */
#include "api/stream.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/db/pool.h"
#include "core/db/tx.h"
#include "core/json/encode.h"
#include "scheduler/job.h"
#include "scheduler/watch.h"

#include <pthread.h>
#include <stdlib.h>

enum { BUFFER_MAX = 1 << 20, ROWS_MAX = 500, TICK_US = 1000000, PING_US = 15000000, ROUND_ARENA = 64 << 20, LIFE_US = 300 * 1000000,
       ROUND_MAX = BUFFER_MAX / 2 /* one row more still fits: a log line is at most 8192 characters */ };

struct stream {
    struct stream *next;
    struct http_exchange *x;
    struct principal *principal;
    struct uuid tenant_id, job_id;
    struct stream_position at;
    int64_t last_write_us, next_read_us, end_us;
    bool woken, ended;
};

struct job_streams {
    const struct app *app;
    pthread_mutex_t lock;       /* guards list's links, count, woken flags, stopping, is_over */
    pthread_cond_t changed;
    struct stream *list;
    size_t count;
    bool stopping, is_over;     /* asked to end; the thread has ended */
    pthread_t thread;
};

static void event(struct stream *s, struct buf *b, const char *name, const struct schema *schema, const void *row)
{
    buf_printf(b, "id: s%ld,l%ld,m%ld\nevent: %s\ndata: ", (long)s->at.version, (long)s->at.log_id, (long)s->at.metric_id, name);
    json_encode(schema, row, b);
    buf_add_c(b, "\n\n");
}

static enum errc read_new(struct stream *s, struct work *w, struct buf *b, struct err *e)
{
    struct job job;
    struct slice events, logs, metrics;
    TRY(job_get(w, s->job_id, &job, e));
    TRY(job_logs(w, s->job_id, s->at.log_id, ROWS_MAX, &logs, e));
    TRY(job_metrics(w, s->job_id, s->at.metric_id, ROWS_MAX, &metrics, e));
    TRY(job_events(w, s->job_id, s->at.version, ROWS_MAX, &events, e));
    for (size_t i = 0; i < logs.n && b->len <= ROUND_MAX; i++) {
        const struct job_log_line *l = (const struct job_log_line *)logs.items + i;
        s->at.log_id = l->log_id;
        event(s, b, "log", &job_log_line_schema, l);
    }
    for (size_t i = 0; i < metrics.n && b->len <= ROUND_MAX; i++) {
        const struct job_metric *m = (const struct job_metric *)metrics.items + i;
        s->at.metric_id = m->metric_id;
        event(s, b, "metric", &job_metric_schema, m);
    }
    for (size_t i = 0; i < events.n && b->len <= ROUND_MAX; i++) {
        const struct job_event *ev = (const struct job_event *)events.items + i;
        s->at.version = ev->version;
        event(s, b, "state", &job_event_schema, ev);
    }
    bool full = logs.n == ROWS_MAX || metrics.n == ROWS_MAX || events.n == ROWS_MAX || b->len > ROUND_MAX;
    if (!full && job_state_is_terminal((enum job_state)job.state) && s->at.version >= job.version) {
        event(s, b, "end", &job_schema, &job);
        s->ended = true;
    }
    if (full)
        s->next_read_us = 0;            /* at once again; `woken` belongs to the lock */
    return ERR_OK;
}

/* One look for one stream; no lock is held. */
static void serve(struct job_streams *k, struct stream *s, struct arena *arena, int64_t now_us)
{
    struct err e;
    CLEANUP(buf_releasep) struct buf b = BUF(BUFFER_MAX);
    struct work w = { .app = k->app, .arena = arena, .tenant_id = s->tenant_id, .principal = s->principal, .now_us = clock_wall_us(k->app->clock) };
    s->next_read_us = now_us + TICK_US;
    enum errc rc = db_begin(k->app->pool, SCOPE_TENANT(s->tenant_id), TX_READ_ONLY, arena, &w.tx, &e);
    if (rc == ERR_OK) {
        rc = read_new(s, &w, &b, &e);
        if (rc == ERR_OK)
            rc = db_commit(w.tx, &e);
        db_rollback(w.tx);
    }
    if (rc != ERR_OK && rc != ERR_NOT_FOUND && rc != ERR_UNAVAILABLE && rc != ERR_DEADLINE)
        log_err(LOG_WARN, "stream.read", &e);
    if (rc == ERR_NOT_FOUND)
        s->ended = true;
    if (b.len == 0 && now_us - s->last_write_us >= PING_US)
        buf_add_c(&b, ": ping\n\n");
    if (b.overflow || (b.len && !http_stream_write(s->x, b.ptr, b.len))) {
        http_stream_write(s->x, "event: lagged\ndata: {}\n\n", 24);
        s->ended = true;
    } else if (b.len) {
        s->last_write_us = now_us;
    }
    if (now_us >= s->end_us || http_stream_gone(s->x))
        s->ended = true;        /* the client comes back with Last-Event-ID, and its token is looked at again */
}

static void end_stream(struct stream *s)
{
    http_stream_end(s->x);
    principal_unref(s->principal);
    free(s);
}

static struct stream *pick_due(struct job_streams *k, int64_t now_us, int64_t *ret_next)
{
    *ret_next = now_us + TICK_US;
    for (struct stream *s = k->list; s; s = s->next) {
        if (s->woken || s->next_read_us <= now_us) {
            s->woken = false;
            return s;
        }
        if (s->next_read_us < *ret_next)
            *ret_next = s->next_read_us;
    }
    return NULL;
}

static void unlink_stream(struct job_streams *k, struct stream *s)
{
    struct stream **at = &k->list;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    k->count--;
}

static void *streams_main(void *arg)
{
    struct job_streams *k = arg;
    pthread_setname_np(pthread_self(), "streams");
    struct arena *arena = arena_new(ROUND_ARENA);
    pthread_mutex_lock(&k->lock);
    while (!k->stopping) {
        int64_t next, now = clock_mono_us(&clock_system);
        struct stream *s = pick_due(k, now, &next);
        if (!s) {
            struct timespec t = { next / 1000000, next % 1000000 * 1000 };
            pthread_cond_timedwait(&k->changed, &k->lock, &t);
            continue;
        }
        /* Only this thread unlinks and frees, so s stays good without the lock. */
        pthread_mutex_unlock(&k->lock);
        serve(k, s, arena, now);
        arena_reset(arena);
        pthread_mutex_lock(&k->lock);
        if (s->ended) {
            unlink_stream(k, s);
            pthread_mutex_unlock(&k->lock);
            end_stream(s);
            pthread_mutex_lock(&k->lock);
        }
    }
    while (k->list) {
        struct stream *s = k->list;
        unlink_stream(k, s);
        end_stream(s);
    }
    k->is_over = true;
    pthread_mutex_unlock(&k->lock);
    arena_free(arena);
    return NULL;
}

struct job_streams *job_streams_new(const struct app *app)
{
    struct job_streams *k = calloc(1, sizeof *k);
    ASSERT(k);
    k->app = app;
    pthread_mutex_init(&k->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&k->changed, &attr);
    pthread_condattr_destroy(&attr);
    ASSERT(!pthread_create(&k->thread, NULL, streams_main, k));
    return k;
}

void job_streams_stop(struct job_streams *k)
{
    pthread_mutex_lock(&k->lock);
    bool first = !k->stopping;
    k->stopping = true;
    pthread_cond_signal(&k->changed);
    pthread_mutex_unlock(&k->lock);
    if (first)
        pthread_join(k->thread, NULL);
}

void job_streams_free(struct job_streams *k)
{
    if (!k)
        return;
    job_streams_stop(k);
    pthread_cond_destroy(&k->changed);
    pthread_mutex_destroy(&k->lock);
    free(k);
}

void job_streams_wake(struct job_streams *k, struct uuid job_id)
{
    bool all = uuid_is_nil(job_id), any = false;
    pthread_mutex_lock(&k->lock);
    for (struct stream *s = k->list; s; s = s->next)
        if (all || uuid_eq(s->job_id, job_id))
            any = s->woken = true;
    if (any)
        pthread_cond_signal(&k->changed);
    pthread_mutex_unlock(&k->lock);
}

enum errc job_streams_add(struct job_streams *k, struct call *c, struct uuid job_id, struct stream_position from, struct err *e)
{
    struct http_header h[] = { { STR("X-Request-Id"), c->work.request_id }, { STR("Cache-Control"), STR("no-store") },
                               { STR("X-Accel-Buffering"), STR("no") } };
    int64_t now = clock_mono_us(&clock_system);
    pthread_mutex_lock(&k->lock);
    bool room = k->count < STREAMS_MAX && !k->stopping;
    k->count += room;
    pthread_mutex_unlock(&k->lock);
    if (!room)
        return FAIL(e, UNAVAILABLE, "%d streams are open; try again, or ask for JSON", STREAMS_MAX);
    struct stream *s = calloc(1, sizeof *s);
    ASSERT(s);
    *s = (struct stream){ .x = c->exchange, .principal = TAKE(c->principal), .tenant_id = c->work.tenant_id, .job_id = job_id, .at = from,
                          .last_write_us = now, .next_read_us = now, .end_us = now + LIFE_US };
    enum errc rc = http_stream_begin(c->exchange, 200, STR("text/event-stream"), h, 3, 2 * BUFFER_MAX);
    if (rc == ERR_OK)
        http_stream_write(s->x, "retry: 2000\n\n", 13);
    pthread_mutex_lock(&k->lock);
    s->ended = rc != ERR_OK;
    bool is_late = k->is_over;              /* nobody serves it any more; its reader comes again, to another falaj-api */
    if (is_late) {
        k->count--;
    } else {
        s->next = k->list;
        k->list = s;
        pthread_cond_signal(&k->changed);
    }
    pthread_mutex_unlock(&k->lock);
    if (is_late)
        end_stream(s);
    return ERR_OK;
}
