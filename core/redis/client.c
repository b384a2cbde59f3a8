/* SPDX-License-Identifier: Apache-2.0 */
/* client.c - two arrays of commands that change places: callers fill one under the lock while the thread sends the other as one
 * pipeline and reads its replies. Once a second the thread looks at what it is connected to, so that is_up is
 * true to a second. */
#include "core/redis/client_int.h"
#include "core/base/assert.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/mono_cond.h"
#include "core/redis/dial_int.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { QUEUE_MAX = 1024, LOOK_US = 1000000 };

struct cmd {
    int argc;
    size_t lens[REDIS_ARGS_MAX];
    char bytes[REDIS_BYTES_MAX];        /* the arguments, one behind the other */
    enum redis_reply_type want;
    bool is_publish;
    redis_reply_fn fn;
    void *ctx;
};

enum state { UNTRIED, UP, DOWN };

struct redis_client {
    struct redis_address address;
    pthread_t thread;
    /* the thread's own, down to lock */
    struct redis_route *route;
    struct redis_link *conn;
    int64_t look_at_us;
    enum errc why;                      /* of what was logged last while it is down */
    struct cmd *sending;
    pthread_mutex_t lock;               /* guards all below */
    pthread_cond_t wake, changed;
    struct cmd *filling;
    int count;
    enum state state;
    bool is_stopping;
    struct redis_stats stats;
};

