/* SPDX-License-Identifier: Apache-2.0 */
/* spec.h - what a tenant may ask of a training run: plain data, limits, and the check that names the wrong member.
 *
 * The struct is filled from JSON by a schema table elsewhere; a member that is absent there keeps its default.
 * Calling order: train_spec_defaults -> fill -> train_spec_check. Errors: INVALID with a JSON pointer ("/hidden/2"). */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/base/err.h"

enum { TRAIN_HIDDEN_MAX = 8, TRAIN_WIDTH_MAX = 16384, TRAIN_EPOCHS_MAX = 10000, TRAIN_BATCH_MAX = 65536 };

enum train_family { FAMILY_MLP, FAMILY_COUNT };
enum train_activation { ACTIVATION_RELU, ACTIVATION_COUNT };
enum train_optimizer { OPTIMIZER_ADAMW, OPTIMIZER_SGD, OPTIMIZER_COUNT };
enum train_schedule { SCHEDULE_CONST, SCHEDULE_COSINE, SCHEDULE_LINEAR, SCHEDULE_COUNT };
enum train_precision { PRECISION_FP32, PRECISION_COUNT };

/* Names as they stand in JSON, by enum value. */
extern const char *const train_family_names[FAMILY_COUNT];              /* mlp */
extern const char *const train_activation_names[ACTIVATION_COUNT];      /* relu */
extern const char *const train_optimizer_names[OPTIMIZER_COUNT];        /* adamw sgd */
extern const char *const train_schedule_names[SCHEDULE_COUNT];          /* const cosine linear */
extern const char *const train_precision_names[PRECISION_COUNT];        /* fp32 */

struct train_spec {
    enum train_family family;
    int64_t hidden[TRAIN_HIDDEN_MAX];   /* units per hidden layer, input side first */
    int64_t hidden_count;               /* 0: a linear model */
    enum train_activation activation;
    int64_t epochs;
    int64_t batch_size;
    enum train_optimizer optimizer;
    double lr;
    double momentum;                    /* sgd only */
    double weight_decay;                /* on weights, not on biases */
    enum train_schedule schedule;       /* cosine and linear end at 0 after the last step */
    int64_t warmup_steps;               /* lr rises linearly over so many steps */
    int64_t seed;
    double holdout;                     /* share of rows kept for validation, 0 … 0.9 */
    bool stratified;                    /* keep the share within every class */
    int64_t early_stop_patience;        /* epochs without a better hold-out result; 0: never stop early */
    enum train_precision precision;
};

/* mlp, one hidden layer of 128, relu, 20 epochs, batch 32, adamw, lr 1e-3, decay 1e-2, cosine, hold-out 0.2 stratified. */
struct train_spec train_spec_defaults(void);
enum errc train_spec_check(const struct train_spec *s, struct err *e);
/* The learning rate of step 0 … total-1. */
double train_spec_lr(const struct train_spec *s, int64_t step, int64_t total_steps);
