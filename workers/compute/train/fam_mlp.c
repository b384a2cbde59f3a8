/* SPDX-License-Identifier: Apache-2.0 */
/* fam_mlp.c - the builder of the graph: forward, backward and update are nodes of it, in any number type the backend has (fp64
 * for gradient checks). */
#include "workers/compute/train/fam_mlp.h"
#include "workers/compute/rng.h"

#include <stdlib.h>
#include <string.h>

enum { NODES_PER_LAYER = 12, NODES_MORE = 16 };

static void add_params(struct mlp *m, struct graph *g, int *w, int *b)
{
    for (size_t i = 0; i < m->layers; i++) {
        m->weight_at[i] = g->param_count;
        w[i] = graph_param(g, "weight", 2, (struct dim[]){ DIM(m->width[i + 1]), DIM(m->width[i]) });
    }
    m->weight_count = g->param_count;
    for (size_t i = 0; i < m->layers; i++) {
        m->bias_at[i] = g->param_count;
        b[i] = graph_param(g, "bias", 1, (struct dim[]){ DIM(m->width[i + 1]) });
    }
    m->bias_count = g->param_count - m->weight_count;
}

/* The optimiser on numbers first … first+count-1 of the parameters. */
static void add_update(struct graph *g, const struct train_job *s, size_t first, size_t count, double decay)
{
    int w = graph_view(g, REGION_PARAMS, first, count), grad = graph_view(g, REGION_GRADS, first, count);
    int moment = graph_view(g, REGION_M, first, count), step = graph_step(g);
    if (s->optimizer == TRAIN_ADAMW) {
        const struct op_attr a = { .beta1 = TRAIN_BETA1, .beta2 = TRAIN_BETA2, .eps = 1e-8, .weight_decay = decay };
        graph_op(g, OP_ADAMW, &a, GRAPH_INS(w, grad, moment, graph_view(g, REGION_V, first, count), step));
    } else {
        const struct op_attr a = { .momentum = TRAIN_MOMENTUM, .weight_decay = decay };
        graph_op(g, OP_SGD, &a, GRAPH_INS(w, grad, moment, step));
    }
}

static struct graph *build(struct mlp *m, const struct train_job *update)
{
    int w[MLP_LAYERS_MAX], b[MLP_LAYERS_MAX];
    struct graph *g = graph_new(m->type, (int)m->layers * NODES_PER_LAYER + NODES_MORE);
    m->x = graph_input(g, "x", (struct shape){ m->type, 2, { DIM_ROWS(1), DIM(m->width[0]) } });
    m->labels = graph_input(g, "labels", (struct shape){ ELEM_I32, 1, { DIM_ROWS(1) } });
    add_params(m, g, w, b);
    int y = m->x;
    for (size_t i = 0; i < m->layers; i++) {
        y = graph_linear(g, y, w[i], b[i]);
        if (i + 1 < m->layers)
            y = graph_op1(g, OP_RELU, y);
    }
    g->phase = PHASE_EVAL;
    m->best = graph_op1(g, OP_ARGMAX, y);
    g->phase = PHASE_FORWARD;
    m->loss = graph_op(g, OP_SOFTMAX_XENT, &(struct op_attr){ 0 }, GRAPH_INS(y, m->labels, graph_step(g)));
    graph_output(g, m->best, "best");
    graph_output(g, m->loss, "loss");
    graph_backward(g, m->loss);
    g->phase = PHASE_UPDATE;
    if (update) {       /* weights with decay, biases without */
        add_update(g, update, 0, m->weight_count, update->weight_decay);
        add_update(g, update, m->weight_count, m->bias_count, 0);
    }
    return g;
}

enum errc mlp_new(const struct backend *be, struct backend_ctx *ctx, const struct mlp_spec *spec, struct mlp **ret, struct err *e)
{
    ASSERT(spec->layers >= 1 && spec->layers <= MLP_LAYERS_MAX && spec->max_rows >= 1);
    struct mlp *m = calloc(1, sizeof *m);
    ASSERT(m);
    *m = (struct mlp){ .be = be, .ctx = ctx, .type = spec->type, .layers = spec->layers, .max_rows = spec->max_rows };
    memcpy(m->width, spec->width, (spec->layers + 1) * sizeof *spec->width);
    const struct plan_options o = { spec->max_rows, spec->max_bytes };
    enum errc rc = plan_new(build(m, spec->update), be, ctx, &o, &m->plan, e);
    if (rc == ERR_OK)
        rc = run_new(m->plan, ctx, &m->run, e);
    if (rc != ERR_OK) {
        mlp_free(m);
        return rc;
    }
    *ret = m;
    return ERR_OK;
}

void mlp_free(struct mlp *m)
{
    if (!m)
        return;
    run_free(m->run);
    plan_free(m->plan);
    free(m);
}

void mlp_freep(struct mlp **m)
{
    mlp_free(*m);
    *m = NULL;
}

void mlp_init(struct mlp *m, uint64_t seed)
{
    enum { PIECE = 256 };
    struct buffer *params = run_region(m->run, REGION_PARAMS);
    size_t size = elem_bytes(m->type);
    float f[PIECE];
    double d[PIECE];
    for (size_t i = 0; i < m->layers; i++) {
        size_t n = m->width[i] * m->width[i + 1];
        bool is_last = i + 1 == m->layers;
        double deviation = is_last ? 0.1 * sqrt(1.0 / (double)m->width[i]) : sqrt(2.0 / (double)m->width[i]);
        for (size_t at = 0, count; at < n; at += count) {
            count = n - at < PIECE ? n - at : PIECE;
            for (size_t j = 0; j < count; j++) {
                f[j] = (float)(deviation * philox_normal(seed, i, at + j));
                d[j] = (double)f[j];        /* both types start from the same values */
            }
            const void *src = m->type == ELEM_F64 ? (const void *)d : (const void *)f;
            m->be->put(m->ctx, QUEUE_COMPUTE, params, (m->weight_at[i] + at) * size, src, count * size);
        }
    }
    memset(d, 0, sizeof d);
    for (size_t at = 0, count; at < m->bias_count; at += count) {
        count = m->bias_count - at < PIECE ? m->bias_count - at : PIECE;
        m->be->put(m->ctx, QUEUE_COMPUTE, params, (m->weight_count + at) * size, d, count * size);
    }
}

void mlp_put_batch(struct mlp *m, const float *x, const int32_t *labels, size_t rows)
{
    ASSERT(m->type == ELEM_F32);
    run_put(m->run, m->labels, 0, rows, labels);
    run_put(m->run, m->x, 0, rows, x);
}

void mlp_exec(struct mlp *m, size_t rows, unsigned phases, const struct step_scalars *at)
{
    run_put_step(m->run, at);
    run_exec(m->run, rows, phases, false);
}

enum errc mlp_loss(struct mlp *m, double *loss_sum, struct err *e)
{
    run_get(m->run, m->loss, 0, 1, loss_sum);
    return run_sync(m->run, e);
}

void mlp_best(struct mlp *m, int32_t *ret, size_t rows)
{
    run_get(m->run, m->best, 0, rows, ret);
}
