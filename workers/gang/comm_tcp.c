/* SPDX-License-Identifier: Apache-2.0 */
/* comm_tcp.c - exchanges over connections that are joined (comm_join.c), in rounds of pairs. */
#include "workers/gang/comm_tcp_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/assert.h"

static struct gang *gang_of(struct comm *c)
{
    return (struct gang *)c;
}

/* The first reason that was heard stays; it goes to all who are still there, as last words. */
static void end(struct gang *g, const struct err *why)
{
    struct comm_frame f = { COMM_ABORT, g->comm.rank, g->comm.size, g->sequence, "", strlen(why->msg) };
    unsigned char head[COMM_HEAD];
    struct err ignored;
    if (g->is_over)
        return;
    g->is_over = true;
    g->why = *why;
    f.bytes = f.bytes < COMM_WORDS_MAX ? f.bytes : COMM_WORDS_MAX;
    comm_frame_write(&f, head);
    for (int r = 0; r < g->comm.size; r++) {
        if (!g->to[r])
            continue;
        tls_silence(g->to[r], LAST_WORDS_MS);
        if (tls_write(g->to[r], head, sizeof head, &ignored) == ERR_OK)     /* who hears it is the better off; who does not */
            (void)!tls_write(g->to[r], why->msg, f.bytes, &ignored);        /* sees the connection close */
        tls_close(g->to[r]);
        g->to[r] = NULL;
    }
}

/* e is of peer: says whose it was, once. */
static enum errc lost(struct gang *g, int peer, struct err *e)
{
    char msg[sizeof e->msg];
    snprintf(msg, sizeof msg, "rank %d was lost: %.200s", peer, e->msg);
    memcpy(e->msg, msg, sizeof msg);
    g->was_lost |= !g->is_over;
    end(g, e);
    return e->code;
}

static enum errc hear_abort(struct gang *g, int peer, size_t n, struct err *e)
{
    unsigned char words[COMM_WORDS_MAX];
    char text[COMM_WORDS_MAX + 1];
    if (tls_read(g->to[peer], words, n, e) != ERR_OK)
        return lost(g, peer, e);
    comm_frame_words(words, n, text);
    (void)FAIL(e, UPSTREAM, "rank %d ended: %s", peer, text);
    g->was_lost |= !g->is_over;
    end(g, e);
    return e->code;
}

/* What cannot be sent any more was perhaps refused with words that lie here already. */
static enum errc send_failed(struct gang *g, int peer, struct err *e)
{
    unsigned char head[COMM_HEAD];
    struct comm_frame got;
    struct err ignored;
    tls_silence(g->to[peer], LAST_WORDS_MS);
    if (tls_read(g->to[peer], head, sizeof head, &ignored) == ERR_OK && comm_frame_read(head, &got, &ignored) == ERR_OK
        && got.kind == COMM_ABORT)
        return hear_abort(g, peer, got.bytes, e);
    return lost(g, peer, e);
}

static enum errc send_part(struct gang *g, int peer, const struct comm_frame *f, const void *part, struct err *e)
{
    unsigned char head[COMM_HEAD];
    comm_frame_write(f, head);
    if (tls_write(g->to[peer], head, sizeof head, e) != ERR_OK || tls_write(g->to[peer], part, f->bytes, e) != ERR_OK)
        return send_failed(g, peer, e);
    return ERR_OK;
}

static enum errc receive_part(struct gang *g, int peer, const struct comm_frame *want, void *part, struct err *e)
{
    unsigned char head[COMM_HEAD];
    struct comm_frame got;
    if (tls_read(g->to[peer], head, sizeof head, e) != ERR_OK || comm_frame_read(head, &got, e) != ERR_OK)
        return lost(g, peer, e);
    if (got.kind == COMM_ABORT)
        return hear_abort(g, peer, got.bytes, e);
    if (comm_frame_match(&got, want, e) != ERR_OK || tls_read(g->to[peer], part, got.bytes, e) != ERR_OK)
        return lost(g, peer, e);
    return ERR_OK;
}

static struct comm_frame frame_of(const struct gang *g, int sender, const char *what, size_t bytes)
{
    struct comm_frame f = { COMM_DATA, sender, g->comm.size, g->sequence, "", bytes };
    snprintf(f.name, sizeof f.name, "%.*s", COMM_NAME_MAX, what);
    return f;
}

