/* SPDX-License-Identifier: Apache-2.0 */
/* type_train.h - the spec of a training job, as the API checks it and the engine takes it. */
#pragma once
#include "core/wire/job_type.h"

enum job_family { TRAIN_MLP };
enum job_optimizer { TRAIN_ADAMW, TRAIN_SGD };
enum job_schedule { TRAIN_CONST, TRAIN_COSINE, TRAIN_LINEAR };
enum { TRAIN_HIDDEN_MAX = 8 };
extern const char *const job_family_names[], *const job_optimizer_names[], *const job_schedule_names[];

struct train_job {
    struct uuid dataset_id;
    int64_t dataset_version;        /* 0: the latest at submit */
    int family;                     /* enum job_family */
    struct slice hidden;            /* int64_t widths, at most TRAIN_HIDDEN_MAX layers, input side first */
    int64_t epochs, batch_size;
    int optimizer;                  /* enum job_optimizer */
    double learning_rate;
    double weight_decay;            /* on weights, not on biases */
    int schedule;                   /* enum job_schedule; cosine and linear end at 0 after the last step */
    int64_t warmup_steps;           /* the rate rises linearly over so many steps */
    int64_t seed;
    double holdout;                 /* share of rows kept out of training */
    int64_t early_stop_patience;    /* epochs without improvement; 0: off */
    int64_t checkpoint_every;       /* epochs between checkpoints; 0: only when told to stop */
    struct str label_column;        /* of the data set; the API fills it in at submit, like classes */
    int64_t classes;                /* 0: the largest label + 1 */
};
/* An empty list of layers means the default one: called at submit, and by the worker for what older programs stored. */
enum errc train_job_settle(struct train_job *t, struct arena *a, struct err *e) MUST_CHECK;
/* The most bytes that its model file can have, for a data set with so many columns beside the label. Settled; classes known. */
int64_t train_job_model_bytes(const struct train_job *t, int64_t inputs);
