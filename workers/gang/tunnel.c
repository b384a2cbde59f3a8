/* SPDX-License-Identifier: Apache-2.0 */
/* tunnel.c - one loop over the interface, the connections and a descriptor that wakes it. */
#include "workers/gang/tunnel.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "core/base/assert.h"
#include "core/base/clock.h"
#include "workers/gang/comm_tcp_int.h"

enum { BURST = 64, LAST_US = 1000000, LAST_LOOK_MS = 20, WORDS_ROOM = 4 * (PACKET_HEAD + PACKET_WORDS_MAX),
       OUT_ROOM = TUNNEL_ROOM + WORDS_ROOM };

struct side {                           /* a connection to another machine; tls NULL: none, or gone */
    struct tls *tls;
    unsigned char *in, *out;            /* TUNNEL_ROOM, OUT_ROOM */
    size_t nin, nout;
    bool is_done;                       /* its program has ended well */
};

struct tunnel {
    int rank, size, device, wake;
    struct side side[COMM_RANKS_MAX];
    pthread_t thread;
    pthread_mutex_t lock;               /* of all below */
    struct tunnel_sight sight;
    unsigned char said[WORDS_ROOM];     /* frames that go to all */
    size_t nsaid;
    bool is_done, ends;                 /* our program has ended well; the handle is to be freed */
};

static void note(struct tunnel *t, bool is_lost, int rank, const char *how, const char *words)
{
    pthread_mutex_lock(&t->lock);
    if (!t->sight.is_lost && !(t->sight.is_stopping && !is_lost))
        snprintf(t->sight.why, sizeof t->sight.why, "rank %d %s%s", rank, how, words);
    t->sight.is_lost |= is_lost;
    t->sight.is_stopping |= !is_lost;
    pthread_mutex_unlock(&t->lock);
}

static void drop(struct tunnel *t, int rank, const struct err *why)
{
    struct side *s = &t->side[rank];
    tls_close(s->tls);
    s->tls = NULL;
    s->nin = s->nout = 0;
    if (!s->is_done)
        note(t, true, rank, "was lost: ", why->msg);
}

static void look_if_all_are_done(struct tunnel *t)
{
    bool all = true;
    pthread_mutex_lock(&t->lock);
    for (int r = 0; r < t->size; r++)
        all &= r == t->rank ? t->is_done : t->side[r].is_done;
    t->sight.all_done = all;
    pthread_mutex_unlock(&t->lock);
}

static void hear_done(struct tunnel *t, int rank, bool again)
{
    t->side[rank].is_done = true;
    pthread_mutex_lock(&t->lock);
    t->sight.leader_done |= rank == 0;
    t->sight.asks_again |= again;
    pthread_mutex_unlock(&t->lock);
    look_if_all_are_done(t);
}

/* One frame of a machine. */
static void take(struct tunnel *t, int rank, enum packet_kind kind, const unsigned char *p, size_t n)
{
    char words[PACKET_WORDS_MAX + 1];
    int from, to;
    if (kind == PACKET_IP) {
        if (packet_ranks(p, n, t->size, &from, &to) && from == rank && to == t->rank)
            (void)!write(t->device, p, n);      /* a packet that the kernel does not take is one that was lost on the way */
        return;
    }
    if (kind == PACKET_DONE) {
        hear_done(t, rank, *p == 1);
        return;
    }
    comm_frame_words(p, n, words);
    note(t, kind == PACKET_FAILED, rank, kind == PACKET_FAILED ? "ended: " : "was ", words);
}

static enum errc take_frames(struct tunnel *t, int rank, struct err *e)
{
    struct side *s = &t->side[rank];
    size_t at = 0, bytes;
    enum packet_kind kind;
    while (s->nin - at >= PACKET_HEAD) {
        TRY(packet_head_read(s->in + at, &kind, &bytes, e));
        if (s->nin - at - PACKET_HEAD < bytes)
            break;
        take(t, rank, kind, s->in + at + PACKET_HEAD, bytes);
        at += PACKET_HEAD + bytes;
    }
    memmove(s->in, s->in + at, s->nin - at);
    s->nin -= at;
    return ERR_OK;
}

