/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - one thread, a list of open streams, a condition that wake-ups signal.
 *
 * A stream reads in the scope of its own tenant, one short read-only transaction a round; streams that nothing woke are read once
 * a second, so a lost wake-up costs a second and nothing else. */
#include "api/stream.h"
#include "api/sse_thread.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/base/mono_cond.h"
#include "core/db/run_tx.h"
#include "core/json/encode.h"
#include "scheduler/jobs/job.h"
#include "scheduler/jobs/watch.h"

#include <stdlib.h>

enum { BUFFER_MAX = 1 << 20, ROWS_MAX = 500, TICK_US = 1000000, ROUND_ARENA = 64 << 20, LIFE_US = 300 * 1000000,
       ROUND_MAX = BUFFER_MAX / 2 /* one row more still fits: a log line is at most 8192 characters */ };

struct stream {
    struct sse sse;
    struct uuid tenant_id, job_id;
    struct stream_position at;
    int64_t next_read_us;
    bool woken;                 /* guarded by the thread's lock */
};

struct job_streams { struct sse_thread t; };

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
        s->sse.ended = true;
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
    const struct app *app = k->t.app;
    struct work w = { .app = app, .arena = arena, .tenant_id = s->tenant_id, .principal = s->sse.principal, .now_us = clock_wall_us(app->clock) };
    s->next_read_us = now_us + TICK_US;
    enum errc rc = RUN_READ(&w, read_new(s, &w, &b, &e), &e);
    if (rc != ERR_OK && rc != ERR_NOT_FOUND && rc != ERR_UNAVAILABLE && rc != ERR_DEADLINE)
        log_err(LOG_WARN, "stream.read", &e);
    if (rc == ERR_NOT_FOUND)
        s->sse.ended = true;
    sse_write(&s->sse, &b, now_us);
}

static struct stream *pick_due(struct job_streams *k, int64_t now_us, int64_t *ret_next)
{
    *ret_next = now_us + TICK_US;
    for (struct stream *s = (struct stream *)k->t.list; s; s = (struct stream *)s->sse.next) {
        if (s->woken || s->next_read_us <= now_us) {
            s->woken = false;
            return s;
        }
        if (s->next_read_us < *ret_next)
            *ret_next = s->next_read_us;
    }
    return NULL;
}

static void *streams_main(void *arg)
{
    struct job_streams *k = arg;
    pthread_setname_np(pthread_self(), "streams");
    struct arena *arena = arena_new(ROUND_ARENA);
    pthread_mutex_lock(&k->t.lock);
    while (!k->t.stopping) {
        int64_t next, now = clock_mono_us(&clock_system);
        struct stream *s = pick_due(k, now, &next);
        if (!s) {
            mono_cond_wait(&k->t.changed, &k->t.lock, next);
            continue;
        }
        pthread_mutex_unlock(&k->t.lock);
        serve(k, s, arena, now);
        arena_reset(arena);
        pthread_mutex_lock(&k->t.lock);
        if (s->sse.ended)
            sse_thread_end(&k->t, &s->sse);
    }
    sse_thread_finish(&k->t);
    arena_free(arena);
    return NULL;
}

struct job_streams *job_streams_new(const struct app *app)
{
    struct job_streams *k = calloc(1, sizeof *k);
    ASSERT(k);
    sse_thread_start(&k->t, app, streams_main, k, NULL);
    return k;
}

void job_streams_stop(struct job_streams *k)
{
    sse_thread_stop(&k->t);
}

void job_streams_free(struct job_streams *k)
{
    if (!k)
        return;
    sse_thread_free(&k->t);
    free(k);
}

void job_streams_wake(struct job_streams *k, struct uuid job_id)
{
    bool all = uuid_is_nil(job_id), any = false;
    pthread_mutex_lock(&k->t.lock);
    for (struct stream *s = (struct stream *)k->t.list; s; s = (struct stream *)s->sse.next)
        if (all || uuid_eq(s->job_id, job_id))
            any = s->woken = true;
    if (any)
        pthread_cond_signal(&k->t.changed);
    pthread_mutex_unlock(&k->t.lock);
}

enum errc job_streams_add(struct job_streams *k, struct call *c, struct uuid job_id, struct stream_position from, struct err *e)
{
    pthread_mutex_lock(&k->t.lock);
    enum errc rc = sse_thread_book(&k->t, c->principal->tenant_id, STREAMS_MAX, e);
    pthread_mutex_unlock(&k->t.lock);
    TRY(rc);
    struct stream *s = calloc(1, sizeof *s);
    ASSERT(s);
    *s = (struct stream){ .tenant_id = c->work.tenant_id, .job_id = job_id, .at = from };
    sse_thread_add(&k->t, &s->sse, c, LIFE_US, 2 * BUFFER_MAX);
    return ERR_OK;
}
