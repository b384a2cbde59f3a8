/* SPDX-License-Identifier: Apache-2.0 */
/* batch_compute.c - requests that are under way together, and whoever waits for them looks after engines meanwhile. */
#include "workers/lease/batch_compute.h"

#include "core/base/clock.h"
#include "core/base/mono_cond.h"

enum { WATCH_US = 20000 };

struct crowd {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    size_t left;                        /* under the lock */
};

static void on_done(struct infer_request *r, enum errc rc)
{
    struct crowd *c = r->ctx;
    pthread_mutex_lock(&c->lock);
    r->rc = rc;
    if (!--c->left)
        pthread_cond_signal(&c->wake);
    pthread_mutex_unlock(&c->lock);
}

static void leave_out(struct crowd *c, size_t requests)
{
    pthread_mutex_lock(&c->lock);
    c->left -= requests;
    pthread_mutex_unlock(&c->lock);
}

/* Rows [at, at + rows) of the block. */
static struct infer_request request_of(const struct batch_table *b, size_t at, size_t rows)
{
    const struct model_sig *sig = &infer_model_info(b->model)->sig;
    struct infer_request r = { .rows = rows };
    for (size_t i = 0; i < sig->input_count; i++)
        r.io.in[i] = (float *)b->in[i] + at * sig_count(&sig->inputs[i], 1);
    for (size_t i = 0; i < sig->output_count; i++)
        r.io.out[i] = b->out[i] ? (float *)b->out[i] + at * sig_count(&sig->outputs[i], 1) : NULL;
    return r;
}

static void wait_for(const struct batch_table *b, struct crowd *c)
{
    pthread_mutex_lock(&c->lock);
    while (c->left) {
        (void)mono_cond_wait(&c->wake, &c->lock, clock_mono_us(&clock_system) + WATCH_US);
        batcher_watch(b->batcher);
    }
    pthread_mutex_unlock(&c->lock);
}

static enum errc run_slices(struct batch_table *b, size_t rows, size_t slice, struct err *e)
{
    struct crowd c = { .lock = PTHREAD_MUTEX_INITIALIZER, .left = (rows + slice - 1) / slice };
    const size_t all = c.left;
    size_t sent = 0;
    enum errc rc = ERR_OK;
    mono_cond_init(&c.wake);
    for (size_t at = 0; rc == ERR_OK && at < rows; at += slice) {
        struct infer_request *r = &b->requests[sent];
        *r = request_of(b, at, rows - at < slice ? rows - at : slice);
        r->ctx = &c;
        r->done = on_done;
        rc = batcher_submit(b->batcher, r, e);
        sent += rc == ERR_OK;
    }
    leave_out(&c, all - sent);
    wait_for(b, &c);
    pthread_cond_destroy(&c.wake);
    pthread_mutex_destroy(&c.lock);
    return rc;
}

/* Those of a slice that failed, one by one. */
static enum errc run_rows(struct batch_table *b, size_t at, size_t rows, struct err *e)
{
    for (size_t i = at; i < at + rows; i++) {
        struct infer_request r = request_of(b, i, 1);
        enum errc rc = batcher_infer(b->batcher, &r, e);
        if (rc == ERR_DEADLINE)
            return FAIL(e, UNPROCESSABLE, "row %zu: %s (max_call_seconds: %.3g)", b->done + i + 1, r.why,
                        (double)b->call_us / 1e6);
        if (rc == ERR_UNPROCESSABLE)
            return FAIL(e, UNPROCESSABLE, "row %zu: %s", b->done + i + 1, r.why);
        TRY(rc);
    }
    return ERR_OK;
}

enum errc batch_compute(struct batch_table *b, size_t rows, struct err *e)
{
    const size_t slice = b->slice;
    bool was_late = false;
    TRY(run_slices(b, rows, slice, e));
    for (size_t k = 0, at = 0; at < rows; k++, at += slice) {
        const enum errc rc = b->requests[k].rc;
        if (rc != ERR_OK && rc != ERR_UNPROCESSABLE && rc != ERR_DEADLINE)
            return FAIL(e, INTERNAL, "a block of rows could not be computed (%s)", err_row(rc)->name);
        if (rc != ERR_OK)
            TRY(run_rows(b, at, b->requests[k].rows, e));
        was_late |= rc == ERR_DEADLINE;
    }
    if (was_late && b->slice > 1)
        b->slice /= 2;
    return ERR_OK;
}
