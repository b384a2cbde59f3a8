/* SPDX-License-Identifier: Apache-2.0 */
/* engine.h - one training run: data in, model file out, with progress, checkpoints and a clean stop.
 *
 * The same spec, data and backend give the same bytes of model, whether the run went through or was stopped and resumed at
 * any step: the order of rows, the initial weights and the learning rate are functions of (seed, epoch, step), the rest is
 * in the checkpoint. A checkpoint of another spec, data set or backend is refused (CONFLICT), one that cannot
 * be read is passed over for the one before it, and when none can be used the run fails (DAMAGED). With early_stop_patience the
 * model is the best one by hold-out accuracy (then loss), otherwise the last one. Calling order: train_data_rows -> train_run
 * -> use result.model -> train_result_release. Runs on the caller's thread; callbacks, too. A step whose loss or gradient is no
 * number changes nothing and is counted; after three in a row the run goes back to its last checkpoint with half the rate, twice
 * at most.
 * Ranks (comm.h): each runs train_run with the same spec and data; rank 0 alone is observed, keeps checkpoints and makes the
 * model. The number of ranks shows in no bit of it, and a checkpoint of some is read by any other number.
 * Errors: LIMIT (memory), UNPROCESSABLE (the loss stays NaN; a model to begin with of another family or shape), IO
 * (checkpoint), CONFLICT. */
#pragma once
#include "core/base/clock.h"
#include "workers/compute/train/ckpt.h"
#include "workers/compute/train/data.h"
#include "workers/compute/train/model_file.h"
#include "workers/compute/train/profile.h"

enum train_end { TRAIN_DONE, TRAIN_EARLY_STOPPED, TRAIN_PREEMPTED };

struct train_step {
    int64_t step, total_steps, epoch;       /* step counts finished steps: 1 after the first */
    double loss, lr;                        /* mean over the items of the step */
    double grad_norm;                       /* before clipping; no number: the step was left out */
    int64_t skipped;                        /* steps left out so far */
    int64_t items;                          /* of this step: rows, or tokens */
    double data_wait;                       /* seconds of this step until its rows were there */
    double flops;                           /* of this step's products (net_flops); 0 of trees */
};

struct train_epoch {                        /* from one evaluation to the next: an epoch, or eval_every steps */
    int64_t epoch;                          /* from 1 */
    /* The last two NaN without hold-out. Accuracy: share of right classes or flags; of numbers R² (engine_eval.c). */
    double train_loss, holdout_loss, holdout_accuracy;
    double samples_per_s;                   /* items: rows, or tokens */
    double lr, grad_norm;                   /* of its last step */
    double flops_per_s;                     /* of the step's products, nothing made again counted (net_flops) */
    int64_t step, skipped;
};

struct train_observer {                     /* any member may be NULL */
    void *ctx;
    void (*on_step)(void *ctx, const struct train_step *s);
    void (*on_epoch)(void *ctx, const struct train_epoch *ep);
    void (*on_log)(void *ctx, const char *line);
    bool (*should_stop)(void *ctx);         /* asked after every step; true: checkpoint and end as PREEMPTED */
};

struct comm;

struct train_meter {                        /* of what the lease takes, from outside of it (joules.h) */
    void *ctx;
    bool (*read)(void *ctx, double *ret_joules);        /* since the lease began; false: not measured */
};

struct train_task {
    const struct train_job *spec;
    const struct train_data *data;
    const struct backend *backend;
    struct pool *pool;                      /* threads inside operations; NULL: the caller's alone. The bits are the same */
    const char *library;                    /* of products on a card (product_library.h); NULL: own kernels */
    const struct clock *clock;
    struct str dataset_digest;              /* goes into the model file and guards the resume */
    const struct st_file *start;            /* of a model whose weights the run begins with; NULL: random ones */
    struct str start_digest;                /* of that file; guards the resume */
    const float *taught;                    /* a teacher's probabilities by row of the table (teacher.h); NULL: no teacher */
    struct str teacher_digest;              /* of its file; guards the resume */
    const struct peaks *peaks;              /* for a profile (profile.h); NULL: none is made */
    const struct ckpt_store *store;         /* of checkpoints; NULL: none, and a stopped run then loses its work */
    bool begins_anew;                       /* where its checkpoints are of another run: told of, in place of CONFLICT */
    int64_t checkpoint_every_steps;         /* 0: only when stopped */
    size_t memory_max_bytes;                /* model, gradients, optimiser, activations; 0: 1 GiB */
    bool prefetches;                        /* rows of the next batch on a thread of their own (prefetch.h) */
    bool launches_each;                     /* net_spec's */
    bool is_trial;                          /* steps alone: nothing is evaluated, and no model is made (tune.h) */
    struct str tuned;                       /* what a tuner chose that shows in bits; goes into checkpoints (tune.h) */
    const struct train_meter *meter;        /* NULL: nobody measures, and a spec with max_joules is refused */
    double tuned_seconds;                   /* a tuner took before this run: they count into max_seconds */
    bool is_machine;                        /* this rank is a machine with a meter of its own, and no thread of a lease */
    struct comm *comm;                      /* this is one rank of several (comm.h); NULL: alone, or spec->ranks threads */
};

struct train_result {
    enum train_end end;
    int64_t epochs, steps, skipped, resumed_at_step; /* resumed_at_step -1: from the start */
    double train_loss, holdout_loss, holdout_accuracy;      /* of the model in `model`; NaN without hold-out */
    int64_t items;                          /* rows, or tokens, of all its steps; 0 of trees */
    size_t parameters, holdout_count;
    const uint32_t *holdout_indices;        /* borrowed from the data: row numbers from 0, ascending */
    bool is_bf16;
    struct train_profile profile;           /* in the arena; steps 0: none */
    struct buf model;                       /* the safetensors file; empty if PREEMPTED */
};

enum errc train_run(struct arena *a, const struct train_task *job, const struct train_observer *obs, struct train_result *ret,
                    struct err *e);
void train_result_release(struct train_result *r);
