/* SPDX-License-Identifier: Apache-2.0 */
/* wake.c - the listener's thread owns a connection in subscriber mode and polls it together with an eventfd that ends it, and
 * with what Sentinels say. A subscriber that hears nothing for five seconds asks PING, because a dead network looks like silence. */
#include "core/redis/wake.h"
#include "core/base/assert.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/redis/dial_int.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { SILENCE_MS = 5000, SENTINEL_MS = 1000, CHANNELS_MAX = 32 };

struct wake_listener {
    struct redis_address address;
    struct redis_route *route;          /* the thread's own */
    enum errc why;                      /* of what was logged last; the thread's own */
    char *channels[CHANNELS_MAX];
    int nchannels;
    wake_fn fn;
    void *ctx;
    int stop_fd;
    atomic_bool is_up;
    pthread_t thread;
};

void wake_publish(struct redis_client *client, struct str channel, struct str payload)
{
    if (client)
        redis_publish(client, channel, payload);
}

/* Waits ms, or until fd or other is readable (-1: none such), or until the listener is to end; true: that. */
static bool wait_for(struct wake_listener *l, int fd, int other, int ms)
{
    struct pollfd fds[] = { { l->stop_fd, POLLIN, 0 }, { fd, POLLIN, 0 }, { other, POLLIN, 0 } };
    poll(fds, 3, ms);
    return fds[0].revents;
}

static enum errc confirm(struct redis_link *c, struct err *e)
{
    redisReply *r;
    TRY(redis_link_reply(c, &r, e));
    enum errc rc = r->type == REDIS_REPLY_ARRAY ? ERR_OK
                 : FAIL(e, FORBIDDEN, "SUBSCRIBE was refused: %.150s", r->type == REDIS_REPLY_ERROR ? r->str : "another type");
    freeReplyObject(r);
    return rc;
}

static enum errc subscribe(struct wake_listener *l, struct redis_link **ret, struct err *e)
{
    struct redis_link *c;
    enum errc rc = ERR_OK;
    TRY(redis_dial(l->route, &c, e));
    for (int i = 0; i < l->nchannels; i++)
        redis_link_add(c, (const struct str[]){ strchr(l->channels[i], '*') ? STR("PSUBSCRIBE") : STR("SUBSCRIBE"),
                                                str_c(l->channels[i]) }, 2);
    for (int i = 0; i < l->nchannels && rc == ERR_OK; i++)
        rc = confirm(c, e);
    if (rc == ERR_OK)
        *ret = c;
    else
        redis_link_free(c);
    return rc;
}

static struct str text_of(const redisReply *r)
{
    return str_n(r->str, r->len);
}

/* ["message", channel, payload], ["pmessage", pattern, channel, payload], ["pong", ""], or a late ["subscribe", channel, count]. */
static bool deliver(struct wake_listener *l, const redisReply *r)
{
    if (r->type != REDIS_REPLY_ARRAY || r->elements < 2 || r->elements > 4 || r->element[0]->type != REDIS_REPLY_STRING)
        return false;
    if (str_ends(text_of(r->element[0]), "subscribe"))
        return true;
    for (size_t i = 0; i < r->elements; i++)
        if (r->element[i]->type != REDIS_REPLY_STRING)
            return false;
    size_t n = r->elements;
    if (n >= 3)
        l->fn(l->ctx, text_of(r->element[n - 2]), text_of(r->element[n - 1]));
    return true;
}

/* Delivers everything that has come; false: the connection broke. */
static bool drain(struct wake_listener *l, struct redis_link *c, bool *ret_some, struct err *e)
{
    *ret_some = false;
    for (;;) {
        redisReply *r;
        if (redis_link_poll(c, &r, e) != ERR_OK)
            return false;
        if (!r)
            return true;
        bool ok = deliver(l, r);
        freeReplyObject(r);
        *ret_some = true;
        if (!ok) {
            (void)FAIL(e, UPSTREAM, "what came is no message of a channel");
            return false;
        }
    }
}

