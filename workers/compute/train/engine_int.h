/* SPDX-License-Identifier: Apache-2.0 */
/* engine_int.h - the state of a run, shared by engine.c (the loop) and engine_state.c (save and restore). */
#pragma once
#include "workers/compute/train/engine.h"

struct cursor {                             /* all that a resumed run needs besides numbers in buffers */
    int64_t step, epoch, taken;             /* rows taken in this epoch */
    double loss_sum;                        /* over the rows taken in this epoch */
    int64_t bad_epochs;                     /* since the best one */
    struct train_epoch last, best;          /* best.epoch 0: none yet */
};

struct engine {
    struct arena *arena;
    const struct train_task *job;
    const struct train_observer *obs;
    struct backend_ctx *ctx;
    struct mlp *mlp;
    float *best;                            /* parameters of the best epoch, or NULL */
    float *x;                               /* one batch */
    int32_t *labels, *picked;
    uint32_t *rows;
    int64_t total_steps;
    struct cursor at;
};

size_t engine_params(const struct engine *g);                   /* numbers */
enum errc engine_save(struct engine *g, struct err *e);         /* a checkpoint at g->at */
enum errc engine_restore(struct engine *g, bool *ret_found, struct err *e);