/* Both send and both receive; NULL and 0: nothing. */
static enum errc swap(struct gang *g, int peer, const char *what, const void *give, size_t give_bytes, void *take,
                      size_t take_bytes, struct err *e)
{
    const struct comm_frame out = frame_of(g, g->comm.rank, what, give_bytes), in = frame_of(g, peer, what, take_bytes);
    if (g->comm.rank < peer)
        TRY(send_part(g, peer, &out, give, e));
    TRY(receive_part(g, peer, &in, take, e));
    return g->comm.rank > peer ? send_part(g, peer, &out, give, e) : ERR_OK;
}

/* An exchange begins. After the first error all are refused with it. */
static enum errc begin(struct comm *c, struct gang **ret, struct err *e)
{
    struct gang *g = gang_of(c);
    g->sequence++;
    *ret = g;
    if (!g->is_over)
        return ERR_OK;
    *e = g->why;
    return e->code;
}

static size_t piece_at(size_t bytes, size_t piece, int rank, size_t *ret_bytes)
{
    size_t from = (size_t)rank * piece;
    from = from < bytes ? from : bytes;
    *ret_bytes = bytes - from < piece ? bytes - from : piece;
    return from;
}

static void parts_alloc(struct gang *g, size_t count)
{
    if (g->parts_count >= count)
        return;
    free(g->parts);
    g->parts_count = count;
    g->parts = malloc(count * sizeof *g->parts);
    ASSERT(g->parts);
}

static enum errc reduce_scatter(struct comm *c, const char *what, float *x, size_t n, size_t piece, int present, struct err *e)
{
    struct gang *g;
    float *all[COMM_RANKS_MAX];
    size_t own, at = piece_at(n, piece, c->rank, &own), give;
    TRY(begin(c, &g, e));
    parts_alloc(g, piece * (size_t)c->size);
    for (int r = 0; r < c->size; r++)
        all[r] = r == c->rank ? x + at : g->parts + (size_t)r * piece;
    for (int k = 1; k < c->size; k++) {
        int peer = c->rank ^ k;
        size_t from = piece_at(n, piece, peer, &give);
        TRY(swap(g, peer, what, x + from, give * sizeof *x, all[peer], own * sizeof *x, e));
    }
    comm_sum(x + at, all, 0, own, c->size, present);
    return ERR_OK;
}

static enum errc all_gather(struct comm *c, const char *what, void *x, size_t bytes, size_t piece, struct err *e)
{
    struct gang *g;
    size_t own, at = piece_at(bytes, piece, c->rank, &own), take;
    TRY(begin(c, &g, e));
    for (int k = 1; k < c->size; k++) {
        int peer = c->rank ^ k;
        size_t from = piece_at(bytes, piece, peer, &take);
        TRY(swap(g, peer, what, (char *)x + at, own, (char *)x + from, take, e));
    }
    return ERR_OK;
}

static enum errc gather(struct comm *c, const char *what, void *x, size_t bytes, size_t piece, struct err *e)
{
    struct gang *g;
    size_t own, at = piece_at(bytes, piece, c->rank, &own), take;
    TRY(begin(c, &g, e));
    if (c->rank) {
        const struct comm_frame out = frame_of(g, c->rank, what, own);
        return send_part(g, 0, &out, (char *)x + at, e);
    }
    for (int r = 1; r < c->size; r++) {
        size_t from = piece_at(bytes, piece, r, &take);
        const struct comm_frame in = frame_of(g, r, what, take);
        TRY(receive_part(g, r, &in, (char *)x + from, e));
    }
    return ERR_OK;
}

static enum errc broadcast(struct comm *c, const char *what, void *x, size_t bytes, struct err *e)
{
    struct gang *g;
    TRY(begin(c, &g, e));
    const struct comm_frame f = frame_of(g, 0, what, bytes);
    if (c->rank)
        return receive_part(g, 0, &f, x, e);
    for (int r = 1; r < c->size; r++)
        TRY(send_part(g, r, &f, x, e));
    return ERR_OK;
}

static enum errc barrier(struct comm *c, const char *what, struct err *e)
{
    struct gang *g;
    TRY(begin(c, &g, e));
    for (int k = 1; k < c->size; k++)
        TRY(swap(g, c->rank ^ k, what, NULL, 0, NULL, 0, e));
    return ERR_OK;
}

static void rank_abort(struct comm *c, const struct err *why)
{
    end(gang_of(c), why);
}

const struct comm_ops comm_tcp_ops = { "tcp", reduce_scatter, all_gather, gather, broadcast, barrier, rank_abort, NULL };

bool comm_tcp_was_lost(const struct comm *c)
{
    return ((const struct gang *)c)->was_lost;
}

void comm_tcp_free(struct comm *c)
{
    struct gang *g = gang_of(c);
    if (!c)
        return;
    for (int r = 0; r < c->size; r++)
        tls_close(g->to[r]);
    free(g->parts);
    free(g);
}
