/* SPDX-License-Identifier: Apache-2.0 */
/* import_q8.c - whole numbers of eight bits: pairs of QuantizeLinear and DequantizeLinear around an operator. Other forms that
 * ONNX has for them are read as pairs (import_q8_op.c), or find their scales at run time (import_dynamic.c).
 *
 * Every value is computed in f32 that holds whole numbers, which needs no kernel of its own; and a value remembers what it was
 * quantised from (struct quant). A product or convolution of such a value by dequantised constants becomes QMATMUL or QCONV2D
 * over what stood before the quantising: those quantise themselves, and the pair in between is written by nobody. */
#include "workers/compute/onnx/import_q8_int.h"

#include <float.h>
#include <math.h>
#include <string.h>

static enum onnx_type type_of(const struct named *n, enum onnx_type dflt)
{
    return n->known && n->known->tensor ? n->known->tensor->type : dflt;
}

/* Inputs i and i + 1: scale and zero point, both known; in: the whole numbers, where the zero point does not say their type. */
static enum errc read_scales(struct import *x, size_t i, const struct named *in, struct scales *ret)
{
    struct named *scale = import_in(x, i), *zero = import_has(x, i + 1) ? import_in(x, i + 1) : NULL;
    int64_t asked = import_attr(x, "output_dtype", ONNX_UINT8);
    enum onnx_type type = zero ? type_of(zero, ONNX_UINT8) : in ? type_of(in, ONNX_UINT8) : (enum onnx_type)asked;
    *ret = (struct scales){ .low = type == ONNX_INT8 ? -128 : 0, .high = type == ONNX_INT8 ? 127 : 255, .zeros = 1 };
    if (!scale->known || (zero && !zero->known))
        return UNSUPPORTED(x, "a scale or zero point that is computed");
    if (type != ONNX_UINT8 && type != ONNX_INT8 && type != ONNX_INT32)
        return UNSUPPORTED(x, "whole numbers of type %s; UINT8 and INT8 are supported",
                           onnx_type_name(type < ONNX_TYPES ? type : ONNX_NONE));
    TRY(known_real(x, scale->known, &ret->scale));
    ret->count = scale->known->count;
    if (zero)
        TRY(known_whole(x, zero->known, &ret->zero));
    if (zero)
        ret->zeros = zero->known->count;
    if (!ret->count || (ret->zeros != ret->count && ret->zeros != 1 && ret->count != 1))
        return FAIL(x->e, BAD_DATA, "%zu scales and %zu zero points", ret->count, ret->zeros);
    for (size_t k = 0; k < ret->count; k++)
        if (!(ret->scale[k] >= FLT_MIN && ret->scale[k] <= FLT_MAX))
            return FAIL(x->e, BAD_DATA, "scale %zu is %g; expected a number above 0", k, (double)ret->scale[k]);
    for (size_t k = 0; k < ret->zeros && ret->zero && type != ONNX_INT32; k++)
        if (ret->zero[k] < ret->low || ret->zero[k] > ret->high)
            return FAIL(x->e, BAD_DATA, "zero point %zu is %ld, beyond its type", k, (long)ret->zero[k]);
    return ERR_OK;
}

static bool is_single(const struct scales *s)
{
    return s->count == 1 && s->zeros == 1;
}

static int64_t zero_at(const struct scales *s, size_t k)
{
    return s->zero ? s->zero[s->zeros == 1 ? 0 : k] : 0;
}

/* Which scale a number of a known tensor has. */
static size_t scale_index(const struct known *k, unsigned axis, size_t at)
{
    size_t inner = 1;
    for (unsigned d = axis + 1; d < k->rank; d++)
        inner *= (size_t)k->dim[d];
    return at / inner % (size_t)k->dim[axis];
}

static enum errc find_axis(struct import *x, unsigned given, unsigned rank, const struct scales *s, unsigned *ret)
{
    *ret = 0;
    return is_single(s) ? ERR_OK : import_axis(x, given ? (int64_t)given - 1 : import_attr(x, "axis", 1), rank, ret);
}

static enum errc keep_quant(struct import *x, struct named *to, struct named *from, const struct scales *s, bool is_whole)
{
    struct quant *q = arena_try(x->a, sizeof *q);
    if (!q)
        return FAIL(x->e, LIMIT, "the model does not fit in memory");
    *q = (struct quant){ from, (double)s->scale[0], (double)(zero_at(s, 0) - s->low), is_whole };
    to->quant = q;
    return ERR_OK;
}

/* --- known numbers --- */

