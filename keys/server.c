/* SPDX-License-Identifier: Apache-2.0 */
/* server.c - the Unix socket of falaj-keyd: who may call, one thread per connection, and an orderly end.
 *
 * The main thread waits on the listening socket and on a signalfd; the signals are blocked in every thread. To end, it shuts all
 * connections down, which wakes their threads, and waits until the last has left. Threads are joined, by the main thread alone, before
 * their slot is used again and at the end: what libraries keep per thread is gone before the process ends. */
#include "keys/server.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/base/mono_cond.h"
#include "core/base/notify.h"
#include "keys/keyd_wire.h"

enum { STACK_BYTES = 512 * 1024, LISTEN_QUEUE = 128, LEAVE_S = 5 };

struct connection_arg {
    struct keyd *k;
    int slot;
    int fd;
};

static enum errc fail_os(struct err *e, const char *what, const char *on)
{
    int saved = errno;
    (void)FAIL(e, UNAVAILABLE, "%s %s failed", what, on);
    (void)err_errno(e, saved);
    return ERR_UNAVAILABLE;
}

static void stores_close(struct keyd *k)
{
    if (k->provider)
        k->options.provider->close(k->provider);
    k->provider = NULL;
    for (size_t i = 0; i < k->options.n_tenant_roots; i++) {
        if (k->tenant_provider[i])
            k->options.tenant_roots[i].provider->close(k->tenant_provider[i]);
        k->tenant_provider[i] = NULL;
    }
}

/* All or none. */
static enum errc stores_open(struct keyd *k, struct err *e)
{
    enum errc rc = k->options.provider->open(&k->options.provider_config, &k->provider, e);
    for (size_t i = 0; i < k->options.n_tenant_roots && rc == ERR_OK; i++) {
        const struct keyd_tenant_root *r = &k->options.tenant_roots[i];
        rc = r->provider->open(&r->config, &k->tenant_provider[i], e);
    }
    if (rc != ERR_OK)
        stores_close(k);
    return rc;
}

/* Any of them; e has the reason. Their health may bring them back by itself. */
static bool stores_are_sealed(struct keyd *k, struct err *e)
{
    bool is_sealed = k->options.provider->health(k->provider, e) != ERR_OK;
    for (size_t i = 0; i < k->options.n_tenant_roots && !is_sealed; i++)
        is_sealed = k->options.tenant_roots[i].provider->health(k->tenant_provider[i], e) != ERR_OK;
    return is_sealed;
}

enum errc keyd_new(const struct keyd_options *o, struct keyd **ret, struct err *e)
{
    const struct tkek_ref probe = { .zone = o->provider_config.zone, .purpose = STR("data"), .version = 1 };
    TRY(tkek_ref_check(&probe, e));
    struct keyd *k = calloc(1, sizeof *k);
    if (!k)
        return FAIL(e, LIMIT, "no memory for the key service");
    k->options = *o;
    snprintf(k->zone, sizeof k->zone, "%.*s", STR_ARG(o->provider_config.zone));
    pthread_rwlock_init(&k->provider_lock, NULL);
    pthread_mutex_init(&k->lock, NULL);
    mono_cond_init(&k->freed);
    for (int i = 0; i < KEYD_CONNECTIONS; i++)
        k->connection[i].fd = -1;
    k->cache = tkek_cache_new();
    enum errc rc = k->cache ? stores_open(k, e) : FAIL(e, LIMIT, "no memory for the cache");
    k->options.provider_config.is_init = false;     /* unsealing later only opens */
    k->options.provider_config.is_rotate = false;
    if (rc != ERR_OK) {
        keyd_free(k);
        return rc;
    }
    *ret = k;
    return ERR_OK;
}

void keyd_free(struct keyd *k)
{
    if (!k || k->n_connections > 0)     /* a call that hangs in its provider still needs it; the process is ending anyway */
        return;
    stores_close(k);
    tkek_cache_free(k->cache);
    pthread_cond_destroy(&k->freed);
    pthread_mutex_destroy(&k->lock);
    pthread_rwlock_destroy(&k->provider_lock);
    free(k);
}

static bool is_allowed(const struct keyd *k, int fd)
{
    struct ucred who;
    socklen_t n = sizeof who;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) != 0 || n != sizeof who)
        return false;
    bool ok = who.uid == geteuid();
    for (size_t i = 0; i < k->options.n_allow_uids; i++)
        ok = ok || who.uid == k->options.allow_uids[i];
    if (!ok)
        log_event(LOG_WARN, "keyd.refused", "uid", LOG_I(who.uid), "pid", LOG_I(who.pid), NULL);
    return ok;
}

