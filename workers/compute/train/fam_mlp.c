/* SPDX-License-Identifier: Apache-2.0 */
/* fam_mlp.c - forward and backward as calls into the backend; any number type the backend has (fp64 for gradient checks).
 *
 * Backward of layer i: gW = δᵀ·x, gb = Σ rows δ, δ' = δ·W with the ReLU's zeros applied from the stored activation. */
#include "workers/compute/train/fam_mlp.h"
#include "core/base/assert.h"
#include "workers/compute/kernels/call.h"
#include "workers/compute/train/rng.h"

#include <stdlib.h>
#include <string.h>

static size_t widest(const struct mlp *m)
{
    size_t w = 0;
    for (size_t i = 1; i <= m->layers; i++)
        w = m->width[i] > w ? m->width[i] : w;
    return w;
}

/* Where the activation of layer i starts (0: the input), in numbers per row. */
static size_t act_before(const struct mlp *m, size_t i)
{
    size_t n = 0;
    for (size_t l = 0; l < i; l++)
        n += m->width[l];
    return n;
}

static struct mat act(const struct mlp *m, size_t i, size_t rows)
{
    return mat_at(m->acts, act_before(m, i) * m->max_rows * elem_bytes(m->type), m->type, rows, m->width[i]);
}

static struct mat delta(const struct mlp *m, size_t i, size_t rows)
{
    return mat_at(m->deltas, (i & 1) * widest(m) * m->max_rows * elem_bytes(m->type), m->type, rows, m->width[i]);
}

static void place_params(struct mlp *m)
{
    size_t weight_at = 0, bias_at = m->weight_count, size = elem_bytes(m->type);
    for (size_t i = 0; i < m->layers; i++) {
        size_t in = m->width[i], out = m->width[i + 1];
        m->w[i] = mat_at(m->params, weight_at * size, m->type, out, in);
        m->gw[i] = mat_at(m->grads, weight_at * size, m->type, out, in);
        m->b[i] = mat_at(m->params, bias_at * size, m->type, 1, out);
        m->gb[i] = mat_at(m->grads, bias_at * size, m->type, 1, out);
        weight_at += in * out;
        bias_at += out;
    }
}

enum errc mlp_new(const struct backend *be, struct backend_ctx *ctx, enum elem type, const size_t *width, size_t layers,
                  size_t max_rows, size_t max_bytes, struct mlp **ret, struct err *e)
{
    ASSERT(layers >= 1 && layers <= MLP_LAYERS_MAX && max_rows >= 1);
    TRY(backend_require(be, OP_MATMUL, type, e));
    struct mlp *m = calloc(1, sizeof *m);
    ASSERT(m);
    *m = (struct mlp){ .be = be, .ctx = ctx, .type = type, .layers = layers, .max_rows = max_rows };
    memcpy(m->width, width, (layers + 1) * sizeof *width);
    for (size_t i = 0; i < layers; i++) {
        m->weight_count += width[i] * width[i + 1];
        m->bias_count += width[i + 1];
    }
    size_t size = elem_bytes(type), params = m->weight_count + m->bias_count;
    size_t rows = max_rows * (act_before(m, layers + 1) + 2 * widest(m));
    if ((2 * params + rows) * size > max_bytes) {
        free(m);
        return FAIL(e, LIMIT, "a model of %zu parameters with batches of %zu rows does not fit in %zu MiB", params, max_rows,
                    max_bytes >> 20);
    }
    m->params = be->alloc(ctx, params * size);
    m->grads = be->alloc(ctx, params * size);
    m->acts = be->alloc(ctx, max_rows * act_before(m, layers + 1) * size);
    m->deltas = be->alloc(ctx, max_rows * 2 * widest(m) * size);
    m->labels = be->alloc(ctx, max_rows * sizeof(int32_t));
    if (!m->params || !m->grads || !m->acts || !m->deltas || !m->labels) {
        mlp_free(m);
        return FAIL(e, LIMIT, "no memory for a model of %zu parameters", params);
    }
    place_params(m);
    *ret = m;
    return ERR_OK;
}