static enum errc quantise_known(struct import *x, struct known *k, const struct scales *s, unsigned axis)
{
    struct known *to;
    float *real;
    TRY(known_real(x, k, &real));
    TRY(known_new(x, true, k->rank, k->dim, &to));
    for (size_t i = 0; i < k->count; i++) {
        size_t at = is_single(s) ? 0 : scale_index(k, axis, i);
        float v = rintf(real[i] / s->scale[s->count == 1 ? 0 : at]) + (float)zero_at(s, at);
        to->whole[i] = v > (float)s->low ? v < (float)s->high ? (int64_t)v : s->high : s->low;
    }
    return import_set_known(x, 0, to);
}

/* The same as bytes with a sign around 0, if they fit: how weights of a product are kept. */
enum errc q8_keep_weights(struct import *x, struct named *to, const struct known *k, const int64_t *whole,
                              const struct scales *s, unsigned axis)
{
    struct weights8 *w = arena_try(x->a, sizeof *w);
    int8_t *bytes = arena_try(x->a, k->count + 1);
    if (!w || !bytes)
        return FAIL(x->e, LIMIT, "the model does not fit in memory");
    for (size_t i = 0; i < k->count; i++) {
        int64_t v = whole[i] - zero_at(s, is_single(s) ? 0 : scale_index(k, axis, i));
        if (v < INT8_MIN || v > INT8_MAX)
            return ERR_OK;
        bytes[i] = (int8_t)v;
    }
    *w = (struct weights8){ .w = bytes, .rank = k->rank, .scale = s->scale, .scales = s->count, .axis = axis };
    memcpy(w->dim, k->dim, sizeof w->dim);
    to->weights = w;
    return ERR_OK;
}

static enum errc dequantise_known(struct import *x, struct known *k, const struct scales *s, unsigned axis)
{
    struct known *to;
    int64_t *whole;
    TRY(known_whole(x, k, &whole));
    TRY(known_new(x, false, k->rank, k->dim, &to));
    for (size_t i = 0; i < k->count; i++) {
        size_t at = is_single(s) ? 0 : scale_index(k, axis, i);
        to->real[i] = (float)(whole[i] - zero_at(s, at)) * s->scale[s->count == 1 ? 0 : at];
    }
    TRY(import_set_known(x, 0, to));
    if (!x->node->out[0].len || k->rank < 2)
        return ERR_OK;
    return q8_keep_weights(x, import_name(x, x->node->out[0]), k, whole, s, axis);
}

/* --- values of the graph --- */

/* Numbers by an axis of a value with `rank` dimensions, so that they repeat over the others. */
static enum errc by_axis(struct import *x, const struct scales *s, bool is_zero, unsigned axis, unsigned rank, int *ret)
{
    struct known *k;
    int64_t dim[ONNX_DIMS_MAX];
    size_t n = s->count > s->zeros ? s->count : s->zeros;
    for (unsigned d = axis; d < rank; d++)
        dim[d - axis] = d == axis ? (int64_t)n : 1;
    TRY(known_new(x, false, rank - axis, dim, &k));
    for (size_t i = 0; i < n; i++)
        k->real[i] = is_zero ? (float)zero_at(s, i) : s->scale[s->count == 1 ? 0 : i];
    return known_value(x, k, ret);
}

static enum errc values_by_axis(struct import *x, const struct scales *s, unsigned axis, bool is_back)
{
    int v, scale, zero;
    TRY(import_value(x, 0, &v));
    struct shape shape = *import_shape_of(x, v);
    size_t n = s->count > s->zeros ? s->count : s->zeros;
    if (shape.dim[axis].is_batched || shape.dim[axis].n != n)
        return FAIL(x->e, BAD_DATA, "%zu scales for dimension %u", n, axis);
    TRY(by_axis(x, s, false, axis, shape.rank, &scale));
    TRY(by_axis(x, s, true, axis, shape.rank, &zero));
    if (is_back) {
        TRY(step_binary(x, BINARY_SUB, v, zero, &v));
        TRY(step_binary(x, BINARY_MUL, v, scale, &v));
        return import_set(x, 0, v);
    }
    TRY(step_binary(x, BINARY_DIV, v, scale, &v));
    TRY(step_op(x, OP_UNARY, &(struct op_attr){ .fn = UNARY_ROUND }, &v, 1, &v));
    TRY(step_binary(x, BINARY_ADD, v, zero, &v));
    TRY(step_op(x, OP_UNARY, &(struct op_attr){ .fn = UNARY_CLIP, .alpha = s->low, .gamma = s->high }, &v, 1, &v));
    return import_set(x, 0, v);
}

