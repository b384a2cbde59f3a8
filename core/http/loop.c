/* SPDX-License-Identifier: Apache-2.0 */
/* loop.c - one libmicrohttpd daemon, one thread, one eventfd each.
 *
 * libmicrohttpd's own epoll thread stalls when a multiple of 128 connections becomes readable at once, so the loop is ours: wait
 * on the daemon's epoll descriptor and our eventfd, resume what is ready, run the daemon. Its timeouts count inactivity only;
 * the reaper here holds connections to absolute deadlines, several times a second, and notices peers that left while parked. */
#include "core/http/deaf.h"
#include "core/http/server_int.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
#include "core/base/clock.h"

enum { TURN_MAX_MS = 1000, POLL_EVERY_US = 1000 * 1000, POLL_BATCH = 256 };

static const char TIMEOUT_REPLY[] = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/* --- the reaper --- */

static void conn_cut(struct http_conn *n, bool tell)
{
    if (n->cut)
        return;
    n->cut = true;
    if (tell && !n->loop->server->cert) {
        ssize_t sent = send(n->fd, TIMEOUT_REPLY, sizeof TIMEOUT_REPLY - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
        (void)sent;     /* a courtesy: the connection ends anyway */
    }
    shutdown(n->fd, SHUT_RDWR);
}

static void peer_left(struct http_conn *n)
{
    if (!n->x)
        return;
    if (exchange_stream(n->x))
        stream_peer_gone(n->x, false);
    else
        atomic_store(&n->x->gone, true);
    upgrade_peer_gone(n->x);
}

static bool is_known_gone(struct http_exchange *x)
{
    struct http_stream *s = exchange_stream(x);
    return s ? atomic_load(&s->gone) : http_exchange_gone(x);
}

/* Parked connections are invisible to the daemon: ask the kernel whether their peers are still there. */
static void poll_parked(struct http_loop *l)
{
    struct pollfd f[POLL_BATCH];
    struct http_conn *who[POLL_BATCH];
    nfds_t n = 0;
    for (struct http_conn *c = l->conns; c || n > 0;) {
        if (c) {
            if (c->phase == CONN_HANDLING && c->x && !is_known_gone(c->x)) {
                f[n] = (struct pollfd){ c->fd, POLLRDHUP, 0 };
                who[n++] = c;
            }
            c = c->next;
        }
        if (n == POLL_BATCH || (!c && n > 0)) {
            if (poll(f, n, 0) > 0)
                for (nfds_t i = 0; i < n; i++)
                    if (f[i].revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL))
                        peer_left(who[i]);
            n = 0;
        }
    }
}

static int64_t reap_every_us(const struct http_server_options *o)
{
    int64_t ms = o->header_deadline_ms < o->body_deadline_ms ? o->header_deadline_ms : o->body_deadline_ms;
    ms /= 4;
    return (ms < 10 ? 10 : ms > 250 ? 250 : ms) * 1000;
}

static void reap(struct http_loop *l)
{
    struct http_server *s = l->server;
    bool draining = atomic_load(&s->draining);
    for (struct http_conn *n = l->conns; n; n = n->next) {
        struct http_stream *stream = n->x ? exchange_stream(n->x) : NULL;
        if (l->now_us >= n->deadline_us)
            conn_cut(n, n->phase != CONN_IDLE && n->phase != CONN_SENDING);
        else if (draining && n->phase == CONN_IDLE)
            conn_cut(n, false);
        else if (stream && atomic_load(&stream->overrun))
            conn_cut(n, false);
    }
    credential_sweep(l);
    l->reap_at_us = l->now_us + reap_every_us(&s->o);
    if (l->now_us >= l->poll_at_us) {
        poll_parked(l);
        l->poll_at_us = l->now_us + POLL_EVERY_US;
    }
}

/* --- the loop --- */

/* Resume what was answered or has stream bytes; true if there was any. */
static bool resume_ready(struct http_loop *l)
{
    pthread_mutex_lock(&l->mutex);
    struct http_exchange *x = l->ready;
    l->ready = NULL;
    l->ready_tail = &l->ready;
    pthread_mutex_unlock(&l->mutex);
    bool any = x != NULL;
    while (x) {
        struct http_exchange *next = x->next;
        if (!upgrade_close(x))
            MHD_resume_connection(x->mhd);
        x = next;
    }
    return any;
}

static int turn_timeout_ms(struct http_loop *l)
{
    MHD_UNSIGNED_LONG_LONG ms;
    int64_t left = (l->reap_at_us - l->now_us) / 1000 + 1;
    if (left > TURN_MAX_MS)
        left = TURN_MAX_MS;
    if (MHD_get_timeout(l->daemon, &ms) == MHD_YES && (int64_t)ms < left)
        left = (int64_t)ms;
    return (int)(left < 0 ? 0 : left);
}

static void quiesce(struct http_loop *l)
{
    if (l->quiesced)
        return;
    l->quiesced = true;
    MHD_socket fd = MHD_quiesce_daemon(l->daemon);
    if (fd != MHD_INVALID_SOCKET)
        close(fd);
    l->reap_at_us = l->now_us;          /* connections that are idle need not wait for their end */
}

/* Nothing may stay suspended when the daemon stops. */
static void end_all(struct http_loop *l)
{
    resume_ready(l);
    for (struct http_conn *n = l->conns; n; n = n->next) {
        struct http_exchange *x = n->x;
        if (!x)
            continue;
        struct http_stream *stream = exchange_stream(x);
        if (x->upgrade.was_opened) {
            http_upgrade_end(x);
            (void)upgrade_close(x);
        } else if (stream) {
            bool is_ended = stream->ended;
            stream_peer_gone(x, false);
            if (!is_ended)
                exchange_unref(x);      /* the writer's reference: it must not come back */
        } else if (atomic_load(&x->state) == X_PARKED) {
            MHD_resume_connection(x->mhd);
        }
    }
    MHD_run(l->daemon);
}

static void *loop_main(void *arg)
{
    struct http_loop *l = arg;
    struct http_server *s = l->server;
    l->self = pthread_self();
    struct pollfd f[2] = { { l->epoll_fd, POLLIN, 0 }, { l->event_fd, POLLIN, 0 } };
    l->now_us = clock_mono_us(&clock_system);
    while (!atomic_load_explicit(&s->stopping, memory_order_relaxed)) {
        int ms = turn_timeout_ms(l);
        if (poll(f, 2, ms) > 0 && f[1].revents) {
            uint64_t n;
            ssize_t got = read(l->event_fd, &n, sizeof n);
            (void)got;
        }
        l->now_us = clock_mono_us(&clock_system);
        if (atomic_load_explicit(&s->refusing, memory_order_relaxed))
            atomic_store(&l->is_refusing, true);
        resume_ready(l);
        MHD_run(l->daemon);
        deaf_look(s->deaf, l->now_us);
        if (atomic_load_explicit(&s->draining, memory_order_relaxed))
            quiesce(l);
        if (l->now_us >= l->reap_at_us)
            reap(l);
    }
    end_all(l);
    return NULL;
}

enum errc loop_start(struct http_loop *l, int index, struct err *e)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&l->thread, NULL, loop_main, l);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc != 0) {
        FAIL(e, IO, "cannot start an HTTP thread");
        return err_errno(e, rc);
    }
    l->started = true;
    char name[16];
    snprintf(name, sizeof name, "http-%d", index);
    pthread_setname_np(l->thread, name);
    return ERR_OK;
}
