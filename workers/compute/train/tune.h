/* SPDX-License-Identifier: Apache-2.0 */
/* tune.h - tries ways of running a training on its own net and data before the first step, and keeps the fastest.
 *
 * A trial is a run of so many steps from the first values, timed step by step; it evaluates nothing, keeps nothing, and its
 * weights are thrown away. First each way alone beside the spec's defaults (a table of single effects), then those that help,
 * the best first, added as long as each makes it faster.
 * What is tried: threads; ranks that divide accumulate, where the spec leaves them at 1 or 0; prefetch; on a device, operations
 * launched one by one instead of a captured step (graph false); precision where it is auto (fp32 is the default there); with
 * tune_batches other cuts of the same rows into batches.
 * Determinism: threads, ranks, prefetch and graph show in no bit. Precision and batches do, and clocks are no function of the
 * spec; so two runs of one spec are sure to be equal only where neither is free. What was chosen of them goes into checkpoints,
 * and an attempt that goes on from one is bound to it (tune_bound); the result says all of it, to be written into a spec by
 * hand.
 * Time and energy: trials count into max_seconds (task.tuned_seconds) and max_joules, and end when they have had a quarter of
 * what is left of either.
 * Calling order: tune -> train_run with ret->spec and ret->task. Errors: those of a run of the defaults; another way that cannot
 * run is a row that says why. */
#pragma once
#include "workers/compute/train/engine.h"

struct tune_way {
    int threads;
    int64_t ranks, batch_size, accumulate;
    bool prefetches, is_bf16, launches_each;
};

struct tuned {
    struct train_job spec;              /* the task's, as chosen */
    struct train_task task;             /* its spec is the one above; its pool is `pool` */
    struct pool *pool;                  /* NULL: one thread; tuned_release */
    struct tune_way way;
    struct train_tuning table;          /* in the arena */
    bool was_stopped;                   /* told to stop: the table ends there, and the defaults go on */
};

/* ranks_are_free: the spec as it was submitted left them to Falaj. cores: the most threads. obs: log and should_stop alone. */
MUST_CHECK enum errc tune(struct arena *a, const struct train_task *task, int cores, bool ranks_are_free,
                          const struct train_observer *obs, struct tuned *ret, struct err *e);
void tuned_release(struct tuned *t);
/* What a checkpoint's "tuned" binds a run to, as text, and back; false: none, or no such text. */
struct str tune_text(struct arena *a, const struct tune_way *w);
bool tune_parse(struct str text, struct tune_way *w);
