/* SPDX-License-Identifier: Apache-2.0 */
/* import_q8.c - whole numbers of eight bits, in all forms that ONNX has for them: pairs of QuantizeLinear and DequantizeLinear
 * around an operator, QLinearConv and QLinearMatMul, MatMulInteger and ConvInteger with DynamicQuantizeLinear before them.
 *
 * The pair is the form inside, too: a QLinear operator is read as its operands dequantised, the operator, its result quantised.
 * Every value is computed in f32 that holds whole numbers, which needs no kernel of its own; and a value remembers what it was
 * quantised from (struct quant). A product or convolution of such a value by dequantised constants becomes QMATMUL or QCONV2D
 * over what stood before the quantising: those quantise themselves, and the pair in between is written by nobody.
 * A product of what DynamicQuantizeLinear made waits for the multiplication by both scales, and then is QMATMUL with a range for
 * each row of the matrix, where the file has one for all of it: finer, and a row does not depend on the others of its batch. */
#include "workers/compute/onnx/import_int.h"

#include <float.h>
#include <math.h>
#include <string.h>

struct scales {
    float *scale;
    int64_t *zero;              /* NULL: 0 */
    size_t count, zeros;
    int low, high;              /* of the type of the whole numbers */
};

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
static enum errc keep_weights(struct import *x, struct named *to, const struct known *k, const int64_t *whole,
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
    return keep_weights(x, import_name(x, x->node->out[0]), k, whole, s, axis);
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

static enum errc product_of(struct import *x, int v, const struct op_attr *attr, const struct weights8 *w, bool is_out_in,
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

static bool is_deep_as(const struct import *x, int value, int64_t k)
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
    if (!is_deep_as(x, v, w->dim[is_out_in ? 1 : 0]))
        return ERR_OK;
    const struct op_attr attr = { .alpha = a->quant->scale, .gamma = a->quant->zero };
    *done = true;
    return product_of(x, v, &attr, w, is_out_in, w->scale, w->scales, ret);
}

/* --- operators read as others --- */

/* A handler as if the node had these inputs and this output; its attributes stay. */
static enum errc as(struct import *x, import_fn run, unsigned arg, struct str *in, size_t n, struct str *out)
{
    const struct onnx_node *here = x->node;
    struct onnx_node node = *here;
    node.in = in;
    node.in_count = n;
    node.out = out;
    node.out_count = 1;
    x->node = &node;
    enum errc rc = run(x, arg);
    x->node = here;
    return rc;
}

/* A name that no file has: of part i of this node. */
static struct str part(struct import *x, size_t i)
{
    return str_fmt(x->a, "\x01%zu.%zu", (size_t)(x->node - x->file->nodes), i);
}

static struct str input(const struct import *x, size_t i)
{
    return import_has(x, i) ? x->node->in[i] : STR("");
}

HANDLER(qlinear_matmul)
{
    (void)arg_;
    struct str t[3] = { part(x, 0), part(x, 1), part(x, 2) };
    int64_t columns = import_in(x, 3)->known ? (int64_t)import_in(x, 3)->known->rank : 2;
    TRY(as(x, import_dequantise, 0, (struct str[]){ input(x, 0), input(x, 1), input(x, 2) }, 3, &t[0]));
    TRY(as(x, import_dequantise, (unsigned)columns, (struct str[]){ input(x, 3), input(x, 4), input(x, 5) }, 3, &t[1]));
    TRY(as(x, import_matmul, 0, t, 2, &t[2]));
    return as(x, import_quantise, 0, (struct str[]){ t[2], input(x, 6), input(x, 7) }, 3, &x->node->out[0]);
}

/* Whole numbers that count scale of input times scale of weights. */
static enum errc bias_of(struct import *x, struct str name)
{
    struct known *b = import_in(x, 8)->known, *xs = import_in(x, 1)->known, *ws = import_in(x, 4)->known, *to;
    float *left, *right;
    int64_t *whole;
    if (!b || !xs || !ws || xs->count != 1 || b->rank != 1 || (ws->count != 1 && ws->count != b->count))
        return UNSUPPORTED(x, "a bias or a scale that is computed, or has other counts than channels");
    TRY(known_real(x, xs, &left));
    TRY(known_real(x, ws, &right));
    TRY(known_whole(x, b, &whole));
    TRY(known_new(x, false, 1, b->dim, &to));
    for (size_t i = 0; i < b->count; i++)
        to->real[i] = (float)((double)whole[i] * (double)left[0] * (double)right[ws->count == 1 ? 0 : i]);
    struct named *n = import_name(x, name);
    n->is_set = true;
    n->known = to;
    return ERR_OK;
}

HANDLER(qlinear_conv)
{
    (void)arg_;
    struct str t[4] = { part(x, 0), part(x, 1), part(x, 2), part(x, 3) };
    TRY(as(x, import_dequantise, 0, (struct str[]){ input(x, 0), input(x, 1), input(x, 2) }, 3, &t[0]));
    TRY(as(x, import_dequantise, 1, (struct str[]){ input(x, 3), input(x, 4), input(x, 5) }, 3, &t[1]));
    if (import_has(x, 8))
        TRY(bias_of(x, t[2]));
    TRY(as(x, import_conv, 0, t, import_has(x, 8) ? 3 : 2, &t[3]));
    return as(x, import_quantise, 0, (struct str[]){ t[3], input(x, 6), input(x, 7) }, 3, &x->node->out[0]);
}

/* Input i less its zero point, input z, in f32: exact. */
static enum errc less_zero(struct import *x, size_t i, size_t z, unsigned axis, struct str *out)
{
    struct known *one;
    int v, zero;
    struct str scale = part(x, 8);
    struct named *n = import_name(x, scale);
    if (!import_has(x, z)) {
        *out = input(x, i);
        return ERR_OK;
    }
    if (import_in(x, z)->known) {
        TRY(known_new(x, false, 0, NULL, &one));
        one->real[0] = 1;
        n->is_set = true;
        n->known = one;
        return as(x, import_dequantise, axis, (struct str[]){ input(x, i), scale, input(x, z) }, 3, out);
    }
    TRY(import_value(x, i, &v));
    TRY(import_value(x, z, &zero));
    TRY(step_binary(x, BINARY_SUB, v, zero, &v));
    n = import_name(x, *out);
    n->is_set = true;
    n->value = v;
    return ERR_OK;
}

/* --- dynamic scales --- */

static enum errc keep_dynamic(struct import *x, size_t out, struct dynamic d)
{
    struct dynamic *to = arena_try(x->a, sizeof *to);
    if (!to)
        return FAIL(x->e, LIMIT, "the model does not fit in memory");
    *to = d;
    if (out < x->node->out_count && x->node->out[out].len)
        import_name(x, x->node->out[out])->dynamic = to;
    return ERR_OK;
}

/* The zero point of what DynamicQuantizeLinear made, and constants that lie around theirs: waits for its scales. */
static enum errc wait_for_scales(struct import *x)
{
    static float one = 1;
    const struct dynamic *a = import_in(x, 0)->dynamic, *z = import_has(x, 2) ? import_in(x, 2)->dynamic : NULL;
    struct known *b = import_in(x, 1)->known;
    struct scales s = { .scale = &one, .count = 1, .zeros = 1 };
    struct named room = { 0 };
    int64_t *whole;
    if (!a || a->what != DYNAMIC_WHOLE || !z || z->what != DYNAMIC_ZERO || z->from != a->from || !b || b->rank != 2
        || !b->is_whole || (import_has(x, 3) && !import_in(x, 3)->known))
        return ERR_OK;
    if (import_has(x, 3)) {
        TRY(known_whole(x, import_in(x, 3)->known, &s.zero));
        s.zeros = import_in(x, 3)->known->count;
    }
    if (s.zeros != 1 && s.zeros != (size_t)b->dim[1])
        return ERR_OK;
    TRY(known_whole(x, b, &whole));
    TRY(keep_weights(x, &room, b, whole, &s, 1));
    return room.weights ? keep_dynamic(x, 0, (struct dynamic){ DYNAMIC_PRODUCT, a->from, room.weights, NULL, 0 }) : ERR_OK;
}

HANDLER(matmul_integer)
{
    (void)arg_;
    struct str t[2] = { part(x, 0), part(x, 1) };
    int64_t columns = import_in(x, 1)->known ? (int64_t)import_in(x, 1)->known->rank : 2;
    TRY(less_zero(x, 0, 2, 1, &t[0]));
    TRY(less_zero(x, 1, 3, (unsigned)columns, &t[1]));
    TRY(as(x, import_matmul, 0, t, 2, &x->node->out[0]));
    return wait_for_scales(x);
}

HANDLER(conv_integer)
{
    (void)arg_;
    struct str t[2] = { part(x, 0), part(x, 1) };
    TRY(less_zero(x, 0, 2, 0, &t[0]));
    TRY(less_zero(x, 1, 3, 1, &t[1]));
    return as(x, import_conv, 0, t, 2, &x->node->out[0]);
}

/* v / scale + zero, rounded and cut to 0 … 255. */
static enum errc byte_values(struct import *x, int v, int scale, int zero, int *ret)
{
    const struct op_attr cut = { .fn = UNARY_CLIP, .gamma = 255 };
    TRY(step_binary(x, BINARY_DIV, v, scale, &v));
    TRY(step_op(x, OP_UNARY, &(struct op_attr){ .fn = UNARY_ROUND }, &v, 1, &v));
    if (zero != VALUE_NONE)
        TRY(step_binary(x, BINARY_ADD, v, zero, &v));
    return step_op(x, OP_UNARY, &cut, &v, 1, ret);
}

HANDLER(dynamic_quantise)
{
    (void)arg_;
    struct named *in = import_in(x, 0);
    int v, low, high, scale, zero, y, nought, tiny, all;
    struct op_attr attr = { .fn = REDUCE_MIN };
    TRY(import_value(x, 0, &v));
    struct shape s = *import_shape_of(x, v);
    bool has_rows = s.dim[0].is_batched;
    for (unsigned d = has_rows ? 1 : 0; d < s.rank; d++)
        attr.axes |= (size_t)1 << d;
    if (!attr.axes)
        return UNSUPPORTED(x, "single numbers of a batch");
    TRY(step_fill(x, 1, 0, &nought));
    TRY(step_fill(x, 1, FLT_MIN, &tiny));
    TRY(step_fill(x, 1, 255, &all));
    TRY(step_op(x, OP_REDUCE, &attr, &v, 1, &low));
    attr.fn = REDUCE_MAX;
    TRY(step_op(x, OP_REDUCE, &attr, &v, 1, &high));
    TRY(step_binary(x, BINARY_MIN, low, nought, &low));
    TRY(step_binary(x, BINARY_MAX, high, nought, &high));
    TRY(step_binary(x, BINARY_SUB, high, low, &scale));
    TRY(step_binary(x, BINARY_DIV, scale, all, &scale));
    TRY(step_binary(x, BINARY_MAX, scale, tiny, &scale));
    TRY(step_op(x, OP_UNARY, &(struct op_attr){ .fn = UNARY_NEG }, &low, 1, &low));
    TRY(byte_values(x, low, scale, VALUE_NONE, &zero));
    TRY(byte_values(x, v, scale, zero, &y));
    TRY(import_set(x, 0, y));
    if (!has_rows)
        TRY(step_reshape(x, scale, 0, NULL, &scale));
    if (!has_rows)
        TRY(step_reshape(x, zero, 0, NULL, &zero));
    TRY(import_set(x, 1, scale));
    TRY(import_set(x, 2, zero));
    TRY(keep_dynamic(x, 0, (struct dynamic){ DYNAMIC_WHOLE, in, NULL, NULL, 0 }));
    TRY(keep_dynamic(x, 1, (struct dynamic){ DYNAMIC_SCALE, in, NULL, NULL, 0 }));
    return keep_dynamic(x, 2, (struct dynamic){ DYNAMIC_ZERO, in, NULL, NULL, 0 });
}

void import_pass_dynamic(struct import *x, const struct named *in)
{
    if (in->dynamic && in->dynamic->what == DYNAMIC_PRODUCT && x->node->out[0].len)
        import_name(x, x->node->out[0])->dynamic = in->dynamic;
}

enum errc import_dynamic_mul(struct import *x, bool *done)
{
    const struct named *p = import_in(x, 0), *q = import_in(x, 1);
    if (q->dynamic && (!p->dynamic || q->dynamic->what == DYNAMIC_PRODUCT)) {
        const struct named *other = p;
        p = q;
        q = other;
    }
    const struct dynamic *d = p->dynamic, *s = q->dynamic;
    static const float one = 1;
    float *factor;
    int v, y;
    *done = false;
    if (!d)
        return ERR_OK;
    if (d->what == DYNAMIC_SCALE && q->known && !d->factor) {       /* both scales: multiplied as ever, and remembered */
        TRY(known_real(x, q->known, &factor));
        TRY(import_value(x, 0, &v));
        TRY(import_value(x, 1, &y));
        TRY(step_binary(x, BINARY_MUL, v, y, &y));
        TRY(import_set(x, 0, y));
        *done = true;
        return keep_dynamic(x, 0, (struct dynamic){ DYNAMIC_SCALE, d->from, NULL, factor, q->known->count });
    }
    if (d->what != DYNAMIC_PRODUCT || !s || s->what != DYNAMIC_SCALE || s->from != d->from
        || (s->factors > 1 && s->factors != (size_t)d->w->dim[1]))
        return ERR_OK;
    TRY(import_value_of(x, d->from, &v));
    if (!is_deep_as(x, v, d->w->dim[0]))
        return ERR_OK;
    TRY(product_of(x, v, &(struct op_attr){ 0 }, d->w, false, s->factor ? s->factor : &one, s->factor ? s->factors : 1, &y));
    *done = true;
    return import_set(x, 0, y);
}
