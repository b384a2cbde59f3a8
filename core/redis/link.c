/* SPDX-License-Identifier: Apache-2.0 */
/* link.c - the socket never blocks; waiting is poll's, so that a peer without a word costs one timeout. */
#include "core/redis/link_int.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/base/text_file.h"
#include "core/crypto/secmem.h"
#include "core/crypto/tls.h"
#include "core/redis/place_int.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { CHUNK = 16384, REPLY_BYTES_MAX = 1 << 20, OUT_MAX = 4 << 20, PEM_MAX = 64 * 1024 };

struct redis_link {
    int fd, timeout_ms;
    struct tls *tls;                /* NULL: plain; it owns fd then */
    redisReader *reader;
    size_t fed;                     /* bytes since the last whole answer */
    struct buf out;                 /* not yet written */
};

static int left_ms(int64_t until_us)
{
    const int64_t us = until_us - clock_mono_us(&clock_system);
    return us <= 0 ? 0 : (int)((us + 999) / 1000);
}

static bool wait_fd(int fd, short events, int64_t until_us)
{
    struct pollfd p = { fd, events, 0 };
    int n;
    while ((n = poll(&p, 1, left_ms(until_us))) < 0 && errno == EINTR)
        ;
    return n > 0;
}

/* --- connecting --- */

static int connect_one(int family, const struct sockaddr *to, socklen_t len, int64_t until_us, int *ret_errno)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0;
    socklen_t n = sizeof error;
    if (fd >= 0 && connect(fd, to, len) == 0)
        return fd;
    *ret_errno = errno;
    if (fd >= 0 && errno == EINPROGRESS) {
        *ret_errno = ETIMEDOUT;
        if (wait_fd(fd, POLLOUT, until_us) && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n) == 0 && !error)
            return fd;
        if (error)
            *ret_errno = error;
    }
    fd_closep(&fd);
    return -1;
}

static int connect_unix(const char *path, int64_t until_us, int *ret_errno)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    const size_t len = strlen(path);
    if (len >= sizeof to.sun_path) {
        *ret_errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(to.sun_path, path, len);
    return connect_one(AF_UNIX, (const struct sockaddr *)&to, sizeof to, until_us, ret_errno);
}

static int connect_tcp(const struct redis_place *p, int64_t until_us, int *ret_errno, const char **ret_why)
{
    char service[8];
    struct addrinfo *all = NULL, hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
    int fd = -1, one = 1;
    snprintf(service, sizeof service, "%d", p->port);
    const int rc = getaddrinfo(p->host, service, &hints, &all);
    if (rc) {
        *ret_why = gai_strerror(rc);
        return -1;
    }
    for (const struct addrinfo *ai = all; ai && fd < 0; ai = ai->ai_next)
        fd = connect_one(ai->ai_family, ai->ai_addr, ai->ai_addrlen, until_us, ret_errno);
    freeaddrinfo(all);
    if (fd >= 0)
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);       /* without it it is only slower */
    return fd;
}

/* --- TLS --- */

struct pems {
    struct buf ca, cert, key;
};

static enum errc pems_read(const struct redis_address *a, struct pems *p, struct err *e)
{
    *p = (struct pems){ BUF(PEM_MAX), BUF(PEM_MAX), BUF(PEM_MAX) };
    if (a->ca_file)
        TRY(text_file_read(a->ca_file, &p->ca, e));
    if (a->cert_file)
        TRY(text_file_read(a->cert_file, &p->cert, e));
    return a->key_file ? text_file_read(a->key_file, &p->key, e) : ERR_OK;
}

static void pems_release(struct pems *p)
{
    if (p->key.ptr)
        secret_wipe(p->key.ptr, p->key.len);
    buf_release(&p->ca);
    buf_release(&p->cert);
    buf_release(&p->key);
}

static struct tls_identity identity_of(const struct pems *p, const char *host)
{
    struct tls_identity own = { .host = host };
    if (p->ca.len)
        own.ca_pem = buf_str(&p->ca);
    if (p->cert.len)
        own.cert_pem = buf_str(&p->cert);
    if (p->key.len)
        own.key_pem = buf_str(&p->key);
    return own;
}

enum errc redis_tls_check(const struct redis_address *a, struct err *e)
{
    struct pems p;
    enum errc rc = pems_read(a, &p, e);
    if (rc == ERR_OK) {
        const struct tls_identity own = identity_of(&p, "any");
        rc = tls_identity_check(&own, e);
    }
    pems_release(&p);
    return rc;
}

static enum errc open_tls(struct redis_link *l, const struct redis_address *a, const char *host, struct err *e)
{
    struct pems p;
    size_t which;
    int fd = l->fd;
    enum errc rc = pems_read(a, &p, e);
    if (rc == ERR_OK) {
        const struct tls_identity own = identity_of(&p, host);
        l->fd = -1;                 /* tls_open's, whatever comes */
        rc = tls_open(fd, false, &own, NULL, 0, a->timeout_ms, &l->tls, &which, e);
    }
    pems_release(&p);
    return rc;
}