/* What has come; *ret_more: perhaps not all, and no poll would say so. */
static void receive(struct tunnel *t, int rank, bool *ret_more)
{
    struct side *s = &t->side[rank];
    struct err e = { 0 };
    size_t n = 1;
    enum errc rc = ERR_OK;
    for (int i = 0; rc == ERR_OK && n && i < BURST; i++) {
        rc = tls_read_some(s->tls, s->in + s->nin, TUNNEL_ROOM - s->nin, &n, &e);
        if (rc == ERR_OK && n) {
            s->nin += n;
            rc = take_frames(t, rank, &e);
        }
    }
    *ret_more |= rc == ERR_OK && n;
    if (rc != ERR_OK)
        drop(t, rank, &e);
}

static void send_on(struct tunnel *t, int rank)
{
    struct side *s = &t->side[rank];
    struct err e = { 0 };
    size_t at = 0, n = 1;
    if (!s->tls)
        return;
    while (at < s->nout && n) {
        if (tls_write_some(s->tls, s->out + at, s->nout - at, &n, &e) != ERR_OK) {
            drop(t, rank, &e);
            return;
        }
        at += n;
    }
    memmove(s->out, s->out + at, s->nout - at);
    s->nout -= at;
}

static void add(struct side *s, enum packet_kind kind, const void *p, size_t n)
{
    packet_head_write(kind, n, s->out + s->nout);
    memcpy(s->out + s->nout + PACKET_HEAD, p, n);
    s->nout += PACKET_HEAD + n;
}

static bool has_room(const struct tunnel *t)
{
    for (int r = 0; r < t->size; r++)
        if (t->side[r].nout + PACKET_HEAD + PACKET_MAX > TUNNEL_ROOM)
            return false;
    return true;
}

static void send_packets(struct tunnel *t)
{
    unsigned char p[PACKET_MAX];
    int from, to;
    for (int i = 0; i < BURST && has_room(t); i++) {
        ssize_t n = read(t->device, p, sizeof p);
        if (n <= 0)
            break;
        if (packet_ranks(p, (size_t)n, t->size, &from, &to) && from == t->rank && t->side[to].tls)
            add(&t->side[to], PACKET_IP, p, (size_t)n);
    }
}

/* What was said goes behind the packets that are there; true: the handle is to be freed. */
static bool send_words(struct tunnel *t)
{
    pthread_mutex_lock(&t->lock);
    for (int r = 0; r < t->size; r++)
        if (t->side[r].tls && t->side[r].nout + t->nsaid <= OUT_ROOM) {     /* each kind of word is said once: there is room */
            memcpy(t->side[r].out + t->side[r].nout, t->said, t->nsaid);
            t->side[r].nout += t->nsaid;
        }
    t->nsaid = 0;
    bool ends = t->ends;
    pthread_mutex_unlock(&t->lock);
    look_if_all_are_done(t);
    return ends;
}

static int wait_for(struct tunnel *t, struct pollfd p[COMM_RANKS_MAX + 2], int ms)
{
    for (int r = 0; r < t->size; r++) {
        const struct side *s = &t->side[r];
        p[r] = (struct pollfd){ s->tls ? tls_fd(s->tls) : -1, (short)(POLLIN | (s->nout ? POLLOUT : 0)), 0 };
    }
    p[t->size] = (struct pollfd){ has_room(t) ? t->device : -1, POLLIN, 0 };
    p[t->size + 1] = (struct pollfd){ t->wake, POLLIN, 0 };
    return poll(p, (nfds_t)t->size + 2, ms);
}

