/* SPDX-License-Identifier: Apache-2.0 */
/* exchange.c - the daemon's callbacks: one exchange from its request line to its end.
 *
 * How: the URI callback makes the exchange (raw target, before the parser decodes it in place); the first handler call runs the
 * guard and refuses there, which also makes libmicrohttpd close the connection; the following calls collect the body; the last
 * one hands the exchange up and, if no answer came at once, suspends the connection. The answer is queued in the call after the
 * resume. What is kept of a body while it arrives is body.c's affair.
 * Exchanges are kept on the loop's free list with their arena's first block and a small body buffer: a kept-alive request costs
 * no allocation here. */
#include "core/http/server_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include "core/base/assert.h"
#include "core/base/clock.h"

enum { FREE_MAX = 256, BODY_KEEP = 64 * 1024, PEER_KEEP_US = 60 * 1000 * 1000, BODY_RESERVE = 1 << 20 };
static const char STOPPING[] = "This server is stopping";

static const struct str METHODS[] = {
    [HTTP_GET] = { "GET", 3 }, [HTTP_HEAD] = { "HEAD", 4 }, [HTTP_POST] = { "POST", 4 }, [HTTP_PUT] = { "PUT", 3 },
    [HTTP_PATCH] = { "PATCH", 5 }, [HTTP_DELETE] = { "DELETE", 6 }, [HTTP_OPTIONS] = { "OPTIONS", 7 }, [HTTP_OTHER] = { "OTHER", 5 },
};

const char *http_method_name(enum http_method m)
{
    return METHODS[m <= HTTP_OTHER ? m : HTTP_OTHER].ptr;
}

static enum http_method method_of(struct str s)
{
    for (int i = 0; i < HTTP_OTHER; i++)
        if (str_eq(s, METHODS[i]))
            return (enum http_method)i;
    return HTTP_OTHER;
}

struct str http_header_get(const struct http_request *r, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < r->nheaders; i++)
        if (r->headers[i].name.len == n && strncasecmp(r->headers[i].name.ptr, name, n) == 0)
            return r->headers[i].value;
    return STR_NULL;
}

const struct http_request *http_exchange_request(const struct http_exchange *x)
{
    return &x->req;
}

void *http_exchange_data(const struct http_exchange *x)
{
    return x->data;
}

void http_exchange_set_data(struct http_exchange *x, void *data)
{
    x->data = data;
}

bool http_exchange_gone(const struct http_exchange *x)
{
    return atomic_load_explicit(&x->gone, memory_order_relaxed);
}

/* --- life of an exchange --- */

static struct http_exchange *exchange_take(struct http_loop *l)
{
    struct http_exchange *x = l->free_list;
    if (x) {
        l->free_list = x->next;
        l->nfree--;
    } else {
        x = calloc(1, sizeof *x);
        ASSERT(x);
        x->loop = l;
        x->req.arena = arena_new(l->server->o.arena_max);
    }
    x->next = NULL;
    atomic_store_explicit(&x->state, X_READING, memory_order_relaxed);
    atomic_store_explicit(&x->refs, 1, memory_order_relaxed);
    return x;
}

void exchange_destroy(struct http_exchange *x)
{
    arena_free(x->req.arena);
    buf_release(&x->body);
    free(x);
}

/* Forget the request, keep the memory. */
static void exchange_clear(struct http_exchange *x)
{
    if (x->response)
        MHD_destroy_response(x->response);
    stream_free(x->stream);
    struct arena *a = x->req.arena;
    arena_reset(a);
    x->req = (struct http_request){ .arena = a };
    if (x->body.cap > BODY_KEEP)
        buf_release(&x->body);
    buf_clear(&x->body);
    body_give_back(x);
    x->owner = (struct body_owner){ .n = 0 };
    x->conn = NULL;
    x->mhd = NULL;
    x->response = NULL;
    x->stream = NULL;
    x->upgrade = (struct http_upgrade){ 0 };
    x->data = NULL;
    x->first_call_done = x->counted = x->close_after = false;
    x->refused = ERR_OK;
    x->discarded = 0;
    x->status = 0;
    x->answer_bytes = 0;
    atomic_store_explicit(&x->gone, false, memory_order_relaxed);
}

struct http_stream *exchange_stream(struct http_exchange *x)
{
    return atomic_load(&x->state) == X_ANSWERED ? x->stream : NULL;
}

void exchange_unref(struct http_exchange *x)
{
    if (atomic_fetch_sub(&x->refs, 1) != 1)
        return;
    struct http_loop *l = x->loop;
    bool was_counted = x->counted;
    exchange_clear(x);
    /* A stream may end on another thread; only the loop may touch its free list. */
    if (!pthread_equal(pthread_self(), l->self) || l->nfree >= FREE_MAX) {
        exchange_destroy(x);
    } else {
        x->next = l->free_list;
        l->free_list = x;
        l->nfree++;
    }
    /* Last: whoever sees no open exchange may free the server. */
    if (was_counted)
        atomic_fetch_sub(&l->open, 1);
}

