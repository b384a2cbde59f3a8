/* SPDX-License-Identifier: Apache-2.0 */
/* comm_local.c - each rank posts where its numbers lie, all meet, each writes what is its own, all meet again.
 *
 * Between the two meetings a rank writes only its own piece of its own numbers (reduce_scatter) or what others own of its numbers
 * (the rest), and reads what nobody writes: no number is read and written by two at a time. */
#include "workers/compute/train/comm_local.h"
#include "core/base/assert.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct post {
    const char *what;
    void *x;
    size_t bytes, piece_bytes;
};

struct comm_local {
    pthread_mutex_t lock;
    pthread_cond_t met;
    int size, waiting, failed;          /* lock: failed -1: nobody */
    unsigned long round;                /* lock */
    struct err why;                     /* lock: of failed */
    struct post post[COMM_RANKS_MAX];   /* written before a meeting, read behind it */
    struct rank {
        struct comm comm;               /* first: comm_ops give it back */
        struct comm_local *all;
    } rank[COMM_RANKS_MAX];
};

static struct rank *rank_of(struct comm *c)
{
    return (struct rank *)c;
}

static enum errc meet(struct comm_local *l, struct err *e)
{
    pthread_mutex_lock(&l->lock);
    unsigned long round = l->round;
    if (l->failed < 0 && ++l->waiting == l->size) {         /* who has failed has left what it posted: nobody meets any more */
        l->waiting = 0;
        l->round++;
        pthread_cond_broadcast(&l->met);
    }
    while (l->round == round && l->failed < 0)
        pthread_cond_wait(&l->met, &l->lock);
    int failed = l->round == round ? l->failed : -1;
    struct err why = l->why;
    pthread_mutex_unlock(&l->lock);
    if (failed < 0)
        return ERR_OK;
    *e = why;
    return why.code;
}

/* Posts, meets, and sees that all came for the same. */
static enum errc come(struct comm *c, const struct post *p, struct comm_local **ret, struct err *e)
{
    struct comm_local *l = rank_of(c)->all;
    l->post[c->rank] = *p;
    TRY(meet(l, e));
    for (int r = 0; r < l->size; r++) {
        const struct post *o = &l->post[r];
        if (strcmp(o->what, p->what) != 0 || o->bytes != p->bytes || o->piece_bytes != p->piece_bytes)
            return FAIL(e, INTERNAL, "rank %d exchanges %s of %zu bytes and rank %d %s of %zu", c->rank, p->what, p->bytes, r,
                        o->what, o->bytes);
    }
    *ret = l;
    return ERR_OK;
}

static size_t piece_at(const struct post *p, int rank, size_t *ret_bytes)
{
    size_t from = (size_t)rank * p->piece_bytes;
    from = from < p->bytes ? from : p->bytes;
    *ret_bytes = p->bytes - from < p->piece_bytes ? p->bytes - from : p->piece_bytes;
    return from;
}

static enum errc reduce_scatter(struct comm *c, const char *what, float *x, size_t n, size_t piece, int present, struct err *e)
{
    const struct post p = { what, x, n * sizeof *x, piece * sizeof *x };
    struct comm_local *l;
    float *all[COMM_RANKS_MAX];
    size_t bytes, at = piece_at(&p, c->rank, &bytes) / sizeof *x;
    TRY(come(c, &p, &l, e));
    for (int r = 0; r < l->size; r++)
        all[r] = l->post[r].x;
    comm_sum(x + at, all, at, bytes / sizeof *x, l->size, present);
    return meet(l, e);
}

static void copy_piece(struct comm_local *l, const struct post *to, int from)
{
    size_t bytes, at = piece_at(to, from, &bytes);
    if (bytes)
        memcpy((char *)to->x + at, (const char *)l->post[from].x + at, bytes);
}

static enum errc all_gather(struct comm *c, const char *what, void *x, size_t bytes, size_t piece_bytes, struct err *e)
{
    const struct post p = { what, x, bytes, piece_bytes };
    struct comm_local *l;
    TRY(come(c, &p, &l, e));
    for (int r = 0; r < l->size; r++)
        if (r != c->rank)
            copy_piece(l, &p, r);
    return meet(l, e);
}

static enum errc gather(struct comm *c, const char *what, void *x, size_t bytes, size_t piece_bytes, struct err *e)
{
    const struct post p = { what, x, bytes, piece_bytes };
    struct comm_local *l;
    TRY(come(c, &p, &l, e));
    for (int r = 1; r < l->size && !c->rank; r++)
        copy_piece(l, &p, r);
    return meet(l, e);
}

static enum errc broadcast(struct comm *c, const char *what, void *x, size_t bytes, struct err *e)
{
    const struct post p = { what, x, bytes, bytes };
    struct comm_local *l;
    TRY(come(c, &p, &l, e));
    if (c->rank)
        copy_piece(l, &p, 0);
    return meet(l, e);
}

static enum errc barrier(struct comm *c, const char *what, struct err *e)
{
    struct comm_local *l;
    TRY(come(c, &(struct post){ .what = what }, &l, e));
    return meet(l, e);              /* until then a slower one still compares posts */
}

static void rank_abort(struct comm *c, const struct err *why)
{
    struct comm_local *l = rank_of(c)->all;
    pthread_mutex_lock(&l->lock);
    if (l->failed < 0) {
        l->failed = c->rank;
        l->why = *why;
    }
    pthread_cond_broadcast(&l->met);
    pthread_mutex_unlock(&l->lock);
}

static const struct comm_ops ops = { "threads", reduce_scatter, all_gather, gather, broadcast, barrier, rank_abort, NULL };

struct comm_local *comm_local_new(int size)
{
    struct comm_local *l = calloc(1, sizeof *l);
    ASSERT(l && comm_is_size(size));
    l->size = size;
    l->failed = -1;
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->met, NULL);
    for (int r = 0; r < size; r++)
        l->rank[r] = (struct rank){ { &ops, r, size }, l };
    return l;
}

void comm_local_free(struct comm_local *l)
{
    if (!l)
        return;
    pthread_cond_destroy(&l->met);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

struct comm *comm_local_rank(struct comm_local *l, int rank)
{
    return &l->rank[rank].comm;
}

int comm_local_failed(struct comm_local *l, struct err *why)
{
    pthread_mutex_lock(&l->lock);
    int failed = l->failed;
    if (failed >= 0)
        *why = l->why;
    pthread_mutex_unlock(&l->lock);
    return failed;
}
