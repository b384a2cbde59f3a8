/* SPDX-License-Identifier: Apache-2.0 */
/* batch_int.h - what batch.c (queue and threads) and batch_own.c (the caller's own thread) share. */
#pragma once
#include <pthread.h>
#include "core/base/clock.h"
#include "workers/compute/infer/batch.h"

enum { WATCH_US = 20000 };

struct batcher {
    const struct infer_model *model;
    pthread_mutex_t lock;               /* guards all below */
    pthread_cond_t wake;                /* a request and a session may be there */
    struct infer_queue queue;
    struct batcher_stats stats;
    bool is_stopping;
    struct infer_watch *watch;          /* has a lock of its own; NULL: our own operations, whose time is known by their rows */
    int64_t engine_us;
    size_t own_rows;                    /* constant once there are requests */
    int thread_count, free_count;
    struct infer_session **free_sessions;
    pthread_t *threads;
};

static inline int64_t batcher_now_us(void)
{
    return clock_mono_us(&clock_system);
}

/* Lock held. RATE: there is no room. *gone gave way, and is to be told. */
enum errc batcher_enqueue(struct batcher *b, struct infer_request *r, struct infer_request **gone, struct err *e);
void batcher_tell(struct infer_request *list, enum errc rc);
/* Computes what is linked from first and settles each; nobody is told yet. */
void batcher_run(struct batcher *b, struct infer_session *s, struct infer_request *first);
void batcher_give(struct batcher *b, struct infer_session *s);
/* False: r has to wait for a thread. */
bool batcher_compute_own(struct batcher *b, struct infer_request *r);
