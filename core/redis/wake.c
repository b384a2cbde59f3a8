/* SPDX-License-Identifier: Apache-2.0 */
/* wake.c - the listener's thread owns a connection in subscriber mode and polls it together with an eventfd that ends it. A subscriber
 * that hears nothing for 15 s asks PING, because a dead network looks like silence. */
#include "core/redis/wake.h"
#include "core/base/assert.h"
#include "core/base/log.h"
#include "core/redis/client_int.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { SILENCE_MS = 15000, CHANNELS_MAX = 32 };

struct wake_listener {
    struct redis_address address;
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

/* Waits ms or until the listener is to end; true: end. fd (or -1): also until it is readable. */
static bool wait_for(struct wake_listener *l, int fd, int ms, bool *ret_readable)
{
    struct pollfd fds[] = { { l->stop_fd, POLLIN, 0 }, { fd, POLLIN, 0 } };
    poll(fds, fd >= 0 ? 2 : 1, ms);
    if (ret_readable)
        *ret_readable = fds[1].revents;
    return fds[0].revents;
}

static redisContext *subscribe(struct wake_listener *l)
{
    redisContext *c = redis_dial(&l->address);
    if (!c)
        return NULL;
    for (int i = 0; i < l->nchannels; i++)
        redisAppendCommand(c, strchr(l->channels[i], '*') ? "PSUBSCRIBE %s" : "SUBSCRIBE %s", l->channels[i]);
    for (int i = 0; i < l->nchannels; i++) {
        redisReply *r = NULL;
        bool ok = redisGetReply(c, (void **)&r) == REDIS_OK && r && r->type == REDIS_REPLY_ARRAY;
        if (r)
            freeReplyObject(r);
        if (!ok) {
            redisFree(c);
            return NULL;
        }
    }
    return c;
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

/* Delivers everything that has been read so far. */
static bool drain(struct wake_listener *l, redisContext *c)
{
    for (;;) {
        redisReply *r = NULL;
        if (redisGetReplyFromReader(c, (void **)&r) != REDIS_OK)
            return false;
        if (!r)
            return true;
        bool ok = deliver(l, r);
        freeReplyObject(r);
        if (!ok)
            return false;
    }
}

/* true: the listener is to end; false: the connection broke. */
static bool listen_on(struct wake_listener *l, redisContext *c)
{
    bool is_asked = false, is_readable;
    for (;;) {
        if (wait_for(l, c->fd, SILENCE_MS, &is_readable))
            return true;
        if (!is_readable && is_asked)
            return false;
        if (!is_readable) {
            int done = 0;
            redisAppendCommand(c, "PING");
            while (!done)
                if (redisBufferWrite(c, &done) != REDIS_OK)
                    return false;
            is_asked = true;
            continue;
        }
        is_asked = false;
        if (redisBufferRead(c) != REDIS_OK || !drain(l, c))
            return false;
    }
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
        redisContext *c = subscribe(l);
        if (c) {
            pause_ms = REDIS_PAUSE_MIN_US / 1000;
            atomic_store(&l->is_up, true);
            l->fn(l->ctx, STR_NULL, STR_NULL);
            stop = !drain(l, c) ? false : listen_on(l, c);
            atomic_store(&l->is_up, false);
            redisFree(c);
            if (!stop)
                log_event(LOG_WARN, "wake.disconnected", "address", LOG_S(l->address.address), NULL);
        }
        if (!stop)
            stop = wait_for(l, -1, pause_ms, NULL);
        if (!c && pause_ms < REDIS_PAUSE_MAX_US / 1000)
            pause_ms *= 2;
    }
    return NULL;
}

struct wake_listener *wake_listener_new(const struct redis_opts *o, const char *const *channels, int n, wake_fn fn, void *ctx)
{
    struct wake_listener *l = calloc(1, sizeof *l);
    ASSERT(l && n > 0 && n <= CHANNELS_MAX);
    redis_address_set(&l->address, o);
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
    eventfd_write(l->stop_fd, 1);
    pthread_join(l->thread, NULL);
    close(l->stop_fd);
    for (int i = 0; i < l->nchannels; i++)
        free(l->channels[i]);
    redis_address_release(&l->address);
    free(l);
}

void wake_listener_freep(struct wake_listener **l)
{
    wake_listener_free(*l);
    *l = NULL;
}
