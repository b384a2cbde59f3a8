/* SPDX-License-Identifier: Apache-2.0 */
/* fam_mlp.h - a multi-layer perceptron: linear layers with ReLU between, softmax cross entropy at the end.
 *
 * All memory is allocated once in mlp_new for a largest batch: parameters and gradients flat (weights first, biases after, so that
 * the optimiser is two calls and decay can spare the biases), activations per layer, two deltas that swap.
 * Calling order: mlp_new -> mlp_init or mlp_load -> (put x, labels) -> mlp_forward -> mlp_loss -> mlp_backward. Not thread-safe.
 * Layer i: y[rows, width[i+1]] = relu(x[rows, width[i]] · W[i]ᵀ + b[i]), W [out, in] as in PyTorch; no relu on the last. */
#pragma once
#include "workers/compute/kernels/backend.h"
#include "workers/compute/train/rate.h"

enum { MLP_LAYERS_MAX = TRAIN_HIDDEN_MAX + 1 };

struct mlp {
    const struct backend *be;
    struct backend_ctx *ctx;
    enum elem type;
    size_t layers, width[MLP_LAYERS_MAX + 1], max_rows;
    size_t weight_count, bias_count;                    /* numbers, over all layers */
    struct buffer *params, *grads, *acts, *deltas, *labels;
    struct mat w[MLP_LAYERS_MAX], b[MLP_LAYERS_MAX], gw[MLP_LAYERS_MAX], gb[MLP_LAYERS_MAX];
};

/* width has layers+1 entries. LIMIT: the numbers do not fit in max_bytes. */
enum errc mlp_new(const struct backend *be, struct backend_ctx *ctx, enum elem type, const size_t *width, size_t layers,
                  size_t max_rows, size_t max_bytes, struct mlp **ret, struct err *e);
void mlp_free(struct mlp *m);
void mlp_freep(struct mlp **m);
void mlp_init(struct mlp *m, uint64_t seed);    /* He et al. 2015; the last layer small, so that the first loss is ln(classes) */
void mlp_put_batch(struct mlp *m, const float *x, const int32_t *labels, size_t rows);
void mlp_forward(struct mlp *m, size_t rows);
struct mat mlp_logits(const struct mlp *m, size_t rows);
struct mat mlp_labels(const struct mlp *m, size_t rows);
/* Sum of the rows' losses; with_delta also prepares mlp_backward, each row weighing 1/rows. */
void mlp_loss(struct mlp *m, size_t rows, bool with_delta, double *loss_sum);
void mlp_backward(struct mlp *m, size_t rows);  /* overwrites the gradients */