static void set_state(struct redis_client *c, enum state s)
{
    pthread_mutex_lock(&c->lock);
    if (s == UP && c->state != UP)
        c->stats.connects++;
    c->state = s;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static void is_up_now(struct redis_client *c)
{
    set_state(c, UP);
    c->why = ERR_OK;
    log_event(LOG_INFO, "redis.up", "address", LOG_S(c->address.address), NULL);
}

/* Said once for each kind of reason, not for each try. */
static void is_down_now(struct redis_client *c, const struct err *e)
{
    redis_link_free(c->conn);
    c->conn = NULL;
    set_state(c, DOWN);
    if (c->why != e->code)
        log_event(LOG_WARN, "redis.down", "address", LOG_S(c->address.address), "why", LOG_S(e->msg), "detail", LOG_S(e->detail),
                  NULL);
    c->why = e->code;
}

static void append(struct redis_link *conn, const struct cmd *cmd)
{
    const char *argv[REDIS_ARGS_MAX], *at = cmd->bytes;
    for (int i = 0; i < cmd->argc; i++) {
        argv[i] = at;
        at += cmd->lens[i];
    }
    redis_link_add_argv(conn, cmd->argc, argv, cmd->lens);
}

/* One reply; an error: the connection is of no use any more. */
static enum errc read_reply(struct redis_link *conn, const struct cmd *cmd, bool *ret_ok, int64_t *ret_value, struct err *e)
{
    redisReply *r = NULL;
    TRY(redis_link_reply(conn, &r, e));
    int want = cmd->want == REDIS_INT ? REDIS_REPLY_INTEGER : cmd->want == REDIS_STATUS ? REDIS_REPLY_STATUS : r->type;
    bool is_error = r->type == REDIS_REPLY_ERROR, fits = r->type == want;
    /* Its master was taken from it since ROLE was asked. */
    bool is_replica = is_error && str_starts(str_n(r->str, r->len), "READONLY");
    if (fits && !is_error) {
        *ret_ok = true;
        *ret_value = r->type == REDIS_REPLY_INTEGER ? r->integer : 0;
    }
    freeReplyObject(r);
    if (is_replica)
        return FAIL(e, FORBIDDEN, "it is a replica now and takes no writes");
    return is_error || fits ? ERR_OK : FAIL(e, UPSTREAM, "an answer of another type than the command has");
}

static void send_batch(struct redis_client *c, int n)
{
    enum errc rc = c->conn ? ERR_OK : ERR_UNAVAILABLE;
    struct err e;
    int failed = 0;
    for (int i = 0; rc == ERR_OK && i < n; i++)
        append(c->conn, &c->sending[i]);
    for (int i = 0; i < n; i++) {
        const struct cmd *cmd = &c->sending[i];
        bool ok = false;
        int64_t value = 0;
        if (rc == ERR_OK)
            rc = read_reply(c->conn, cmd, &ok, &value, &e);
        failed += !ok;
        if (cmd->fn)
            cmd->fn(cmd->ctx, ok, value);
    }
    pthread_mutex_lock(&c->lock);
    c->stats.sent += n - failed;
    c->stats.failed += failed;
    pthread_mutex_unlock(&c->lock);
    if (rc != ERR_OK && c->conn)
        is_down_now(c, &e);
}

static enum errc ping(struct redis_link *conn, struct err *e)
{
    static const struct cmd cmd = { .argc = 1, .lens = { 4 }, .bytes = "PING", .want = REDIS_STATUS };
    bool ok = false;
    int64_t value;
    append(conn, &cmd);
    TRY(read_reply(conn, &cmd, &ok, &value, e));
    return ok ? ERR_OK : FAIL(e, FORBIDDEN, "PING was refused");
}

/* Once a second: does it answer, and is it still who takes writes? */
static void look(struct redis_client *c)
{
    struct err e;
    const int64_t now = clock_mono_us(&clock_system);
    if (!c->conn || now < c->look_at_us)
        return;
    c->look_at_us = now + LOOK_US;
    enum errc rc = redis_route_moved(c->route) ? FAIL(&e, RETRY, "the master is elsewhere now")
                 : redis_route_is_tcp(c->route) ? redis_ask_role(c->conn, &e) : ping(c->conn, &e);
    if (rc != ERR_OK)
        is_down_now(c, &e);
}

static void wait_us(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t us)
{
    int64_t until = clock_mono_us(&clock_system) + us;
    mono_cond_wait(cond, lock, until);
}

/* Waits for commands and takes them; 0: none came in time. */
static int take_batch(struct redis_client *c, int64_t pause_us, bool *ret_stop)
{
    pthread_mutex_lock(&c->lock);
    if (!c->is_stopping && (c->count == 0 || pause_us != LOOK_US))
        wait_us(&c->wake, &c->lock, pause_us);
    int n = c->count;
    struct cmd *full = c->filling;
    c->filling = c->sending;
    c->sending = full;
    c->count = 0;
    *ret_stop = c->is_stopping;
    pthread_mutex_unlock(&c->lock);
    return n;
}

static void *client_main(void *arg)
{
    struct redis_client *c = arg;
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, NULL);
    pthread_setname_np(pthread_self(), "redis");
    int64_t pause_us = REDIS_PAUSE_MIN_US;
    for (bool stop = false; !stop;) {
        struct err e;
        if (!c->conn && redis_dial(c->route, &c->conn, &e) == ERR_OK) {
            pause_us = REDIS_PAUSE_MIN_US;
            c->look_at_us = clock_mono_us(&clock_system) + LOOK_US;
            is_up_now(c);
        } else if (!c->conn) {
            is_down_now(c, &e);
        }
        int n = take_batch(c, c->conn ? LOOK_US : pause_us, &stop);
        if (!c->conn && pause_us < REDIS_PAUSE_MAX_US)
            pause_us *= 2;
        if (n || stop)
            send_batch(c, n);
        look(c);
    }
    redis_link_free(c->conn);
    return NULL;
}

struct redis_client *redis_client_new(const struct redis_opts *o)
{
    struct redis_client *c = calloc(1, sizeof *c);
    ASSERT(c);
    c->sending = calloc(QUEUE_MAX, sizeof *c->sending);
    c->filling = calloc(QUEUE_MAX, sizeof *c->filling);
    ASSERT(c->sending && c->filling);
    redis_address_set(&c->address, o);
    c->route = redis_route_new(&c->address);
    pthread_mutex_init(&c->lock, NULL);
    mono_cond_init(&c->wake);
    mono_cond_init(&c->changed);
    ASSERT(pthread_create(&c->thread, NULL, client_main, c) == 0);
    return c;
}

