/* SPDX-License-Identifier: Apache-2.0 */
/* sse_thread.h - what every kind of server-sent event stream needs: a thread of its own, the list of open streams, their beginning and end.
 *
 * A kind of stream begins with a struct sse and is allocated with malloc. The kind's thread looks at its streams and writes; this piece
 * knows neither what is read nor when.
 * Calling order: sse_thread_start -> (sse_thread_add from any thread)* -> sse_thread_stop -> sse_thread_free. In the thread, with the lock
 * held: work until `stopping`, sse_thread_end for each stream that has ended, last sse_thread_finish.
 * Invariants: only the thread unlinks and frees streams, so one that it has found stays good without the lock; a stream that is added
 * when the thread is over is ended at once, and its reader comes again, to another falaj-api. */
#pragma once
#include "api/route.h"
#include "tenants/access/principal.h"

#include <pthread.h>

enum { SSE_PING_US = 15000000, SSE_STREAMS_MAX = 1000 };

struct sse {
    struct sse *next;
    struct http_exchange *x;
    struct principal *principal;
    int64_t last_write_us, end_us;      /* clock_mono_us */
    bool ended;
};

struct sse_tenant { struct uuid tenant_id; size_t streams; };

struct sse_thread {
    const struct app *app;
    pthread_mutex_t lock;               /* guards list and its links, count, tenants, stopping, is_over */
    pthread_cond_t changed;
    struct sse *list;
    size_t count;                       /* of the list, and of those that are about to be added */
    struct sse_tenant tenants[SSE_STREAMS_MAX];     /* whose these are */
    size_t ntenants;
    bool stopping, is_over;             /* asked to end; the thread has ended */
    void (*drop)(struct sse *s);        /* frees what a kind holds besides struct sse; the stream itself is freed after it. NULL: nothing */
    pthread_t thread;
};

void sse_thread_start(struct sse_thread *t, const struct app *app, void *(*run)(void *), void *ctx, void (*drop)(struct sse *s));
void sse_thread_stop(struct sse_thread *t);     /* ends all streams and refuses new ones; twice is fine */
void sse_thread_free(struct sse_thread *t);     /* stopped; nobody may call any more */

/* A place for one more of a tenant, by `count`; most is at most SSE_STREAMS_MAX. Errors: UNAVAILABLE, there are
 * `most` or it stops; RATE, the tenant has api.streams_per_tenant. The lock is held. */
enum errc sse_thread_book(struct sse_thread *t, struct uuid tenant_id, size_t most, struct err *e) MUST_CHECK;
/* Begins the answer of c, whose exchange and principal the stream takes over. s was calloc'ed; its place was booked.
 * life_us: how long it may last. buffer: what may wait for a slow reader. */
void sse_thread_add(struct sse_thread *t, struct sse *s, struct call *c, int64_t life_us, size_t buffer);

/* Takes the stream off the list and ends it; the lock is given up meanwhile. */
void sse_thread_end(struct sse_thread *t, struct sse *s);
/* Ends all streams; gives the lock up for good. */
void sse_thread_finish(struct sse_thread *t);

/* Writes b, or a ping when there has been nothing for long. A reader that is too slow is told so and cut. No lock is held. */
void sse_write(struct sse *s, struct buf *b, int64_t now_us);
