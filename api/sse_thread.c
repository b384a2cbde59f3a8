/* SPDX-License-Identifier: Apache-2.0 */
/* sse_thread.c - the common life of streams. */
#include "api/sse_thread.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/mono_cond.h"
#include "core/table/config.h"

#include <stdlib.h>
#include <string.h>

void sse_thread_start(struct sse_thread *t, const struct app *app, void *(*run)(void *), void *ctx, void (*drop)(struct sse *s))
{
    memset(t, 0, sizeof *t);
    t->app = app;
    t->drop = drop;
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

/* NULL: the tenant has none. The lock is held. */
static struct sse_tenant *tenant_of(struct sse_thread *t, struct uuid tenant_id)
{
    for (size_t i = 0; i < t->ntenants; i++)
        if (uuid_eq(t->tenants[i].tenant_id, tenant_id))
            return &t->tenants[i];
    return NULL;
}

/* A stream is no more counted; the lock is held. */
static void unbook(struct sse_thread *t, const struct sse *s)
{
    struct sse_tenant *own = tenant_of(t, s->principal->tenant_id);
    t->count--;
    ASSERT(own && own->streams);
    if (--own->streams == 0)
        *own = t->tenants[--t->ntenants];
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
    unbook(t, s);
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

enum errc sse_thread_book(struct sse_thread *t, struct uuid tenant_id, size_t most, struct err *e)
{
    struct sse_tenant *own = tenant_of(t, tenant_id);
    size_t own_max = (size_t)t->app->config->api_streams_per_tenant;
    if (t->stopping || t->count >= most)
        return FAIL(e, UNAVAILABLE, "The limit of %zu open streams is reached; try again later, or request JSON", most);
    if (own && own->streams >= own_max)
        return FAIL(e, RATE, "The tenant has %zu open streams, which is the limit; close some, or request JSON", own_max);
    if (!own) {
        ASSERT(t->ntenants < SSE_STREAMS_MAX);
        own = &t->tenants[t->ntenants++];
        *own = (struct sse_tenant){ .tenant_id = tenant_id };
    }
    own->streams++;
    t->count++;
    return ERR_OK;
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
        unbook(t, s);
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
