/* SPDX-License-Identifier: Apache-2.0 */
/* job_spec.h - what a job's `spec` holds, by kind: checked by the API at submit, read again by the worker.
 *
 * kind noop: {} or {"sleep_ms": n} (at most 10 minutes), the pipeline without work. kind train: struct train_job.
 * kind serve: struct serve_job, made by a deployment. */
#pragma once
#include "core/table/schema.h"

struct noop_job {
    int64_t sleep_ms;
    struct str fail;                /* end as failed with this message; for drills */
};
extern const struct schema noop_job_schema;

enum job_family { TRAIN_MLP };
enum job_optimizer { TRAIN_ADAMW, TRAIN_SGD };
enum job_schedule { TRAIN_CONST, TRAIN_COSINE, TRAIN_LINEAR };
extern const char *const job_family_names[], *const job_optimizer_names[], *const job_schedule_names[];

struct train_job {
    struct uuid dataset_id;
    int64_t dataset_version;        /* 0: the latest at submit */
    int family;                     /* enum job_family */
    struct slice hidden;            /* int64_t widths, 1 to 8 layers */
    int64_t epochs, batch_size;
    int optimizer;                  /* enum job_optimizer */
    double learning_rate, weight_decay;
    int schedule;                   /* enum job_schedule */
    int64_t warmup_steps;
    int64_t seed;
    double holdout;                 /* share of rows kept out of training */
    int64_t early_stop_patience;    /* epochs without improvement; 0: off */
    int64_t checkpoint_every;       /* epochs between checkpoints; 0: only when told to stop */
    struct str label_column;        /* of the data set; the API fills it in at submit, like classes */
    int64_t classes;                /* 0: the largest label + 1 */
};
extern const struct schema train_job_schema;

struct serve_job {
    struct str name;                /* of the deployment: what clients call */
    struct uuid model_id;
    int64_t model_version;
    struct uuid model_object_id;
};
extern const struct schema serve_job_schema;

/* Rules that no single field can hold (widths, shares). Errors carry the pointer below /spec. */
enum errc train_job_check(const struct train_job *t, struct err *e) MUST_CHECK;
