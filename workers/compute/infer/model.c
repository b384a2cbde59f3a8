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
#include "workers/compute/kernels/call.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct infer_model {
    const struct backend *be;
    struct pool *pool;
    struct backend_ctx *ctx;            /* of the loading thread; owns the memory */
    struct infer_info info;
    size_t width[MODEL_MLP_LAYERS_MAX + 1], widest, packed_bytes;
    struct buffer *w[MODEL_MLP_LAYERS_MAX];     /* packed */
    struct buffer *bias[MODEL_MLP_LAYERS_MAX];
    float *mean, *scale;                /* NULL: the input is taken as it is */
    char *features;
};

struct infer_session {
    const struct infer_model *model;
    struct backend_ctx *ctx;
    struct buffer *area[2], *probabilities, *labels;
    struct buffer *logits;              /* the area that holds them after infer_compute */
};

static const float *copy_floats(const float *p, size_t n)
{
    float *c = p ? malloc(n * sizeof *c) : NULL;
    if (c)
        memcpy(c, p, n * sizeof *c);
    return c;
}

static enum errc take_layers(struct infer_model *m, const struct model_mlp *mlp, struct err *e)
{
    for (size_t i = 0; i < mlp->layers; i++) {
        size_t in = mlp->width[i], out = mlp->width[i + 1], bytes = m->be->pack_bytes(out, in);
        struct buffer *raw = m->be->alloc(m->ctx, in * out * sizeof(float));
        m->bias[i] = m->be->alloc(m->ctx, out * sizeof(float));
        if (!raw || !m->bias[i]) {
            m->be->free(m->ctx, raw);
            return FAIL(e, LIMIT, "no memory for a model of %zu parameters", mlp->parameters);
        }
        struct mat w = mat_at(raw, 0, ELEM_F32, out, in);
        m->be->put(m->ctx, QUEUE_COMPUTE, raw, 0, mlp->weight[i], in * out * sizeof(float));
        m->be->put(m->ctx, QUEUE_COMPUTE, m->bias[i], 0, mlp->bias[i], out * sizeof(float));
        m->w[i] = call_pack(m->be, m->ctx, &w);
        m->be->free(m->ctx, raw);
        if (!m->w[i])
            return FAIL(e, LIMIT, "no memory for a model of %zu parameters", mlp->parameters);
        m->packed_bytes += bytes;
    }
    return m->be->sync(m->ctx, e);
}

static enum errc fill(struct infer_model *m, const struct st_file *f, const struct model_mlp *mlp, struct err *e)
{
    struct str features = st_meta(f, "features"), accuracy = st_meta(f, "holdout_accuracy");
    memcpy(m->width, mlp->width, sizeof mlp->width);
    for (size_t i = 0; i <= mlp->layers; i++)
        m->widest = m->width[i] > m->widest ? m->width[i] : m->widest;
    m->mean = (float *)(uintptr_t)copy_floats(mlp->mean, m->width[0]);
    m->scale = (float *)(uintptr_t)copy_floats(mlp->scale, m->width[0]);
    m->features = str_dup_heap(features.ptr ? features : STR(""));
    if (!m->features || (mlp->mean && (!m->mean || !m->scale)))
        return FAIL(e, LIMIT, "no memory for the model");
    m->info = (struct infer_info){ m->width[0], m->width[mlp->layers], mlp->layers, mlp->parameters, "mlp", "", m->features };
    snprintf(m->info.holdout_accuracy, sizeof m->info.holdout_accuracy, "%.*s", STR_ARG(accuracy));
    return take_layers(m, mlp, e);
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
    for (size_t i = 0; i < MODEL_MLP_LAYERS_MAX; i++) {
        m->be->free(m->ctx, m->w[i]);
        m->be->free(m->ctx, m->bias[i]);
    }
    if (m->ctx)
        m->be->close(m->ctx);
    free(m->mean);
    free(m->scale);
    free(m->features);
    free(m);
}

const struct infer_info *infer_model_info(const struct infer_model *m)
{
    return &m->info;
}

size_t infer_model_bytes(const struct infer_model *m)
{
    return m->packed_bytes;
}

