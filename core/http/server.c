/* SPDX-License-Identifier: Apache-2.0 */
/* server.c - loops: one libmicrohttpd daemon, one thread, one eventfd each.
 *
 * libmicrohttpd's own epoll thread stalls when a multiple of 128 connections becomes readable at once, so the loop is ours: wait
 * on the daemon's epoll descriptor and our eventfd, resume what is ready, run the daemon. Its timeouts count inactivity only;
 * the reaper here holds connections to absolute deadlines, several times a second, and notices peers that left while parked.
 * Each loop has its own listening socket on the shared port (SO_REUSEPORT); a Unix socket is shared by duplicates. */
#include "core/http/accept_budget.h"
#include "core/http/server_int.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"

enum { BACKLOG = 4096, LOOPS_MAX = 64, TURN_MAX_MS = 1000, POLL_EVERY_US = 1000 * 1000, POLL_BATCH = 256, FILE_MAX = 1 << 20 };

static const char PRIORITIES[] = "SECURE256:+SECURE128:-VERS-ALL:+VERS-TLS1.3";
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
    l->listen_fd = -1;
    MHD_socket fd = MHD_quiesce_daemon(l->daemon);
    if (fd != MHD_INVALID_SOCKET)
        close(fd);
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
        if (stream) {
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
        if (l->listen_fd >= 0)
            accept_budget_filter(l->accepts, l->listen_fd, l->now_us);
        if (atomic_load_explicit(&s->draining, memory_order_relaxed))
            quiesce(l);
        if (l->now_us >= l->reap_at_us)
            reap(l);
    }
    end_all(l);
    return NULL;
}

/* --- sockets --- */

static int listen_unix(const char *path, struct err *e)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof a.sun_path) {
        FAIL(e, INVALID, "the socket path is longer than %zu bytes", sizeof a.sun_path - 1);
        return -1;
    }
    memcpy(a.sun_path, path, strlen(path));
    CLEANUP(fd_closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct stat st;
    if (lstat(path, &st) == 0 && S_ISSOCK(st.st_mode))
        unlink(path);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) != 0 || listen(fd, BACKLOG) != 0) {
        FAIL(e, IO, "cannot listen on the socket %s", path);
        err_errno(e, errno);
        return -1;
    }
    return TAKE_FD(fd);
}

static int listen_tcp(const char *host, int port, bool share, bool keep, struct err *e)
{
    char service[16];
    snprintf(service, sizeof service, "%d", port);
    struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM }, *ai = NULL;
    if (getaddrinfo(host ? host : "127.0.0.1", service, &hints, &ai) != 0 || !ai) {
        FAIL(e, INVALID, "%s is not an IP address", host ? host : "");
        return -1;
    }
    int one = 1;
    CLEANUP(fd_closep) int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        if (share)
            setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one);
    }
    int rc = fd < 0 ? -1 : bind(fd, ai->ai_addr, ai->ai_addrlen);
    int errnum = errno;
    freeaddrinfo(ai);
    if (rc == 0 && keep) {
        rc = listen(fd, BACKLOG);
        errnum = errno;
    }
    if (rc != 0) {
        FAIL(e, IO, "cannot listen on %s port %d", host ? host : "127.0.0.1", port);
        err_errno(e, errnum);
        return -1;
    }
    return TAKE_FD(fd);
}

static int port_of(int fd)
{
    struct sockaddr_storage a;
    socklen_t n = sizeof a;
    if (getsockname(fd, (struct sockaddr *)&a, &n) != 0)
        return 0;
    if (a.ss_family == AF_INET)
        return ntohs(((struct sockaddr_in *)&a)->sin_port);
    return a.ss_family == AF_INET6 ? ntohs(((struct sockaddr_in6 *)&a)->sin6_port) : 0;
}

enum errc http_listen(const char *bind_addr, int port, int *ret_fd, int *ret_port, struct err *e)
{
    int fd = listen_tcp(bind_addr, port, false, true, e);
    if (fd < 0)
        return ERR_IO;
    *ret_fd = fd;
    if (ret_port)
        *ret_port = port_of(fd);
    return ERR_OK;
}

static enum errc open_sockets(struct http_server *s, int *fds, struct err *e)
{
    const struct http_server_options *o = &s->o;
    bool share = s->nloops > 1;
    if (!s->unix_path && share && o->port != 0) {
        /* SO_REUSEPORT would let a second server join this port unseen: a bind without it tells. */
        int probe = listen_tcp(o->bind_addr, o->port, false, false, e);
        if (probe < 0)
            return e ? e->code : ERR_IO;
        close(probe);
    }
    for (int i = 0; i < s->nloops; i++) {
        if (o->listen_fd > 0)
            fds[i] = i == 0 ? fcntl(o->listen_fd, F_DUPFD_CLOEXEC, 3) : -1;
        else if (s->unix_path)
            fds[i] = i == 0 ? listen_unix(s->unix_path, e) : fcntl(fds[0], F_DUPFD_CLOEXEC, 3);
        else
            fds[i] = listen_tcp(o->bind_addr, i == 0 ? o->port : s->port, share, true, e);
        if (fds[i] < 0)
            return e && e->code != ERR_OK ? e->code : FAIL(e, IO, "cannot share the listening socket");
        if (i == 0 && !s->unix_path)
            s->port = port_of(fds[0]);
    }
    return ERR_OK;
}

