/* SPDX-License-Identifier: Apache-2.0 */
/* gbdt_loss.h - what boosted trees lower: cross-entropy of classes, of flags, squared error of numbers; its gradient by row, and
 * how well the scores answer.
 *
 * Two classes are one score, the log-odds of the second; more have one each. Scores are sums of leaves, in f32 and in the order
 * of the trees as the server adds them (kernels/trees.h); what they begin with (base) stands apart. exp and log are our own, in
 * f64 without fused operations, so that a model has the same bits on every processor. A number is judged in units of its
 * deviation. */
#pragma once
#include "workers/compute/train/data.h"
#include "workers/compute/train/gbdt_tree.h"

struct gbdt_loss {
    const struct train_data *data;
    struct pool *pool;
    size_t rows, scores;        /* of the table; columns of scores: 1 of two classes and of a number */
    bool is_softmax;
    float *score;               /* [scores][rows]: sums of leaves so far */
    struct gbdt_gradient *gradient;     /* [scores][rows]; of rows in training */
    float *base;                /* [scores] */
    double unit;                /* of a number: target_scale; else 1 */
    struct gbdt_scale *scale;   /* [scores] */
    double *sums;               /* of tasks */
};

struct gbdt_judged {
    double loss, accuracy;      /* mean; share of right answers, or R² */
};

/* Fills score with 0 and base with what the training rows' targets say. */
enum errc gbdt_loss_new(struct arena *a, struct pool *pool, const struct train_data *d, struct gbdt_loss *ret, struct err *e);
/* Gradients of all training rows at the present scores. */
void gbdt_gradients(struct gbdt_loss *l);
/* Over some rows; n > 0. */
struct gbdt_judged gbdt_judge(const struct gbdt_loss *l, const uint32_t *rows, size_t n);
/* e^x and ln x, x > 0, to about 1e-15. */
double gbdt_exp(double x);
double gbdt_log(double x);
