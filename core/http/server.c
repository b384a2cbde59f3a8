/* SPDX-License-Identifier: Apache-2.0 */
/* server.c - the life of a server: its options, its certificates, a daemon and a thread for each loop (loop.c), and their end. */
#include "core/http/accept_budget.h"
#include "core/http/deaf.h"
#include "core/http/server_int.h"

#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/share_count.h"
#include "core/base/text_file.h"

enum { LOOPS_MAX = 64, FILE_MAX = 1 << 20 };

static const char PRIORITIES[] = "SECURE256:+SECURE128:-VERS-ALL:+VERS-TLS1.3";

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
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE | MHD_USE_TURBO
        | MHD_USE_ERROR_LOG | (s->cert ? MHD_USE_TLS : 0);
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
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)((s->o.idle_timeout_ms + 999) / 1000),
        MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
    if (!l->daemon) {
        close(fd);
        return FAIL(e, IO, "the HTTP listener did not start%s", s->cert ? " (are the TLS files good?)" : "");
    }
    l->epoll_fd = MHD_get_daemon_info(l->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    return ERR_OK;
}

static enum errc read_pem(const char *path, struct str text, char **ret, struct err *e)
{
    if (text.len)
        *ret = str_dup_heap(text);
    if (!path || text.len)
        return ERR_OK;
    CLEANUP(buf_releasep) struct buf b = BUF(FILE_MAX);
    TRY(text_file_read(path, &b, e));
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
    o->least_bytes_per_s = o->least_bytes_per_s > 0 ? o->least_bytes_per_s : 8192;
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
    enum errc rc = listen_open(s, fds, e);
    if (rc == ERR_OK && listen_is_shared(s))
        s->deaf = deaf_new(fds[0], s->nloops);
    for (int i = 0; i < s->nloops && rc == ERR_OK; i++)
        rc = start_daemon(&s->loops[i], TAKE_FD(fds[i]), e);
    for (int i = 0; i < s->nloops; i++)
        fd_closep(&fds[i]);
    for (int i = 0; i < s->nloops && rc == ERR_OK; i++)
        rc = loop_start(&s->loops[i], i, e);
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
        l->shares = s->o.per_address > 0 ? share_count_new() : NULL;
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
    deaf_close(s->deaf);
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
    deaf_close(s->deaf);
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
        share_count_free(l->shares);
        close(l->event_fd);
        pthread_mutex_destroy(&l->mutex);
    }
    deaf_free(s->deaf);
    if (s->unix_path)
        unlink(s->unix_path);
    free(s->unix_path);
    free(s->cert);
    free(s->key);
    free(s->ca);
    free(s->loops);
    free(s);
}
