/* SPDX-License-Identifier: Apache-2.0 */
/* comm_join.c - how ranks find each other: calls to those below, calls from those above, each proven by certificate and HELLO. */
#include "workers/gang/comm_tcp_int.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/assert.h"
#include "core/base/clock.h"

enum { AGAIN_MS = 20, HOST_MAX = 64 };

static enum errc address_of(struct str host, int port, struct sockaddr_in *ret, struct err *e)
{
    char text[HOST_MAX];
    *ret = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    if (host.len >= sizeof text || port < 0 || port > 65535)
        return FAIL(e, INVALID, "a rank's address is an IPv4 address and a port of at most 65535");
    memcpy(text, host.ptr, host.len);
    text[host.len] = 0;
    return inet_pton(AF_INET, text, &ret->sin_addr) == 1 ? ERR_OK : FAIL(e, INVALID, "%s is no IPv4 address", text);
}

enum errc comm_tcp_listen(struct str host, int port, int *ret_fd, int *ret_port, struct err *e)
{
    struct sockaddr_in at;
    socklen_t len = sizeof at;
    int one = 1;
    TRY(address_of(host, port, &at, e));
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0
        || bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(fd, COMM_RANKS_MAX) != 0
        || getsockname(fd, (struct sockaddr *)&at, &len) != 0) {
        (void)FAIL(e, IO, "a rank cannot listen at port %d", port);
        (void)err_errno(e, errno);
        if (fd >= 0)
            close(fd);
        return ERR_IO;
    }
    *ret_fd = fd;
    *ret_port = ntohs(at.sin_port);
    return ERR_OK;
}

static int left_ms(int64_t until_us)
{
    int64_t left = until_us - clock_mono_us(&clock_system);
    return left > 0 ? (int)(left / 1000) + 1 : 0;
}

static enum errc greet(struct gang *g, const struct comm_tcp_gang *of, struct tls *t, int peer, struct err *e)
{
    struct comm_frame own = { COMM_HELLO, of->rank, of->size, 0, "hello", COMM_RUN }, want = own, got;
    unsigned char out[COMM_HEAD + COMM_RUN], in[COMM_HEAD + COMM_RUN];
    want.rank = peer;
    comm_frame_write(&own, out);
    memcpy(out + COMM_HEAD, of->run, COMM_RUN);
    TRY(tls_write(t, out, sizeof out, e));
    TRY(tls_read(t, in, sizeof in, e));
    TRY(comm_frame_read(in, &got, e));
    TRY(comm_frame_match(&got, &want, e));
    if (memcmp(in + COMM_HEAD, of->run, COMM_RUN) != 0)
        return FAIL(e, CONFLICT, "rank %d runs another specification, data set or version", peer);
    tls_silence(t, of->silence_ms);
    g->to[peer] = t;
    return ERR_OK;
}

/* A lost host is noticed by the kernel, too: it asks after a fifth of the silence, five times. */
static void keep_alive(int fd, int silence_ms)
{
    int one = 1, count = 4, every = silence_ms / 5000 ? silence_ms / 5000 : 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);       /* without these it is only slower to see */
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &every, sizeof every);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof every);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
}

/* Connected, or -1: nobody listens there yet. */
static int try_connect(const struct sockaddr_in *at, int wait_ms)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0;
    socklen_t len = sizeof error;
    struct pollfd p = { fd, POLLOUT, 0 };
    if (fd < 0)
        return -1;
    bool ok = connect(fd, (const struct sockaddr *)at, sizeof *at) == 0;
    if (!ok && errno == EINPROGRESS && poll(&p, 1, wait_ms) == 1)
        ok = getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 && !error;
    if (!ok)
        close(fd);
    return ok ? fd : -1;
}