static void refuse(int fd)
{
    CLEANUP(buf_releasep) struct buf b = BUF(KEYD_REPLY_MAX);
    wire_begin(&b, KEYD_REFUSED);
    wire_put_text(&b, str_c(err_row(ERR_FORBIDDEN)->wire));
    wire_put_text(&b, STR("this user may not call the key service"));
    if (wire_end(&b))
        (void)wire_send(fd, &b, wire_now_us() + 100000);
}

static void mark(struct keyd *k, int slot, int64_t idle_since_us)
{
    pthread_mutex_lock(&k->lock);
    k->connection[slot].idle_since_us = idle_since_us;
    pthread_mutex_unlock(&k->lock);
}

static void serve_calls(struct keyd *k, int slot, int fd)
{
    CLEANUP(buf_releasep) struct buf request = BUF(KEYD_FRAME_MAX);
    CLEANUP(buf_releasep) struct buf reply = BUF(KEYD_REPLY_MAX);
    if (!buf_reserve(&reply, KEYD_REPLY_MAX))       /* so that it never moves and leaves a key behind */
        return;
    for (;;) {
        int64_t now_us = wire_now_us();
        mark(k, slot, now_us);
        enum wire_io io = wire_receive(fd, &request, now_us + (int64_t)KEYD_IDLE_S * 1000000, (int64_t)KEYD_FRAME_S * 1000000);
        if (io != WIRE_OK)
            return;
        mark(k, slot, 0);
        keyd_answer(k, request.ptr, request.len, &reply);
        io = wire_send(fd, &reply, wire_now_us() + (int64_t)KEYD_FRAME_S * 1000000);
        secret_wipe(reply.ptr, reply.len);
        if (io != WIRE_OK)
            return;
    }
}

static void slot_free(struct keyd *k, int slot, int fd)
{
    pthread_mutex_lock(&k->lock);
    k->connection[slot].fd = -1;
    close(fd);
    k->n_connections--;
    pthread_cond_broadcast(&k->freed);
    pthread_mutex_unlock(&k->lock);
}

static void *connection_main(void *p)
{
    struct connection_arg arg = *(struct connection_arg *)p;
    free(p);
    serve_calls(arg.k, arg.slot, arg.fd);
    slot_free(arg.k, arg.slot, arg.fd);
    return NULL;
}

/* Of a slot whose connection has ended: its thread has at most its own memory left to give back. Main thread only. */
static void slot_join(struct keyd_connection *c)
{
    if (c->has_thread)
        pthread_join(c->thread, NULL);
    c->has_thread = false;
}

/* A free slot; when there is none, the connection that has been idle longest is shut down and its slot waited for. */
static int slot_take(struct keyd *k, int fd)
{
    int slot = -1;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 1;
    pthread_mutex_lock(&k->lock);
    for (int rc = 0; k->n_connections == KEYD_CONNECTIONS && rc == 0;) {
        int idle = -1;
        for (int i = 0; i < KEYD_CONNECTIONS; i++) {
            const struct keyd_connection *c = &k->connection[i];
            if (c->idle_since_us && (idle < 0 || c->idle_since_us < k->connection[idle].idle_since_us))
                idle = i;
        }
        if (idle >= 0)
            shutdown(k->connection[idle].fd, SHUT_RDWR);
        rc = pthread_cond_timedwait(&k->freed, &k->lock, &until);
    }
    for (int i = 0; i < KEYD_CONNECTIONS && slot < 0; i++)
        if (k->connection[i].fd < 0)
            slot = i;
    if (slot >= 0) {
        slot_join(&k->connection[slot]);
        k->connection[slot] = (struct keyd_connection){ .fd = fd };
        k->n_connections++;
    }
    pthread_mutex_unlock(&k->lock);
    return slot;
}

static void connection_start(struct keyd *k, int fd)
{
    pthread_attr_t attr;
    if (!is_allowed(k, fd)) {
        refuse(fd);
        close(fd);
        return;
    }
    int slot = slot_take(k, fd);
    if (slot < 0) {
        close(fd);
        return;
    }
    struct connection_arg *arg = malloc(sizeof *arg);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    if (arg)
        *arg = (struct connection_arg){ k, slot, fd };
    bool ok = arg && pthread_create(&k->connection[slot].thread, &attr, connection_main, arg) == 0;
    k->connection[slot].has_thread = ok;
    if (!ok) {
        free(arg);
        slot_free(k, slot, fd);
    }
    pthread_attr_destroy(&attr);
}

