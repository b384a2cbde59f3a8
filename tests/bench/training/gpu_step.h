/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_step.h - a net on the card with one batch, run step after step; between the files of bench_gpu. */
#pragma once
#include "tests/bench/training/gpu_kit.h"

struct step {
    struct net *n;
    size_t rows, items;
    void *x, *pinned;           /* pinned: x where the card reads it by itself, or NULL */
    int32_t *labels;
    struct step_scalars at;
};

/* Random batch, first values; stops when it does not fit. */
void step_new(struct step *s, const struct train_job *job, struct net_shape shape, size_t rows);
void step_free(struct step *s);
/* Batch up, all phases, loss down, as a training run does; the mean loss. */
double step_run(struct step *s);
/* Each operation by itself: one line for each kind and shape, by time. */
void step_profile(struct step *s, const char *name);
/* a: layers, width, heads, tokens. The job of a GPT-2; floating-point operations of a token by 6N + 6·layers·width·T. */
double gpt_job(struct train_job *job, struct net_shape *shape, const size_t a[4]);
