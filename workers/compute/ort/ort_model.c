/* SPDX-License-Identifier: Apache-2.0 */
/* ort_model.c - a session of the library, and calls of it: numbers go in and out through the few types that callers have. */
#include "workers/compute/ort/ort_model_int.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "workers/compute/onnx/inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t NAMES_ARENA = (size_t)1 << 20, FILE_ARENA = (size_t)1 << 30;

static bool is_taken(enum onnx_type t)
{
    return onnx_datatype(t) && t != ONNX_FLOAT16 && t != ONNX_BFLOAT16;
}

/* Without threads of its own, and a file of ONNX in memory and nothing else. */
static enum errc set_options(const struct ort *o, void *options, struct err *e)
{
    static const char *const pairs[][2] = { { "session.load_model_format", "ONNX" }, { "session.use_env_allocators", "1" },
                                            { "session.intra_op.allow_spinning", "0" } };
    TRY(ort_check(o, ERR_UNAVAILABLE, "options", o->api.options_severity(options, ORT_FATAL), e));
    TRY(ort_check(o, ERR_UNAVAILABLE, "options", o->api.options_level(options, ORT_LEVEL_ALL), e));
    TRY(ort_check(o, ERR_UNAVAILABLE, "options", o->api.options_threads(options, 1), e));
    TRY(ort_check(o, ERR_UNAVAILABLE, "options", o->api.options_branches(options, 1), e));
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        TRY(ort_check(o, ERR_UNAVAILABLE, pairs[i][0], o->api.options_set(options, pairs[i][0], pairs[i][1]), e));
    return ERR_OK;
}

static enum errc open_session(struct ort_model *m, struct str onnx, struct err *e)
{
    const struct ort *o = m->ort;
    void *options = NULL;
    TRY(onnx_is_inside(onnx, e));
    TRY(ort_check(o, ERR_UNAVAILABLE, "options", o->api.options_new(&options), e));
    enum errc rc = set_options(o, options, e);
    if (rc == ERR_OK)
        rc = ort_check(o, ERR_UNPROCESSABLE, "the model is refused",
                       o->api.session_new(o->env, onnx.ptr, onnx.len, options, &m->session), e);
    o->api.options_free(options);
    return rc;
}

static enum errc read_names(struct ort_model *m, const struct onnx_file *file, struct err *e)
{
    const struct model_sig *sig = m->sig;
    if (file->input_count != sig->input_count)
        return FAIL(e, BAD_DATA, "the signature has %zu inputs, the model %zu", sig->input_count, file->input_count);
    for (size_t i = 0; i < sig->input_count; i++) {
        const struct onnx_value *v = &file->inputs[i];
        const char *datatype = onnx_datatype(v->type);
        if (!str_eq(v->name, sig->inputs[i].name) || !datatype || !str_eq_c(sig->inputs[i].datatype, datatype))
            return FAIL(e, BAD_DATA, "the signature's input \"%.*s\" is not the model's", STR_ARG(sig->inputs[i].name));
        if (!is_taken(v->type))
            return FAIL(e, UNPROCESSABLE, "input \"%.*s\" is of %s, which is not taken for ONNX Runtime; cast it from FLOAT in "
                        "the model", STR_ARG(v->name), onnx_type_name(v->type));
        m->type[i] = v->type;
        m->in[i] = str_z(m->arena, v->name);
    }
    for (size_t i = 0; i < sig->output_count; i++)
        m->out[i] = str_z(m->arena, sig->outputs[i].name);
    return ERR_OK;
}

enum errc ort_model_open(struct ort *o, struct str onnx, const struct onnx_file *file, const struct model_sig *sig,
                         struct ort_model **ret, struct err *e)
{
    struct ort_model *m = calloc(1, sizeof *m);
    ASSERT(m);
    m->ort = o;
    m->sig = sig;
    m->arena = arena_new(NAMES_ARENA);
    enum errc rc = read_names(m, file, e);
    if (rc == ERR_OK)
        rc = open_session(m, onnx, e);
    if (rc != ERR_OK) {
        ort_model_close(m);
        return rc;
    }
    *ret = m;
    return ERR_OK;
}

