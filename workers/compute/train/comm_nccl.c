/* SPDX-License-Identifier: Apache-2.0 */
/* comm_nccl.c - pieces of device memory to their owners and back.
 *
 * reduce_scatter: every rank sends each piece to its owner, itself among them, into room for as many pieces as there are ranks;
 * the owner adds them up as comm_sum does (a node's left side, then += its right one) and puts the sum in its place.
 * all_gather: every rank sends its own piece to all others. That is the traffic of a ring, in one step each, and no sum in an
 * order that somebody else has. */
#include "workers/compute/train/comm_nccl.h"
#include "core/base/assert.h"
#include "workers/compute/kernels/cards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATIENCE_MS = 120 * 1000 };

struct nccl_rank {
    struct comm comm;                   /* first: comm_ops give it back */
    struct comm *over;
    struct comm_local *all;
    const struct backend *be;
    struct backend_ctx *ctx;
    struct card_link *link;             /* NULL: not joined, or there is none */
    struct buffer *room;
    char about[200];
};

struct invitation {                     /* rank 0's, to all */
    bool is_there;
    int version;
    unsigned char id[CARD_LINK_ID];
    char why[160];
};

struct answer {                         /* each rank's, to all */
    bool is_in;
    char why[160];
};

static struct nccl_rank *rank_of(struct comm *c)
{
    return (struct nccl_rank *)c;
}

static struct comm *over(struct comm *c)
{
    return rank_of(c)->over;
}

static enum errc reduce_scatter(struct comm *c, const char *what, float *x, size_t n, size_t piece, int present, struct err *e)
{
    return over(c)->ops->reduce_scatter(over(c), what, x, n, piece, present, e);
}

static enum errc all_gather(struct comm *c, const char *what, void *x, size_t bytes, size_t piece_bytes, struct err *e)
{
    return over(c)->ops->all_gather(over(c), what, x, bytes, piece_bytes, e);
}

static enum errc gather(struct comm *c, const char *what, void *x, size_t bytes, size_t piece_bytes, struct err *e)
{
    return over(c)->ops->gather(over(c), what, x, bytes, piece_bytes, e);
}

static enum errc broadcast(struct comm *c, const char *what, void *x, size_t bytes, struct err *e)
{
    return over(c)->ops->broadcast(over(c), what, x, bytes, e);
}

static enum errc barrier(struct comm *c, const char *what, struct err *e)
{
    return over(c)->ops->barrier(over(c), what, e);
}

static void rank_abort(struct comm *c, const struct err *why)
{
    over(c)->ops->abort(over(c), why);
}

/* Whoever waits for a card asks whether it waits for nobody. */
static bool is_over(void *ctx)
{
    struct err why;
    return comm_local_failed(ctx, &why) >= 0;
}

/* All or nobody: where one rank's card did not join, the others let go of theirs, and the processor's memory does. */
static enum errc agree(struct comm *c, enum errc rc, const struct err *why, struct err *e)
{
    struct nccl_rank *r = rank_of(c);
    struct answer of[COMM_RANKS_MAX] = { { .is_in = false } };
    of[c->rank].is_in = rc == ERR_OK;
    if (rc != ERR_OK)
        snprintf(of[c->rank].why, sizeof of->why, "%.150s", why->msg);
    TRY(all_gather(c, "links", of, (size_t)c->size * sizeof *of, sizeof *of, e));
    int first = 0;
    while (first < c->size && of[first].is_in)
        first++;
    if (first == c->size)
        return ERR_OK;
    backend_cards(r->be)->link_free(r->link);
    r->link = NULL;
    snprintf(r->about, sizeof r->about, "the cards exchange through the processor's memory: %.140s", of[first].why);
    return ERR_OK;
}

static enum errc join(struct comm *c, const struct backend *be, struct backend_ctx *ctx, struct err *e)
{
    struct nccl_rank *r = rank_of(c);
    struct invitation to = { 0 };
    struct card_link_spec s = { .rank = c->rank, .size = c->size, .patience_ms = PATIENCE_MS, .is_over = is_over,
                                .over_ctx = r->all };
    struct err why;
    r->be = be;
    r->ctx = ctx;
    if (!c->rank) {
        to.is_there = backend_cards(be)->link_id(to.id, &why) == ERR_OK;
        to.version = backend_cards(be)->link_version();
        if (!to.is_there)
            snprintf(to.why, sizeof to.why, "%.150s", why.msg);
    }
    TRY(broadcast(c, "invitation", &to, sizeof to, e));
    if (!to.is_there) {
        snprintf(r->about, sizeof r->about, "the cards exchange through the processor's memory: %.140s", to.why);
        return ERR_OK;
    }
    memcpy(s.id, to.id, sizeof s.id);
    snprintf(r->about, sizeof r->about, "%d cards exchange by NCCL %d.%d.%d", c->size, to.version / 10000,
             to.version / 100 % 100, to.version % 100);
    return agree(c, backend_cards(be)->link_new(ctx, &s, &r->link, &why), &why, e);
}