static bool is_all_sent(const struct tunnel *t)
{
    for (int r = 0; r < t->size; r++)
        if (t->side[r].tls && t->side[r].nout)
            return false;
    return true;
}

static void *carry(void *ctx)
{
    struct tunnel *t = ctx;
    struct pollfd p[COMM_RANKS_MAX + 2];
    int64_t end_us = 0;
    for (bool more = false;;) {
        uint64_t drain;
        if (wait_for(t, p, more ? 0 : end_us ? LAST_LOOK_MS : -1) < 0)
            continue;
        more = false;
        if (p[t->size + 1].revents && read(t->wake, &drain, sizeof drain) < 0)
            continue;
        for (int r = 0; r < t->size; r++)
            if (t->side[r].tls)
                receive(t, r, &more);
        if (p[t->size].revents)
            send_packets(t);
        if (send_words(t) && !end_us)
            end_us = clock_mono_us(&clock_system) + LAST_US;
        for (int r = 0; r < t->size; r++)
            send_on(t, r);
        if (end_us && (is_all_sent(t) || clock_mono_us(&clock_system) >= end_us))
            return NULL;
    }
}

static void release(struct tunnel *t)
{
    for (int r = 0; r < t->size; r++) {
        tls_close(t->side[r].tls);
        free(t->side[r].in);
        free(t->side[r].out);
    }
    if (t->wake >= 0)
        close(t->wake);
    close(t->device);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

enum errc tunnel_new(struct comm *joined, int device, struct tunnel **ret, struct err *e)
{
    struct gang *g = (struct gang *)joined;
    struct tunnel *t = calloc(1, sizeof *t);
    ASSERT(t);
    *t = (struct tunnel){ .rank = joined->rank, .size = joined->size, .device = device,
                          .wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
    pthread_mutex_init(&t->lock, NULL);
    for (int r = 0; r < t->size; r++) {
        t->side[r] = (struct side){ .tls = g->to[r] };
        g->to[r] = NULL;
        if (!t->side[r].tls)
            continue;
        t->side[r].in = malloc(TUNNEL_ROOM);
        t->side[r].out = malloc(OUT_ROOM);
        ASSERT(t->side[r].in && t->side[r].out);
    }
    comm_tcp_free(joined);
    if (t->wake < 0 || pthread_create(&t->thread, NULL, carry, t) != 0) {
        release(t);
        return FAIL(e, IO, "no thread for the network of the job's machines");
    }
    *ret = t;
    return ERR_OK;
}

static void wake(struct tunnel *t)
{
    const uint64_t one = 1;
    (void)!write(t->wake, &one, sizeof one);        /* a full counter wakes it as well */
}

void tunnel_say(struct tunnel *t, enum packet_kind kind, const char *words)
{
    const unsigned char again = words != NULL;
    const size_t n = kind == PACKET_DONE ? 1 : strnlen(words, PACKET_WORDS_MAX);
    pthread_mutex_lock(&t->lock);
    if (n && t->nsaid + PACKET_HEAD + n <= sizeof t->said) {
        packet_head_write(kind, n, t->said + t->nsaid);
        memcpy(t->said + t->nsaid + PACKET_HEAD, kind == PACKET_DONE ? (const void *)&again : words, n);
        t->nsaid += PACKET_HEAD + n;
    }
    if (kind == PACKET_DONE) {
        t->is_done = true;
        t->sight.asks_again |= again;
    }
    pthread_mutex_unlock(&t->lock);
    wake(t);
}

struct tunnel_sight tunnel_look(struct tunnel *t)
{
    pthread_mutex_lock(&t->lock);
    struct tunnel_sight s = t->sight;
    pthread_mutex_unlock(&t->lock);
    return s;
}

void tunnel_free(struct tunnel *t)
{
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->ends = true;
    pthread_mutex_unlock(&t->lock);
    wake(t);
    pthread_join(t->thread, NULL);
    release(t);
}