/* arg_: 1 + the axis, where it is not that of the node. */
HANDLER(quantise)
{
    struct named *in = import_in(x, 0);
    struct scales s;
    unsigned axis;
    int64_t dim[ONNX_DIMS_MAX];
    TRY(read_scales(x, 1, NULL, &s));
    TRY(find_axis(x, arg_, import_dims(x, dim), &s, &axis));
    if (in->known)
        return quantise_known(x, in->known, &s, axis);
    if (!is_single(&s))
        return values_by_axis(x, &s, axis, false);
    const struct op_attr attr = { .fn = s.low ? UNARY_QUANTISE_I8 : UNARY_QUANTISE_U8, .alpha = (double)s.scale[0],
                                  .gamma = (double)zero_at(&s, 0) };
    TRY(import_each(x, OP_UNARY, &attr, in->value));
    return x->node->out[0].len ? keep_quant(x, import_name(x, x->node->out[0]), in, &s, true) : ERR_OK;
}

HANDLER(dequantise)
{
    struct named *in = import_in(x, 0);
    struct scales s;
    unsigned axis;
    int64_t dim[ONNX_DIMS_MAX];
    TRY(read_scales(x, 1, in, &s));
    uint32_t rank = import_dims(x, dim);
    TRY(find_axis(x, arg_, rank, &s, &axis));
    if (in->known) {
        if (!is_single(&s) && (size_t)dim[axis] != (s.count > s.zeros ? s.count : s.zeros))
            return FAIL(x->e, BAD_DATA, "%zu scales for %ld numbers of dimension %u", s.count, (long)dim[axis], axis);
        return dequantise_known(x, in->known, &s, axis);
    }
    if (!is_single(&s))
        return values_by_axis(x, &s, axis, true);
    const struct quant *q = in->quant;
    const struct op_attr attr = { .fn = UNARY_DEQUANTISE, .alpha = (double)s.scale[0], .gamma = (double)zero_at(&s, 0) };
    TRY(import_each(x, OP_UNARY, &attr, in->value));
    if (!x->node->out[0].len)
        return ERR_OK;
    struct named *out = import_name(x, x->node->out[0]);
    bool is_pair = q && q->is_whole && q->scale == (double)s.scale[0] && q->zero == (double)(zero_at(&s, 0) - s.low);
    return keep_quant(x, out, is_pair ? q->from : out, &s, false);
}

/* --- products --- */

enum errc q8_product_of(struct import *x, int v, const struct op_attr *attr, const struct weights8 *w, bool is_out_in,
                            const float *scale, size_t scales, int *ret)
{
    size_t n = (size_t)w->dim[is_out_in ? 0 : 1], k = (size_t)w->dim[is_out_in ? 1 : 0];
    int8_t *bytes = arena_try(x->a, n * k + 1);
    float *by = arena_try(x->a, (n + 1) * sizeof *by);
    if (!bytes || !by)
        return FAIL(x->e, LIMIT, "the model does not fit in memory");
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < k; j++)
            bytes[i * k + j] = w->w[is_out_in ? i * k + j : j * n + i];
    for (size_t i = 0; i < n; i++)
        by[i] = scale[scales == 1 ? 0 : i];
    int weights = graph_const(x->g, "", (struct shape){ ELEM_I8, 2, { DIM(n), DIM(k) } }, bytes);
    int factors = graph_const(x->g, "", (struct shape){ ELEM_F32, 1, { DIM(n) } }, by);
    return step_op(x, OP_QMATMUL, attr, (int[]){ v, weights, factors }, 3, ret);
}

bool q8_is_deep_as(const struct import *x, int value, int64_t k)
{
    const struct shape *s = import_shape_of(x, value);
    struct dim last = s->dim[s->rank - 1];
    return s->type == ELEM_F32 && !last.is_batched && last.n == (size_t)k && k <= Q8_DEPTH_MAX;
}

enum errc import_q8_product(struct import *x, bool is_out_in, int *ret, bool *done)
{
    const struct named *a = import_in(x, 0), *b = import_in(x, 1);
    const struct weights8 *w = b->weights;
    int v;
    *done = false;
    if (!a->quant || a->quant->is_whole || !w || w->rank != 2 || (w->scales > 1 && w->axis != (is_out_in ? 0 : 1)))
        return ERR_OK;
    TRY(import_value_of(x, a->quant->from, &v));
    if (!q8_is_deep_as(x, v, w->dim[is_out_in ? 1 : 0]))
        return ERR_OK;
    const struct op_attr attr = { .alpha = a->quant->scale, .gamma = a->quant->zero };
    *done = true;
    return q8_product_of(x, v, &attr, w, is_out_in, w->scale, w->scales, ret);
}