static bool is_joined(const struct comm *c)
{
    return ((const struct nccl_rank *)c)->link != NULL;
}

static void leave(struct comm *c)
{
    struct nccl_rank *r = rank_of(c);
    if (r->be)
        backend_cards(r->be)->link_free(r->link);
    if (r->room)
        r->be->free(r->ctx, r->room);
    r->link = NULL;
    r->room = NULL;
}

/* Numbers of a piece, which the last ranks' are cut to. */
static size_t piece_of(size_t n, size_t piece, int rank, size_t *ret_from)
{
    size_t from = piece * (size_t)rank;
    *ret_from = from < n ? from : n;
    return n - *ret_from < piece ? n - *ret_from : piece;
}

/* to = from, or to += from. */
static void copy(struct nccl_rank *r, struct buffer *from, size_t from_at, struct buffer *to, size_t to_at, size_t count,
                 unsigned flags)
{
    struct tensor x = tensor_at(from, from_at * sizeof(float), ELEM_F32, 1, &count);
    struct tensor out = tensor_at(to, to_at * sizeof(float), ELEM_F32, 1, &count);
    const struct op_call call = { .attr.flags = flags, .in = { &x }, .out = { &out } };
    (*r->be->kernels)[OP_COPY][ELEM_F32](r->ctx, &call);
}

/* Room for piece p of every rank at p·piece; the sum of ranks from … from+size-1 ends in the first of them. */
static void add_up(struct nccl_rank *r, size_t piece, size_t count, int from, int size, int present)
{
    int half = size / 2;
    if (size == 1)
        return;
    add_up(r, piece, count, from, half, present);
    if (from + half >= present)
        return;
    add_up(r, piece, count, from + half, half, present);
    copy(r, r->room, piece * (size_t)(from + half), r->room, piece * (size_t)from, count, OP_ACCUMULATE);
}

static enum errc make_room(struct nccl_rank *r, size_t numbers, struct err *e)
{
    if (r->room && r->room->size_bytes >= numbers * sizeof(float))
        return ERR_OK;
    if (r->room)
        r->be->free(r->ctx, r->room);
    r->room = r->be->alloc(r->ctx, numbers * sizeof(float));
    return r->room ? ERR_OK : FAIL(e, LIMIT, "the sums over %d cards do not fit in a card's memory", r->comm.size);
}

static enum errc card_reduce_scatter(struct comm *c, const char *what, struct buffer *x, size_t n, size_t piece, int present,
                                     struct err *e)
{
    struct nccl_rank *r = rank_of(c);
    struct card_part part[2 * COMM_RANKS_MAX];
    size_t from, own = piece_of(n, piece, c->rank, &from), count, at, parts = 0;
    TRY(make_room(r, piece * (size_t)c->size, e));
    for (int p = 0; p < c->size; p++) {
        count = piece_of(n, piece, p, &at);
        part[parts++] = (struct card_part){ p, x, at * sizeof(float), count * sizeof(float), true };
        part[parts++] = (struct card_part){ p, r->room, piece * (size_t)p * sizeof(float), own * sizeof(float), false };
    }
    TRY(backend_cards(r->be)->exchange(r->link, what, part, parts, e));
    if (!own)
        return ERR_OK;
    add_up(r, piece, own, 0, c->size, present);
    copy(r, r->room, 0, x, from, own, 0);
    return ERR_OK;
}

static enum errc card_all_gather(struct comm *c, const char *what, struct buffer *x, size_t n, size_t piece, struct err *e)
{
    struct nccl_rank *r = rank_of(c);
    struct card_part part[2 * COMM_RANKS_MAX];
    size_t from, own = piece_of(n, piece, c->rank, &from), count, at, parts = 0;
    for (int p = 0; p < c->size; p++) {
        if (p == c->rank)
            continue;
        count = piece_of(n, piece, p, &at);
        part[parts++] = (struct card_part){ p, x, from * sizeof(float), own * sizeof(float), true };
        part[parts++] = (struct card_part){ p, x, at * sizeof(float), count * sizeof(float), false };
    }
    return backend_cards(r->be)->exchange(r->link, what, part, parts, e);
}

static const char *about(const struct comm *c)
{
    return ((const struct nccl_rank *)c)->about;
}

static const struct comm_cards cards = { join, is_joined, about, leave, card_reduce_scatter, card_all_gather };
static const struct comm_ops ops = { "nccl", reduce_scatter, all_gather, gather, broadcast, barrier, rank_abort, &cards };

struct comm *comm_nccl_new(struct comm_local *all, int rank)
{
    struct nccl_rank *r = calloc(1, sizeof *r);
    ASSERT(r);
    r->all = all;
    r->over = comm_local_rank(all, rank);
    r->comm = (struct comm){ &ops, rank, r->over->size };
    return &r->comm;
}

void comm_nccl_free(struct comm *c)
{
    free(c);
}
