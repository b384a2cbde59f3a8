/* SPDX-License-Identifier: Apache-2.0 */
/* mux_loop.c - libcurl's multi interface over epoll: a turn of the loop costs as much as what has happened, not as many calls as
 * wait.
 * All of it runs on the loop's thread, but mux_multi_new the first time. */
#include "core/http/mux_int.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "core/base/assert.h"
#include "core/base/clock.h"

enum { EVENTS_MAX = 64, LOOK_US = 250 * 1000, TOLD_TOGETHER = 8 };

/* --- what curl tells --- */

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *known)
{
    (void)easy;
    struct http_mux *m = ctx;
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(m->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
        curl_multi_assign(m->multi, fd, NULL);
        return 0;
    }
    struct epoll_event e = { .events = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0),
                             .data.fd = fd };
    int rc = epoll_ctl(m->epoll_fd, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &e);
    /* A number used again, whose file curl closed without a word, or the reverse. */
    if (rc != 0 && (errno == EEXIST || errno == ENOENT))
        rc = epoll_ctl(m->epoll_fd, errno == EEXIST ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &e);
    curl_multi_assign(m->multi, fd, m);
    return rc;
}

static int on_timer(CURLM *multi, long ms, void *ctx)
{
    (void)multi;
    struct http_mux *m = ctx;
    m->timer_us = ms < 0 ? INT64_MAX : clock_mono_us(&clock_system) + ms * INT64_C(1000);
    return 0;
}

/* --- calls --- */

static void tell(struct http_mux *m, struct mux_call *c, enum errc rc, const struct http_result *r, const struct err *e)
{
    pthread_mutex_lock(&m->lock);
    m->count--;
    pthread_mutex_unlock(&m->lock);
    http_target_unref(c->o.to);
    c->o.done(c->o.ctx, rc, r, e);      /* c may be gone */
}

static void give_back(struct http_mux *m, CURL *h)
{
    if (m->spares < MUX_SPARE_MAX)
        m->spare[m->spares++] = h;
    else
        curl_easy_cleanup(h);
}

/* why: NULL, or what the caller is told whatever curl says. */
static void finish(struct http_mux *m, struct mux_call *c, CURLcode code, const char *why)
{
    struct http_result r = { 0 };
    struct err e = { 0 };
    CURL *h = c->run.curl;
    if (c->next)
        c->next->prev = c->prev;
    if (c->prev)
        c->prev->next = c->next;
    else
        m->live = c->next;
    curl_multi_remove_handle(m->multi, h);
    m->quiet_us = clock_mono_us(&clock_system);
    enum errc rc = http_running_end(&c->run, code, &r, &e);
    mux_door_leave(c, code == CURLE_OK);
    give_back(m, h);
    if (why)
        rc = FAIL(&e, UNAVAILABLE, "%s", why);
    tell(m, c, rc, &r, &e);
}

/* It has passed its door. */
static void begin(struct http_mux *m, struct mux_call *c)
{
    struct err e = { 0 };
    CURL *h = m->spares ? m->spare[--m->spares] : curl_easy_init();
    ASSERT(h);
    c->run = (struct http_running){ .bytes = &m->bytes, .bytes_max = m->o.bytes_max };
    if (http_running_begin(&c->run, h, c->o.to, &c->o.call, c->o.arena, &e) != ERR_OK) {
        give_back(m, h);
        mux_door_leave(c, !c->is_opening);      /* a connection that was free for it is so still */
        tell(m, c, e.code, NULL, &e);
        return;
    }
    mux_door_set(h, c);
    curl_easy_setopt(h, CURLOPT_PRIVATE, c);
    c->prev = NULL;
    c->next = m->live;
    if (c->next)
        c->next->prev = c;
    m->live = c;
    m->has_kept = true;
    ASSERT(curl_multi_add_handle(m->multi, h) == CURLM_OK);
}

/* --- the loop --- */

static bool take_fresh(struct http_mux *m)
{
    pthread_mutex_lock(&m->lock);
    struct mux_call *c = m->fresh;
    bool is_stopping = m->stopping;
    m->fresh = NULL;
    m->fresh_tail = &m->fresh;
    pthread_mutex_unlock(&m->lock);
    while (c) {
        struct mux_call *next = c->next;
        if (mux_door_enter(m, c))
            begin(m, c);
        c = next;
    }
    return !is_stopping;
}