/* Bind under another name, then rename: the path is either absent, stale or ready. */
static enum errc listen_at(const struct keyd_options *o, int *ret, struct err *e)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int n = snprintf(address.sun_path, sizeof address.sun_path, "%s.%ld", o->socket_path, (long)getpid());
    if (n < 0 || (size_t)n >= sizeof address.sun_path)
        return FAIL(e, INVALID, "the path of the socket is too long");
    (void)unlink(address.sun_path);
    CLEANUP(fd_closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    mode_t old = umask(0177);
    bool ok = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
    umask(old);
    /* With other users allowed the door is SO_PEERCRED; without, the file mode closes it as well. */
    ok = ok && chmod(address.sun_path, o->n_allow_uids > 0 ? 0666 : 0600) == 0 && listen(fd, LISTEN_QUEUE) == 0
         && rename(address.sun_path, o->socket_path) == 0;
    if (!ok) {
        enum errc rc = fail_os(e, "listening at", o->socket_path);
        (void)unlink(address.sun_path);
        return rc;
    }
    *ret = TAKE_FD(fd);
    return ERR_OK;
}

static void seal(struct keyd *k)
{
    pthread_rwlock_wrlock(&k->provider_lock);
    stores_close(k);
    tkek_cache_clear(k->cache);
    pthread_rwlock_unlock(&k->provider_lock);
    log_event(LOG_WARN, "keyd.sealed", "zone", LOG_S(k->zone), NULL);
}

/* A store that is open but sealed, as by a PIN that its token refused, is opened anew: what made it give up may be mended. */
static void unseal(struct keyd *k)
{
    struct err e = { 0 };
    pthread_rwlock_wrlock(&k->provider_lock);
    if (k->provider && stores_are_sealed(k, &e)) {
        stores_close(k);
        tkek_cache_clear(k->cache);
    }
    enum errc rc = k->provider ? ERR_OK : stores_open(k, &e);
    if (rc == ERR_OK && stores_are_sealed(k, &e))
        rc = ERR_SEALED;
    pthread_rwlock_unlock(&k->provider_lock);
    if (rc == ERR_OK)
        log_event(LOG_WARN, "keyd.unsealed", "zone", LOG_S(k->zone), NULL);
    else
        log_err(LOG_ERROR, "keyd.unseal_failed", &e);
}

bool keyd_is_sealed(struct keyd *k)
{
    struct err e = { 0 };
    pthread_rwlock_rdlock(&k->provider_lock);
    bool is_sealed = !k->provider || stores_are_sealed(k, &e);
    pthread_rwlock_unlock(&k->provider_lock);
    return is_sealed;
}

/* False: it is time to go. */
static bool on_signal(struct keyd *k, int signal_fd)
{
    struct signalfd_siginfo info;
    if (read(signal_fd, &info, sizeof info) != sizeof info)
        return true;
    if (info.ssi_signo == SIGUSR1)
        seal(k);
    else if (info.ssi_signo == SIGHUP)
        unseal(k);
    else
        return false;
    return true;
}

static void leave(struct keyd *k)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += LEAVE_S;
    pthread_mutex_lock(&k->lock);
    for (int i = 0; i < KEYD_CONNECTIONS; i++)
        if (k->connection[i].fd >= 0)
            shutdown(k->connection[i].fd, k->connection[i].idle_since_us ? SHUT_RDWR : SHUT_RD);
    int rc = 0;
    while (k->n_connections > 0 && rc == 0)
        rc = pthread_cond_timedwait(&k->freed, &k->lock, &until);
    for (int i = 0; i < KEYD_CONNECTIONS; i++)
        if (k->connection[i].fd < 0)
            slot_join(&k->connection[i]);
    pthread_mutex_unlock(&k->lock);
}

enum errc keyd_serve(struct keyd *k, struct err *e)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    CLEANUP(fd_closep) int signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signal_fd < 0)
        return fail_os(e, "waiting for", "signals");
    CLEANUP(fd_closep) int listen_fd = -1;
    TRY(listen_at(&k->options, &listen_fd, e));
    log_event(LOG_INFO, "keyd.ready", "zone", LOG_S(k->zone), "provider", LOG_S(k->options.provider->name), "socket",
              LOG_S(k->options.socket_path), NULL);
    notify_ready("serves");
    struct pollfd fds[2] = { { .fd = signal_fd, .events = POLLIN }, { .fd = listen_fd, .events = POLLIN } };
    for (;;) {
        if (poll(fds, 2, notify_alive_ms()) < 0 && errno != EINTR)
            return fail_os(e, "waiting at", k->options.socket_path);
        notify_alive();
        if ((fds[0].revents & POLLIN) && !on_signal(k, signal_fd))
            break;
        int fd = fds[1].revents ? accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK) : -1;
        if (fd >= 0)
            connection_start(k, fd);
        else if (fds[1].revents && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
            poll(NULL, 0, 10);      /* out of descriptors: breathe instead of spinning */
    }
    notify_stopping();
    (void)unlink(k->options.socket_path);
    leave(k);
    log_event(LOG_INFO, "keyd.stopped", "zone", LOG_S(k->zone), "calls", LOG_I(atomic_load(&k->calls)), NULL);
    return ERR_OK;
}
