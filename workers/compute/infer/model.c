/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - load, pack, run.
 *
 * A model is a graph with a plan, whichever file it came from; a session is a run of the plan, so nothing is allocated per
 * request. For a perceptron the same operations as in training on the same numbers: the served result has the bits of the
 * evaluation. */
#include "workers/compute/infer/model_int.h"
#include "workers/compute/infer/model_graph.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/data/model_onnx.h"

#include <stdio.h>
#include <stdlib.h>

/* Activations of a batch are kept near this: what does not fit the caches does not gain by more rows. */
static const size_t BATCH_BYTES = (size_t)8 << 20, FILE_ARENA = (size_t)1 << 30;

struct infer_session {
    const struct infer_model *model;
    struct backend_ctx *ctx;
    struct run *run;
    void *call;                         /* of the model's engine; then the two above are NULL */
};

bool infer_is_whole(const struct sig_tensor *t)
{
    enum elem type;
    return graph_file_elem(t->datatype, &type) && type == ELEM_I32;
}

/* The value behind an index, through views. */
static int source_of(const struct graph *g, int v)
{
    while (g->values[v].node != VALUE_NONE && g->nodes[g->values[v].node].op == OP_RESHAPE)
        v = g->nodes[g->values[v].node].in[0];
    return v;
}

/* An index beyond its table would be read from foreign memory: inputs get a limit, anything else must be bounded by itself. */
static enum errc find_limits(struct infer_model *m, const struct graph *g, struct err *e)
{
    for (int i = 0; i < g->node_count; i++) {
        const struct node *n = &g->nodes[i];
        if (n->op != OP_EMBED)
            continue;
        size_t rows = g->values[n->in[0]].shape.dim[0].n;
        int from = source_of(g, n->in[1]);
        const struct value *v = &g->values[from];
        int input = v->is_input ? sig_find(m->info.sig.inputs, m->info.sig.input_count, str_c(v->name)) : -1;
        if (input >= 0) {
            m->index_limit[input] = !m->index_limit[input] || rows < m->index_limit[input] ? rows : m->index_limit[input];
            continue;
        }
        const struct node *maker = v->node == VALUE_NONE ? NULL : &g->nodes[v->node];
        const struct shape *s = maker && maker->op == OP_ARGMAX ? &g->values[maker->in[0]].shape : NULL;
        if (!s || s->dim[s->rank - 1].is_batched || s->dim[s->rank - 1].n > rows)
            return FAIL(e, UNPROCESSABLE, "node %d (embed): its indices are not known to be below %zu", i, rows);
    }
    return ERR_OK;
}

size_t model_rows_that_fit(size_t row_bytes)
{
    size_t rows = BATCH_BYTES / (row_bytes ? row_bytes : 1);
    return rows < 1 ? 1 : rows < INFER_ROWS ? rows : INFER_ROWS;
}

static size_t rows_that_fit(const struct graph *g)
{
    size_t largest = 1;
    for (int v = 0; v < g->value_count; v++) {
        size_t one = g->values[v].region == REGION_ARENA ? shape_bytes(&g->values[v].shape, 2) - shape_bytes(&g->values[v].shape,
                                                                                                             1) : 0;
        largest = one > largest ? one : largest;
    }
    return model_rows_that_fit(largest);
}

enum errc model_own_sig(struct infer_model *m, const struct model_sig *from, struct err *e)
{
    struct model_sig *to = &m->info.sig;
    *to = *from;
    for (size_t i = 0; i < to->input_count + to->output_count; i++) {
        struct sig_tensor *t = i < to->input_count ? &to->inputs[i] : &to->outputs[i - to->input_count];
        if (t->name.len > SIG_NAME_MAX)
            return FAIL(e, LIMIT, "the name of a tensor is longer than %d bytes", SIG_NAME_MAX);
        t->name = str_dup(m->arena, t->name);
        t->datatype = str_dup(m->arena, t->datatype);
        m->info.has_rows = m->info.has_rows || (i < to->input_count && sig_has_rows(t));
    }
    return ERR_OK;
}

/* Words without a dictionary of as many columns would be numbers that nobody gave. */
static enum errc own_words(struct infer_model *m, const struct st_file *f, struct err *e)
{
    const struct model_sig *sig = &m->info.sig;
    struct model_words *w = &m->info.words;
    TRY(model_words_read(m->arena, f, w, e));
    for (size_t i = 0; i < sig->input_count + sig->output_count; i++) {
        const struct sig_tensor *t = i < sig->input_count ? &sig->inputs[i] : &sig->outputs[i - sig->input_count];
        if (str_eq_c(t->datatype, "BYTES") && (i >= sig->input_count || t->rank != 2 || t->dim[1] != (int64_t)w->columns))
            return FAIL(e, BAD_DATA, "\"%.*s\" is of BYTES, and the model has words for %zu column(s)", STR_ARG(t->name),
                        w->columns);
    }
    return ERR_OK;
}

