/* SPDX-License-Identifier: Apache-2.0 */
/* fair_pool.h - threads that many owners share: nobody's work waits behind the whole queue of another.
 *
 *     submit ──▶ a queue for each owner ──▶ a ring of owners that may run ──▶ threads
 *
 * Deficit round robin (M. Shreedhar and G. Varghese, "Efficient Fair Queuing using Deficit Round Robin", 1995) over
 * microseconds of thread time. What a task costs is known only at its end, so it is charged then: an owner whose account is
 * below zero is passed over until the rounds have paid for it. An owner that was away is forgiven its debt as time goes by, and
 * saves nothing up.
 * Invariants: of one owner at most `owner_running` tasks run at once; tasks of one owner start in the order in which they came;
 * a task waits for at most one turn of each other owner that has work, however much that work is.
 * Limits: queue_max tasks wait in all, owner_queue_max of one owner; more is refused.
 * Calling order: fair_pool_new -> fair_pool_submit* from any thread -> fair_pool_free, which runs what waits and joins. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/base/id.h"

struct fair_pool;

struct fair_pool_opts {
    const char *name;                   /* shows in ps (15 bytes) */
    int threads;
    int nice;                           /* above that of who makes the pool: its threads get a processor after the others */
    int owner_running;                  /* of one owner at once; 0: as many as there are threads */
    size_t queue_max, owner_queue_max;  /* owner_queue_max 0: queue_max */
    void (*task)(void *ctx, void *item);
    void (*cost)(void *ctx, struct uuid owner, int64_t us);     /* after each task, on its thread; NULL: nobody asks */
    void *ctx;
};

struct fair_pool_stats {
    size_t waiting, running;
    int64_t busy_us;                    /* thread time of all tasks that ended */
};

struct fair_pool *fair_pool_new(const struct fair_pool_opts *o);
bool fair_pool_submit(struct fair_pool *p, struct uuid owner, void *item);     /* false: a queue is full, or the pool ends */
void fair_pool_stats(struct fair_pool *p, struct fair_pool_stats *ret);
void fair_pool_free(struct fair_pool *p);                                       /* NULL is fine */
