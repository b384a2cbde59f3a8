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

enum { AGAIN_MS = 20, HOST_MAX = 64, BACKLOG = 128 };

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
        || bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(fd, BACKLOG) != 0
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
    if (memcmp(in + COMM_HEAD, of->run, COMM_TCP_WHAT) != 0)
        return FAIL(e, CONFLICT, "rank %d runs another specification, data set or version", peer);
    if (memcmp(in + COMM_HEAD, of->run, COMM_RUN) != 0)
        return FAIL(e, UPSTREAM, "rank %d goes on from another checkpoint", peer);
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

enum errc comm_tcp_dial(struct str host, int port, int wait_ms, int *ret_fd, struct err *e)
{
    struct sockaddr_in at;
    const int64_t until_us = clock_mono_us(&clock_system) + (int64_t)wait_ms * 1000;
    TRY(address_of(host, port, &at, e));
    while ((*ret_fd = try_connect(&at, left_ms(until_us))) < 0) {
        if (!left_ms(until_us))
            return FAIL(e, DEADLINE, "nobody answered at port %d within %d ms", port, wait_ms);
        (void)poll(NULL, 0, AGAIN_MS);
    }
    return ERR_OK;
}

static enum errc call(struct gang *g, const struct comm_tcp_gang *of, int peer, int64_t until_us, struct err *e)
{
    const struct comm_peer *p = &of->peers[peer];
    struct tls *t;
    size_t which;
    int fd = p->connected;
    if (!fd && comm_tcp_dial(p->host, p->port, left_ms(until_us), &fd, e) != ERR_OK)
        return e->code == ERR_DEADLINE ? FAIL(e, DEADLINE, "rank %d was not there within %d ms", peer, of->silence_ms) : e->code;
    keep_alive(fd, of->silence_ms);
    TRY(tls_open(fd, false, of->own, &of->peers[peer].name, 1, of->silence_ms, &t, &which, e));
    tls_until(t, until_us);
    enum errc rc = greet(g, of, t, peer, e);
    if (rc != ERR_OK)
        tls_close(t);
    else
        tls_until(t, 0);
    return rc;
}

/* Who has called and not yet said who it is. */
struct caller {
    struct tls *t;
    int fd;
    short events;
    int64_t since_us;
};

struct door {
    struct gang *g;
    const struct comm_tcp_gang *of;
    struct caller at[CALLERS_MAX];
    int count, missing;
    struct err stranger;                /* why the last one was sent away */
};

static void send_away(struct door *d, int i)
{
    tls_close(d->at[i].t);
    d->at[i] = d->at[--d->count];
}

static int oldest(const struct door *d)
{
    int first = 0;
    for (int i = 1; i < d->count; i++)
        if (d->at[i].since_us < d->at[first].since_us)
            first = i;
    return first;
}

/* A rank that said its name: HELLO, both ways. One of ours that says something else is no reason to wait for another. */
static enum errc let_in(struct door *d, int i, int rank, int64_t until_us, struct err *e)
{
    struct tls *t = d->at[i].t;
    d->at[i] = d->at[--d->count];
    tls_until(t, until_us);
    enum errc rc = greet(d->g, d->of, t, rank, e);
    if (rc != ERR_OK) {
        tls_close(t);
        return rc;
    }
    tls_until(t, 0);
    d->missing--;
    return ERR_OK;
}

/* One caller, as far as it goes: a missing rank, somebody who needs more time, or a stranger. */
static enum errc hear(struct door *d, int i, int64_t until_us, struct err *e)
{
    struct str names[COMM_RANKS_MAX];
    int ranks[COMM_RANKS_MAX];
    size_t n = 0, which;
    for (int r = d->of->rank + 1; r < d->of->size; r++)
        if (!d->g->to[r]) {
            names[n] = d->of->peers[r].name;
            ranks[n++] = r;
        }
    if (tls_step(d->at[i].t, names, n, &d->at[i].events, &which, &d->stranger) != ERR_OK) {
        send_away(d, i);
        return ERR_OK;
    }
    return d->at[i].events ? ERR_OK : let_in(d, i, ranks[which], until_us, e);
}

static bool has_room(const struct door *d, int64_t now)
{
    return d->count < CALLERS_MAX || now - d->at[oldest(d)].since_us >= CALLER_YOUNG_MS * 1000;
}

/* Room is made by the caller that has been heard longest, unless all are young: then who is next waits in the listener. */
static void open_door(struct door *d, int listener)
{
    int64_t now = clock_mono_us(&clock_system);
    int fd;
    if (!has_room(d, now))
        return;
    if (d->count == CALLERS_MAX) {
        int first = oldest(d);
        (void)FAIL(&d->stranger, DEADLINE, "it made room for others");
        send_away(d, first);
    }
    if ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) < 0)
        return;
    keep_alive(fd, d->of->silence_ms);
    struct caller *c = &d->at[d->count];
    if (tls_begin(fd, true, d->of->own, d->of->silence_ms, &c->t, &d->stranger) != ERR_OK)
        return;
    *c = (struct caller){ c->t, fd, POLLIN, now };
    d->count++;
}

/* Callers that have had their time. Returns the milliseconds until the next one has, at most `left`. */
static int end_late_ones(struct door *d, int left)
{
    int64_t now = clock_mono_us(&clock_system);
    for (int i = 0; i < d->count;) {
        int64_t ms = STRANGER_MS - (now - d->at[i].since_us) / 1000;
        if (ms <= 0) {
            (void)FAIL(&d->stranger, DEADLINE, "it did not say who it is within %d ms", (int)STRANGER_MS);
            send_away(d, i);
            continue;
        }
        left = ms < left ? (int)ms : left;
        i++;
    }
    return d->count == CALLERS_MAX && left > AGAIN_MS ? AGAIN_MS : left;
}

static enum errc hear_all(struct door *d, int listener, int64_t until_us, struct err *e)
{
    while (d->missing > 0) {
        struct pollfd p[CALLERS_MAX + 1];
        int left = left_ms(until_us), seen;
        if (!left)
            return FAIL(e, DEADLINE, "%d rank(s) did not call within %d ms%s%.100s", d->missing, d->of->silence_ms,
                        d->stranger.code ? "; who did was sent away: " : "", d->stranger.msg);
        left = end_late_ones(d, left);
        for (int i = 0; i < d->count; i++)
            p[i] = (struct pollfd){ d->at[i].fd, d->at[i].events, 0 };
        seen = d->count;
        p[seen] = (struct pollfd){ has_room(d, clock_mono_us(&clock_system)) ? listener : -1, POLLIN, 0 };
        if (poll(p, (nfds_t)seen + 1, left) <= 0)
            continue;
        for (int i = seen - 1; i >= 0; i--)     /* who goes leaves its place to one that was heard already */
            if (p[i].revents)
                TRY(hear(d, i, until_us, e));
        if (p[seen].revents)
            open_door(d, listener);
    }
    return ERR_OK;
}

static enum errc wait_for_those_above(struct gang *g, const struct comm_tcp_gang *of, int listener, int64_t until_us,
                                      struct err *e)
{
    struct door d = { .g = g, .of = of, .missing = of->size - 1 - of->rank };
    enum errc rc = hear_all(&d, listener, until_us, e);
    while (d.count)
        send_away(&d, d.count - 1);
    return rc;
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
    ASSERT(of->size >= 1 && of->size <= COMM_RANKS_MAX && of->rank >= 0 && of->rank < of->size && of->silence_ms > 0);
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