/* true: the listener is to end; false: the connection broke, or its server is no master any more. */
static bool listen_on(struct wake_listener *l, struct redis_link *c, struct err *e)
{
    int64_t heard_us = clock_mono_us(&clock_system), asked_us = 0;
    for (;;) {
        bool some;
        if (!drain(l, c, &some, e))
            return false;
        if (redis_route_moved(l->route)) {
            (void)FAIL(e, RETRY, "the master is elsewhere now");
            return false;
        }
        const int64_t now = clock_mono_us(&clock_system);
        if (some) {
            heard_us = now;
            asked_us = 0;
        } else if (asked_us && now - asked_us > l->address.timeout_ms * INT64_C(1000)) {
            (void)FAIL(e, DEADLINE, "no answer within %d ms", l->address.timeout_ms);
            return false;
        } else if (!asked_us && now - heard_us > SILENCE_MS * INT64_C(1000)) {
            redis_link_add(c, (const struct str[]){ STR("PING") }, 1);
            asked_us = now;
            continue;                   /* the next look writes it */
        }
        const int ms = l->address.master ? SENTINEL_MS : asked_us ? l->address.timeout_ms : SILENCE_MS;
        if (wait_for(l, redis_link_fd(c), redis_route_fd(l->route), ms))
            return true;
    }
}

static void say_why(struct wake_listener *l, const struct err *e)
{
    if (l->why != e->code)
        log_event(LOG_WARN, "wake.disconnected", "address", LOG_S(l->address.address), "why", LOG_S(e->msg), "detail",
                  LOG_S(e->detail), NULL);
    l->why = e->code;
}

static void *listener_main(void *arg)
{
    struct wake_listener *l = arg;
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, NULL);
    pthread_setname_np(pthread_self(), "wake");
    int pause_ms = REDIS_PAUSE_MIN_US / 1000;
    for (bool stop = false; !stop;) {
        struct redis_link *c;
        struct err e;
        const bool is_up = subscribe(l, &c, &e) == ERR_OK;
        if (is_up) {
            pause_ms = REDIS_PAUSE_MIN_US / 1000;
            l->why = ERR_OK;
            atomic_store(&l->is_up, true);
            l->fn(l->ctx, STR_NULL, STR_NULL);
            stop = listen_on(l, c, &e);
            atomic_store(&l->is_up, false);
            redis_link_free(c);
        }
        if (!stop) {
            say_why(l, &e);
            stop = wait_for(l, -1, -1, pause_ms);
        }
        if (!is_up && pause_ms < REDIS_PAUSE_MAX_US / 1000)
            pause_ms *= 2;
    }
    return NULL;
}

struct wake_listener *wake_listener_new(const struct redis_opts *o, const char *const *channels, int n, wake_fn fn, void *ctx)
{
    struct wake_listener *l = calloc(1, sizeof *l);
    ASSERT(l && n > 0 && n <= CHANNELS_MAX);
    redis_address_set(&l->address, o);
    l->route = redis_route_new(&l->address);
    for (int i = 0; i < n; i++)
        l->channels[l->nchannels++] = str_dup_heap(str_c(channels[i]));
    l->fn = fn;
    l->ctx = ctx;
    l->stop_fd = eventfd(0, EFD_CLOEXEC);
    ASSERT(l->stop_fd >= 0);
    ASSERT(pthread_create(&l->thread, NULL, listener_main, l) == 0);
    return l;
}

bool wake_listener_is_up(struct wake_listener *l)
{
    return atomic_load(&l->is_up);
}

void wake_listener_free(struct wake_listener *l)
{
    if (!l)
        return;
    atomic_store(&l->address.is_ending, true);
    eventfd_write(l->stop_fd, 1);
    pthread_join(l->thread, NULL);
    close(l->stop_fd);
    for (int i = 0; i < l->nchannels; i++)
        free(l->channels[i]);
    redis_route_free(l->route);
    redis_address_release(&l->address);
    free(l);
}

void wake_listener_freep(struct wake_listener **l)
{
    wake_listener_free(*l);
    *l = NULL;
}