void mlp_free(struct mlp *m)
{
    if (!m)
        return;
    struct buffer *all[] = { m->params, m->grads, m->acts, m->deltas, m->labels };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        m->be->free(m->ctx, all[i]);
    free(m);
}

void mlp_freep(struct mlp **m)
{
    mlp_free(*m);
    *m = NULL;
}

/* One number of the host into a buffer of floats or doubles. */
static void put_number(struct mlp *m, struct buffer *b, size_t index, double v)
{
    float f = (float)v;
    double d = (double)f;       /* both types start from the same values */
    size_t size = elem_bytes(m->type);
    m->be->put(m->ctx, QUEUE_COMPUTE, b, index * size, m->type == ELEM_F64 ? (const void *)&d : (const void *)&f, size);
}

void mlp_init(struct mlp *m, uint64_t seed)
{
    for (size_t i = 0; i < m->layers; i++) {
        size_t first = m->w[i].offset_bytes / elem_bytes(m->type), n = m->width[i] * m->width[i + 1];
        bool is_last = i + 1 == m->layers;
        double deviation = is_last ? 0.1 * sqrt(1.0 / (double)m->width[i]) : sqrt(2.0 / (double)m->width[i]);
        for (size_t j = 0; j < n; j++)
            put_number(m, m->params, first + j, deviation * philox_normal(seed, i, j));
    }
    for (size_t j = 0; j < m->bias_count; j++)
        put_number(m, m->params, m->weight_count + j, 0);
}

void mlp_put_batch(struct mlp *m, const float *x, const int32_t *labels, size_t rows)
{
    ASSERT(rows <= m->max_rows);
    m->be->put(m->ctx, QUEUE_COMPUTE, m->labels, 0, labels, rows * sizeof *labels);
    if (m->type == ELEM_F32)
        m->be->put(m->ctx, QUEUE_COMPUTE, m->acts, 0, x, rows * m->width[0] * sizeof *x);
    else
        for (size_t i = 0; i < rows * m->width[0]; i++)
            put_number(m, m->acts, i, (double)x[i]);
}

void mlp_forward(struct mlp *m, size_t rows)
{
    for (size_t i = 0; i < m->layers; i++) {
        struct mat x = act(m, i, rows), y = act(m, i + 1, rows);
        unsigned relu = i + 1 < m->layers ? MM_RELU : 0;
        call_matmul(m->be, m->ctx, MM_TRANS_B | MM_BIAS | relu, &x, &m->w[i], &m->b[i], &y);
    }
}

struct mat mlp_logits(const struct mlp *m, size_t rows)
{
    return act(m, m->layers, rows);
}

struct mat mlp_labels(const struct mlp *m, size_t rows)
{
    return mat_at(m->labels, 0, ELEM_I32, rows, 1);
}

void mlp_loss(struct mlp *m, size_t rows, bool with_delta, double *loss_sum)
{
    struct mat logits = mlp_logits(m, rows), labels = mlp_labels(m, rows), d = delta(m, m->layers, rows);
    *loss_sum = call_loss(m->be, m->ctx, OP_SOFTMAX_XENT, &logits, &labels, with_delta ? &d : NULL);
}

void mlp_backward(struct mlp *m, size_t rows)
{
    for (size_t i = m->layers; i-- > 0;) {
        struct mat d = delta(m, i + 1, rows), x = act(m, i, rows), below = delta(m, i, rows);
        call_matmul(m->be, m->ctx, MM_TRANS_A, &d, &x, NULL, &m->gw[i]);
        call_unary(m->be, m->ctx, OP_COLSUM, &d, &m->gb[i]);
        if (i == 0)
            break;
        call_matmul(m->be, m->ctx, 0, &d, &m->w[i], NULL, &below);
        call_binary(m->be, m->ctx, OP_RELU_BWD, &x, &below, &below);
    }
}
