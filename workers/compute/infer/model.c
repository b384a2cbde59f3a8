/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - load, pack, run.
 *
 * The standardised input and the activations live in two areas that swap, each INFER_ROWS × the widest layer: with one such
 * plan per session nothing is allocated per request. The same operations as in training on the same numbers, so the served
 * result has the bits of the evaluation. */
#include "workers/compute/infer/model.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/data/model_mlp.h"
#include "workers/compute/graph/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES_PER_LAYER = 6, NODES_MORE = 8 };

struct infer_model {
    const struct backend *be;
    struct pool *pool;
    struct backend_ctx *ctx;            /* of the loading thread; owns the constants */
    struct plan *plan;
    int x, logits, probabilities, labels;       /* values of the graph */
    struct infer_info info;
    char *features;
};

struct infer_session {
    const struct infer_model *model;
    struct backend_ctx *ctx;
    struct run *run;
};

static struct graph *build(struct infer_model *m, const struct model_mlp *mlp)
{
    struct graph *g = graph_new(ELEM_F32, (int)mlp->layers * NODES_PER_LAYER + NODES_MORE);
    const struct shape columns = { ELEM_F32, 1, { DIM(mlp->width[0]) } };
    int y = m->x = graph_input(g, "input", (struct shape){ ELEM_F32, 2, { DIM_ROWS(1), DIM(mlp->width[0]) } });
    if (mlp->mean) {
        int mean = graph_const(g, "input.mean", columns, mlp->mean), scale = graph_const(g, "input.scale", columns, mlp->scale);
        y = graph_op(g, OP_STANDARDISE, &(struct op_attr){ 0 }, GRAPH_INS(y, mean, scale));
    }
    for (size_t i = 0; i < mlp->layers; i++) {
        size_t in = mlp->width[i], out = mlp->width[i + 1];
        int w = graph_const(g, "weight", (struct shape){ ELEM_F32, 2, { DIM(out), DIM(in) } }, mlp->weight[i]);
        int b = graph_const(g, "bias", (struct shape){ ELEM_F32, 1, { DIM(out) } }, mlp->bias[i]);
        y = graph_linear(g, y, w, b);
        if (i + 1 < mlp->layers)
            y = graph_op1(g, OP_RELU, y);
    }
    m->logits = y;
    m->probabilities = graph_op1(g, OP_SOFTMAX, y);
    m->labels = graph_op1(g, OP_ARGMAX, y);
    graph_output(g, m->logits, "logits");
    graph_output(g, m->probabilities, "probabilities");
    graph_output(g, m->labels, "label");
    return g;
}

static enum errc fill(struct infer_model *m, const struct st_file *f, const struct model_mlp *mlp, struct err *e)
{
    struct str features = st_meta(f, "features"), accuracy = st_meta(f, "holdout_accuracy");
    m->features = str_dup_heap(features.ptr ? features : STR(""));
    if (!m->features)
        return FAIL(e, LIMIT, "no memory for the model");
    m->info = (struct infer_info){ mlp->width[0], mlp->width[mlp->layers], mlp->layers, mlp->parameters, "mlp", "", m->features };
    snprintf(m->info.holdout_accuracy, sizeof m->info.holdout_accuracy, "%.*s", STR_ARG(accuracy));
    return plan_new(build(m, mlp), m->be, m->ctx, &(struct plan_options){ .max_rows = INFER_ROWS }, &m->plan, e);
}

enum errc infer_model_load(const struct backend *be, struct pool *pool, const void *bytes, size_t n, struct infer_model **ret, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)256 << 20);
    struct st_file f;
    struct model_mlp mlp;
    TRY(st_parse(a, bytes, n, &f, e));
    TRY(model_mlp_check(&f, &mlp, e));
    struct infer_model *m = calloc(1, sizeof *m);
    ASSERT(m);
    m->be = be;
    m->pool = pool;
    enum errc rc = be->open(be, pool, &m->ctx, e);
    if (rc == ERR_OK)
        rc = fill(m, &f, &mlp, e);
    if (rc != ERR_OK) {
        infer_model_free(m);
        return rc;
    }
    *ret = m;
    return ERR_OK;
}

void infer_model_free(struct infer_model *m)
{
    if (!m)
        return;
    plan_free(m->plan);
    if (m->ctx)
        m->be->close(m->ctx);
    free(m->features);
    free(m);
}

const struct infer_info *infer_model_info(const struct infer_model *m)
{
    return &m->info;
}

size_t infer_model_bytes(const struct infer_model *m)
{
    return m->plan->region_bytes[REGION_CONST];
}

enum errc infer_session_new(const struct infer_model *m, struct infer_session **ret, struct err *e)
{
    struct infer_session *s = calloc(1, sizeof *s);
    ASSERT(s);
    s->model = m;
    enum errc rc = m->be->open(m->be, m->pool, &s->ctx, e);
    if (rc == ERR_OK)
        rc = run_new(m->plan, s->ctx, &s->run, e);
    if (rc != ERR_OK) {
        infer_session_free(s);
        return rc;
    }
    *ret = s;
    return ERR_OK;
}

void infer_session_free(struct infer_session *s)
{
    if (!s)
        return;
    run_free(s->run);
    if (s->ctx)
        s->model->be->close(s->ctx);
    free(s);
}

void infer_put(struct infer_session *s, size_t at, const float *x, size_t rows)
{
    run_put(s->run, s->model->x, at, rows, x);
}

enum errc infer_compute(struct infer_session *s, size_t rows, struct err *e)
{
    run_exec(s->run, rows, PHASE_FORWARD, false);
    return run_sync(s->run, e);
}

void infer_take(struct infer_session *s, size_t at, size_t rows, float *logits, float *probabilities, int32_t *labels)
{
    const struct infer_model *m = s->model;
    if (logits)
        run_get(s->run, m->logits, at, rows, logits);
    if (probabilities)
        run_get(s->run, m->probabilities, at, rows, probabilities);
    if (labels)
        run_get(s->run, m->labels, at, rows, labels);
}

enum errc infer_run(struct infer_session *s, const float *x, size_t rows, float *logits, float *probabilities, int32_t *labels,
                    struct err *e)
{
    const struct infer_info *info = &s->model->info;
    for (size_t at = 0; at < rows; at += INFER_ROWS) {
        size_t n = rows - at < INFER_ROWS ? rows - at : INFER_ROWS;
        infer_put(s, 0, x + at * info->inputs, n);
        TRY(infer_compute(s, n, e));
        infer_take(s, 0, n, logits ? logits + at * info->classes : NULL, probabilities ? probabilities + at * info->classes : NULL,
                   labels ? labels + at : NULL);
    }
    return ERR_OK;
}