static enum errc call(struct gang *g, const struct comm_tcp_gang *of, int peer, int64_t until_us, struct err *e)
{
    struct sockaddr_in at;
    struct tls *t;
    size_t which;
    int fd;
    TRY(address_of(of->peers[peer].host, of->peers[peer].port, &at, e));
    while ((fd = try_connect(&at, left_ms(until_us))) < 0) {
        if (!left_ms(until_us))
            return FAIL(e, DEADLINE, "rank %d was not there within %d ms", peer, of->silence_ms);
        (void)poll(NULL, 0, AGAIN_MS);
    }
    keep_alive(fd, of->silence_ms);
    TRY(tls_open(fd, false, of->own, &of->peers[peer].name, 1, of->silence_ms, &t, &which, e));
    enum errc rc = greet(g, of, t, peer, e);
    if (rc != ERR_OK)
        tls_close(t);
    return rc;
}

/* Who calls: one that is missing, or a stranger, whose error is only in *e. *ret_joined: it was one. */
static enum errc answer(struct gang *g, const struct comm_tcp_gang *of, int fd, bool *ret_joined, struct err *e)
{
    struct str names[COMM_RANKS_MAX];
    int ranks[COMM_RANKS_MAX];
    size_t n = 0, which;
    struct tls *t;
    *ret_joined = false;
    for (int r = of->rank + 1; r < of->size; r++)
        if (!g->to[r]) {
            names[n] = of->peers[r].name;
            ranks[n++] = r;
        }
    keep_alive(fd, of->silence_ms);
    if (tls_open(fd, true, of->own, names, n, STRANGER_MS < of->silence_ms ? STRANGER_MS : of->silence_ms, &t, &which,
                 e) != ERR_OK)
        return ERR_OK;
    enum errc rc = greet(g, of, t, ranks[which], e);
    *ret_joined = rc == ERR_OK;
    if (rc != ERR_OK)
        tls_close(t);
    return rc;                          /* one of ours that says something else: no use to wait for another */
}

static enum errc wait_for_those_above(struct gang *g, const struct comm_tcp_gang *of, int listener, int64_t until_us,
                                      struct err *e)
{
    struct err stranger = { 0 };
    for (int missing = of->size - 1 - of->rank; missing > 0;) {
        struct pollfd p = { listener, POLLIN, 0 };
        int left = left_ms(until_us), fd;
        bool has_joined;
        if (!left || (poll(&p, 1, left) == 0 && !left_ms(until_us)))
            return FAIL(e, DEADLINE, "%d rank(s) did not call within %d ms%s%.100s", missing, of->silence_ms,
                        stranger.code ? "; who did was sent away: " : "", stranger.msg);
        if ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) < 0)
            continue;
        TRY(answer(g, of, fd, &has_joined, &stranger) == ERR_OK ? ERR_OK : (*e = stranger, stranger.code));
        missing -= has_joined;
    }
    return ERR_OK;
}

static struct gang *gang_new(int rank, int size)
{
    struct gang *g = calloc(1, sizeof *g);
    ASSERT(g);
    g->comm = (struct comm){ &comm_tcp_ops, rank, size };
    return g;
}

enum errc comm_tcp_join(const struct comm_tcp_gang *of, int listener, struct comm **ret, struct err *e)
{
    ASSERT(comm_is_size(of->size) && of->rank >= 0 && of->rank < of->size && of->silence_ms > 0);
    struct gang *g = gang_new(of->rank, of->size);
    int64_t until_us = clock_mono_us(&clock_system) + (int64_t)of->silence_ms * 1000;
    enum errc rc = ERR_OK;
    for (int r = 0; r < of->rank && rc == ERR_OK; r++)
        rc = call(g, of, r, until_us, e);
    if (rc == ERR_OK)
        rc = wait_for_those_above(g, of, listener, until_us, e);
    if (rc != ERR_OK) {
        g->comm.ops->abort(&g->comm, e);        /* those who have joined hear why */
        comm_tcp_free(&g->comm);
        return rc;
    }
    *ret = &g->comm;
    return ERR_OK;
}
