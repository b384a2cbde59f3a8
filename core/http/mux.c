/* SPDX-License-Identifier: Apache-2.0 */
/* mux.c - starts and ends the loop, and hands calls to it.
 *
 * curl's own limits of connections are not used: what waits for one stands in a single list there, where calls to a stalled host are in
 * front of everybody else's. calls_max bounds the connections instead, and mux_door.c how many are opened at once. Other threads reach the loop by `fresh` and the eventfd only. */
#include "core/http/mux_int.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "core/base/assert.h"
#include "core/base/clock.h"

enum { IDLE_MS = 30000 };

static void wake(struct http_mux *m)
{
    uint64_t one = 1;
    ssize_t sent = write(m->wake_fd, &one, sizeof one);
    (void)sent;             /* fails only when it is awake already */
}

struct http_mux *http_mux_new(const struct http_mux_options *o)
{
    struct http_mux *m = calloc(1, sizeof *m);
    ASSERT(m);
    http_curl_start();
    m->o = *o;
    m->fresh_tail = &m->fresh;
    m->timer_us = INT64_MAX;
    pthread_mutex_init(&m->lock, NULL);
    m->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    m->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    m->o.idle_ms = o->idle_ms ? o->idle_ms : IDLE_MS;
    m->multi = mux_multi_new(m);
    ASSERT(m->epoll_fd >= 0 && m->wake_fd >= 0);
    struct epoll_event e = { .events = EPOLLIN, .data.fd = m->wake_fd };
    ASSERT(epoll_ctl(m->epoll_fd, EPOLL_CTL_ADD, m->wake_fd, &e) == 0);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    ASSERT(!pthread_create(&m->thread, NULL, mux_loop, m));
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_setname_np(m->thread, o->name);
    return m;
}

enum errc http_mux_start(struct http_mux *m, const struct http_mux_call *o, struct err *e)
{
    ASSERT(o->done && !o->call.read_body);
    struct mux_call *c = ARENA_NEW(o->arena, struct mux_call);
    c->o = *o;
    pthread_mutex_lock(&m->lock);
    bool is_stopping = m->stopping, is_full = m->count >= m->o.calls_max;
    bool is_awake = m->fresh != NULL;       /* who put the first one there wakes it */
    if (!is_stopping && !is_full) {
        http_target_ref(o->to);
        m->count++;
        *m->fresh_tail = c;
        m->fresh_tail = &c->next;
    }
    pthread_mutex_unlock(&m->lock);
    if (is_stopping)
        return FAIL(e, UNAVAILABLE, "Falaj is stopping");
    if (is_full)
        return FAIL(e, UNAVAILABLE, "%zu calls are under way, which is as many as there may be; try again", m->o.calls_max);
    if (!is_awake)
        wake(m);
    return ERR_OK;
}

size_t http_mux_calls(struct http_mux *m)
{
    pthread_mutex_lock(&m->lock);
    size_t n = m->count;
    pthread_mutex_unlock(&m->lock);
    return n;
}

void http_mux_stop(struct http_mux *m)
{
    if (m->joined)
        return;
    pthread_mutex_lock(&m->lock);
    m->stopping = true;
    pthread_mutex_unlock(&m->lock);
    wake(m);
    pthread_join(m->thread, NULL);
    m->joined = true;
}

void http_mux_free(struct http_mux *m)
{
    if (!m)
        return;
    http_mux_stop(m);
    for (int i = 0; i < m->spares; i++)
        curl_easy_cleanup(m->spare[i]);
    curl_multi_cleanup(m->multi);
    mux_doors_sweep(m);
    close(m->epoll_fd);
    close(m->wake_fd);
    pthread_mutex_destroy(&m->lock);
    free(m);
}