/* The graph is the plan's from here on. */
static enum errc make_plan(struct infer_model *m, struct graph *g, struct err *e)
{
    enum errc rc = find_limits(m, g, e);
    if (rc != ERR_OK) {
        graph_free(g);
        return rc;
    }
    for (int v = 0; v < g->value_count; v++)
        m->info.parameters += g->values[v].region == REGION_CONST ? shape_count(&g->values[v].shape, 1) : 0;
    m->info.max_rows = m->info.has_rows ? rows_that_fit(g) : 1;
    if (!m->be) {
        graph_free(g);
        return ERR_OK;
    }
    TRY(plan_new(g, m->be, m->ctx, &(struct plan_options){ .max_rows = m->info.max_rows, .max_bytes = m->how.max_bytes,
                                                              .data = m->how.data, .kept = m->how.kept }, &m->plan, e));
    for (size_t i = 0; i < m->info.sig.input_count; i++)
        m->in[i] = plan_find(m->plan, m->info.sig.inputs[i].name.ptr);
    for (size_t i = 0; i < m->info.sig.output_count; i++)
        m->out[i] = plan_find(m->plan, m->info.sig.outputs[i].name.ptr);
    return ERR_OK;
}

enum errc model_graph_open(struct arena *a, const struct st_file *f, struct model_sig *ret_sig, struct graph **ret,
                           struct err *e)
{
    if (model_onnx_is(f))
        return FAIL(e, UNPROCESSABLE, "this model is an ONNX file as it came, for ONNX Runtime: there is no graph of ours in it");
    return model_graph_is(f) ? graph_file_read(a, f, ret_sig, ret, e) : perceptron_read(a, f, ret_sig, ret, e);
}

static enum errc fill(struct infer_model *m, struct arena *a, const struct st_file *f, struct err *e)
{
    struct str features = st_meta(f, "features"), accuracy = st_meta(f, "holdout_accuracy"), family = st_meta(f, "family");
    struct model_sig *sig = ARENA_NEW(a, struct model_sig);
    struct graph *g;
    m->features = str_dup_heap(features.ptr ? features : STR(""));
    if (!m->features)
        return FAIL(e, LIMIT, "no memory for the model");
    m->info.features_json = m->features;
    snprintf(m->info.family, sizeof m->info.family, "%.*s", STR_ARG(family));
    snprintf(m->info.holdout_accuracy, sizeof m->info.holdout_accuracy, "%.*s", STR_ARG(accuracy));
    if (model_onnx_is(f))
        return engine_read(m, a, f, e);
    TRY(model_graph_open(a, f, sig, &g, e));
    enum errc rc = model_own_sig(m, sig, e);
    if (rc == ERR_OK)
        rc = own_words(m, f, e);
    if (rc != ERR_OK) {
        graph_free(g);
        return rc;
    }
    return make_plan(m, g, e);
}

/* be NULL: a description alone. */
static enum errc load(const struct backend *be, struct pool *pool, const void *bytes, size_t n, const struct infer_load *how,
                      struct infer_model **ret, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(FILE_ARENA);
    struct st_file f;
    TRY(st_parse(a, bytes, n, &f, e));
    struct infer_model *m = calloc(1, sizeof *m);
    ASSERT(m);
    m->be = be;
    m->pool = pool;
    m->how = *how;
    m->arena = arena_new((size_t)64 << 20);
    enum errc rc = be ? be->open(be, pool, &m->ctx, e) : ERR_OK;
    if (rc == ERR_OK)
        rc = fill(m, a, &f, e);
    m->how = (struct infer_load){ .data = NULL };
    if (rc != ERR_OK) {
        infer_model_free(m);
        return rc;
    }
    *ret = m;
    return ERR_OK;
}

enum errc infer_model_load(const struct backend *be, struct pool *pool, const void *bytes, size_t n, struct infer_model **ret,
                           struct err *e)
{
    return infer_model_load_from(be, pool, bytes, n, &(struct infer_load){ .data = NULL }, ret, e);
}

enum errc infer_model_load_from(const struct backend *be, struct pool *pool, const void *bytes, size_t n,
                                const struct infer_load *how, struct infer_model **ret, struct err *e)
{
    ASSERT(be);
    return load(be, pool, bytes, n, how, ret, e);
}