/* --- request in --- */

void *exchange_on_uri(void *loop, const char *uri, struct MHD_Connection *c)
{
    struct http_loop *l = loop;
    struct http_conn *n = conn_of(c);
    struct http_exchange *x = exchange_take(l);
    x->mhd = c;
    x->conn = n;
    x->req.received_mono_us = l->now_us;
    if (n) {
        int64_t until = l->now_us + l->server->o.header_deadline_ms * 1000LL;
        conn_enter(n, CONN_HEADERS, n->deadline_us < until ? n->deadline_us : until);
        n->x = x;
        x->req.remote_addr = str_c(n->remote);
    }
    size_t len = strlen(uri);
    x->uri_end = uri + len;
    /* The parser's first buffer has header_max bytes, and the request line begins it; 64 are for method and blanks before the
     * target. */
    if (l->server->layout_known && len + 64 < l->server->o.header_max)
        http_guard_mask((char *)(uintptr_t)x->uri_end + 1, l->server->o.header_max - len - 64);
    struct str copy = { arena_strndup(x->req.arena, uri, len), len };
    x->req.path = copy;
    x->req.query = STR_NULL;
    if (!str_cut(copy, '?', &x->req.path, &x->req.query))
        x->req.query = STR_NULL;
    return x;
}

struct header_walk {
    struct http_exchange *x;
    size_t n;
};

static enum MHD_Result take_header(void *walk, enum MHD_ValueKind kind, const char *name, size_t name_len, const char *value,
                                   size_t value_len)
{
    (void)kind;
    struct header_walk *w = walk;
    if (w->n < GUARD_HEADERS_MAX)
        w->x->headers[w->n] = (struct http_header){ { name, name_len }, { value ? value : "", value_len } };
    w->n++;
    return MHD_YES;
}

static enum errc check_peer(struct http_exchange *x, struct err *e)
{
    struct http_conn *n = x->conn;
    const struct http_server_options *o = &x->loop->server->o;
    if (!x->loop->server->ca || !n)
        return ERR_OK;
    if (n->peer_until_us <= x->loop->now_us) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(x->mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION);
        struct err why = { 0 };
        n->peer = (struct mtls_peer){ 0 };
        if (n->peer_arena)
            arena_reset(n->peer_arena);
        else
            n->peer_arena = arena_new(64 * 1024);
        int64_t now_s = clock_wall_us(&clock_system) / 1000000;
        enum errc rc = mtls_verify(info ? info->tls_session : NULL, o->tls_trust, now_s, n->peer_arena, &n->peer, &why);
        if (rc != ERR_OK && o->require_client_cert) {
            if (e)
                *e = why;
            return rc;
        }
        int64_t left_us = rc == ERR_OK ? (n->peer.not_after_s - now_s) * 1000000 : PEER_KEEP_US;
        n->peer_until_us = x->loop->now_us + (left_us < PEER_KEEP_US ? left_us : PEER_KEEP_US);
    }
    x->req.peer_identity = n->peer.identity;
    x->req.peer_fingerprint = n->peer.fingerprint;
    x->req.peer_is_registered = n->peer.is_registered;
    return ERR_OK;
}

/* Queue what http_reply left behind. */
static enum MHD_Result queue_response(struct http_exchange *x)
{
    struct MHD_Response *r = x->response;
    x->response = NULL;
    if (!r)
        return MHD_NO;
    if (!x->upgrade.opened && (x->close_after || atomic_load_explicit(&x->loop->server->draining, memory_order_relaxed)))
        MHD_add_response_header(r, "Connection", "close");
    conn_sends(x);
    enum MHD_Result ok = MHD_queue_response(x->mhd, (unsigned)x->status, r);
    MHD_destroy_response(r);
    return ok;
}

static enum MHD_Result refuse(struct http_exchange *x, enum errc code, const char *why)
{
    const struct http_server_options *o = &x->loop->server->o;
    x->close_after = true;
    x->req.body = str_n("", 0);
    if (x->conn)
        conn_enter(x->conn, CONN_HANDLING, INT64_MAX);
    atomic_store(&x->state, X_CALLING);
    if (o->reject && !x->loop->is_refusing) {
        o->reject(o->ctx, x, code, why);
    } else {
        struct http_response r = { .status = err_row(code)->http, .content_type = STR("text/plain; charset=utf-8"),
                                   .body = str_c(why) };
        http_reply(x, &r);
    }
    ASSERT(atomic_load(&x->state) == X_ANSWERED && "reject must answer before it returns");
    return queue_response(x);
}

