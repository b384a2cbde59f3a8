/* SPDX-License-Identifier: Apache-2.0 */
/* import_linear.c - linear models of ai.onnx.ml and what stands around them in a file of scikit-learn's: scaling, norms of rows,
 * the map of classes at the end. And how a single score becomes two classes, for trees, too.
 *
 * The specification says little of two classes by one score; this is what ONNX Runtime 1.30 gives, compared case by case.
 * Source: onnx/defs/traditionalml. */
#include "workers/compute/onnx/import_int.h"

#include <float.h>
#include <string.h>

enum { OUTPUTS_MAX = 4096 };

static bool word_is(const struct import *x, const char *attr, const char *word, const char *dflt)
{
    const struct onnx_attr *t = onnx_attr_find(x->node, attr);
    return t && t->has_s ? str_eq_c(t->s, word) : !strcmp(word, dflt);
}

enum errc import_post(struct import *x, int v, int *ret)
{
    const struct onnx_attr *t = onnx_attr_find(x->node, "post_transform");
    *ret = v;
    if (!t || !t->has_s || str_eq_c(t->s, "NONE"))
        return ERR_OK;
    if (str_eq_c(t->s, "SOFTMAX"))
        return step_op(x, OP_SOFTMAX, &(struct op_attr){ 0 }, &v, 1, ret);
    if (str_eq_c(t->s, "LOGISTIC"))
        return step_op(x, OP_UNARY, &(struct op_attr){ .fn = UNARY_SIGMOID }, &v, 1, ret);
    return UNSUPPORTED(x, "post_transform %.*s; NONE, LOGISTIC and SOFTMAX are", (int)(t->s.len < 20 ? t->s.len : 20), t->s.ptr);
}

/* [from - v, v] as columns. */
static enum errc two_columns(struct import *x, int v, float from, int *ret)
{
    int both[2] = { VALUE_NONE, v };
    TRY(step_fill(x, 1, from, &both[0]));
    TRY(step_binary(x, BINARY_SUB, both[0], v, &both[0]));
    return step_op(x, OP_CONCAT, &(struct op_attr){ .axes = 1 }, both, 2, ret);
}

/* The second class is the one of scores above `least`: its column behind that of the first, and the label. */
enum errc import_two_classes(struct import *x, int score, float least, bool is_share)
{
    int above, label, v, limit;
    TRY(step_fill(x, 1, least, &limit));
    TRY(step_binary(x, BINARY_SUB, score, limit, &above));
    TRY(two_columns(x, above, 0, &v));
    TRY(step_op(x, OP_ARGMAX, &(struct op_attr){ 0 }, &v, 1, &label));
    TRY(import_set(x, 0, label));
    if (word_is(x, "post_transform", "LOGISTIC", "NONE"))
        TRY(import_post(x, score, &score));
    else if (!word_is(x, "post_transform", "SOFTMAX", "NONE") && !word_is(x, "post_transform", "NONE", "NONE"))
        return import_post(x, score, &v);           /* refuses it by name */
    else if (!is_share) {
        TRY(two_columns(x, score, 0, &v));
        return import_set(x, 1, v);
    }
    TRY(two_columns(x, score, 1, &v));
    return import_set(x, 1, v);
}

enum errc import_class_count(struct import *x, const char *attr, int64_t *ret)
{
    const struct onnx_attr *labels = onnx_attr_find(x->node, attr);
    *ret = labels ? (int64_t)labels->int_count : 0;
    for (int64_t i = 0; i < *ret; i++)
        if (labels->ints[i] != i)
            return UNSUPPORTED(x, "classes with other labels than 0, 1, 2 …");
    if (*ret < 2)
        return UNSUPPORTED(x, "%ld classes by number; 2 and more are", (long)*ret);
    return *ret <= OUTPUTS_MAX ? ERR_OK : FAIL(x->e, LIMIT, "%ld outputs; 1 to %d can be", (long)*ret, OUTPUTS_MAX);
}

/* Numbers of an attribute as a constant vector: n of them, one that counts for all, or none and `dflt`. */
static enum errc vector_of(struct import *x, const char *name, size_t n, float dflt, int *ret)
{
    const struct onnx_attr *t = onnx_attr_find(x->node, name);
    size_t has = t ? t->float_count : 0;
    float *p = arena_try(x->a, (n + 1) * sizeof *p);
    if (!p)
        return FAIL(x->e, LIMIT, "the model does not fit in memory");
    if (has > 1 && has != n)
        return FAIL(x->e, BAD_DATA, "%s has %zu numbers for %zu columns", name, has, n);
    for (size_t i = 0; i < n; i++)
        p[i] = has ? (float)t->floats[has == 1 ? 0 : i] : dflt;
    *ret = graph_const(x->g, "", (struct shape){ ELEM_F32, 1, { DIM(n) } }, p);
    return graph_check(x->g, x->e);
}