/* --- life --- */

/* The parser must not decode the target in place: paths stay raw. */
static size_t unescape_nothing(void *cls, struct MHD_Connection *c, char *text)
{
    (void)cls;
    (void)c;
    return strlen(text);
}

static enum errc start_daemon(struct http_loop *l, int fd, struct err *e)
{
    struct http_server *s = l->server;
    unsigned per_loop = (unsigned)((s->o.max_connections + s->nloops - 1) / s->nloops);
    size_t memory = s->o.header_max * 2;
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_TURBO | MHD_USE_ERROR_LOG | (s->cert ? MHD_USE_TLS : 0);
    struct MHD_OptionItem tls[5] = { { MHD_OPTION_END, 0, NULL } };
    int n = 0;
    if (s->cert) {
        tls[n++] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_MEM_CERT, 0, s->cert };
        tls[n++] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_MEM_KEY, 0, s->key };
        tls[n++] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)PRIORITIES };
        if (s->ca)
            tls[n++] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_MEM_TRUST, 0, s->ca };
        tls[n] = (struct MHD_OptionItem){ MHD_OPTION_END, 0, NULL };
    }
    l->daemon = MHD_start_daemon(
        flags, 0, conn_may_come, l, exchange_on_call, l, MHD_OPTION_EXTERNAL_LOGGER, refusal_on_log, l,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_URI_LOG_CALLBACK, exchange_on_uri, l,
        MHD_OPTION_NOTIFY_COMPLETED, exchange_on_completed, l, MHD_OPTION_NOTIFY_CONNECTION, exchange_on_connection, l,
        MHD_OPTION_UNESCAPE_CALLBACK, unescape_nothing, NULL, MHD_OPTION_CONNECTION_LIMIT, per_loop,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)s->o.per_ip, MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)((s->o.idle_timeout_ms + 999) / 1000),
        MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
    if (!l->daemon) {
        close(fd);
        return FAIL(e, IO, "the HTTP listener did not start%s", s->cert ? " (are the TLS files good?)" : "");
    }
    l->listen_fd = fd;
    l->epoll_fd = MHD_get_daemon_info(l->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    return ERR_OK;
}

static enum errc start_thread(struct http_loop *l, int index, struct err *e)
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

static enum errc read_pem(const char *path, struct str text, char **ret, struct err *e)
{
    if (text.len)
        *ret = str_dup_heap(text);
    if (!path || text.len)
        return ERR_OK;
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    CLEANUP(buf_releasep) struct buf b = BUF(FILE_MAX);
    char chunk[4096];
    ssize_t n = -1;
    while (fd >= 0 && (n = read(fd, chunk, sizeof chunk)) > 0)
        if (!buf_add(&b, chunk, (size_t)n))
            return FAIL(e, INVALID, "%s is too large for a PEM file", path);
    if (n < 0 || b.len == 0) {
        FAIL(e, IO, "cannot read %s", path);
        return err_errno(e, errno);
    }
    *ret = TAKE(b.ptr);
    return ERR_OK;
}

/* With bundles, the daemon's own list only says whose certificates are asked for, and that they are asked for at all: who is let in
 * is check_peer's affair. Without any authority yet, the listener's own certificate stands there. */
static enum errc trust_names(struct http_server *s)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(8 << 20);
    struct str pem = mtls_trust_pem(s->o.tls_trust, a);
    s->ca = str_dup_heap(pem.len ? pem : str_c(s->cert));
    return ERR_OK;
}

static void fill_defaults(struct http_server_options *o)
{
    o->loops = o->loops > 0 ? o->loops : 1;
    o->loops = o->loops > LOOPS_MAX ? LOOPS_MAX : o->loops;
    o->max_connections = o->max_connections > 0 ? o->max_connections : 4096;
    o->header_max = o->header_max ? o->header_max : 16384;
    o->body_max_default = o->body_max_default ? o->body_max_default : 1 << 20;
    o->arena_max = o->arena_max ? o->arena_max : (size_t)64 << 20;
    o->header_deadline_ms = o->header_deadline_ms > 0 ? o->header_deadline_ms : 30000;
    o->body_deadline_ms = o->body_deadline_ms > 0 ? o->body_deadline_ms : 60000;
    o->answer_bytes_per_s = o->answer_bytes_per_s > 0 ? o->answer_bytes_per_s : 8192;
    o->idle_timeout_ms = o->idle_timeout_ms > 0 ? o->idle_timeout_ms : 75000;
}