enum errc redis_link_open(const struct redis_address *a, struct str place, struct redis_link **ret, struct err *e)
{
    struct redis_place p;
    TRY(redis_place_read(place, &p, e));
    const int64_t until_us = clock_mono_us(&clock_system) + a->timeout_ms * INT64_C(1000);
    const char *why = NULL;
    int error = 0;
    int fd = p.is_unix ? connect_unix(p.host, until_us, &error) : connect_tcp(&p, until_us, &error, &why);
    if (fd < 0) {
        (void)FAIL(e, UNAVAILABLE, "nobody answers");
        return why ? err_note(e, "%s", why) : err_errno(e, error);
    }
    struct redis_link *l = calloc(1, sizeof *l);
    ASSERT(l);
    *l = (struct redis_link){ .fd = fd, .timeout_ms = a->timeout_ms, .reader = redisReaderCreate(),
                              .out = BUF(OUT_MAX) };
    ASSERT(l->reader);
    if (a->has_tls && !p.is_unix && open_tls(l, a, p.host, e) != ERR_OK) {
        redis_link_free(l);
        return e->code;
    }
    *ret = l;
    return ERR_OK;
}

int redis_link_fd(const struct redis_link *l)
{
    return l->tls ? tls_fd(l->tls) : l->fd;
}

void redis_link_free(struct redis_link *l)
{
    if (!l)
        return;
    if (l->tls)
        tls_close(l->tls);
    else
        fd_closep(&l->fd);
    redisReaderFree(l->reader);
    buf_release(&l->out);
    free(l);
}

/* --- commands and answers --- */

void redis_link_add_argv(struct redis_link *l, int argc, const char **argv, const size_t *lens)
{
    char *text;
    const int n = redisFormatCommandArgv(&text, argc, argv, lens);
    ASSERT(n > 0);
    ASSERT(buf_add(&l->out, text, (size_t)n));      /* callers bound how many they send without reading answers */
    redisFreeCommand(text);
}

void redis_link_add(struct redis_link *l, const struct str *argv, int argc)
{
    const char *words[REDIS_ARGS_MAX];
    size_t lens[REDIS_ARGS_MAX];
    ASSERT(argc > 0 && argc <= REDIS_ARGS_MAX);
    for (int i = 0; i < argc; i++) {
        words[i] = argv[i].ptr ? argv[i].ptr : "";
        lens[i] = argv[i].len;
    }
    redis_link_add_argv(l, argc, words, lens);
}

static enum errc lost(int error, struct err *e)
{
    (void)FAIL(e, UPSTREAM, "the connection was lost");
    return error ? err_errno(e, error) : e->code;
}

static bool is_later(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

/* What goes now. */
static enum errc write_some(struct redis_link *l, struct err *e)
{
    size_t done = 0;
    while (done < l->out.len) {
        size_t n = 0;
        if (l->tls) {
            TRY(tls_write_some(l->tls, l->out.ptr + done, l->out.len - done, &n, e));
        } else {
            const ssize_t sent = send(l->fd, l->out.ptr + done, l->out.len - done, MSG_NOSIGNAL);
            if (sent < 0 && !is_later(errno))
                return lost(errno, e);
            n = sent > 0 ? (size_t)sent : 0;
        }
        if (n == 0)
            break;
        done += n;
    }
    if (done)
        memmove(l->out.ptr, l->out.ptr + done, l->out.len - done);
    l->out.len -= done;
    return ERR_OK;
}

/* What has come, into the reader; *ret 0: nothing. */
static enum errc read_some(struct redis_link *l, size_t *ret, struct err *e)
{
    char chunk[CHUNK];
    *ret = 0;
    if (l->tls) {
        TRY(tls_read_some(l->tls, chunk, sizeof chunk, ret, e));
    } else {
        const ssize_t n = recv(l->fd, chunk, sizeof chunk, 0);
        if (n == 0 || (n < 0 && !is_later(errno)))
            return lost(n ? errno : 0, e);
        *ret = n > 0 ? (size_t)n : 0;
    }
    l->fed += *ret;
    if (l->fed > REPLY_BYTES_MAX)
        return FAIL(e, UPSTREAM, "an answer of more than %d bytes", REPLY_BYTES_MAX);
    if (*ret && redisReaderFeed(l->reader, chunk, *ret) != REDIS_OK)
        return FAIL(e, UPSTREAM, "the server speaks no RESP");
    return ERR_OK;
}

static enum errc take(struct redis_link *l, redisReply **ret, struct err *e)
{
    void *reply = NULL;
    if (redisReaderGetReply(l->reader, &reply) != REDIS_OK)
        return FAIL(e, UPSTREAM, "the server speaks no RESP");
    *ret = reply;
    if (reply)
        l->fed = 0;
    return ERR_OK;
}

/* A server that refuses our certificate says so and closes; the write fails, and why is still to be read. */
static enum errc write_or_why(struct redis_link *l, struct err *e)
{
    struct err why;
    size_t n;
    const enum errc rc = write_some(l, e);
    if (rc != ERR_OK && l->tls && read_some(l, &n, &why) != ERR_OK && *why.detail)
        *e = why;
    return rc == ERR_OK ? rc : e->code;
}

enum errc redis_link_poll(struct redis_link *l, redisReply **ret, struct err *e)
{
    size_t n = 1;
    TRY(write_or_why(l, e));
    TRY(take(l, ret, e));
    while (!*ret && n) {
        TRY(read_some(l, &n, e));
        TRY(take(l, ret, e));
    }
    return ERR_OK;
}

enum errc redis_link_reply(struct redis_link *l, redisReply **ret, struct err *e)
{
    const int64_t until_us = clock_mono_us(&clock_system) + l->timeout_ms * INT64_C(1000);
    for (;;) {
        TRY(redis_link_poll(l, ret, e));
        if (*ret)
            return ERR_OK;
        if (!wait_fd(redis_link_fd(l), l->out.len ? POLLIN | POLLOUT : POLLIN, until_us))
            return FAIL(e, DEADLINE, "no answer within %d ms", l->timeout_ms);
    }
}