/* Input 0 as rows of known width. */
static enum errc rows_of(struct import *x, int *ret, size_t *ret_width)
{
    TRY(import_value(x, 0, ret));
    const struct shape *s = import_shape_of(x, *ret);
    if (s->type != ELEM_F32 || s->rank != 2 || s->dim[1].is_batched)
        return UNSUPPORTED(x, "other than rows of FP32 numbers, as [N, columns]");
    *ret_width = s->dim[1].n;
    return ERR_OK;
}

/* x · coefficientsᵀ + intercepts, n columns. */
static enum errc product(struct import *x, size_t n, int *ret)
{
    const struct onnx_attr *c = onnx_attr_find(x->node, "coefficients"), *b = onnx_attr_find(x->node, "intercepts");
    size_t width;
    int v, bias;
    TRY(rows_of(x, &v, &width));
    if (!c || c->float_count != n * width)
        return FAIL(x->e, BAD_DATA, "coefficients has %zu numbers for %zu outputs of %zu columns", c ? c->float_count : 0, n,
                    width);
    if (b && b->float_count && b->float_count != n)
        return FAIL(x->e, BAD_DATA, "intercepts has %zu numbers for %zu outputs", b->float_count, n);
    float *w = arena_try(x->a, (n * width + 1) * sizeof *w);
    if (!w)
        return FAIL(x->e, LIMIT, "the model does not fit in memory");
    for (size_t i = 0; i < n * width; i++)
        w[i] = (float)c->floats[i];
    int weights = graph_const(x->g, "", (struct shape){ ELEM_F32, 2, { DIM(n), DIM(width) } }, w);
    TRY(step_op(x, OP_MATMUL, &(struct op_attr){ .flags = MM_TRANS_B }, (int[]){ v, weights }, 2, &v));
    TRY(vector_of(x, "intercepts", n, 0, &bias));
    return step_op(x, OP_ADD_BIAS, &(struct op_attr){ 0 }, (int[]){ v, bias }, 2, ret);
}

HANDLER(linear_regressor)
{
    (void)arg_;
    int64_t n = import_attr(x, "targets", 1);
    int v;
    if (n < 1 || n > OUTPUTS_MAX)
        return FAIL(x->e, LIMIT, "%ld outputs; 1 to %d can be", (long)n, OUTPUTS_MAX);
    TRY(product(x, (size_t)n, &v));
    TRY(import_post(x, v, &v));
    return import_set(x, 0, v);
}

HANDLER(linear_classifier)
{
    (void)arg_;
    const struct onnx_attr *b = onnx_attr_find(x->node, "intercepts");
    int64_t n;
    int v, label;
    TRY(import_class_count(x, "classlabels_ints", &n));
    if (n == 2 && b && b->float_count == 1) {
        TRY(product(x, 1, &v));
        return import_two_classes(x, v, 0, true);
    }
    TRY(product(x, (size_t)n, &v));
    TRY(step_op(x, OP_ARGMAX, &(struct op_attr){ 0 }, &v, 1, &label));
    TRY(import_set(x, 0, label));
    TRY(import_post(x, v, &v));
    return import_set(x, 1, v);
}

HANDLER(scaler)
{
    (void)arg_;
    size_t n;
    int v, offset, scale;
    TRY(rows_of(x, &v, &n));
    TRY(vector_of(x, "offset", n, 0, &offset));
    TRY(vector_of(x, "scale", n, 1, &scale));
    TRY(step_binary(x, BINARY_SUB, v, offset, &v));
    TRY(step_binary(x, BINARY_MUL, v, scale, &v));
    return import_set(x, 0, v);
}

/* A row of zeros stays one. */
HANDLER(normalizer)
{
    (void)arg_;
    struct op_attr sum = { .fn = REDUCE_SUM, .axes = 2 };
    bool is_square = word_is(x, "norm", "L2", "MAX");
    size_t n;
    int v, norm, tiny;
    if (!is_square && !word_is(x, "norm", "L1", "MAX"))
        return UNSUPPORTED(x, "a norm other than L1 and L2");
    TRY(rows_of(x, &v, &n));
    if (is_square)
        TRY(step_binary(x, BINARY_MUL, v, v, &norm));
    else
        TRY(step_op(x, OP_UNARY, &(struct op_attr){ .fn = UNARY_ABS }, &v, 1, &norm));
    TRY(step_op(x, OP_REDUCE, &sum, &norm, 1, &norm));
    if (is_square)
        TRY(step_op(x, OP_UNARY, &(struct op_attr){ .fn = UNARY_SQRT }, &norm, 1, &norm));
    TRY(step_fill(x, 1, FLT_MIN, &tiny));
    TRY(step_binary(x, BINARY_MAX, norm, tiny, &norm));
    TRY(step_binary(x, BINARY_DIV, v, norm, &v));
    return import_set(x, 0, v);
}

/* A map from class to number for each row is the numbers by class. */
HANDLER(zip_map)
{
    (void)arg_;
    int64_t n;
    size_t width;
    int v;
    TRY(import_class_count(x, "classlabels_int64s", &n));
    TRY(rows_of(x, &v, &width));
    if ((size_t)n != width)
        return FAIL(x->e, BAD_DATA, "%ld classes for %zu columns", (long)n, width);
    return import_set(x, 0, v);
}
