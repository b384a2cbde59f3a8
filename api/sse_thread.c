/* SPDX-License-Identifier: Apache-2.0 */
/* sse_thread.c - the common life of streams. */
#include "api/sse_thread.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/mono_cond.h"

#include <stdlib.h>

void sse_thread_start(struct sse_thread *t, const struct app *app, void *(*run)(void *), void *ctx, void (*drop)(struct sse *s))
{
    *t = (struct sse_thread){ .app = app, .drop = drop };
    pthread_mutex_init(&t->lock, NULL);
    mono_cond_init(&t->changed);
    ASSERT(!pthread_create(&t->thread, NULL, run, ctx));
}

void sse_thread_stop(struct sse_thread *t)
{
    pthread_mutex_lock(&t->lock);
    bool first = !t->stopping;
    t->stopping = true;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
    if (first)
        pthread_join(t->thread, NULL);
}

void sse_thread_free(struct sse_thread *t)
{
    sse_thread_stop(t);
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
}

static void end(struct sse_thread *t, struct sse *s)
{
    http_stream_end(s->x);
    principal_unref(s->principal);
    if (t->drop)
        t->drop(s);
    free(s);
}

static void unlink_stream(struct sse_thread *t, struct sse *s)
{
    struct sse **at = &t->list;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    t->count--;
}

void sse_thread_end(struct sse_thread *t, struct sse *s)
{
    unlink_stream(t, s);
    pthread_mutex_unlock(&t->lock);
    end(t, s);
    pthread_mutex_lock(&t->lock);
}

void sse_thread_finish(struct sse_thread *t)
{
    while (t->list) {
        struct sse *s = t->list;
        unlink_stream(t, s);
        end(t, s);
    }
    t->is_over = true;
    pthread_mutex_unlock(&t->lock);
}

bool sse_thread_book(struct sse_thread *t, size_t most)
{
    bool is_room = t->count < most && !t->stopping;
    t->count += is_room;
    return is_room;
}

void sse_thread_add(struct sse_thread *t, struct sse *s, struct call *c, int64_t life_us, size_t buffer)
{
    struct http_header h[] = { { STR("X-Request-Id"), c->work.request_id }, { STR("Cache-Control"), STR("no-store") },
                               { STR("X-Accel-Buffering"), STR("no") } };
    s->x = c->exchange;
    s->principal = TAKE(c->principal);
    s->last_write_us = clock_mono_us(&clock_system);
    s->end_us = s->last_write_us + life_us;
    s->ended = http_stream_begin(c->exchange, 200, STR("text/event-stream"), h, sizeof h / sizeof *h, buffer) != ERR_OK;
    if (!s->ended)
        http_stream_write(s->x, "retry: 2000\n\n", 13);
    pthread_mutex_lock(&t->lock);
    bool is_late = t->is_over;
    if (is_late) {
        t->count--;
    } else {
        s->next = t->list;
        t->list = s;
        pthread_cond_signal(&t->changed);
    }
    pthread_mutex_unlock(&t->lock);
    if (is_late)
        end(t, s);
}

void sse_write(struct sse *s, struct buf *b, int64_t now_us)
{
    if (b->len == 0 && now_us - s->last_write_us >= SSE_PING_US)
        buf_add_c(b, ": ping\n\n");
    if (b->overflow || (b->len && !http_stream_write(s->x, b->ptr, b->len))) {
        http_stream_write(s->x, "event: lagged\ndata: {}\n\n", 24);
        s->ended = true;
    } else if (b->len) {
        s->last_write_us = now_us;
    }
    /* The client comes back with Last-Event-ID, and what it may see is looked at again. */
    if (now_us >= s->end_us || http_stream_gone(s->x))
        s->ended = true;
}
