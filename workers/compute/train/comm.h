/* SPDX-License-Identifier: Apache-2.0 */
/* comm.h - how the ranks of one training speak to each other: a table of functions, so that the step loop knows no transport.
 *
 *   threads  ranks are threads of one process (comm_local.h)
 *   tcp      ranks are processes, each pair joined by TLS 1.3 (workers/gang/comm_tcp.h)
 *   nccl     the same threads with a card each; device memory goes from card to card (comm_nccl.h)
 *
 * Collective: every rank calls the same functions in the same order, with the same name and sizes; ranks that differ are told
 * so (INTERNAL, over TCP DAMAGED), never left to wait. Sums have one order for every transport, and no number of ranks shows in
 * them: rank r holds the sum of its own block of a step's batches, which is a node of one binary tree, and comm_sum adds the
 * nodes above it. Counts of ranks are powers of two, COMM_RANKS_MAX at most. What no rank of a block has (a short step at the
 * end of an epoch) is left out of the tree, not added as zero.
 * A piece is what one rank owns of n numbers: [rank · piece, (rank + 1) · piece), cut at n; comm_piece makes it of whole groups
 * of 256, so that nothing has to divide (a rank may own nothing).
 * Ends: a rank that cannot go on calls abort with its error; the others' calls then fail, also those that wait, with the name of
 * that rank. Calling order: a transport's init by rank and size -> collectives* -> free. One thread per rank. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "core/base/err.h"

enum { COMM_RANKS_MAX = 8, COMM_PIECE_OF = 256, COMM_NAME_MAX = 16 };

struct comm {
    const struct comm_ops *ops;
    int rank, size;
};

struct backend;
struct backend_ctx;
struct buffer;

/* Of a transport that can move device memory; the functions of comm_ops do the same with numbers in the process's. Collective,
 * each rank on its thread: join with its context -> is_joined? -> …, leave before the context is closed, also after a failure. */
struct comm_cards {
    enum errc (*join)(struct comm *c, const struct backend *be, struct backend_ctx *ctx, struct err *e);
    bool (*is_joined)(const struct comm *c);            /* false: through the process's memory */
    const char *(*about)(const struct comm *c);         /* for a log, behind join; valid as long as c */
    void (*leave)(struct comm *c);
    enum errc (*reduce_scatter)(struct comm *c, const char *what, struct buffer *x, size_t n, size_t piece, int present,
                                struct err *e);
    enum errc (*all_gather)(struct comm *c, const char *what, struct buffer *x, size_t n, size_t piece, struct err *e);
};

struct comm_ops {
    const char *name;
    /* x[piece of this rank] becomes the sum over ranks 0 … present-1; the rest of x is no longer anything. n numbers. */
    enum errc (*reduce_scatter)(struct comm *c, const char *what, float *x, size_t n, size_t piece, int present, struct err *e);
    /* Every rank's piece to every rank; in bytes, of any type. */
    enum errc (*all_gather)(struct comm *c, const char *what, void *x, size_t bytes, size_t piece_bytes, struct err *e);
    /* Every rank's piece to rank 0; the others' x stays. */
    enum errc (*gather)(struct comm *c, const char *what, void *x, size_t bytes, size_t piece_bytes, struct err *e);
    enum errc (*broadcast)(struct comm *c, const char *what, void *x, size_t bytes, struct err *e);      /* rank 0's to all */
    enum errc (*barrier)(struct comm *c, const char *what, struct err *e);
    /* This rank goes on no more, because of `why`. */
    void (*abort)(struct comm *c, const struct err *why);
    const struct comm_cards *cards;     /* NULL: it knows no device memory */
};

/* Numbers that one of `size` ranks owns of n: whole groups of COMM_PIECE_OF. */
size_t comm_piece(size_t n, int size);
/* NULL is a rank alone. */
static inline int comm_rank(const struct comm *c) { return c ? c->rank : 0; }
static inline int comm_size(const struct comm *c) { return c ? c->size : 1; }
/* Do so many ranks and this layout of the tree go together? 1, 2, 4, 8. */
static inline bool comm_is_size(int size) { return size >= 1 && size <= COMM_RANKS_MAX && (size & (size - 1)) == 0; }
/* out[0 … n-1] = the tree's sum of x[rank][at + i] over the ranks 0 … present-1 of `size`; out may be x[any] + at. */
void comm_sum(float *out, float *const x[], size_t at, size_t n, int size, int present);
/* Every rank ends with all sums. */
MUST_CHECK enum errc comm_all_reduce(struct comm *c, const char *what, float *x, size_t n, int present, struct err *e);
