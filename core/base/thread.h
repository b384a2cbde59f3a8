/* SPDX-License-Identifier: Apache-2.0 */
/* thread.h - a pool of threads over one bounded queue, and the loops that end together.
 *
 * Calling order: pool_new -> pool_submit* -> pool_free (finishes what is queued, joins). pool_submit from any thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/base/err.h"

struct thread_pool;

typedef void (*thread_task)(void *ctx, void *item);

/* threads run task(ctx, item). queue_max: items that may wait; more is LIMIT. name shows in ps (15 bytes). */
struct thread_pool *thread_pool_new(const char *name, int threads, size_t queue_max, thread_task task, void *ctx);
bool thread_pool_submit(struct thread_pool *p, void *item);     /* false: the queue is full */
size_t thread_pool_waiting(struct thread_pool *p);
void thread_pool_free(struct thread_pool *p);

/* `wanted` threads that compute at once, never more than half of the processors (at least one): the rest is for who answers. */
int thread_computing_max(int64_t wanted, int64_t processors);
int64_t thread_processors(void);        /* that this process may use */
