/* SPDX-License-Identifier: Apache-2.0 */
/* type_train.h - the spec of a training job, as the API checks it and the engine takes it. */
#pragma once
#include "core/wire/job_type.h"
#include "core/wire/spec_dataset.h"

enum job_family { TRAIN_MLP, TRAIN_CNN, TRAIN_GPT, TRAIN_GBDT };
enum job_objective { TRAIN_CLASSIFICATION, TRAIN_REGRESSION, TRAIN_MULTI_LABEL };
enum job_optimizer { TRAIN_ADAMW, TRAIN_SGD };
enum job_schedule { TRAIN_CONST, TRAIN_COSINE, TRAIN_LINEAR, TRAIN_WSD };
enum job_precision { TRAIN_FP32, TRAIN_BF16, TRAIN_AUTO };
enum job_recompute { TRAIN_RECOMPUTE_AUTO, TRAIN_RECOMPUTE_OFF, TRAIN_RECOMPUTE_ON };
enum { TRAIN_HIDDEN_MAX = 8, TRAIN_STAGES_MAX = 8, TRAIN_RANKS_MAX = 8 };
extern const char *const job_objective_names[];
extern const char *const job_family_names[], *const job_optimizer_names[], *const job_schedule_names[],
    *const job_precision_names[], *const job_recompute_names[];

struct train_job {
    struct uuid dataset_id;
    int64_t dataset_version;        /* 0: the latest at submit */
    int family;                     /* enum job_family */
    int objective;                  /* enum job_objective */
    struct slice hidden;            /* int64_t widths, at most TRAIN_HIDDEN_MAX layers, input side first */
    struct slice image;             /* cnn: int64_t height, width, channels; the columns of a row in that order */
    struct slice channels, blocks;  /* cnn: int64_t channels and blocks of each stage; the last of blocks goes for further ones */
    bool residual;                  /* cnn: the input goes around each block */
    int64_t layers, width, heads, kv_heads, context;    /* gpt; kv_heads 0: as many as heads; context in tokens */
    bool rms_norm, rotary, gated;   /* gpt: together the layout of Llama */
    int64_t trees, leaves, depth, leaf_rows, bins;      /* gbdt; depth 0: any; leaf_rows: at least so many in a leaf */
    double l2, row_share, column_share;     /* gbdt; shares of rows and columns that a tree sees */
    int64_t epochs, batch_size;
    int64_t accumulate;             /* batches whose gradients make one step */
    int64_t ranks;                  /* threads that share a step's batches, each with a model; 0: as many as processors, until
                                       the worker knows them (train_job_ranks). No bit of the model shows it */
    int64_t tensor_ranks;           /* gpt: threads or machines that share every layer, each with a part of it (docs/adr/0124) */
    int64_t max_steps, max_items, max_seconds, max_joules;      /* budget; 0: none. Items are rows, or tokens */
    int64_t eval_every;             /* steps between evaluations; 0: at the end of each epoch */
    int optimizer;                  /* enum job_optimizer */
    double learning_rate;           /* 0: the family's usual one, until settled */
    double weight_decay;            /* on weights, not on biases */
    double clip_norm;               /* the gradient's norm is at most this; 0: as it is */
    double dropout;                 /* share of activations left out */
    int schedule;                   /* enum job_schedule; all but const end at 0 after the last step, wsd in its last fifth */
    int64_t warmup_steps;           /* the rate rises linearly over so many steps */
    int precision;                  /* enum job_precision: of the factors of products; weights and sums are fp32 */
    int recompute;                  /* enum job_recompute: results of blocks are dropped and made again. No bit shows it */
    int64_t seed;
    double holdout;                 /* share of rows kept out of training */
    int64_t early_stop_patience;    /* epochs without improvement; 0: off */
    int64_t checkpoint_every;       /* epochs between checkpoints; 0: only when told to stop */
    struct uuid start_from;         /* a model whose weights it begins with; nil: with random ones */
    int64_t start_version;          /* 0: the latest at submit */
    int64_t profile_steps;          /* watched after the first two; 0: none */
    int64_t tune_steps;             /* of each way of running that is tried before the first step; 0: none */
    bool tune_batches;              /* the tuner may cut a step into other batches, which rounds otherwise */
    struct uuid teacher;            /* a model whose probabilities it learns from beside the labels; nil: none */
    int64_t teacher_version;        /* 0: the latest at submit */
    double teacher_share;           /* of the loss; the rest is the labels' */
    double temperature;             /* at which probabilities are compared */
    SPEC_DATASET;                   /* filled in at submit */
};
/* An empty list of layers means the default one; what the members of a family must be to each other. Called at submit, and by
 * the worker for
 * what older programs stored. INVALID, UNPROCESSABLE: with the member. */
enum errc train_job_settle(struct train_job *t, struct arena *a, struct err *e) MUST_CHECK;
/* How many ranks it runs with on so many processors: ranks, or for 0 the largest power of two that processors and accumulate
 * have room for. */
int64_t train_job_ranks(const struct train_job *t, int cores);
/* The most bytes that its model file can have, for a data set with so many columns beside the label. Settled; classes known. */
int64_t train_job_model_bytes(const struct train_job *t, int64_t inputs);
