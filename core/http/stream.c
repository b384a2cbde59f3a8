/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - replies written piece by piece from any thread.
 *
 * A ring of at most buffer_max bytes stands between the writer and the loop. When the loop finds it empty it suspends the
 * connection ("starved"); the next write or the end puts the exchange on the ready list again. Every suspend has exactly one
 * resume: whoever clears `starved` under the mutex does it. The writer and the loop hold one reference each. */
#include "core/http/server_int.h"

#include <stdlib.h>
#include "core/base/assert.h"

enum { STREAM_BLOCK = 16 * 1024, RING_FIRST = 4096 };

void stream_free(struct http_stream *s)
{
    if (!s)
        return;
    pthread_mutex_destroy(&s->mutex);
    free(s->ring);
    free(s);
}

static ssize_t stream_read(void *cls, uint64_t pos, char *out, size_t max)
{
    (void)pos;
    struct http_exchange *x = cls;
    struct http_stream *s = x->stream;
    ssize_t ret = 0;
    pthread_mutex_lock(&s->mutex);
    if (s->overrun || atomic_load(&x->loop->server->stopping)) {
        ret = MHD_CONTENT_READER_END_WITH_ERROR;
    } else if (s->len > 0) {
        size_t n = s->len < max ? s->len : max;
        size_t first = s->cap - s->head < n ? s->cap - s->head : n;
        memcpy(out, s->ring + s->head, first);
        memcpy(out + first, s->ring, n - first);
        s->head = (s->head + n) % s->cap;
        s->len -= n;
        ret = (ssize_t)n;
    } else if (s->ended) {
        ret = MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        s->starved = true;
        MHD_suspend_connection(x->mhd);
    }
    pthread_mutex_unlock(&s->mutex);
    return ret;
}

/* Grow to hold `need` bytes; the ring is straightened on the way. */
static void ring_grow(struct http_stream *s, size_t need)
{
    size_t cap = s->cap ? s->cap : RING_FIRST;
    while (cap < need)
        cap *= 2;
    if (cap == s->cap)
        return;
    char *ring = malloc(cap);
    ASSERT(ring);
    size_t first = s->cap - s->head < s->len ? s->cap - s->head : s->len;
    if (s->len) {
        memcpy(ring, s->ring + s->head, first);
        memcpy(ring + first, s->ring, s->len - first);
    }
    free(s->ring);
    s->ring = ring;
    s->cap = cap;
    s->head = 0;
}

/* The connection may die before the writer is done: keep the request's text in its arena. */
void exchange_keep_request(struct http_exchange *x)
{
    struct http_request *r = &x->req;
    for (size_t i = 0; i < r->nheaders; i++) {
        x->headers[i].name = str_dup(r->arena, x->headers[i].name);
        x->headers[i].value = str_dup(r->arena, x->headers[i].value);
    }
    r->method_text = str_dup(r->arena, r->method_text);
    r->remote_addr = str_dup(r->arena, r->remote_addr);
    if (r->peer_identity.ptr) {
        r->peer_identity = str_dup(r->arena, r->peer_identity);
        r->peer_fingerprint = str_dup(r->arena, r->peer_fingerprint);
    }
}

enum errc http_stream_begin(struct http_exchange *x, int status, struct str content_type, const struct http_header *headers,
                            size_t nheaders, size_t buffer_max)
{
    struct http_stream *s = calloc(1, sizeof *s);
    ASSERT(s);
    pthread_mutex_init(&s->mutex, NULL);
    s->max = buffer_max;
    exchange_keep_request(x);
    x->stream = s;
    atomic_fetch_add(&x->refs, 1);
    struct MHD_Response *m = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK, stream_read, x, NULL);
    /* To HEAD the library would send the last chunk of a body that is none, and the next answer would begin after it (0.9.75). */
    if (x->req.method == HTTP_HEAD)
        MHD_set_response_options(m, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
    bool is_gone = http_exchange_gone(x);
    exchange_answered(x, response_headers(m, content_type, headers, nheaders), status);
    return is_gone ? ERR_UNAVAILABLE : ERR_OK;
}

bool http_stream_write(struct http_exchange *x, const void *p, size_t n)
{
    struct http_stream *s = x->stream;
    bool ok = false;
    if (n == 0)
        return !http_stream_gone(x);
    pthread_mutex_lock(&s->mutex);
    if (n > s->max - s->len)
        s->overrun = true;
    if (!s->gone && !s->overrun) {
        ring_grow(s, s->len + n);
        size_t tail = (s->head + s->len) % s->cap;
        size_t first = s->cap - tail < n ? s->cap - tail : n;
        memcpy(s->ring + tail, p, first);
        memcpy(s->ring, (const char *)p + first, n - first);
        s->len += n;
        ok = true;
    }
    if (s->starved) {
        s->starved = false;
        exchange_wake(x);
    }
    pthread_mutex_unlock(&s->mutex);
    return ok;
}

bool http_stream_gone(const struct http_exchange *x)
{
    return atomic_load(&x->stream->gone) || atomic_load(&x->stream->overrun);
}

size_t http_stream_room(struct http_exchange *x)
{
    struct http_stream *s = x->stream;
    pthread_mutex_lock(&s->mutex);
    size_t room = s->max - s->len;
    pthread_mutex_unlock(&s->mutex);
    return room;
}

static void end_stream(struct http_exchange *x, bool is_whole)
{
    struct http_stream *s = x->stream;
    pthread_mutex_lock(&s->mutex);
    s->ended = true;
    if (!is_whole)
        s->overrun = true;      /* makes the next read cut the connection */
    if (s->starved) {
        s->starved = false;
        exchange_wake(x);
    }
    pthread_mutex_unlock(&s->mutex);
    exchange_unref(x);
}

void http_stream_end(struct http_exchange *x)
{
    end_stream(x, true);
}

void http_stream_abort(struct http_exchange *x)
{
    end_stream(x, false);
}

void stream_peer_gone(struct http_exchange *x, bool connection_ends)
{
    struct http_stream *s = x->stream;
    bool resume = false;
    atomic_store(&x->gone, true);
    pthread_mutex_lock(&s->mutex);
    s->gone = true;
    if (s->starved && !connection_ends) {
        s->starved = false;
        s->overrun = true;      /* makes the next read cut the connection */
        resume = true;
    }
    pthread_mutex_unlock(&s->mutex);
    if (resume)
        MHD_resume_connection(x->mhd);
}
