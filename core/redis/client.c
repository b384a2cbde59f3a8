/* SPDX-License-Identifier: Apache-2.0 */
/* client.c - two arrays of commands that change places: callers fill one under the lock while the thread sends the other as one
 * pipeline and reads its replies. An idle thread asks PING once a second, so that is_up is true to a second. */
#include "core/redis/client_int.h"
#include "core/base/assert.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/mono_cond.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { QUEUE_MAX = 1024, IDLE_PING_US = 1000000 };

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
    redisContext *conn;                 /* the thread's own */
    struct cmd *sending;                /* the thread's own */
    pthread_mutex_t lock;               /* guards all below */
    pthread_cond_t wake, changed;
    struct cmd *filling;
    int count;
    enum state state;
    bool is_stopping;
    struct redis_stats stats;
};

void redis_address_set(struct redis_address *a, const struct redis_opts *o)
{
    a->address = str_dup_heap(str_c(o->address));
    a->user = o->user && *o->user ? str_dup_heap(str_c(o->user)) : NULL;
    a->password = o->password && *o->password ? str_dup_heap(str_c(o->password)) : NULL;
    a->timeout_ms = o->timeout_ms > 0 ? o->timeout_ms : 1000;
}

void redis_address_release(struct redis_address *a)
{
    free(a->address);
    free(a->user);
    free(a->password);
}

static redisContext *connect_to(const struct redis_address *a)
{
    struct timeval t = { a->timeout_ms / 1000, a->timeout_ms % 1000 * 1000 };
    if (strncmp(a->address, "unix:", 5) == 0)
        return redisConnectUnixWithTimeout(a->address + 5, t);
    const char *colon = strrchr(a->address, ':');
    int64_t port = 6379;
    if (colon && !str_to_i64(str_c(colon + 1), 1, 65535, &port))
        return NULL;
    char host[256] = "";
    size_t n = colon ? (size_t)(colon - a->address) : strlen(a->address);
    if (n == 0 || n >= sizeof host)
        return NULL;
    memcpy(host, a->address, n);
    return redisConnectWithTimeout(host, (int)port, t);
}

redisContext *redis_dial(const struct redis_address *a)
{
    redisContext *c = connect_to(a);
    if (!c)
        return NULL;
    struct timeval t = { a->timeout_ms / 1000, a->timeout_ms % 1000 * 1000 };
    bool ok = !c->err && redisSetTimeout(c, t) == REDIS_OK;
    if (ok && a->password) {
        redisReply *r = a->user ? redisCommand(c, "AUTH %s %s", a->user, a->password) : redisCommand(c, "AUTH %s", a->password);
        ok = r && r->type == REDIS_REPLY_STATUS;
        if (r)
            freeReplyObject(r);
    }
    if (ok) {
        redisReply *r = redisCommand(c, "PING");        /* a server that wants a password says so here */
        ok = r && r->type == REDIS_REPLY_STATUS;
        if (r)
            freeReplyObject(r);
    }
    if (ok)
        return c;
    redisFree(c);
    return NULL;
}

static void set_state(struct redis_client *c, enum state s)
{
    pthread_mutex_lock(&c->lock);
    bool is_new = c->state != s;
    c->state = s;
    if (s == UP && is_new)
        c->stats.connects++;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    if (is_new)
        log_event(s == UP ? LOG_INFO : LOG_WARN, s == UP ? "redis.up" : "redis.down", "address", LOG_S(c->address.address), NULL);
}

static void append(redisContext *conn, const struct cmd *cmd)
{
    const char *argv[REDIS_ARGS_MAX], *at = cmd->bytes;
    for (int i = 0; i < cmd->argc; i++) {
        argv[i] = at;
        at += cmd->lens[i];
    }
    redisAppendCommandArgv(conn, cmd->argc, argv, cmd->lens);
}

/* One reply; false: the connection is of no use any more. */
static bool read_reply(redisContext *conn, const struct cmd *cmd, bool *ret_ok, int64_t *ret_value)
{
    redisReply *r = NULL;
    *ret_ok = false;
    *ret_value = 0;
    if (redisGetReply(conn, (void **)&r) != REDIS_OK || !r)
        return false;
    int want = cmd->want == REDIS_INT ? REDIS_REPLY_INTEGER : cmd->want == REDIS_STATUS ? REDIS_REPLY_STATUS : r->type;
    bool is_error = r->type == REDIS_REPLY_ERROR, fits = r->type == want;
    if (fits && !is_error) {
        *ret_ok = true;
        *ret_value = r->type == REDIS_REPLY_INTEGER ? r->integer : 0;
    }
    freeReplyObject(r);
    return is_error || fits;
}

static void send_batch(struct redis_client *c, int n)
{
    bool is_alive = c->conn != NULL;
    int failed = 0;
    for (int i = 0; is_alive && i < n; i++)
        append(c->conn, &c->sending[i]);
    for (int i = 0; i < n; i++) {
        const struct cmd *cmd = &c->sending[i];
        bool ok = false;
        int64_t value = 0;
        if (is_alive)
            is_alive = read_reply(c->conn, cmd, &ok, &value);
        failed += !ok;
        if (cmd->fn)
            cmd->fn(cmd->ctx, ok, value);
    }
    pthread_mutex_lock(&c->lock);
    c->stats.sent += n - failed;
    c->stats.failed += failed;
    pthread_mutex_unlock(&c->lock);
    if (!is_alive && c->conn) {
        redisFree(c->conn);
        c->conn = NULL;
        set_state(c, DOWN);
    }
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
    if (!c->is_stopping && (c->count == 0 || pause_us != IDLE_PING_US))
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
    static const struct cmd ping = { .argc = 1, .lens = { 4 }, .bytes = "PING", .want = REDIS_STATUS };
    int64_t pause_us = REDIS_PAUSE_MIN_US;
    for (bool stop = false; !stop;) {
        if (!c->conn && (c->conn = redis_dial(&c->address))) {
            pause_us = REDIS_PAUSE_MIN_US;
            set_state(c, UP);
        } else if (!c->conn) {
            set_state(c, DOWN);
        }
        int n = take_batch(c, c->conn ? IDLE_PING_US : pause_us, &stop);
        if (!c->conn && pause_us < REDIS_PAUSE_MAX_US)
            pause_us *= 2;
        if (n == 0 && !stop && c->conn) {
            c->sending[0] = ping;
            n = 1;
        }
        send_batch(c, n);
    }
    if (c->conn)
        redisFree(c->conn);
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
    pthread_mutex_lock(&c->lock);
    c->is_stopping = true;
    pthread_cond_signal(&c->wake);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->thread, NULL);
    pthread_cond_destroy(&c->wake);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
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
