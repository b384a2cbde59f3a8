/* SPDX-License-Identifier: Apache-2.0 */
/* cut_link.h - a link between a client and a real server that falls silent in the middle of a message: it forwards so many bytes
 * each way, then nothing, and neither reads nor closes any more, as a cable that is cut or a firewall that forgot the connection.
 * With is_ending it ends there instead, as a server that is killed; over TCP with a reset.
 *
 * cut_link_unix | cut_link_tcp -> (cut_link_after -> a call of the client)* -> cut_link_free. Connections that are there count
 * from cut_link_after on; one that was cut stays so until the end. Up to CUT_LINKS connections in all. */
#pragma once
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

enum { CUT_LINKS = 16, CUT_TURN_MS = 5 };

struct cut_pair {
    int end[2];                         /* 0: the client's, 1: the server's; -1: none */
    int64_t left[2];                    /* bytes that may still go towards the server, the client */
};

struct cut_link {
    int listener, port;
    char path[100];                     /* of the listener, to be removed; empty: TCP */
    struct sockaddr_storage to;
    socklen_t to_len;
    pthread_t thread;
    pthread_mutex_t lock;               /* guards up, down, is_fresh */
    int64_t up, down;
    bool is_fresh;
    _Atomic bool is_stopping, is_ending;
    _Atomic int cuts;                   /* how many connections have come to their limit */
    struct cut_pair pairs[CUT_LINKS];
};

static inline void cut_pair_close(const struct cut_link *l, struct cut_pair *p)
{
    const struct linger at_once = { atomic_load(&l->is_ending), 0 };
    for (int i = 0; i < 2; i++)
        if (p->end[i] >= 0) {
            (void)setsockopt(p->end[i], SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
            close(p->end[i]);
        }
    p->end[0] = p->end[1] = -1;
}

static inline void cut_accept(struct cut_link *l)
{
    int client = accept(l->listener, NULL, NULL), server = socket(l->to.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct cut_pair *p = l->pairs;
    while (p < l->pairs + CUT_LINKS && p->end[0] >= 0)
        p++;
    if (client < 0 || p == l->pairs + CUT_LINKS || connect(server, (struct sockaddr *)&l->to, l->to_len) != 0) {
        close(server);
        close(client);
        return;
    }
    *p = (struct cut_pair){ { client, server }, { l->up, l->down } };
}

/* One read's worth from one end to the other. False: that end is closed. */
static inline bool cut_move(struct cut_link *l, struct cut_pair *p, int from)
{
    char bytes[4096];
    size_t most = (uint64_t)p->left[from] < sizeof bytes ? (size_t)p->left[from] : sizeof bytes;
    ssize_t n = recv(p->end[from], bytes, most, MSG_DONTWAIT);
    if (n <= 0)
        return n < 0;
    if (send(p->end[!from], bytes, (size_t)n, MSG_NOSIGNAL) != n)
        return false;
    p->left[from] -= n;
    if (!p->left[from])
        atomic_fetch_add(&l->cuts, 1);
    return p->left[from] || !atomic_load(&l->is_ending);
}

static inline void *cut_main(void *arg)
{
    struct cut_link *l = arg;
    while (!atomic_load(&l->is_stopping)) {
        struct pollfd f[1 + 2 * CUT_LINKS] = { { l->listener, POLLIN, 0 } };
        for (int i = 0; i < 2 * CUT_LINKS; i++) {
            struct cut_pair *p = &l->pairs[i / 2];
            bool is_whole = p->left[0] > 0 && p->left[1] > 0;       /* one way cut is both ways cut */
            f[1 + i] = (struct pollfd){ is_whole ? p->end[i % 2] : -1, POLLIN, 0 };
        }
        (void)poll(f, 1 + 2 * CUT_LINKS, CUT_TURN_MS);
        pthread_mutex_lock(&l->lock);
        if (l->is_fresh)
            for (struct cut_pair *p = l->pairs; p < l->pairs + CUT_LINKS; p++)
                if (p->left[0] > 0 && p->left[1] > 0)
                    p->left[0] = l->up, p->left[1] = l->down;
        for (int i = 0; i < 2 * CUT_LINKS && !l->is_fresh; i++)
            if (f[1 + i].fd >= 0 && f[1 + i].revents && l->pairs[i / 2].end[0] >= 0 && !cut_move(l, &l->pairs[i / 2], i % 2))
                cut_pair_close(l, &l->pairs[i / 2]);
        if (f[0].revents)
            cut_accept(l);
        l->is_fresh = false;
        pthread_mutex_unlock(&l->lock);
    }
    for (int i = 0; i < CUT_LINKS; i++)
        cut_pair_close(l, &l->pairs[i]);
    return NULL;
}

/* From now on each connection forwards so many bytes towards the server and towards the client; -1: all. */
static inline void cut_link_after(struct cut_link *l, int64_t up, int64_t down)
{
    pthread_mutex_lock(&l->lock);
    l->up = up < 0 ? INT64_MAX : up;
    l->down = down < 0 ? INT64_MAX : down;
    l->is_fresh = true;
    atomic_store(&l->cuts, 0);
    pthread_mutex_unlock(&l->lock);
}

static inline void cut_begin(struct cut_link *l, const struct sockaddr *at, socklen_t at_len, const void *to, socklen_t to_len)
{
    for (int i = 0; i < CUT_LINKS; i++)
        l->pairs[i].end[0] = l->pairs[i].end[1] = -1;
    memcpy(&l->to, to, to_len);
    l->to_len = to_len;
    l->listener = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(l->listener, at, at_len), 0);
    assert_int_equal(listen(l->listener, CUT_LINKS), 0);
    l->up = l->down = INT64_MAX;
    pthread_mutex_init(&l->lock, NULL);
    assert_int_equal(pthread_create(&l->thread, NULL, cut_main, l), 0);
}

static inline void cut_link_unix(struct cut_link *l, const char *path, const char *to)
{
    *l = (struct cut_link){ .port = 0 };
    struct sockaddr_un at = { .sun_family = AF_UNIX }, there = { .sun_family = AF_UNIX };
    snprintf(l->path, sizeof l->path, "%s", path);
    assert_true(strlen(path) < sizeof at.sun_path && strlen(to) < sizeof there.sun_path);
    memcpy(at.sun_path, path, strlen(path) + 1);
    memcpy(there.sun_path, to, strlen(to) + 1);
    cut_begin(l, (struct sockaddr *)&at, sizeof at, &there, sizeof there);
}

/* On a port of loopback that is l->port then. */
static inline void cut_link_tcp(struct cut_link *l, int to_port)
{
    *l = (struct cut_link){ .port = 0 };
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) }, there = at;
    there.sin_port = htons((uint16_t)to_port);
    cut_begin(l, (struct sockaddr *)&at, sizeof at, &there, sizeof there);
    socklen_t n = sizeof at;
    assert_int_equal(getsockname(l->listener, (struct sockaddr *)&at, &n), 0);
    l->port = ntohs(at.sin_port);
}

static inline void cut_link_free(struct cut_link *l)
{
    atomic_store(&l->is_stopping, true);
    pthread_join(l->thread, NULL);
    close(l->listener);
    if (l->path[0])
        unlink(l->path);
    pthread_mutex_destroy(&l->lock);
}