static enum MHD_Result first_call(struct http_exchange *x, const char *method, const char *version)
{
    struct http_server *s = x->loop->server;
    struct header_walk walk = { x, 0 };
    x->first_call_done = true;
    if (x->loop->is_refusing)
        return refuse(x, ERR_UNAVAILABLE, STOPPING);
    MHD_get_connection_values_n(x->mhd, MHD_HEADER_KIND, take_header, &walk);
    x->req.headers = x->headers;
    x->req.nheaders = walk.n < GUARD_HEADERS_MAX ? walk.n : GUARD_HEADERS_MAX;
    x->req.method_text = str_c(method);
    x->req.method = method_of(x->req.method_text);
    x->req.body = str_n("", 0);
    struct err e = { 0 };
    size_t uri_len = x->req.path.len + (x->req.query.ptr ? 1 + x->req.query.len : 0);
    struct http_guard_input in = { x->req.method_text, { x->req.path.ptr, uri_len }, str_c(version), x->headers, walk.n,
                                   x->uri_end };
    const union MHD_ConnectionInfo *size = MHD_get_connection_info(x->mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (size && size->header_size > s->o.header_max)
        return refuse(x, ERR_HEADERS, "The headers are larger than this server takes");
    if (http_guard_check(&in, &e) != ERR_OK || (s->layout_known && http_guard_layout(&in, &e) != ERR_OK))
        return refuse(x, e.code, e.msg);
    if (check_peer(x, &e) != ERR_OK)
        return refuse(x, e.code, e.msg);
    size_t limit = s->o.body_limit ? s->o.body_limit(s->o.ctx, x->req.method, x->req.path) : 0;
    x->body.max = limit ? limit : s->o.body_max_default;
    int64_t length = 0;
    struct str cl = http_header_get(&x->req, "Content-Length");
    if (cl.ptr && !str_to_i64(str_trim(cl), 0, INT64_MAX, &length))
        return refuse(x, ERR_MALFORMED, "Content-Length is not a number");
    if ((uint64_t)length > x->body.max) {
        snprintf(x->refused_why, sizeof x->refused_why, "The body is larger than %zu bytes", x->body.max);
        if ((uint64_t)length > BODY_DISCARD_MAX || http_header_get(&x->req, "Expect").ptr)
            return refuse(x, ERR_TOO_LARGE, x->refused_why);
        x->refused = ERR_TOO_LARGE;
    } else if (!body_hold(x, (size_t)length)) {
        if (http_header_get(&x->req, "Expect").ptr)
            return refuse(x, x->refused, x->refused_why);
    } else if (length > 0) {
        buf_reserve(&x->body, (size_t)(length < BODY_RESERVE ? length : BODY_RESERVE));
    }
    if (x->conn)
        conn_enter(x->conn, CONN_BODY, x->loop->now_us + s->o.body_deadline_ms * 1000LL);
    return MHD_YES;
}

/* Hand the whole request up; answer at once or park the connection. */
static enum MHD_Result hand_up(struct http_exchange *x)
{
    struct http_server *s = x->loop->server;
    if (x->loop->is_refusing)
        return refuse(x, ERR_UNAVAILABLE, STOPPING);
    x->req.body = buf_str(&x->body);
    if (x->conn)
        conn_enter(x->conn, CONN_HANDLING, INT64_MAX);
    x->counted = true;
    atomic_fetch_add_explicit(&x->loop->open, 1, memory_order_relaxed);
    atomic_store(&x->state, X_CALLING);
    struct MHD_Connection *c = x->mhd;
    s->o.on_request(s->o.ctx, x);
    int seen = X_CALLING;
    if (atomic_compare_exchange_strong(&x->state, &seen, X_PARKED)) {
        /* The answer comes through the ready list, which this thread empties later: suspending now is in time. */
        MHD_suspend_connection(c);
        return MHD_YES;
    }
    return queue_response(x);
}

enum MHD_Result exchange_on_call(void *loop, struct MHD_Connection *c, const char *url, const char *method, const char *version,
                                 const char *data, size_t *len, void **con_cls)
{
    (void)loop;
    (void)c;
    (void)url;
    struct http_exchange *x = *con_cls;
    if (!x)
        return MHD_NO;
    if (!x->first_call_done)
        return first_call(x, method, version);
    if (*len) {
        size_t n = *len;
        *len = 0;
        return body_came(x, data, n);
    }
    switch (atomic_load(&x->state)) {
    case X_READING:
        return x->refused != ERR_OK ? refuse(x, x->refused, x->refused_why) : hand_up(x);
    case X_ANSWERED:
        return queue_response(x);
    default:
        return MHD_NO;      /* resumed unanswered: the server ends */
    }
}

void exchange_on_completed(void *loop, struct MHD_Connection *c, void **con_cls, enum MHD_RequestTerminationCode why)
{
    (void)c;
    (void)why;
    struct http_loop *l = loop;
    struct http_exchange *x = *con_cls;
    *con_cls = NULL;
    if (!x)
        return;
    if (x->conn) {
        x->conn->x = NULL;
        conn_enter(x->conn, CONN_IDLE, l->now_us + (l->server->o.idle_timeout_ms + l->server->o.header_deadline_ms) * 1000LL);
    }
    x->conn = NULL;
    x->mhd = NULL;
    if (exchange_stream(x))
        stream_peer_gone(x, true);
    upgrade_missed(x);
    exchange_unref(x);
}