void ort_model_close(void *model)
{
    struct ort_model *m = model;
    if (m->session)
        m->ort->api.session_free(m->session);
    arena_free(m->arena);
    free(m);
}

enum errc ort_call_open(void *model, size_t max_rows, void **ret, struct err *e)
{
    const struct ort_model *m = model;
    struct ort_call *c = calloc(1, sizeof *c);
    ASSERT(c);
    c->model = m;
    c->max_rows = max_rows;
    pthread_mutex_init(&c->lock, NULL);
    enum errc rc = ort_check(m->ort, ERR_UNAVAILABLE, "options", m->ort->api.run_options_new(&c->options), e);
    if (rc != ERR_OK) {
        ort_call_close(c);
        return rc;
    }
    for (size_t i = 0; i < m->sig->input_count; i++) {
        c->room[i] = calloc(sig_count(&m->sig->inputs[i], max_rows), onnx_type_bytes(m->type[i]));
        if (!c->room[i]) {
            ort_call_close(c);
            return FAIL(e, LIMIT, "no memory for the inputs of %zu rows", max_rows);
        }
    }
    *ret = c;
    return ERR_OK;
}

static void drop_values(struct ort_call *c)
{
    for (size_t i = 0; i < c->model->sig->output_count; i++) {
        if (c->value[i])
            c->model->ort->api.value_free(c->value[i]);
        c->value[i] = NULL;
    }
}