void redis_client_free(struct redis_client *c)
{
    if (!c)
        return;
    atomic_store(&c->address.is_ending, true);
    pthread_mutex_lock(&c->lock);
    c->is_stopping = true;
    pthread_cond_signal(&c->wake);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->thread, NULL);
    pthread_cond_destroy(&c->wake);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    redis_route_free(c->route);
    redis_address_release(&c->address);
    free(c->sending);
    free(c->filling);
    free(c);
}

void redis_client_freep(struct redis_client **c)
{
    redis_client_free(*c);
    *c = NULL;
}

static bool fill(struct cmd *cmd, const struct str *argv, int argc)
{
    size_t at = 0;
    if (argc < 1 || argc > REDIS_ARGS_MAX)
        return false;
    for (int i = 0; i < argc; i++) {
        if (argv[i].len > REDIS_BYTES_MAX - at)
            return false;
        if (argv[i].len)
            memcpy(cmd->bytes + at, argv[i].ptr, argv[i].len);
        cmd->lens[i] = argv[i].len;
        at += argv[i].len;
    }
    cmd->argc = argc;
    return true;
}

/* With the lock held. */
static bool enqueue(struct redis_client *c, const struct str *argv, int argc, struct cmd **ret)
{
    if (c->is_stopping || c->state == DOWN || c->count == QUEUE_MAX || !fill(&c->filling[c->count], argv, argc)) {
        c->stats.dropped++;
        return false;
    }
    *ret = &c->filling[c->count++];
    pthread_cond_signal(&c->wake);
    return true;
}

bool redis_send(struct redis_client *c, const struct str *argv, int argc, enum redis_reply_type want, redis_reply_fn fn, void *ctx)
{
    struct cmd *cmd;
    pthread_mutex_lock(&c->lock);
    bool ok = enqueue(c, argv, argc, &cmd);
    if (ok) {
        cmd->want = want;
        cmd->is_publish = false;
        cmd->fn = fn;
        cmd->ctx = ctx;
    }
    pthread_mutex_unlock(&c->lock);
    return ok;
}

static bool is_publish_to(const struct cmd *cmd, struct str channel)
{
    return cmd->is_publish && cmd->lens[1] == channel.len && memcmp(cmd->bytes + cmd->lens[0], channel.ptr, channel.len) == 0;
}

bool redis_publish(struct redis_client *c, struct str channel, struct str payload)
{
    const struct str argv[] = { STR("PUBLISH"), channel, payload };
    struct cmd *cmd = NULL;
    pthread_mutex_lock(&c->lock);
    for (int i = 0; i < c->count && !cmd; i++)
        if (is_publish_to(&c->filling[i], channel))
            cmd = &c->filling[i];
    bool ok = cmd ? fill(cmd, argv, 3) : enqueue(c, argv, 3, &cmd);
    if (ok) {
        cmd->want = REDIS_INT;
        cmd->is_publish = true;
        cmd->fn = NULL;
    }
    pthread_mutex_unlock(&c->lock);
    return ok;
}

bool redis_is_up(struct redis_client *c)
{
    pthread_mutex_lock(&c->lock);
    bool is_up = c->state == UP;
    pthread_mutex_unlock(&c->lock);
    return is_up;
}

enum errc redis_ping(struct redis_client *c, int timeout_ms, struct err *e)
{
    pthread_mutex_lock(&c->lock);
    if (c->state != UP)
        wait_us(&c->changed, &c->lock, (timeout_ms < 50 ? timeout_ms : 50) * 1000LL);
    bool is_up = c->state == UP;
    pthread_mutex_unlock(&c->lock);
    return is_up ? ERR_OK : FAIL(e, UNAVAILABLE, "Redis cannot be reached");
}

void redis_client_stats(struct redis_client *c, struct redis_stats *ret)
{
    pthread_mutex_lock(&c->lock);
    *ret = c->stats;
    pthread_mutex_unlock(&c->lock);
}
