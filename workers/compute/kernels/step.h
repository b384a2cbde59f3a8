/* SPDX-License-Identifier: Apache-2.0 */
/* step.h - what changes from step to step, in memory that kernels read: also of GPU code, so it needs nothing else. */
#pragma once
#include <stdint.h>

/* What a step changes and a graph must not: it lies in device memory, written by one small copy before the step, so that a
 * captured graph of kernels needs no decision of the host. */
struct step_scalars {
    double lr;
    double correction1, correction2;    /* AdamW: 1 - beta^t */
    double clip_norm;                   /* 0: gradients are taken as they are */
    double grad_scale;                  /* what OP_CLIP makes of clip_norm and the norm; 1 */
    double loss_scale;                  /* of the gradient of a loss: 1, or 1/n when n batches make a step */
    uint64_t seed, counter;             /* of random numbers drawn on the device: a function of seed, counter, tensor, index */
    uint64_t is_training;               /* 0: DROPOUT lets everything through */
};