static enum errc server_start(struct http_server *s, struct err *e)
{
    const struct http_server_options *o = &s->o;
    bool has_cert = o->tls_cert_file || o->tls_cert_pem.len, has_key = o->tls_key_file || o->tls_key_pem.len;
    bool has_ca = o->tls_client_ca_file || o->tls_client_ca_pem.len;
    if (has_cert != has_key || (has_ca && !has_cert))
        return FAIL(e, INVALID, "TLS needs a certificate and a key");
    if (o->require_client_cert && !has_ca && !o->tls_trust)
        return FAIL(e, INVALID, "Client certificates can only be required with a client CA file");
    TRY(read_pem(o->tls_cert_file, o->tls_cert_pem, &s->cert, e));
    TRY(read_pem(o->tls_key_file, o->tls_key_pem, &s->key, e));
    TRY(o->tls_trust ? trust_names(s) : read_pem(o->tls_client_ca_file, o->tls_client_ca_pem, &s->ca, e));
    int fds[LOOPS_MAX];
    for (int i = 0; i < s->nloops; i++)
        fds[i] = -1;
    enum errc rc = open_sockets(s, fds, e);
    for (int i = 0; i < s->nloops && rc == ERR_OK; i++)
        rc = start_daemon(&s->loops[i], TAKE_FD(fds[i]), e);
    for (int i = 0; i < s->nloops; i++)
        fd_closep(&fds[i]);
    for (int i = 0; i < s->nloops && rc == ERR_OK; i++)
        rc = start_thread(&s->loops[i], i, e);
    return rc;
}

struct http_server *http_server_new(const struct http_server_options *o, struct err *e)
{
    struct http_server *s = calloc(1, sizeof *s);
    ASSERT(s);
    s->o = *o;
    fill_defaults(&s->o);
    s->nloops = s->o.loops;
    s->layout_known = http_guard_layout_known(MHD_get_version());
    s->unix_path = o->unix_path ? str_dup_heap(str_c(o->unix_path)) : NULL;
    s->loops = calloc((size_t)s->nloops, sizeof *s->loops);
    ASSERT(s->loops);
    for (int i = 0; i < s->nloops; i++) {
        struct http_loop *l = &s->loops[i];
        l->server = s;
        l->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        ASSERT(l->event_fd >= 0);
        l->ready_tail = &l->ready;
        l->accepts = s->o.connects_per_s > 0 ? accept_budget_new(s->o.connects_per_s) : NULL;
        pthread_mutex_init(&l->mutex, NULL);
    }
    struct err own = { 0 };
    struct err *at = e ? e : &own;
    if (server_start(s, at) != ERR_OK) {
        http_server_free(s);
        return NULL;
    }
    return s;
}

int http_server_port(const struct http_server *s)
{
    return s->port;
}

static void wake_all(struct http_server *s)
{
    uint64_t one = 1;
    for (int i = 0; i < s->nloops; i++) {
        ssize_t n = write(s->loops[i].event_fd, &one, sizeof one);
        (void)n;
    }
}

void http_server_drain(struct http_server *s)
{
    atomic_store(&s->draining, true);
    wake_all(s);
}

void http_server_refuse(struct http_server *s)
{
    const struct timespec step = { 0, 1000000 };
    if (!s)
        return;
    atomic_store(&s->refusing, true);
    wake_all(s);
    for (int i = 0; i < s->nloops; i++)
        while (s->loops[i].started && !atomic_load(&s->loops[i].is_refusing))
            nanosleep(&step, NULL);
}

size_t http_server_open_exchanges(const struct http_server *s)
{
    size_t n = 0;
    for (int i = 0; i < s->nloops; i++)
        n += atomic_load(&s->loops[i].open);
    return n;
}

size_t http_server_turned_away(const struct http_server *s)
{
    size_t n = 0;
    for (int i = 0; i < s->nloops; i++)
        n += atomic_load(&s->loops[i].turned_away);
    return n;
}

size_t http_server_connections(const struct http_server *s)
{
    size_t n = 0;
    for (int i = 0; i < s->nloops; i++)
        n += atomic_load(&s->loops[i].connections);
    return n;
}

void http_server_free(struct http_server *s)
{
    if (!s)
        return;
    atomic_store(&s->stopping, true);
    wake_all(s);
    for (int i = 0; i < s->nloops; i++) {
        struct http_loop *l = &s->loops[i];
        if (l->started)
            pthread_join(l->thread, NULL);
        l->self = pthread_self();       /* the daemon's last callbacks run here */
        if (l->daemon)
            MHD_stop_daemon(l->daemon);
        credential_free_all(l);
        while (l->free_list) {
            struct http_exchange *x = l->free_list;
            l->free_list = x->next;
            exchange_destroy(x);
        }
        accept_budget_free(l->accepts);
        close(l->event_fd);
        pthread_mutex_destroy(&l->mutex);
    }
    if (s->unix_path)
        unlink(s->unix_path);
    free(s->unix_path);
    free(s->cert);
    free(s->key);
    free(s->ca);
    free(s->loops);
    free(s);
}
