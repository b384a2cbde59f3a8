/* SPDX-License-Identifier: Apache-2.0 */
/* fam_mlp.h - a multi-layer perceptron as a graph: linear layers with ReLU between, softmax cross entropy at the end.
 *
 * All memory is planned and allocated once in mlp_new for a largest batch. Parameters lie flat, weights first, biases after,
 * so that the optimiser is two nodes and decay can spare the biases; gradients and the optimiser's state lie in the same
 * order. Calling order: mlp_new -> mlp_init or the parameters put -> mlp_put_batch -> mlp_exec -> mlp_loss. Not thread-safe.
 * Layer i: y[rows, width[i+1]] = relu(x[rows, width[i]] · W[i]ᵀ + b[i]), W [out, in] as in PyTorch; no relu on the last. */
#pragma once
#include "workers/compute/graph/run.h"
#include "workers/compute/train/rate.h"

enum { MLP_LAYERS_MAX = TRAIN_HIDDEN_MAX + 1 };

struct mlp {
    const struct backend *be;
    struct backend_ctx *ctx;
    enum elem type;
    size_t layers, width[MLP_LAYERS_MAX + 1], max_rows;
    size_t weight_count, bias_count;                    /* numbers, over all layers */
    size_t weight_at[MLP_LAYERS_MAX], bias_at[MLP_LAYERS_MAX];      /* where each begins among the parameters, in numbers */
    struct plan *plan;
    struct run *run;
    int x, labels, best, loss;                          /* values of the graph; best: the class of each row, i32 */
};

struct mlp_spec {
    enum elem type;             /* f32; f64 for gradient checks */
    const size_t *width;        /* layers + 1 */
    size_t layers, max_rows;
    size_t max_bytes;           /* all memory of the model, its gradients, its optimiser and one batch */
    const struct train_job *update;     /* optimiser and weight decay; NULL: gradients only */
};

/* LIMIT: it does not fit in max_bytes. UNPROCESSABLE: the backend lacks an operation, named. */
enum errc mlp_new(const struct backend *be, struct backend_ctx *ctx, const struct mlp_spec *spec, struct mlp **ret, struct err *e);
void mlp_free(struct mlp *m);
void mlp_freep(struct mlp **m);
void mlp_init(struct mlp *m, uint64_t seed);    /* He et al. 2015; the last layer small, so that the first loss is ln(classes) */
void mlp_put_batch(struct mlp *m, const float *x, const int32_t *labels, size_t rows);      /* of an f32 model */
/* FORWARD: loss; with BACKWARD the gradients, each row weighing loss_scale/rows; EVAL: best classes; UPDATE: optimiser. */
void mlp_exec(struct mlp *m, size_t rows, unsigned phases, const struct step_scalars *at);
enum errc mlp_loss(struct mlp *m, double *loss_sum, struct err *e);     /* over the rows of the last mlp_exec */
void mlp_best(struct mlp *m, int32_t *ret, size_t rows);                /* valid after mlp_loss or run_sync */
