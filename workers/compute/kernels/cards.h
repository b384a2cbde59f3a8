/* SPDX-License-Identifier: Apache-2.0 */
/* cards.h - several cards of one process: which one a thread's contexts are of, and how device memory goes from one to another.
 *
 * Calling order: use, on the thread of a rank -> the backend's open -> link_new by all ranks, with one id -> exchange* ->
 * link_free before the context is closed. An exchange is collective: what a rank sends to another is what that one takes from
 * it, in the order of both lists. It begins behind all that the compute queue was asked for, and is over when it returns. One
 * that does not end (a rank is gone) is given up after `patience_ms`, or as soon as is_over says so, and the link is dead from
 * then on.
 * Errors: UNAVAILABLE (link_id: no library here), UPSTREAM (it failed, or did not end in time). */
#pragma once
#include "workers/compute/kernels/capturing.h"

enum { CARD_LINK_ID = 128 };
struct card_link;

struct card_link_spec {
    unsigned char id[CARD_LINK_ID];
    int rank, size;
    int64_t patience_ms;
    bool (*is_over)(void *ctx);         /* another rank has failed */
    void *over_ctx;
};

struct card_part {                      /* a piece of device memory that goes to a rank, itself among them, or comes from it */
    int peer;
    struct buffer *buf;
    size_t at_bytes, bytes;             /* 0 bytes: left out by both */
    bool is_sent;
};

/* Of the card of a context, in bytes. Beside buffers a context holds a library's workspace, windows that are gathered for
 * convolutions, and scratch memory of its largest operation. */
struct card_memory {
    size_t free_bytes, total_bytes;                     /* 0: the driver does not say */
    size_t library_bytes, windows_bytes, scratch_bytes;
    size_t refused_bytes;               /* what an operation asked for beside buffers and did not get; 0: nothing */
    bool refused_is_windows;
};

enum { CARD_HOST_MOST = 64 << 20 };     /* bytes of a piece of pinned memory: what is pinned the machine cannot move or lend */

struct card_ops {
    int (*count)(void);                 /* that this process is shown */
    void (*use)(int card);              /* contexts that this thread opens from here on are of that card; 0 until then */
    enum errc (*link_id)(unsigned char ret[CARD_LINK_ID], struct err *e);
    enum errc (*link_new)(struct backend_ctx *c, const struct card_link_spec *s, struct card_link **ret, struct err *e);
    enum errc (*exchange)(struct card_link *l, const char *what, const struct card_part *parts, size_t n, struct err *e);
    void (*link_free)(struct card_link *l);
    int (*link_version)(void);          /* of the library; 0: there is none */
    /* Pinned memory of this process, which the card reads by itself: a put from it returns at once, and what lies there must
     * stand until the next sync. NULL: there is none, and any other memory does. free waits for what still reads it. */
    void *(*host_alloc)(struct backend_ctx *c, size_t size_bytes);
    void (*host_free)(struct backend_ctx *c, void *at);
    void (*memory)(struct backend_ctx *c, struct card_memory *ret);
};

/* NULL: it computes on the processor. */
static inline const struct card_ops *backend_cards(const struct backend *be)
{
    return be->capturing ? be->capturing->cards : NULL;
}

/* Pinned memory where the backend has it, CARD_HOST_MOST at most; NULL: none. */
static inline void *backend_host_alloc(const struct backend *be, struct backend_ctx *c, size_t size_bytes)
{
    const struct card_ops *cards = backend_cards(be);
    return cards && size_bytes && size_bytes <= CARD_HOST_MOST ? cards->host_alloc(c, size_bytes) : NULL;
}
