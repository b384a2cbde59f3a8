/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.c - starts the ranks, waits for all of them, and gives what rank 0 made or who failed first. */
#include "workers/compute/train/ranks.h"
#include "core/base/cleanup.h"
#include "workers/compute/pool.h"
#include "workers/compute/kernels/cards.h"
#include "workers/compute/train/comm_nccl.h"

#include <pthread.h>
#include <stdio.h>

enum { STACK_BYTES = 1 << 20 };
static const size_t RANK_ARENA = (size_t)1 << 44;       /* what a rank may have is limited by its memory_max_bytes */

struct rank_thread {
    struct train_task task;
    struct peaks peaks;
    struct pool *pool;
    pthread_t thread;
    bool is_started;
};

/* A rank's run. What stops it stops all. */
static enum errc run_rank(struct arena *a, struct rank_thread *t, const struct train_observer *obs, struct train_result *ret,
                          struct err *e)
{
    const struct card_ops *cards = backend_cards(t->task.backend);
    if (cards)
        cards->use(t->task.comm->rank);
    enum errc rc = train_run(a, &t->task, obs, ret, e);
    if (rc != ERR_OK)
        t->task.comm->ops->abort(t->task.comm, e);
    if (cards)
        cards->use(0);                  /* the caller's thread goes on without ranks */
    return rc;
}

static void *thread_main(void *arg)
{
    struct rank_thread *t = arg;
    CLEANUP(arena_freep) struct arena *a = arena_new(RANK_ARENA);
    struct train_result r = { 0 };
    struct err e;
    char name[16];
    snprintf(name, sizeof name, "falaj-rank-%d", t->task.comm->rank);
    pthread_setname_np(pthread_self(), name);
    if (run_rank(a, t, NULL, &r, &e) == ERR_OK)         /* its error is in the comm */
        train_result_release(&r);
    return NULL;
}

/* What differs from rank to rank: its place, its threads, its share of the memory. */
static enum errc set_up(struct rank_thread *t, const struct train_task *job, struct comm *c, struct err *e)
{
    int threads = pool_threads(job->pool) / c->size;
    t->task = *job;
    t->task.comm = c;
    t->task.pool = NULL;
    t->task.memory_max_bytes = job->memory_max_bytes ? job->memory_max_bytes : (size_t)MODEL_BYTES_MAX;
    if (!(job->backend->properties & BE_DEVICE))
        t->task.memory_max_bytes /= (size_t)c->size;
    if (threads > 1)
        TRY(pool_new(threads, &t->pool, e));
    t->task.pool = t->pool;
    if (job->peaks) {                   /* a rank's part of the machine */
        t->peaks = (struct peaks){ job->peaks->flops / c->size, job->peaks->bytes };
        t->task.peaks = &t->peaks;
    }
    if (c->rank)
        t->task.store = NULL;
    return ERR_OK;
}

static bool start(struct rank_thread *t)
{
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    t->is_started = !pthread_create(&t->thread, &attr, thread_main, t);
    pthread_attr_destroy(&attr);
    return t->is_started;
}

static enum errc run_all(struct arena *a, struct rank_thread *t, int n, const struct train_observer *obs,
                         struct train_result *ret, struct err *e)
{
    for (int r = 1; r < n; r++)
        if (!start(&t[r])) {
            enum errc rc = FAIL(e, LIMIT, "the thread of rank %d of %d cannot be started", r, n);
            t[0].task.comm->ops->abort(t[0].task.comm, e);
            return rc;
        }
    return run_rank(a, &t[0], obs, ret, e);
}

/* The first error, and whose it was. */
static enum errc why_failed(struct comm_local *l, struct err *e)
{
    struct err why;
    int rank = comm_local_failed(l, &why);
    if (rank > 0)
        return err_set(e, why.code, why.file, why.line, "rank %d: %s", rank, why.msg);
    return e->code;
}

enum errc ranks_run(struct arena *a, const struct train_task *job, const struct train_observer *obs, struct train_result *ret,
                    struct err *e)
{
    int n = (int)(job->spec->tensor_ranks > 1 ? job->spec->tensor_ranks : job->spec->ranks);
    const struct card_ops *cards = backend_cards(job->backend);
    if (cards && cards->count() < n)
        return FAIL(e, UNPROCESSABLE, "%d ranks, and this lease has %d card(s): each rank has its own. Ask for as many "
                    "gpus as ranks, or for ranks 0", n, cards->count());
    struct rank_thread t[COMM_RANKS_MAX] = { 0 };
    struct comm *own[COMM_RANKS_MAX] = { 0 };
    struct comm_local *l = comm_local_new(n);
    enum errc rc = ERR_OK;
    for (int r = 0; r < n && rc == ERR_OK; r++) {
        own[r] = cards ? comm_nccl_new(l, r) : NULL;
        rc = set_up(&t[r], job, cards ? own[r] : comm_local_rank(l, r), e);
    }
    if (rc == ERR_OK)
        rc = run_all(a, t, n, obs, ret, e);
    for (int r = 0; r < n; r++)
        if (t[r].is_started)
            pthread_join(t[r].thread, NULL);
    if (rc != ERR_OK)
        rc = why_failed(l, e);
    for (int r = 0; r < n; r++) {
        pool_free(t[r].pool);
        comm_nccl_free(own[r]);
    }
    comm_local_free(l);
    return rc;
}
