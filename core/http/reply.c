/* SPDX-License-Identifier: Apache-2.0 */
/* reply.c - answers: made on the caller's thread, queued by the loop.
 *
 * Each loop has one ready list; the eventfd is written only when the list was empty, so a batch of answers costs one wake-up.
 * An answer that comes while on_request still runs needs neither. */
#include "core/http/server_int.h"

#include <stdlib.h>
#include <unistd.h>
#include "core/base/assert.h"

static _Thread_local struct {
    bool is_on;
    struct http_exchange *first, **tail;
} held;

/* first to last, one behind the other and all of one loop. */
static void wake_run(struct http_exchange *first, struct http_exchange *last)
{
    struct http_loop *l = first->loop;
    pthread_mutex_lock(&l->mutex);
    bool was_empty = l->ready == NULL;
    last->next = NULL;
    *l->ready_tail = first;
    l->ready_tail = &last->next;
    pthread_mutex_unlock(&l->mutex);
    if (!was_empty)
        return;
    uint64_t one = 1;
    ssize_t n = write(l->event_fd, &one, sizeof one);
    (void)n;    /* EAGAIN: the counter is full, hence readable */
}

void exchange_wake(struct http_exchange *x)
{
    wake_run(x, x);
}

void http_answers_hold(void)
{
    held.is_on = true;
    held.first = NULL;
    held.tail = &held.first;
}

void http_answers_release(void)
{
    struct http_exchange *first = held.first;
    held.is_on = false;
    while (first) {
        struct http_exchange *last = first;
        while (last->next && last->next->loop == first->loop)
            last = last->next;
        struct http_exchange *rest = last->next;
        wake_run(first, last);
        first = rest;
    }
}

void http_answers_flush(void)
{
    if (!held.is_on)
        return;
    http_answers_release();
    http_answers_hold();
}

void exchange_answered(struct http_exchange *x, struct MHD_Response *r, int status)
{
    ASSERT(r);
    x->response = r;
    x->status = status;
    int before = atomic_exchange(&x->state, X_ANSWERED);
    ASSERT((before == X_CALLING || before == X_PARKED) && "an exchange is answered once");
    if (before != X_PARKED)
        return;
    if (!held.is_on) {
        exchange_wake(x);
        return;
    }
    x->next = NULL;
    *held.tail = x;
    held.tail = &x->next;
}

/* Header text must be NUL-terminated for libmicrohttpd; a value with a control byte is a bug of the caller, dropped by it. */
static void add_header(struct MHD_Response *r, struct str name, struct str value)
{
    char small[512];
    size_t need = name.len + value.len + 2;
    char *text = need <= sizeof small ? small : malloc(need);
    ASSERT(text);
    memcpy(text, name.ptr, name.len);
    text[name.len] = 0;
    if (value.len)
        memcpy(text + name.len + 1, value.ptr, value.len);
    text[need - 1] = 0;
    MHD_add_response_header(r, text, text + name.len + 1);
    if (text != small)
        free(text);
}

struct MHD_Response *response_headers(struct MHD_Response *r, struct str type, const struct http_header *h, size_t n)
{
    ASSERT(r);
    static const struct str nosniff = { "X-Content-Type-Options", 22 };
    bool has_nosniff = false;
    if (type.ptr)
        add_header(r, STR("Content-Type"), type);
    for (size_t i = 0; i < n; i++) {
        has_nosniff |= str_eq(h[i].name, nosniff);
        add_header(r, h[i].name, h[i].value);
    }
    /* Whatever is answered, by whichever path: a browser takes it for what its type says. */
    if (!has_nosniff)
        add_header(r, nosniff, STR("nosniff"));
    return r;
}

static void reply(struct http_exchange *x, const struct http_response *r, enum MHD_ResponseMemoryMode mode)
{
    struct MHD_Response *m = MHD_create_response_from_buffer(r->body.len, (void *)(uintptr_t)(r->body.len ? r->body.ptr : ""),
                                                             r->body.len ? mode : MHD_RESPMEM_PERSISTENT);
    x->answer_bytes = (int64_t)r->body.len;
    exchange_answered(x, response_headers(m, r->content_type, r->headers, r->nheaders), r->status);
}

void http_reply(struct http_exchange *x, const struct http_response *r)
{
    reply(x, r, MHD_RESPMEM_MUST_COPY);
}

void http_reply_kept(struct http_exchange *x, const struct http_response *r)
{
    reply(x, r, MHD_RESPMEM_PERSISTENT);
}

void http_reply_buf(struct http_exchange *x, int status, struct str content_type, const struct http_header *headers,
                    size_t nheaders, struct buf *take)
{
    if (!take->ptr) {
        http_reply(x, &(struct http_response){ status, content_type, STR_NULL, headers, nheaders });
        return;
    }
    struct MHD_Response *m = MHD_create_response_from_buffer_with_free_callback(take->len, take->ptr, free);
    x->answer_bytes = (int64_t)take->len;
    *take = BUF(take->max);
    exchange_answered(x, response_headers(m, content_type, headers, nheaders), status);
}

struct producer {
    ssize_t (*read_)(void *p, void *buf, size_t n);
    void (*free_)(void *p);
    void *p;
};

static ssize_t producer_read(void *cls, uint64_t pos, char *buf, size_t max)
{
    (void)pos;
    struct producer *p = cls;
    ssize_t n = p->read_(p->p, buf, max);
    if (n > 0)
        return n;
    return n == 0 ? MHD_CONTENT_READER_END_OF_STREAM : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void producer_free(void *cls)
{
    struct producer *p = cls;
    if (p->free_)
        p->free_(p->p);
    free(p);
}

void http_reply_producer(struct http_exchange *x, int status, struct str content_type, const struct http_header *headers,
                         size_t nheaders, int64_t total, ssize_t (*read_)(void *p, void *buf, size_t n), void (*free_)(void *p),
                         void *p)
{
    enum { BLOCK = 64 * 1024 };
    struct producer *pr = malloc(sizeof *pr);
    ASSERT(pr);
    *pr = (struct producer){ read_, free_, p };
    uint64_t size = total >= 0 ? (uint64_t)total : MHD_SIZE_UNKNOWN;
    struct MHD_Response *m = MHD_create_response_from_callback(size, BLOCK, producer_read, pr, producer_free);
    x->answer_bytes = total >= 0 ? total : -1;
    exchange_answered(x, response_headers(m, content_type, headers, nheaders), status);
}
