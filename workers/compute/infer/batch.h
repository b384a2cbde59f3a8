/* SPDX-License-Identifier: Apache-2.0 */
/* batch.h - many callers, few cores: a free core takes what is queued, fairly among the callers (queue.h). Unless delay_us says
 * otherwise there is no timer: a request never waits for company.
 *
 * batcher_submit hands a request over and returns; done() is called on a batcher thread. batcher_infer is the blocking form:
 * when a session is free and nothing waits it runs on the caller's own thread, which saves two thread switches. It watches an
 * engine by itself. Where a hand-over costs more than the numbers (batcher_own), batcher_submit computes on its caller's
 * thread, too. Requests are never split over batches unless longer than a batch, then they run alone, in slices.
 * done() is told RATE when a request gave way to a caller with less, DEADLINE when its turn came too late, or when the model's
 * engine was stopped because it still computed at the end of the request's time (r->why; batcher_watch), UNPROCESSABLE when the
 * model's engine refuses its numbers (r->why); those of others in its batch are computed all the same. Memory: requests belong to
 * the caller until done. Errors: RATE when there is no room; those of infer_run.
 * Calling order: batcher_new -> submit / infer from any thread -> batcher_free (finishes what is queued; no submit after it). */
#pragma once
#include "workers/compute/infer/queue.h"

struct batcher;

struct batcher_stats {
    uint64_t requests, rows, batches, batched_rows_max, batched_requests_max;
    uint64_t gave_way, late;            /* refused after they had been let in */
    uint64_t own;                       /* of the requests: computed by batcher_submit itself */
    size_t rows_waiting;
};

/* What is 0 is the default. */
struct batcher_options {
    int threads;                        /* one per core to use (hw.cores), at least 1; each has its own session */
    size_t queue_rows, queue_requests;  /* that may wait; 65536, 4096 */
    size_t batch_rows;                  /* of a batch at most; info.max_rows, which is also the most */
    int64_t delay_us;                   /* a batch that is not full waits so long for company, counted from its oldest request */
    int64_t timeout_us;                 /* a request whose turn has not come by then is refused; no limit */
    int64_t engine_us;                  /* an engine (info.engine) may compute a batch so long; no limit but that of a request */
};
enum errc batcher_new(const struct infer_model *m, const struct batcher_options *o, struct batcher **ret, struct err *e);
void batcher_free(struct batcher *b);
/* done() may have been called when it returns. */
enum errc batcher_submit(struct batcher *b, struct infer_request *r, struct err *e);
/* One row of zeros through the model: its pages are in memory and its threads have run before anybody is told that it answers. */
MUST_CHECK enum errc batcher_warm(struct batcher *b, struct err *e);
/* From now on batcher_submit computes by itself what takes no longer than most_us, as told by a row that is computed here a few
 * times, while a session is free, nothing waits, and no batch waits for company. Never for an engine's model, whose time nobody
 * knows. *ret_rows: of a request at most; 0: none. Before the first request. */
MUST_CHECK enum errc batcher_own(struct batcher *b, int64_t most_us, size_t *ret_rows, struct err *e);
enum errc batcher_infer(struct batcher *b, struct infer_request *r, struct err *e);     /* r->done and r->ctx are not used */
/* Stops engines whose time is over: called every so often by the owner's loop, and no request ends sooner than it is. */
void batcher_watch(struct batcher *b);
void batcher_get_stats(struct batcher *b, struct batcher_stats *ret);
