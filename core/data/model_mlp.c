/* SPDX-License-Identifier: Apache-2.0 */
/* model_mlp.c - the chain of shapes, layer by layer until a name is missing; then nothing may be left over. */
#include "core/data/model_mlp.h"

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

static enum errc check_layer(const struct st_file *f, size_t layer, struct model_mlp *m, struct err *e)
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
    TRY(st_f32(f, name, out, in, &m->weight[layer], e));
    TRY(check_finite(m->weight[layer], in * out, name, e));
    snprintf(name, sizeof name, "mlp.%zu.bias", layer);
    TRY(st_f32(f, name, out, 0, &m->bias[layer], e));
    m->parameters += in * out + out;
    return check_finite(m->bias[layer], out, name, e);
}

static enum errc check_input(const struct st_file *f, struct model_mlp *m, struct err *e)
{
    TRY(st_f32(f, "input.mean", m->width[0], 0, &m->mean, e));
    TRY(st_f32(f, "input.scale", m->width[0], 0, &m->scale, e));
    TRY(check_finite(m->mean, m->width[0], "input.mean", e));
    TRY(check_finite(m->scale, m->width[0], "input.scale", e));
    for (size_t i = 0; i < m->width[0]; i++)
        if (m->scale[i] == 0)
            return FAIL(e, BAD_DATA, "tensor \"input.scale\" is 0 at %zu", i);
    return ERR_OK;
}

enum errc model_mlp_check(const struct st_file *f, struct model_mlp *ret, struct err *e)
{
    struct model_mlp m = { 0 };
    char name[NAME_BYTES];
    if (!str_eq_c(st_meta(f, "family"), "mlp") || !str_eq_c(st_meta(f, "activation"), "relu"))
        return FAIL(e, BAD_DATA, "the model file's metadata does not say family \"mlp\" and activation \"relu\"");
    for (;; m.layers++) {
        snprintf(name, sizeof name, "mlp.%zu.weight", m.layers);
        if (!st_find(f, str_c(name)))
            break;
        if (m.layers == MODEL_MLP_LAYERS_MAX)
            return FAIL(e, LIMIT, "the model has more than %d layers", MODEL_MLP_LAYERS_MAX);
        TRY(check_layer(f, m.layers, &m, e));
    }
    if (m.layers == 0)
        return FAIL(e, BAD_DATA, "the model file has no tensor \"mlp.0.weight\"");
    bool has_input = st_find(f, STR("input.mean")) || st_find(f, STR("input.scale"));
    if (has_input)
        TRY(check_input(f, &m, e));
    if (f->tensor_count != 2 * m.layers + (has_input ? 2 : 0))
        return FAIL(e, BAD_DATA, "the model file has %zu tensors, a perceptron of %zu layers has %zu", f->tensor_count, m.layers,
                    2 * m.layers + (has_input ? 2 : 0));
    *ret = m;
    return ERR_OK;
}