void ort_call_close(void *call)
{
    struct ort_call *c = call;
    drop_values(c);
    for (size_t i = 0; i < c->model->sig->input_count; i++)
        free(c->room[i]);
    if (c->options)
        c->model->ort->api.run_options_free(c->options);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static double within(double v, double least, double most)
{
    return v >= least ? v <= most ? rint(v) : most : least;     /* NaN: the least */
}

/* From f32 or i32 to a type of the file. */
static void give(enum onnx_type type, void *to, const void *from, size_t n)
{
    const float *real = from;
    const int32_t *whole = from;
    for (size_t i = 0; i < n; i++) {
        switch (type) {
        case ONNX_DOUBLE: ((double *)to)[i] = (double)real[i]; break;
        case ONNX_UINT8: ((uint8_t *)to)[i] = (uint8_t)within((double)real[i], 0, 255); break;
        case ONNX_INT8: ((int8_t *)to)[i] = (int8_t)within((double)real[i], -128, 127); break;
        case ONNX_BOOL: ((uint8_t *)to)[i] = real[i] != 0; break;
        case ONNX_INT64: ((int64_t *)to)[i] = whole[i]; break;
        case ONNX_INT32: ((int32_t *)to)[i] = whole[i]; break;
        default: ((float *)to)[i] = real[i]; break;
        }
    }
}

static void get(enum onnx_type type, void *to, const void *from, size_t n)
{
    float *real = to;
    int32_t *whole = to;
    for (size_t i = 0; i < n; i++) {
        switch (type) {
        case ONNX_DOUBLE: real[i] = (float)((const double *)from)[i]; break;
        case ONNX_UINT8: real[i] = (float)((const uint8_t *)from)[i]; break;
        case ONNX_INT8: real[i] = (float)((const int8_t *)from)[i]; break;
        case ONNX_BOOL: real[i] = ((const uint8_t *)from)[i] ? 1 : 0; break;
        case ONNX_INT64: whole[i] = (int32_t)((const int64_t *)from)[i]; break;
        case ONNX_INT32: whole[i] = ((const int32_t *)from)[i]; break;
        default: real[i] = ((const float *)from)[i]; break;
        }
    }
}

static size_t rows_of(const struct sig_tensor *t, size_t rows)
{
    return sig_has_rows(t) ? rows : 1;
}

void ort_call_put(void *call, size_t at, const void *const *in, size_t rows)
{
    struct ort_call *c = call;
    for (size_t i = 0; i < c->model->sig->input_count; i++) {
        const struct sig_tensor *t = &c->model->sig->inputs[i];
        char *to = c->room[i];
        size_t before = sig_has_rows(t) ? at ? sig_count(t, at) : 0 : 0;
        give(c->model->type[i], to + before * onnx_type_bytes(c->model->type[i]), in[i], sig_count(t, rows_of(t, rows)));
    }
}

static enum errc make_inputs(const struct ort_call *c, size_t rows, void **in, struct err *e)
{
    const struct ort *o = c->model->ort;
    for (size_t i = 0; i < c->model->sig->input_count; i++) {
        const struct sig_tensor *t = &c->model->sig->inputs[i];
        int64_t dim[SIG_DIMS_MAX];
        for (uint32_t d = 0; d < t->rank; d++)
            dim[d] = t->dim[d] < 0 ? (int64_t)rows : t->dim[d];
        size_t bytes = sig_count(t, rows_of(t, rows)) * onnx_type_bytes(c->model->type[i]);
        TRY(ort_check(o, ERR_UNPROCESSABLE, c->model->in[i],
                      o->api.tensor_new(o->memory, c->room[i], bytes, dim, t->rank, (int)c->model->type[i], &in[i]), e));
    }
    return ERR_OK;
}

/* The library looks at its flag between nodes, also within the graphs of a Loop. */
static enum errc set_stop(struct ort_call *c, bool is_stopped, struct err *e)
{
    const struct ort_api *api = &c->model->ort->api;
    pthread_mutex_lock(&c->lock);
    c->is_stopped = is_stopped;
    void *status = is_stopped ? api->run_stop(c->options) : api->run_go_on(c->options);
    pthread_mutex_unlock(&c->lock);
    return ort_check(c->model->ort, ERR_UNPROCESSABLE, "a call", status, e);
}

static bool is_stopped(struct ort_call *c)
{
    pthread_mutex_lock(&c->lock);
    bool is = c->is_stopped;
    pthread_mutex_unlock(&c->lock);
    return is;
}

void ort_call_stop(void *call)
{
    struct err e;
    (void)set_stop(call, true, &e);     /* whoever watches says it again */
}

enum errc ort_call_run(struct ort_call *c, size_t rows, struct err *e)
{
    const struct ort_model *m = c->model;
    void *in[SIG_TENSORS_MAX] = { NULL };
    drop_values(c);
    TRY(set_stop(c, false, e));
    enum errc rc = make_inputs(c, rows, in, e);
    if (rc == ERR_OK)
        rc = ort_check(m->ort, ERR_UNPROCESSABLE, "a call",
                       m->ort->api.run(m->session, c->options, m->in, (const void *const *)in, m->sig->input_count, m->out,
                                       m->sig->output_count, c->value), e);
    for (size_t i = 0; i < m->sig->input_count; i++)
        if (in[i])
            m->ort->api.value_free(in[i]);
    if (rc != ERR_OK && is_stopped(c))
        return FAIL(e, DEADLINE, "the model was still computing these numbers when their time was over, and was stopped");
    return rc;
}

static enum errc read_about(const struct ort *o, const void *about, const char *name, struct ort_about *ret, struct err *e)
{
    int type = 0;
    TRY(ort_check(o, ERR_UNPROCESSABLE, name, o->api.about_type(about, &type), e));
    TRY(ort_check(o, ERR_UNPROCESSABLE, name, o->api.about_rank(about, &ret->rank), e));
    ret->type = type > 0 && type < ONNX_TYPES ? (enum onnx_type)type : ONNX_NONE;
    if (!is_taken(ret->type) || ret->rank > SIG_DIMS_MAX)
        return FAIL(e, UNPROCESSABLE, "output \"%.60s\" is of %s in %zu dimensions; taken are FLOAT, DOUBLE, INT8, UINT8, INT32, "
                    "INT64 and BOOL in at most %d", name, onnx_type_name(ret->type), ret->rank, SIG_DIMS_MAX);
    return ort_check(o, ERR_UNPROCESSABLE, name, o->api.about_dims(about, ret->dim, ret->rank), e);
}

enum errc ort_call_about(const struct ort_call *c, size_t output, struct ort_about *ret, struct err *e)
{
    const struct ort *o = c->model->ort;
    const char *name = c->model->out[output];
    void *about = NULL;
    int kind = 0;
    *ret = (struct ort_about){ 0 };
    if (!c->value[output])
        return FAIL(e, UNPROCESSABLE, "output \"%.60s\" is none for these numbers", name);
    TRY(ort_check(o, ERR_UNPROCESSABLE, name, o->api.value_kind(c->value[output], &kind), e));
    if (kind != ORT_KIND_TENSOR)
        return FAIL(e, UNPROCESSABLE, "output \"%.60s\" is no tensor (a list or a map: leave ZipMap out)", name);
    TRY(ort_check(o, ERR_UNPROCESSABLE, name, o->api.tensor_about(c->value[output], &about), e));
    enum errc rc = read_about(o, about, name, ret, e);
    o->api.about_free(about);
    return rc;
}

/* As the signature says; a number alone counts as a list of one. */
static enum errc check_output(const struct ort_call *c, size_t i, size_t rows, struct err *e)
{
    const struct sig_tensor *t = &c->model->sig->outputs[i];
    struct ort_about is;
    void *data = NULL;
    TRY(ort_call_about(c, i, &is, e));
    bool fits = str_eq_c(t->datatype, onnx_datatype(is.type))
                && (is.rank == t->rank || (!is.rank && t->rank == 1 && t->dim[0] == 1));
    for (size_t d = 0; fits && d < is.rank; d++)
        fits = is.dim[d] == (t->dim[d] < 0 ? (int64_t)rows : t->dim[d]);
    if (!fits)
        return FAIL(e, UNPROCESSABLE,
                    "output \"%.60s\" has another shape or type for these numbers than the model's signature says",
                    c->model->out[i]);
    if (is.type != ONNX_INT64)
        return ERR_OK;
    TRY(ort_check(c->model->ort, ERR_UNPROCESSABLE, c->model->out[i], c->model->ort->api.tensor_data(c->value[i], &data), e));
    for (size_t k = 0, n = sig_count(t, rows_of(t, rows)); k < n; k++) {
        int64_t v = ((const int64_t *)data)[k];
        if (v < INT32_MIN || v > INT32_MAX)
            return FAIL(e, UNPROCESSABLE, "output \"%.60s\": number %zu, %ld, is beyond 32 bits", c->model->out[i], k, (long)v);
    }
    return ERR_OK;
}

enum errc ort_call_compute(void *call, size_t rows, struct err *e)
{
    struct ort_call *c = call;
    TRY(ort_call_run(c, rows, e));
    for (size_t i = 0; i < c->model->sig->output_count; i++)
        TRY(check_output(c, i, rows, e));
    return ERR_OK;
}

void ort_call_take(void *call, size_t at, size_t rows, void *const *out)
{
    const struct ort_call *c = call;
    const struct ort *o = c->model->ort;
    for (size_t i = 0; i < c->model->sig->output_count; i++) {
        const struct sig_tensor *t = &c->model->sig->outputs[i];
        struct ort_about is;
        struct err e;
        void *data = NULL;
        if (!out[i] || ort_call_about(c, i, &is, &e) != ERR_OK
            || ort_check(o, ERR_INTERNAL, "output", o->api.tensor_data(c->value[i], &data), &e) != ERR_OK)
            continue;                   /* what was checked by compute cannot fail here */
        size_t before = sig_has_rows(t) && at ? sig_count(t, at) : 0;
        get(is.type, out[i], (const char *)data + before * onnx_type_bytes(is.type), sig_count(t, rows_of(t, rows)));
    }
}

static enum errc engine_model_new(void *ctx, struct str onnx, const struct model_sig *sig, void **ret, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(FILE_ARENA);
    struct onnx_file file;
    struct ort_model *m = NULL;
    TRY(onnx_parse(a, onnx, &file, e));
    TRY(ort_model_open(ctx, onnx, &file, sig, &m, e));
    *ret = m;
    return ERR_OK;
}

void ort_engine_of(struct ort *o, char name[64], struct infer_engine *ret)
{
    snprintf(name, 64, "ONNX Runtime %s", o->version);
    *ret = (struct infer_engine){ name, o, engine_model_new, ort_model_close, ort_call_open, ort_call_close, ort_call_put,
                                  ort_call_compute, ort_call_stop, ort_call_take };
}
