/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - one thread's memory for a plan, allocated once, and the runs in it.
 *
 * Calling order: run_new -> run_put of inputs (and of parameters: run_region) -> run_exec -> run_get -> … -> run_free,
 * before the plan. run_exec allocates nothing, but where the backend captures (kernels/capturing.h): what is asked for a second
 * time (the same rows, phases and accumulate; CAPTURES_MAX of them) is captured, and run as one from then on.
 * Inputs travel on the copy queue and results come back on the compute queue; events keep a batch from being overwritten
 * while it is read. A run belongs to one thread at a time. */
#pragma once
#include "workers/compute/graph/plan.h"

enum { CAPTURES_MAX = 8 };
struct run;

/* ctx: of the plan's backend; LIMIT: no memory. */
enum errc run_new(const struct plan *p, struct backend_ctx *ctx, struct run **ret, struct err *e);
void run_free(struct run *r);
/* The buffer of a region, NULL where the plan has none; gradients, parameters and the optimiser's state start as zeros. */
struct buffer *run_region(struct run *r, enum region region);
/* `rows` of an input, from row `at` on; for a value without rows, at 0 and rows 1, all of it. */
void run_put(struct run *r, int value, size_t at, size_t rows, const void *src);
void run_put_step(struct run *r, const struct step_scalars *s);
/* The nodes of these phases in their order, for a batch of `rows`; accumulate: gradients are added to those before. */
void run_exec(struct run *r, size_t rows, unsigned phases, bool accumulate);
/* Who adds up over the ranks that share a layer (enum over_ranks). Nodes of that kind need it. sum: over all ranks, in place,
 * each with the same bits; its error is told by run_sync, and nothing is summed up after it. Such a run launches one by one.
 * LIMIT: no memory. */
struct run_ranks {
    void *ctx;
    enum errc (*sum)(void *ctx, void *numbers, enum elem type, size_t n, struct err *e);
};
MUST_CHECK enum errc run_ranks_begin(struct run *r, const struct run_ranks *of, struct err *e);
/* From here on operations are launched one by one, also where the backend could run a captured sequence as one. */
void run_launch_each(struct run *r);
/* Rows of an output; valid after run_sync. */
void run_get(struct run *r, int value, size_t at, size_t rows, void *dst);
enum errc run_sync(struct run *r, struct err *e);

/* Times of operations, for who asks: each then runs to its end before the next begins. */
struct run_times {
    int count;
    bool is_resting;                    /* nothing is timed meanwhile */
    struct run_time {
        const struct node *node;
        int64_t spent_us, calls, rows;  /* rows: of all its calls together */
        double bytes;                   /* of its inputs and outputs */
    } *of;
};
/* From here on until run_watch_end, which the run's end is too. NULL: no memory. */
struct run_times *run_watch_begin(struct run *r);
void run_watch_end(struct run *r);
