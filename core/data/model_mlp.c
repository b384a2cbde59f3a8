/* SPDX-License-Identifier: Apache-2.0 */
/* model_mlp.c - the chain of shapes, layer by layer until a name is missing; then nothing may be left over. */
#include "core/data/model_mlp.h"
#include "core/data/model_graph.h"
#include "core/data/model_onnx.h"

#include <math.h>
#include <stdio.h>

enum { NAME_BYTES = 40 };

static enum errc check_finite(const float *p, size_t n, const char *name, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(p[i]))
            return FAIL(e, BAD_DATA, "tensor \"%s\" holds a value that is no finite number", name);
    return ERR_OK;
}

static enum errc check_layer_shape(const struct st_file *f, size_t layer, struct model_mlp *m, struct err *e)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "mlp.%zu.weight", layer);
    const struct st_tensor *t = st_find(f, str_c(name));
    if (t->rank != 2 || t->shape[0] < 1 || t->shape[1] < 1 || t->shape[0] > MODEL_MLP_WIDTH_MAX || t->shape[1] > MODEL_MLP_WIDTH_MAX)
        return FAIL(e, BAD_DATA, "tensor \"%s\" is not a matrix of 1 to %d rows and columns", name, MODEL_MLP_WIDTH_MAX);
    size_t out = (size_t)t->shape[0], in = (size_t)t->shape[1];
    if (layer > 0 && m->width[layer] != in)
        return FAIL(e, BAD_DATA, "tensor \"%s\" takes %zu inputs, the layer before gives %zu", name, in, m->width[layer]);
    m->width[layer] = in;
    m->width[layer + 1] = out;
    TRY(st_f32_shape(f, name, out, in, &t, e));
    snprintf(name, sizeof name, "mlp.%zu.bias", layer);
    m->parameters += in * out + out;
    return st_f32_shape(f, name, out, 0, &t, e);
}

/* All that a header says: family, activation, which tensors there are and how their shapes chain. */
static enum errc check_shapes(const struct st_file *f, struct model_mlp *m, bool *ret_has_input, struct err *e)
{
    char name[NAME_BYTES];
    const struct st_tensor *t;
    struct str family = st_meta(f, "family");
    if (family.len && !str_eq_c(family, "mlp"))
        return FAIL(e, BAD_DATA, "the model file has the family \"%.*s\" and no graph; without one only \"mlp\" can be served",
                    (int)(family.len < 32 ? family.len : 32), family.ptr);
    if (!family.len || !str_eq_c(st_meta(f, "activation"), "relu"))
        return FAIL(e, BAD_DATA, "the model file's metadata does not say family \"mlp\" and activation \"relu\"");
    for (;; m->layers++) {
        snprintf(name, sizeof name, "mlp.%zu.weight", m->layers);
        if (!st_find(f, str_c(name)))
            break;
        if (m->layers == MODEL_MLP_LAYERS_MAX)
            return FAIL(e, LIMIT, "the model has more than %d layers", MODEL_MLP_LAYERS_MAX);
        TRY(check_layer_shape(f, m->layers, m, e));
    }
    if (m->layers == 0)
        return FAIL(e, BAD_DATA, "the model file has no tensor \"mlp.0.weight\"");
    *ret_has_input = st_find(f, STR("input.mean")) || st_find(f, STR("input.scale"));
    if (*ret_has_input) {
        TRY(st_f32_shape(f, "input.mean", m->width[0], 0, &t, e));
        TRY(st_f32_shape(f, "input.scale", m->width[0], 0, &t, e));
    }
    if (f->tensor_count != 2 * m->layers + (*ret_has_input ? 2 : 0))
        return FAIL(e, BAD_DATA, "the model file has %zu tensors, a perceptron of %zu layers has %zu", f->tensor_count, m->layers,
                    2 * m->layers + (*ret_has_input ? 2 : 0));
    return ERR_OK;
}

static enum errc take_f32(const struct st_file *f, const char *name, size_t rows, size_t cols, const float **ret, struct err *e)
{
    TRY(st_f32(f, name, rows, cols, ret, e));
    return check_finite(*ret, rows * (cols ? cols : 1), name, e);
}

enum errc model_mlp_check(const struct st_file *f, struct model_mlp *ret, struct err *e)
{
    struct model_mlp m = { 0 };
    char name[NAME_BYTES];
    bool has_input;
    TRY(check_shapes(f, &m, &has_input, e));
    for (size_t i = 0; i < m.layers; i++) {
        snprintf(name, sizeof name, "mlp.%zu.weight", i);
        TRY(take_f32(f, name, m.width[i + 1], m.width[i], &m.weight[i], e));
        snprintf(name, sizeof name, "mlp.%zu.bias", i);
        TRY(take_f32(f, name, m.width[i + 1], 0, &m.bias[i], e));
    }
    if (has_input) {
        TRY(take_f32(f, "input.mean", m.width[0], 0, &m.mean, e));
        TRY(take_f32(f, "input.scale", m.width[0], 0, &m.scale, e));
    }
    for (size_t i = 0; has_input && i < m.width[0]; i++)
        if (m.scale[i] == 0)
            return FAIL(e, BAD_DATA, "tensor \"input.scale\" is 0 at %zu", i);
    *ret = m;
    return ERR_OK;
}

/* --- piece by piece --- */

static enum errc end_header(struct model_stream *s)
{
    s->inputs = sig_count(&s->sig->inputs[0], 1);
    s->outputs = sig_count(&s->sig->outputs[0], 1);
    s->has_header = true;
    return ERR_OK;
}