static void take_ended(struct http_mux *m)
{
    int left, told = 0;
    if (m->o.before_done)
        m->o.before_done();
    for (CURLMsg *msg; (msg = curl_multi_info_read(m->multi, &left)) != NULL;) {
        struct mux_call *c = NULL;
        CURLcode code = msg->data.result;
        curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, (char **)&c);
        finish(m, c, code, NULL);
        if (++told % TOLD_TOGETHER == 0 && m->o.after_done) {      /* the first of many do not wait for the last */
            m->o.after_done();
            m->o.before_done();
        }
    }
    if (m->o.after_done)
        m->o.after_done();
}

/* Calls at their doors: why NULL: their time is over. */
static void tell_waiting(struct http_mux *m, int64_t now_us, const char *otherwise)
{
    const char *why;
    for (struct mux_call *c; (c = mux_door_ended(m, now_us, &why)) != NULL;) {
        struct err e = { 0 };
        why = why ? why : otherwise;
        enum errc rc = why ? FAIL(&e, UNAVAILABLE, "%s", why) : FAIL(&e, DEADLINE, "The server took too long");
        tell(m, c, rc, NULL, &e);
    }
}

static void take_waiting(struct http_mux *m, int64_t now_us)
{
    for (struct mux_call *c; (c = mux_door_next(m)) != NULL;) {
        struct err e = { 0 };
        if (mux_door_spend(c, now_us)) {
            begin(m, c);
            continue;
        }
        mux_door_leave(c, !c->is_opening);      /* a connection that was free for it is so still */
        tell(m, c, FAIL(&e, DEADLINE, "The server took too long"), NULL, &e);
    }
}

static void end_unwanted(struct http_mux *m, int64_t now_us)
{
    for (struct mux_call *c = m->live, *next; c; c = next) {
        next = c->next;
        if (c->o.is_unwanted && c->o.is_unwanted(c->o.ctx))
            finish(m, c, CURLE_ABORTED_BY_CALLBACK, "Nobody waits for the answer any more");
    }
    tell_waiting(m, now_us, NULL);
    mux_doors_sweep(m);
    m->look_us = now_us + LOOK_US;
}

CURLM *mux_multi_new(struct http_mux *m)
{
    CURLM *multi = curl_multi_init();
    ASSERT(multi);
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, m);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, m);
    curl_multi_setopt(multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)m->o.idle_max);
    return multi;
}

/* curl looks for connections that were ended only when a call begins, and cannot be asked to. */
static void close_kept(struct http_mux *m)
{
    curl_multi_cleanup(m->multi);
    m->multi = mux_multi_new(m);
    mux_doors_sweep(m);
    m->timer_us = INT64_MAX;
    m->has_kept = false;
}

static void turn(struct http_mux *m)
{
    struct epoll_event events[EVENTS_MAX];
    int running;
    int64_t now = clock_mono_us(&clock_system), until = m->live && m->look_us < m->timer_us ? m->look_us : m->timer_us;
    int64_t close_us = m->live || !m->has_kept ? INT64_MAX : m->quiet_us + m->o.idle_ms * INT64_C(1000);
    until = close_us < until ? close_us : until;
    int64_t ms = until == INT64_MAX ? -1 : until <= now ? 0 : (until - now + 999) / 1000;
    int n = epoll_wait(m->epoll_fd, events, EVENTS_MAX, ms > 60000 ? 60000 : (int)ms);
    for (int i = 0; i < n; i++) {
        if (events[i].data.fd == m->wake_fd) {
            uint64_t value;
            ssize_t got = read(m->wake_fd, &value, sizeof value);
            (void)got;      /* it only wakes; `fresh` says why */
            continue;
        }
        int what = (events[i].events & EPOLLIN ? CURL_CSELECT_IN : 0) | (events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                   (events[i].events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
        curl_multi_socket_action(m->multi, events[i].data.fd, what, &running);
    }
    now = clock_mono_us(&clock_system);
    if (now >= m->timer_us) {
        m->timer_us = INT64_MAX;
        curl_multi_socket_action(m->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    }
    take_ended(m);
    if (m->live && now >= m->look_us)
        end_unwanted(m, now);
    take_waiting(m, now);
    if (!m->live && m->has_kept && now >= m->quiet_us + m->o.idle_ms * INT64_C(1000))
        close_kept(m);
}

void *mux_loop(void *arg)
{
    struct http_mux *m = arg;
    while (take_fresh(m))
        turn(m);
    while (m->live)
        finish(m, m->live, CURLE_ABORTED_BY_CALLBACK, "Falaj is stopping");
    tell_waiting(m, INT64_MAX, "Falaj is stopping");
    return NULL;
}
