/* SPDX-License-Identifier: Apache-2.0 */
/* conn.c - connections of a loop, and which of them makes room.
 *
 * Each is in the queue of what it waits for, behind those that came into it before. What waits for the same may do so for the
 * same time, so the first of a queue is the one that has waited longest, and who is to go is found without looking at the
 * others. */
#include "core/http/accept_budget.h"
#include "core/http/deaf.h"
#include "core/http/server_int.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include "core/base/assert.h"
#include "core/base/clock.h"
#include "core/base/share_count.h"

/* --- whom the door is open to --- */

static void address_text(const struct sockaddr *sa, char out[64])
{
    char text[INET6_ADDRSTRLEN] = "unix";
    if (sa && sa->sa_family == AF_INET) {
        inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)sa)->sin_addr, text, sizeof text);
    } else if (sa && sa->sa_family == AF_INET6) {
        const struct in6_addr *a6 = &((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr;
        if (IN6_IS_ADDR_V4MAPPED(a6))
            inet_ntop(AF_INET, &a6->s6_addr[12], text, sizeof text);
        else
            inet_ntop(AF_INET6, a6, text, sizeof text);
    }
    snprintf(out, 64, "%s", text);
}

static bool has_room(const struct http_loop *l, const struct sockaddr *from)
{
    const uint8_t *address;
    size_t n = l->shares ? accept_address(from, &address) : 0;
    return !n || share_count_of(l->shares, address, n) < (size_t)l->server->o.per_address;
}

enum MHD_Result conn_may_come(void *loop, const struct sockaddr *from, socklen_t n)
{
    (void)n;
    struct http_loop *l = loop;
    const struct http_server_options *o = &l->server->o;
    int64_t now_us = clock_mono_us(&clock_system);
    bool is_in_pace = !l->accepts || accept_budget_take(l->accepts, from, now_us);
    if (is_in_pace && has_room(l, from))
        return MHD_YES;
    char text[64];
    address_text(from, text);
    if (o->is_proxy && !l->is_refusing && o->is_proxy(o->ctx, str_c(text)))
        return MHD_YES;
    if (l->accepts && accept_budget_refused(l->accepts, from))
        deaf_add(l->server->deaf, from, now_us);
    atomic_fetch_add_explicit(&l->turned_away, 1, memory_order_relaxed);
    return MHD_NO;
}

/* --- queues --- */

static void queue_leave(struct http_conn *n)
{
    if (!n->is_queued)
        return;
    struct conn_queue *q = &n->loop->queues[n->phase];
    *(n->before ? &n->before->after : &q->first) = n->after;
    *(n->after ? &n->after->before : &q->last) = n->before;
    n->after = n->before = NULL;
    n->is_queued = false;
}

static void queue_join(struct http_conn *n)
{
    struct conn_queue *q = &n->loop->queues[n->phase];
    n->before = q->last;
    *(q->last ? &q->last->after : &q->first) = n;
    q->last = n;
    n->is_queued = true;
}

void conn_enter(struct http_conn *n, enum conn_phase phase, int64_t deadline_us)
{
    queue_leave(n);
    n->phase = phase;
    n->since_us = n->loop->now_us;
    n->deadline_us = deadline_us;
    queue_join(n);
}

/* Earned time is not kept: who sent much and falls silent has no longer than who sent little, and who sends a byte now and then
 * to hold a place uses up what there is. Nor is it given for ever: whoever may connect fills memory with what he has sent, before
 * he is known. */
void conn_body_came(struct http_conn *n, size_t bytes)
{
    const struct http_server_options *o = &n->loop->server->o;
    const int64_t silence_us = o->body_deadline_ms * 1000LL, last_us = n->since_us + HTTP_BODY_SILENCES * silence_us;
    const int64_t next_us = n->loop->now_us + silence_us, most = next_us < last_us ? next_us : last_us;
    int64_t earned_us = (int64_t)((double)bytes * 1e6 / (double)o->least_bytes_per_s);
    n->deadline_us = earned_us > most - n->deadline_us ? most : n->deadline_us + earned_us;
}

void conn_sends(struct http_exchange *x)
{
    if (!x->conn || x->stream || x->upgrade.opened)
        return;                     /* a stream has its own limits, and its writer waits for it */
    const struct http_server_options *o = &x->loop->server->o;
    int64_t ms = o->body_deadline_ms + x->answer_bytes / (o->least_bytes_per_s / 1000 + 1);
    conn_enter(x->conn, CONN_SENDING, x->answer_bytes < 0 ? INT64_MAX : x->loop->now_us + ms * 1000);
}

/* The first of a queue that is not cut yet. */
static struct http_conn *first_in(struct http_loop *l, enum conn_phase phase)
{
    while (l->queues[phase].first && l->queues[phase].first->cut)
        queue_leave(l->queues[phase].first);
    return l->queues[phase].first;
}

/* Who holds a place without asking for anything gives it up before the door is closed to others: whose deadline comes first, so
 * the oldest that was silent from the start, then those between two requests; one that is sending its body only when there is no
 * other, and one that has been reading its answer for long when there is none of those either. */
static struct http_conn *to_go(struct http_loop *l, const struct http_conn *newest)
{
    struct http_conn *silent = first_in(l, CONN_HEADERS), *idle = first_in(l, CONN_IDLE);
    struct http_conn *body = first_in(l, CONN_BODY), *reader = first_in(l, CONN_SENDING);
    if (silent == newest)
        silent = NULL;              /* it is the last of the queue, too */
    if (silent && idle)
        return silent->deadline_us <= idle->deadline_us ? silent : idle;
    if (silent || idle || body)
        return silent ? silent : idle ? idle : body;
    return reader && l->now_us - reader->since_us >= l->server->o.header_deadline_ms * 1000LL ? reader : NULL;
}

static void make_room(struct http_loop *l, const struct http_conn *newest)
{
    const struct http_server *s = l->server;
    size_t most = (size_t)((s->o.max_connections + s->nloops - 1) / s->nloops);
    if (atomic_load_explicit(&l->connections, memory_order_relaxed) < most)
        return;
    struct http_conn *n = to_go(l, newest);
    if (n) {
        n->cut = true;
        shutdown(n->fd, SHUT_RDWR);
    }
}

/* --- life --- */

struct http_conn *conn_of(struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* A request whose parameters do not fit into the connection's memory is dropped by the parser after exchange_on_uri: neither
 * exchange_on_call nor exchange_on_completed ever comes, and only the connection still knows its exchange. */
static void drop_unread(struct http_conn *n)
{
    struct http_exchange *x = n->x;
    n->x = NULL;
    if (x && atomic_load(&x->state) == X_READING)
        exchange_unref(x);
}

static struct http_conn *conn_new(struct http_loop *l, struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *peer = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    struct http_conn *n = calloc(1, sizeof *n);
    ASSERT(n);
    n->loop = l;
    n->fd = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    address_text(peer ? peer->client_addr : NULL, n->remote);
    const uint8_t *address;
    size_t len = l->shares && peer ? accept_address(peer->client_addr, &address) : 0;
    if (len)
        n->share = share_count_take(l->shares, address, len);
    n->next = l->conns;
    if (n->next)
        n->next->prev = n;
    l->conns = n;
    conn_enter(n, CONN_HEADERS, clock_mono_us(&clock_system) + l->server->o.header_deadline_ms * 1000LL);
    return n;
}

static void conn_end(struct http_loop *l, struct http_conn *n)
{
    credential_take_back(n->credential);
    drop_unread(n);
    share_count_give(n->share);
    queue_leave(n);
    if (n->prev)
        n->prev->next = n->next;
    else
        l->conns = n->next;
    if (n->next)
        n->next->prev = n->prev;
    arena_free(n->peer_arena);
    free(n);
}

void exchange_on_connection(void *loop, struct MHD_Connection *c, void **socket_context, enum MHD_ConnectionNotificationCode code)
{
    struct http_loop *l = loop;
    struct http_conn *n = *socket_context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        n = *socket_context = conn_new(l, c);
        atomic_fetch_add_explicit(&l->connections, 1, memory_order_relaxed);
        make_room(l, n);
        if (l->server->cert)
            n->credential = credential_give(l, MHD_get_connection_info(c, MHD_CONNECTION_INFO_GNUTLS_SESSION)->tls_session);
    } else if (n) {
        conn_end(l, n);
        *socket_context = NULL;
        atomic_fetch_sub_explicit(&l->connections, 1, memory_order_relaxed);
    }
}
