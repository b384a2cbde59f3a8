/* SPDX-License-Identifier: Apache-2.0 */
/* batch_own.c - what is computed on the thread of who asks: it is there already, and another one would have to be woken and to
 * wake it. */
#include "workers/compute/infer/batch_int.h"
#include "core/base/assert.h"
#include "core/base/mono_cond.h"
#include "workers/compute/infer/watch.h"

#include <stdlib.h>
#include <unistd.h>

enum { OWN_TRIES = 16 };

struct waiter {                         /* of batcher_infer */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool is_done;
    enum errc rc;
};

/* A session for a request that need not wait; NULL: it must. */
static struct infer_session *take_session(struct batcher *b, const struct infer_request *r, bool is_own)
{
    struct infer_session *s = NULL;
    pthread_mutex_lock(&b->lock);
    if (!b->queue.requests && b->free_count > 0 && !b->is_stopping) {
        s = b->free_sessions[--b->free_count];
        b->stats.requests++;
        b->stats.own += is_own;
        b->stats.rows += r->rows;
        b->stats.batches++;
        if (r->rows > b->stats.batched_rows_max)
            b->stats.batched_rows_max = r->rows;
        if (!b->stats.batched_requests_max)
            b->stats.batched_requests_max = 1;
    }
    pthread_mutex_unlock(&b->lock);
    return s;
}

static void begin_alone(struct infer_request *r)
{
    r->next = NULL;
    r->batch_rows = r->rows;
    r->arrived_us = r->taken_us = batcher_now_us();
}

/* On this thread, when it is worth no other one. */
bool batcher_compute_own(struct batcher *b, struct infer_request *r)
{
    struct infer_session *s = r->rows <= b->own_rows ? take_session(b, r, true) : NULL;
    if (!s)
        return false;
    begin_alone(r);
    batcher_run(b, s, r);
    batcher_give(b, s);
    r->done(r, r->rc);
    return true;
}

static void wake_waiter(struct infer_request *r, enum errc rc)
{
    struct waiter *w = r->ctx;
    pthread_mutex_lock(&w->lock);
    w->rc = rc;
    w->is_done = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
}

static enum errc no_answer(const struct infer_request *r, enum errc rc, struct err *e)
{
    return err_set(e, rc, __FILE__, __LINE__, "the model did not answer (%s)%s%s", err_row(rc)->wire,
                   *r->why ? ": " : "", r->why);
}

struct watcher { struct batcher *batcher; _Atomic bool is_done; };

static void *watch_main(void *arg)
{
    struct watcher *w = arg;
    for (; !w->is_done; usleep(WATCH_US))
        batcher_watch(w->batcher);
    return NULL;
}

/* On the caller's thread, who cannot watch an engine while he computes. */
static enum errc run_here(struct batcher *b, struct infer_session *s, struct infer_request *r, struct err *e)
{
    struct watcher w = { .batcher = b };
    pthread_t t;
    if (b->watch && pthread_create(&t, NULL, watch_main, &w))
        return FAIL(e, LIMIT, "a thread that watches the model's engine cannot be started");
    batcher_run(b, s, r);
    w.is_done = true;
    if (b->watch)
        pthread_join(t, NULL);
    return ERR_OK;
}

enum errc batcher_infer(struct batcher *b, struct infer_request *r, struct err *e)
{
    ASSERT(r->rows >= 1);
    struct infer_session *s = take_session(b, r, false);
    if (s) {
        begin_alone(r);
        enum errc can = run_here(b, s, r, e);
        batcher_give(b, s);
        TRY(can);
        return r->rc == ERR_OK ? ERR_OK : no_answer(r, r->rc, e);
    }
    struct waiter w = { .lock = PTHREAD_MUTEX_INITIALIZER, .rc = ERR_OK };
    mono_cond_init(&w.wake);
    r->ctx = &w;
    r->done = wake_waiter;
    struct infer_request *gone;
    pthread_mutex_lock(&b->lock);
    enum errc rc = batcher_enqueue(b, r, &gone, e);
    pthread_mutex_unlock(&b->lock);
    batcher_tell(gone, ERR_RATE);
    if (rc == ERR_OK) {
        pthread_mutex_lock(&w.lock);
        while (!w.is_done) {
            (void)mono_cond_wait(&w.wake, &w.lock, batcher_now_us() + WATCH_US);
            batcher_watch(b);
        }
        pthread_mutex_unlock(&w.lock);
        if (w.rc != ERR_OK)
            rc = no_answer(r, w.rc, e);
    }
    pthread_cond_destroy(&w.wake);
    pthread_mutex_destroy(&w.lock);
    return rc;
}

/* The least of several, for others may have had the processor in between. One that takes far too long is not tried again. */
static enum errc measure(struct infer_session *s, const struct infer_io *io, int64_t most_us, int64_t *ret_us, struct err *e)
{
    *ret_us = INT64_MAX;
    for (int i = 0; i < OWN_TRIES && (i == 0 || *ret_us <= 16 * most_us); i++) {
        int64_t from = batcher_now_us();
        TRY(infer_run(s, io, 1, e));
        int64_t us = batcher_now_us() - from;
        *ret_us = us < *ret_us ? us : *ret_us;
    }
    return ERR_OK;
}

/* Room for one row of zeros, of whatever type: each number has four bytes. */
static float *zeros_alloc(const struct model_sig *sig, struct infer_io *ret)
{
    size_t total = 0, at = 0;
    for (size_t i = 0; i < sig->input_count + sig->output_count; i++)
        total += sig_count(i < sig->input_count ? &sig->inputs[i] : &sig->outputs[i - sig->input_count], 1);
    float *room = calloc(total + 1, sizeof *room);
    for (size_t i = 0; i < sig->input_count && room; at += sig_count(&sig->inputs[i++], 1))
        ret->in[i] = room + at;
    for (size_t i = 0; i < sig->output_count && room; at += sig_count(&sig->outputs[i++], 1))
        ret->out[i] = room + at;
    return room;
}

static enum errc no_room(struct err *e)
{
    return FAIL(e, LIMIT, "no memory for the numbers of one row");
}

enum errc batcher_warm(struct batcher *b, struct err *e)
{
    struct infer_request r = { .rows = 1 };
    float *room = zeros_alloc(&infer_model_info(b->model)->sig, &r.io);
    enum errc rc = room ? batcher_infer(b, &r, e) : no_room(e);
    free(room);
    return rc;
}

enum errc batcher_own(struct batcher *b, int64_t most_us, size_t *ret_rows, struct err *e)
{
    struct infer_io io = { 0 };
    int64_t us = INT64_MAX;
    *ret_rows = 0;
    if (b->watch || b->queue.delay_us)
        return ERR_OK;
    float *room = zeros_alloc(&infer_model_info(b->model)->sig, &io);
    enum errc rc = room ? measure(b->free_sessions[0], &io, most_us, &us, e) : no_room(e);
    free(room);
    TRY(rc);
    b->own_rows = us > 0 ? (size_t)(most_us / us) : (size_t)most_us;
    b->own_rows = b->own_rows < b->queue.batch_rows ? b->own_rows : b->queue.batch_rows;
    *ret_rows = b->own_rows;
    return ERR_OK;
}