enum errc infer_session_new(const struct infer_model *m, struct infer_session **ret, struct err *e)
{
    struct infer_session *s = calloc(1, sizeof *s);
    ASSERT(s);
    s->model = m;
    enum errc rc = m->be->open(m->be, m->pool, &s->ctx, e);
    if (rc != ERR_OK) {
        free(s);
        return rc;
    }
    for (int i = 0; i < 2; i++)
        s->area[i] = m->be->alloc(s->ctx, INFER_ROWS * m->widest * sizeof(float));
    s->probabilities = m->be->alloc(s->ctx, INFER_ROWS * m->info.classes * sizeof(float));
    s->labels = m->be->alloc(s->ctx, INFER_ROWS * sizeof(int32_t));
    if (!s->area[0] || !s->area[1] || !s->probabilities || !s->labels) {
        infer_session_free(s);
        return FAIL(e, LIMIT, "no memory for a serving session");
    }
    *ret = s;
    return ERR_OK;
}

void infer_session_free(struct infer_session *s)
{
    if (!s)
        return;
    const struct backend *be = s->model->be;
    struct buffer *all[] = { s->area[0], s->area[1], s->probabilities, s->labels };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        be->free(s->ctx, all[i]);
    be->close(s->ctx);
    free(s);
}

void infer_put(struct infer_session *s, size_t at, const float *x, size_t rows)
{
    const struct infer_model *m = s->model;
    size_t in = m->info.inputs;
    float row[256];
    ASSERT(at + rows <= INFER_ROWS);
    if (!m->mean) {
        m->be->put(s->ctx, QUEUE_COMPUTE, s->area[0], at * in * sizeof *x, x, rows * in * sizeof *x);
        return;
    }
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < in; j += 256) {
            size_t n = in - j < 256 ? in - j : 256;
            for (size_t k = 0; k < n; k++)
                row[k] = (x[r * in + j + k] - m->mean[j + k]) / m->scale[j + k];
            m->be->put(s->ctx, QUEUE_COMPUTE, s->area[0], ((at + r) * in + j) * sizeof *x, row, n * sizeof *x);
        }
}

enum errc infer_compute(struct infer_session *s, size_t rows, struct err *e)
{
    const struct infer_model *m = s->model;
    ASSERT(rows >= 1 && rows <= INFER_ROWS);
    for (size_t i = 0; i < m->info.layers; i++) {
        struct mat x = mat_at(s->area[i & 1], 0, ELEM_F32, rows, m->width[i]);
        struct mat y = mat_at(s->area[(i + 1) & 1], 0, ELEM_F32, rows, m->width[i + 1]);
        struct mat b = mat_at(m->bias[i], 0, ELEM_F32, 1, m->width[i + 1]);
        call_matmul_packed(m->be, s->ctx, MM_BIAS | (i + 1 < m->info.layers ? MM_RELU : 0), &x, m->w[i], y.cols, x.cols, &b, &y);
    }
    s->logits = s->area[m->info.layers & 1];
    struct mat logits = mat_at(s->logits, 0, ELEM_F32, rows, m->info.classes);
    struct mat p = mat_at(s->probabilities, 0, ELEM_F32, rows, m->info.classes), l = mat_at(s->labels, 0, ELEM_I32, rows, 1);
    call_unary(m->be, s->ctx, OP_SOFTMAX, &logits, &p);
    call_unary(m->be, s->ctx, OP_ARGMAX, &logits, &l);
    return m->be->sync(s->ctx, e);
}

void infer_take(struct infer_session *s, size_t at, size_t rows, float *logits, float *probabilities, int32_t *labels)
{
    const struct backend *be = s->model->be;
    size_t width = s->model->info.classes * sizeof(float);
    ASSERT(at + rows <= INFER_ROWS);
    if (logits)
        be->get(s->ctx, QUEUE_COMPUTE, s->logits, at * width, logits, rows * width);
    if (probabilities)
        be->get(s->ctx, QUEUE_COMPUTE, s->probabilities, at * width, probabilities, rows * width);
    if (labels)
        be->get(s->ctx, QUEUE_COMPUTE, s->labels, at * sizeof *labels, labels, rows * sizeof *labels);
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
