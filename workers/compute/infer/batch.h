/* SPDX-License-Identifier: Apache-2.0 */
/* batch.h - many callers, few cores: a free core takes what is queued. No timer: a request never waits for company.
 *
 * batcher_submit hands a request over and returns; done() is called on a batcher thread. batcher_infer is the blocking form: when a
 * session is free and nothing waits it runs on the caller's own thread, which saves two thread switches. Requests are never split
 * over batches unless longer than the model's max_rows, then they run alone, in slices. Order of arrival is the order of start.
 * Memory: requests belong to the caller until done. Errors: RATE when queue_max rows wait already; those of infer_run.
 * Calling order: batcher_new -> submit / infer from any thread -> batcher_free (finishes what is queued; no submit after it). */
#pragma once
#include "workers/compute/infer/model.h"

struct batcher;

struct infer_request {
    struct infer_io io;                 /* of so many rows */
    size_t rows;                        /* at least 1; 1 for a model without rows */
    void (*done)(struct infer_request *r, enum errc rc);
    void *ctx;                          /* the caller's */
    struct infer_request *next;         /* the batcher's */
};

struct batcher_stats {
    uint64_t requests, rows, batches, batched_rows_max, batched_requests_max;
    size_t rows_waiting;
};

/* threads: one per core to use (hw.cores); each has its own session. */
enum errc batcher_new(const struct infer_model *m, int threads, size_t queue_max_rows, struct batcher **ret, struct err *e);
void batcher_free(struct batcher *b);
enum errc batcher_submit(struct batcher *b, struct infer_request *r, struct err *e);
enum errc batcher_infer(struct batcher *b, struct infer_request *r, struct err *e);     /* r->done and r->ctx are not used */
void batcher_get_stats(struct batcher *b, struct batcher_stats *ret);
