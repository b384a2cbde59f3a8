/* SPDX-License-Identifier: Apache-2.0 */
/* queue.h - what waits for a model: a line for each caller, and batches cut from them fairly.
 *
 * Rows are dealt out by start-time fair queueing: of the callers that wait the one that has had the fewest rows is next, and
 * who was away
 * begins where the others stand. So a caller who sends sixteen times as much waits sixteen times as long, and nobody else does.
 * Within a caller the order is that of priority, then of arrival: who puts a request first pays for it with the own ones alone.
 * Requests are never split.
 * Full: who has less waiting than another gets in, and the last request of the one with the most is given back as refused.
 * Invariants: pure, no clock and no lock; whoever owns the queue has both. Requests are linked, nothing is allocated;
 * callers that
 * fall on the same line (QUEUE_LINES) share it. Times are microseconds of one clock.
 * Source: Goyal, Vin, Cheng, "Start-time Fair Queueing", SIGCOMM 1996. */
#pragma once
#include "workers/compute/infer/model.h"

enum { QUEUE_LINES = 256, QUEUE_PRIORITY_MAX = 100, QUEUE_PRIORITY_USUAL = 50, INFER_WHY_MAX = 200 };

struct infer_request {
    struct infer_io io;                 /* of so many rows */
    size_t rows;                        /* at least 1; 1 for a model without rows */
    uint64_t caller;                    /* any number that is the same for what comes from one caller */
    int64_t timeout_us;                 /* it may wait so long, if that is less than what the queue allows; 0: not said */
    int64_t priority;                   /* 1 first … QUEUE_PRIORITY_MAX last; 0: QUEUE_PRIORITY_USUAL */
    void (*done)(struct infer_request *r, enum errc rc);
    void *ctx;                          /* the caller's */
    struct infer_request *next, *prev;  /* the queue's */
    int64_t arrived_us;
    int64_t taken_us;                   /* the batcher's: into a batch of so many rows; 0: not yet */
    size_t batch_rows;
    enum errc rc;                       /* the batcher's: what came of its rows, and of UNPROCESSABLE or DEADLINE why */
    char why[INFER_WHY_MAX];
};

struct queue_line {
    struct infer_request *head, *tail;
    size_t rows, requests;
    uint64_t start;                     /* rows it has had, on the scale of all */
};

struct infer_queue {
    size_t rows_max, requests_max;      /* waiting at most; both at least 1 */
    size_t batch_rows;                  /* of a batch at most */
    int64_t delay_us, timeout_us;       /* how long a batch waits to be full; a request for its turn (0: no limit) */
    size_t rows, requests;              /* that wait */
    uint64_t start;                     /* of the last one that was cut */
    int64_t late_us;                    /* until then nobody who waits is late */
    size_t busy_count;
    unsigned short busy[QUEUE_LINES];   /* lines that have a request */
    struct queue_line lines[QUEUE_LINES];
};

/* False: refused, there is no room that is r's. *ret_gone: requests that gave way, linked by next; NULL: none. What is
 * longer than
 * the whole queue is let in when nothing waits. */
bool queue_put(struct infer_queue *q, struct infer_request *r, int64_t now_us, struct infer_request **ret_gone);
/* When a batch may be cut: INT64_MAX nothing waits; a time that has come: now. */
int64_t queue_due_us(const struct infer_queue *q);
/* The requests of the next batch, linked by next: whole ones only, at least one if any waits in time. *ret_late: those whose
 * turn came
 * after their time. */
struct infer_request *queue_cut(struct infer_queue *q, int64_t now_us, struct infer_request **ret_late);
/* The last time at which it is not late; INT64_MAX: it never is. */
int64_t queue_late_at(const struct infer_queue *q, const struct infer_request *r);
/* Those who are late whether or not it is their turn, linked by next. Cheap while there is none. */
struct infer_request *queue_late(struct infer_queue *q, int64_t now_us);
