/* SPDX-License-Identifier: Apache-2.0 */
/* engine_int.h - the state of a run, shared by engine.c (the loop), engine_step.c (a step), engine_eval.c and engine_state.c
 * (save and restore). */
#pragma once
#include "workers/compute/train/comm.h"
#include "workers/compute/train/cursor.h"
#include "workers/compute/train/joules.h"
#include "workers/compute/train/prefetch.h"

enum { LANES_KEPT_MAX = 3 };        /* of COMM_RANKS_MAX lanes */
enum { PINNED_MAX = 6 };            /* two batches of x, target and soft */
struct lanes {                      /* sums of gradients that wait for their right side (engine_step.c) */
    struct {
        struct buffer *sum;
        int level;
    } kept[LANES_KEPT_MAX];
    int count;
};

struct score {                      /* of a batch that was held out, and of all of them; whole numbers, too, are exact */
    double loss, right, answers;
    double sum, squares, off;       /* of numbers: Σy, Σy², Σ(y - f)² */
};

struct engine {
    struct arena *arena;
    const struct train_task *job;
    const struct train_observer *obs;
    struct backend_ctx *ctx;
    struct net *net;
    float *best;                            /* parameters of the best epoch, or NULL */
    void *x;                                /* one batch: floats, or tokens */
    void *target, *picked;                  /* what is right, and what the net says: i32 classes, or floats */
    uint32_t *rows, *next;
    void *pinned[PINNED_MAX];               /* of batches (engine_eval.c), given back at the end */
    int pinned_count;
    struct prefetch *prefetch;              /* NULL: a batch is fetched when it is needed */
    float *soft;                            /* a teacher's probabilities of the batch, or NULL */
    int64_t fetch_us;                       /* spent on getting rows, in all */
    struct profile profile;                 /* times NULL: no step is watched */
    struct train_profile profiled;          /* what came of it */
    int64_t profiled_from;                  /* first step of this part of the run */
    int64_t total_steps;
    int64_t began_us;                       /* of this process's part of the run */
    bool is_due;                            /* a checkpoint, as soon as the store is ready */
    struct comm *comm;                      /* NULL: alone. What a clock or a caller decides is rank 0's, and told to all */
    struct run_ranks over;                  /* who adds up for layers that ranks share */
    float *here, *whole;                    /* of ranks that share layers: all ranks' numbers behind each other; the model's */
    bool has_store;                         /* rank 0 has one */
    struct lanes lanes;
    double *losses;                         /* of a step, by place of its batch */
    float *host;                            /* of ranks: what they exchange, all numbers */
    struct score *scores;                   /* of an evaluation, by batch */
    int64_t comm_us;                        /* spent on exchanges of steps, in all */
    struct joules joules;                   /* rank 0's knows the others' */
    struct cursor at;
};

/* Products by a library where the task names one (engine_library.c): on the open context, before anything runs. */
enum { WAYS_TEXT_MAX = 512 * 1024 };      /* bytes of the ways that a checkpoint has */
void engine_library_use(struct engine *g);
void engine_library_tell(struct engine *g);                     /* what it refused, once, to the log */
struct str engine_library_ways(const struct engine *g, struct arena *a);        /* what it chose, for a checkpoint */
/* Of a checkpoint; where they are another card's, the log says so. */
void engine_library_bind(struct engine *g, struct str ways);
/* Ranks share the batches of a step, or (tensor_ranks) its layers: then each has all batches. */
static inline bool engine_is_split(const struct engine *g)
{
    return g->comm && g->job->spec->tensor_ranks > 1;
}
static inline int engine_data_ranks(const struct engine *g)
{
    return engine_is_split(g) ? 1 : comm_size(g->comm);
}
static inline int engine_data_rank(const struct engine *g)
{
    return engine_is_split(g) ? 0 : comm_rank(g->comm);
}
/* All numbers of a region of the whole model, at rank 0, in memory that is reused: collective. Elsewhere *ret is NULL. */
enum errc engine_collect(struct engine *g, enum region region, float **ret, struct err *e);
/* Room for a batch, pinned or of the arena; false: there is none. answers: numbers of an item's target. Given back before the
 * context is closed, after the prefetching has ended. */
MUST_CHECK bool engine_batch(struct engine *g, size_t rows, size_t answers, struct prefetch_batch *ret);
void engine_batches_release(struct engine *g);
void engine_gather(struct engine *g, const uint32_t *rows, size_t n);   /* a batch to the net */
enum errc engine_make_net(struct engine *g, struct net_spec spec, struct err *e);      /* LIMIT: says which batch fits */
int engine_lanes(int64_t accumulate);
/* The batches of one step: gradients add up, each row weighing the same, and the update; *ret_loss: the sum over all items. */
enum errc engine_batches(struct engine *g, size_t rows, struct step_scalars *at, double *ret_loss, struct err *e);
/* On a card (engine_room.c): bytes that it holds beside buffers; what there is for them and the plan, `most` at most; and behind
 * LIMIT of a step, the batch that would have fitted. On the processor: 0, most, the error as it is. */
size_t engine_room_beside(const struct engine *g);
size_t engine_room_most(const struct engine *g, size_t most);
enum errc engine_room_tell(struct engine *g, struct err *e);
size_t engine_sum_bytes(const struct engine *g);                /* beside the plan, for sums over batches and ranks */
enum errc engine_sums(struct engine *g, struct err *e);
void engine_sums_release(struct engine *g);
size_t engine_eval_batches(const struct engine *g);
struct step_scalars engine_scalars(const struct engine *g);
/* Over the held-out rows: mean loss, and how well it answers (train_epoch.holdout_accuracy). */
enum errc engine_evaluate(struct engine *g, double *ret_loss, double *ret_accuracy, struct err *e);
size_t engine_params(const struct engine *g);                   /* numbers that lie here */
enum errc engine_save(struct engine *g, bool wait, struct err *e);      /* a checkpoint at g->at to the store */
/* The weights of the model to begin with: those of its file. UNPROCESSABLE names what differs. */
enum errc engine_start(struct engine *g, struct err *e);
enum errc engine_restore(struct engine *g, bool *ret_found, struct err *e);