static enum errc check_onnx(struct model_stream *s, struct err *e)
{
    TRY(model_onnx_check(s->arena, &s->file, s->sig, e));
    return end_header(s);
}

static enum errc check_graph(struct model_stream *s, struct err *e)
{
    const struct st_file *f = &s->file;
    TRY(model_graph_check(s->arena, f, s->sig, e));
    for (size_t i = 0; i < f->tensor_count; i++)
        if (f->tensors[i].dtype != ST_F32 && f->tensors[i].dtype != ST_BF16 && f->tensors[i].dtype != ST_I8)
            return FAIL(e, BAD_DATA, "tensor \"%.*s\" is %s; the tensors of a registered model are F32, BF16 or I8",
                        STR_ARG(f->tensors[i].name), st_dtype_name(f->tensors[i].dtype));
    return end_header(s);
}

static enum errc read_header(struct model_stream *s, struct err *e)
{
    bool has_input;
    s->sig = arena_try(s->arena, sizeof *s->sig);
    if (!s->sig)
        return FAIL(e, LIMIT, "the model file's header does not fit in memory");
    TRY(st_parse_header(s->arena, buf_str(&s->header), s->size_bytes, &s->file, e));
    if (model_onnx_is(&s->file))
        return check_onnx(s, e);
    if (model_graph_is(&s->file))
        return check_graph(s, e);
    TRY(check_shapes(&s->file, &s->mlp, &has_input, e));
    s->inputs = s->mlp.width[0];
    s->outputs = s->mlp.width[s->mlp.layers];
    model_sig_perceptron(s->sig, s->inputs, s->outputs);
    const struct st_tensor *scale = has_input ? st_find(&s->file, STR("input.scale")) : NULL;
    if (scale) {
        s->scale_begin = scale->at;
        s->scale_end = scale->at + scale->size_bytes;
    }
    s->has_header = true;
    return ERR_OK;
}

/* Tensors tile the file behind its header, so there is one at every byte. */
static const struct st_tensor *tensor_at(const struct model_stream *s, uint64_t at)
{
    const struct st_tensor *t = s->now, *all = s->file.tensors;
    for (size_t i = 0; !t || at < t->at || at >= t->at + t->size_bytes; i++) {
        if (i == s->file.tensor_count)
            return NULL;
        t = &all[i];
    }
    return t;
}

/* at: of the number. */
static enum errc check_number(const struct model_stream *s, uint64_t at, const unsigned char *p, struct err *e)
{
    float v;
    uint32_t bits = 0;
    if (s->now->dtype == ST_I8 || s->now->dtype == ST_U8)
        return ERR_OK;
    memcpy(&bits, p, st_width(s->now->dtype));
    bits = s->now->dtype == ST_BF16 ? bits << 16 : bits;
    memcpy(&v, &bits, sizeof v);
    if (!isfinite(v))
        return FAIL(e, BAD_DATA, "tensor \"%.*s\" holds a value that is no finite number", STR_ARG(s->now->name));
    if (v == 0 && at >= s->scale_begin && at < s->scale_end)
        return FAIL(e, BAD_DATA, "tensor \"input.scale\" is 0 at %llu", (unsigned long long)((at - s->scale_begin) / sizeof v));
    return ERR_OK;
}

static enum errc add_numbers(struct model_stream *s, const unsigned char *p, size_t n, struct err *e)
{
    while (n > 0) {
        s->now = tensor_at(s, s->at);
        if (!s->now)
            return FAIL(e, BAD_DATA, "the model file has bytes that belong to no tensor");
        size_t width = st_width(s->now->dtype), have = (size_t)((s->at - s->now->at) % width);
        if (have == 0 && n >= width) {
            TRY(check_number(s, s->at, p, e));
            s->at += width;
            p += width;
            n -= width;
            continue;
        }
        s->part[have] = *p++;
        s->at++;
        n--;
        if (have + 1 == width)
            TRY(check_number(s, s->at - width, s->part, e));
    }
    return ERR_OK;
}

enum errc model_stream_add(struct model_stream *s, const void *bytes, size_t n, struct err *e)
{
    const unsigned char *p = bytes;
    if (n > s->size_bytes - s->at)
        return FAIL(e, BAD_DATA, "the model file is longer than it is said to be");
    for (; n > 0 && s->at < ST_PREFIX; n--)
        s->prefix[s->at++] = *p++;
    if (s->at == ST_PREFIX && !s->header.max) {
        TRY(st_header_size(s->prefix, s->size_bytes, &s->header_size, e));
        s->header = BUF(s->header_size + 1);
    }
    if (n > 0 && !s->has_header) {
        size_t left = s->header_size - s->header.len, k = n < left ? n : left;
        if (!buf_add(&s->header, p, k))
            return FAIL(e, LIMIT, "the model file's header does not fit in memory");
        s->at += k;
        p += k;
        n -= k;
    }
    if (!s->has_header && s->header.max && s->header.len == s->header_size)
        TRY(read_header(s, e));
    return add_numbers(s, p, n, e);
}

enum errc model_stream_end(struct model_stream *s, struct model_mlp *ret, struct err *e)
{
    if (s->size_bytes < 10)
        return FAIL(e, BAD_DATA, "the model file is too short to be a safetensors file");
    if (!s->has_header || s->at != s->size_bytes)
        return FAIL(e, BAD_DATA, "the model file ends before it should");
    *ret = s->mlp;
    return ERR_OK;
}

void model_stream_release(struct model_stream *s)
{
    buf_release(&s->header);
}
