/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - threads inside operations: one pool per process, shared by all models, sized by what the process may use (hw.cores).
 *
 * pool_run calls fn(ctx, 0 … tasks-1), each once, on the caller's thread and on helpers that have nothing else to do, and
 * returns when all are done. Tasks must be cut by the shape of the work, never by the number of threads, and write apart
 * from each other: then the bits do not depend on how many threads there are. Nobody spins: a helper without work and a
 * caller whose last tasks run elsewhere sleep. Any number of threads may call at a time; callers and helpers at work are
 * never more than the pool has threads as long as the callers alone are not, so a process that is busy with many callers
 * does not slow down by helping. A task may call pool_run itself; it then runs there. Calling order: pool_new -> pool_run*
 * -> pool_free, with no call under way. */
#pragma once
#include <stddef.h>
#include "core/base/err.h"

struct pool;

/* threads counts the caller: 1 makes no thread. LIMIT: a thread cannot be started. */
enum errc pool_new(int threads, struct pool **ret, struct err *e);
void pool_free(struct pool *p);
void pool_freep(struct pool **p);
int pool_threads(const struct pool *p);                 /* 1 for NULL */
/* p NULL: all tasks on the caller's thread. */
void pool_run(struct pool *p, size_t tasks, void (*fn)(void *ctx, size_t task), void *ctx);