enum errc infer_model_describe(const void *bytes, size_t n, struct infer_model **ret, struct err *e)
{
    return load(NULL, NULL, bytes, n, &(struct infer_load){ .data = NULL }, ret, e);
}

void infer_model_settle(const struct infer_model *m, const _Atomic bool *stop)
{
    if (m->plan)
        plan_settle(m->plan, stop);
}

void infer_model_free(struct infer_model *m)
{
    if (!m)
        return;
    plan_free(m->plan);
    if (m->engine_model)
        m->engine->model_free(m->engine_model);
    if (m->ctx)
        m->be->close(m->ctx);
    arena_free(m->arena);
    free(m->features);
    free(m);
}

const struct infer_info *infer_model_info(const struct infer_model *m)
{
    return &m->info;
}

size_t infer_model_packed(const struct infer_model *m, size_t i, const void **ret)
{
    return m->plan ? plan_packed(m->plan, i, ret) : 0;
}

size_t infer_model_bytes(const struct infer_model *m)
{
    return m->plan ? m->plan->region_bytes[REGION_CONST] : m->engine_bytes;
}

size_t infer_index_limit(const struct infer_model *m, size_t input)
{
    return m->index_limit[input];
}

enum errc infer_session_new(const struct infer_model *m, struct infer_session **ret, struct err *e)
{
    struct infer_session *s = calloc(1, sizeof *s);
    ASSERT(s);
    s->model = m;
    enum errc rc = m->engine ? m->engine->call_new(m->engine_model, m->info.max_rows, &s->call, e)
                             : m->be->open(m->be, m->pool, &s->ctx, e);
    if (rc == ERR_OK && !m->engine)
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
    if (s->call)
        s->model->engine->call_free(s->call);
    run_free(s->run);
    if (s->ctx)
        s->model->be->close(s->ctx);
    free(s);
}

void infer_put(struct infer_session *s, size_t at, const struct infer_io *io, size_t rows)
{
    const struct model_sig *sig = &s->model->info.sig;
    if (s->call) {
        s->model->engine->put(s->call, at, io->in, rows);
        return;
    }
    for (size_t i = 0; i < sig->input_count; i++)
        run_put(s->run, s->model->in[i], sig_has_rows(&sig->inputs[i]) ? at : 0, sig_has_rows(&sig->inputs[i]) ? rows : 1,
                io->in[i]);
}

enum errc infer_compute(struct infer_session *s, size_t rows, struct err *e)
{
    if (s->call)
        return s->model->engine->compute(s->call, rows, e);
    run_exec(s->run, rows, PHASE_FORWARD, false);
    return run_sync(s->run, e);
}

void infer_stop(struct infer_session *s)
{
    if (s->call)
        s->model->engine->stop(s->call);
}

void infer_take(struct infer_session *s, size_t at, size_t rows, const struct infer_io *io)
{
    const struct model_sig *sig = &s->model->info.sig;
    if (s->call) {
        s->model->engine->take(s->call, at, rows, io->out);
        return;
    }
    for (size_t i = 0; i < sig->output_count; i++) {
        bool has_rows = sig_has_rows(&sig->outputs[i]);
        if (io->out[i])
            run_get(s->run, s->model->out[i], has_rows ? at : 0, has_rows ? rows : 1, io->out[i]);
    }
}

static size_t offset_bytes(const struct sig_tensor *t, size_t rows)
{
    return sig_has_rows(t) ? sig_count(t, rows) * sizeof(float) : 0;    /* i32 is as wide */
}

enum errc infer_run(struct infer_session *s, const struct infer_io *io, size_t rows, struct err *e)
{
    const struct infer_info *info = &s->model->info;
    const struct model_sig *sig = &info->sig;
    for (size_t at = 0; at < rows; at += info->max_rows) {
        size_t n = rows - at < info->max_rows ? rows - at : info->max_rows;
        struct infer_io part = *io;
        for (size_t i = 0; at && i < sig->input_count; i++)
            part.in[i] = (const char *)io->in[i] + offset_bytes(&sig->inputs[i], at);
        for (size_t i = 0; at && i < sig->output_count; i++)
            part.out[i] = io->out[i] ? (char *)io->out[i] + offset_bytes(&sig->outputs[i], at) : NULL;
        infer_put(s, 0, &part, n);
        TRY(infer_compute(s, n, e));
        infer_take(s, 0, n, &part);
    }
    return ERR_OK;
}
