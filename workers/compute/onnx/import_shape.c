/* SPDX-License-Identifier: Apache-2.0 */
/* import_shape.c - constants, shapes and types: operators that move no number. */
#include "workers/compute/onnx/import_int.h"

#include <string.h>

#define HANDLER(name) enum errc import_##name(struct import *x, unsigned arg_)

HANDLER(same)
{
    (void)arg_;
    struct named *in = import_in(x, 0), *out;
    TRY(in->known ? import_set_known(x, 0, in->known) : import_set(x, 0, in->value));
    if (x->node->out[0].len && (out = import_name(x, x->node->out[0]))->is_set)
        out->is_truth = in->is_truth;
    return ERR_OK;
}

HANDLER(constant)
{
    (void)arg_;
    static const char *const names[] = { "value", "value_float", "value_floats", "value_int", "value_ints" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct onnx_attr *t = onnx_attr_find(x->node, names[i]);
        struct known *k;
        if (!t)
            continue;
        if (i == 0 && t->t) {
            k = arena_try(x->a, sizeof *k);
            if (!k)
                return FAIL(x->e, LIMIT, "the model does not fit in memory");
            *k = (struct known){ .rank = t->t->rank, .count = t->t->count, .tensor = t->t };
            memcpy(k->dim, t->t->dim, sizeof k->dim);
            k->is_whole = t->t->type != ONNX_FLOAT && t->t->type != ONNX_DOUBLE && t->t->type != ONNX_FLOAT16
                          && t->t->type != ONNX_BFLOAT16;
            return import_set_known(x, 0, k);
        }
        bool is_list = i == 2 || i == 4;
        int64_t n = i == 2 ? (int64_t)t->float_count : (int64_t)t->int_count;
        TRY(known_new(x, i >= 3, is_list, &n, &k));
        for (size_t j = 0; j < k->count; j++) {
            if (k->is_whole)
                k->whole[j] = is_list ? t->ints[j] : t->i;
            else
                k->real[j] = (float)(is_list ? t->floats[j] : t->f);
        }
        return import_set_known(x, 0, k);
    }
    return UNSUPPORTED(x, "only constants of numbers are supported");
}

HANDLER(constant_of_shape)
{
    (void)arg_;
    int64_t *dim;
    size_t rank;
    struct known *k;
    TRY(import_whole(x, 0, &dim, &rank));
    if (rank > ONNX_DIMS_MAX)
        return UNSUPPORTED(x, "more than %d dimensions", ONNX_DIMS_MAX);
    const struct onnx_attr *t = onnx_attr_find(x->node, "value");
    bool is_whole = t && t->t && t->t->type != ONNX_FLOAT && t->t->type != ONNX_DOUBLE && t->t->type != ONNX_FLOAT16;
    float *real = NULL;
    int64_t *whole = NULL;
    if (t && t->t && t->t->count != 1)
        return FAIL(x->e, BAD_DATA, "its value is not one number");
    if (t && t->t)
        TRY(is_whole ? onnx_integers(x->a, t->t, &whole, x->e) : onnx_numbers(x->a, t->t, &real, x->e));
    TRY(known_new(x, is_whole, (uint32_t)rank, dim, &k));
    for (size_t i = 0; i < k->count; i++) {
        if (is_whole)
            k->whole[i] = whole[0];
        else
            k->real[i] = real ? real[0] : 0;
    }
    return import_set_known(x, 0, k);
}

uint32_t import_dims(struct import *x, int64_t dim[ONNX_DIMS_MAX])
{
    const struct named *n = import_in(x, 0);
    if (n->known) {
        memcpy(dim, n->known->dim, sizeof n->known->dim);
        return n->known->rank;
    }
    const struct shape *s = import_shape_of(x, n->value);
    for (unsigned d = 0; d < s->rank; d++)
        dim[d] = rows_of_dim(s->dim[d]);
    return s->rank;
}

HANDLER(shape)
{
    (void)arg_;
    int64_t dim[ONNX_DIMS_MAX], rank = import_dims(x, dim), from = import_attr(x, "start", 0), to = import_attr(x, "end", rank);
    struct known *k;
    from = from < 0 ? from + rank : from;
    to = to < 0 ? to + rank : to;
    from = from < 0 ? 0 : from > rank ? rank : from;
    to = to < from ? from : to > rank ? rank : to;
    int64_t n = to - from;
    TRY(known_new(x, true, 1, &n, &k));
    memcpy(k->whole, dim + from, (size_t)n * sizeof *dim);
    return import_set_known(x, 0, k);
}

HANDLER(size)
{
    (void)arg_;
    int64_t dim[ONNX_DIMS_MAX], n = 1;
    uint32_t rank = import_dims(x, dim);
    struct known *k;
    for (uint32_t d = 0; d < rank; d++) {
        if (is_rows(dim[d]) || is_rows(n))
            return UNSUPPORTED(x, "the number of rows is known only when the model is called");
        n *= dim[d];
    }
    TRY(known_new(x, true, 0, NULL, &k));
    k->whole[0] = n;
    return import_set_known(x, 0, k);
}

HANDLER(range)
{
    (void)arg_;
    int64_t *from, *to, *step, n = 0;
    size_t count[3];
    struct known *k;
    TRY(import_whole(x, 0, &from, &count[0]));
    TRY(import_whole(x, 1, &to, &count[1]));
    TRY(import_whole(x, 2, &step, &count[2]));
    if (count[0] != 1 || count[1] != 1 || count[2] != 1 || *step == 0 || is_rows(*from) || is_rows(*to))
        return UNSUPPORTED(x, "a range that is not known when the model is read");
    if ((*step > 0) == (*to > *from) && *to != *from)
        n = (int64_t)(((double)*to - (double)*from) / (double)*step + 0.999999999);
    TRY(known_new(x, true, 1, &n, &k));
    for (int64_t i = 0; i < n; i++)
        k->whole[i] = *from + i * *step;
    return import_set_known(x, 0, k);
}

HANDLER(cast)
{
    (void)arg_;
    struct named *in = import_in(x, 0);
    int64_t to = import_attr(x, "to", 0);
    bool is_real = to == ONNX_FLOAT || to == ONNX_DOUBLE || to == ONNX_FLOAT16 || to == ONNX_BFLOAT16;
    struct known *k;
    float *real;
    int64_t *whole;
    if (!in->known) {
        const struct shape *s = import_shape_of(x, in->value);
        bool from_real = s->type == ELEM_F32;
        if (from_real && to == ONNX_BOOL && !in->is_truth) {
            int zero, y;
            TRY(step_fill(x, 1, 0, &zero));
            TRY(step_binary(x, BINARY_EQUAL, in->value, zero, &y));
            TRY(step_op(x, OP_UNARY, &(struct op_attr){ .fn = UNARY_NOT }, &y, 1, &y));
            return import_set(x, 0, y);
        }
        if (from_real != (is_real || to == ONNX_BOOL))
            return UNSUPPORTED(x, "from %s to %s", from_real ? "a floating-point type" : "whole numbers",
                               onnx_type_name(to >= 0 && to < ONNX_TYPES ? (enum onnx_type)to : ONNX_NONE));
        return import_set(x, 0, in->value);
    }
    if (in->known->is_whole != is_real && to != ONNX_BOOL)
        return import_set_known(x, 0, in->known);
    TRY(known_new(x, !is_real, in->known->rank, in->known->dim, &k));
    if (is_real) {
        TRY(known_real(x, in->known, &real));
        memcpy(k->real, real, k->count * sizeof *real);
        return import_set_known(x, 0, k);
    }
    if (in->known->is_whole)
        TRY(known_whole(x, in->known, &whole));
    else
        TRY(known_real(x, in->known, &real));
    for (size_t i = 0; i < k->count; i++) {
        if (!in->known->is_whole && !(real[i] > -9e18f && real[i] < 9e18f))
            return FAIL(x->e, BAD_DATA, "a number that is no whole one is cast to one");
        k->whole[i] = in->known->is_whole ? whole[i] : (int64_t)real[i];
        if (to == ONNX_BOOL)
            k->whole[i] = in->known->is_whole ? whole[i] != 0 : real[i] != 0;
    }
    return import_set_known(x, 0, k);
}

/* A target shape: 0 takes the dimension of x, -1 is what remains. Rows are those of the batch. */
static enum errc settle_shape(struct import *x, const int64_t *from, uint32_t from_rank, const int64_t *want, size_t rank,
                              bool zero_copies,
                              int64_t dim[ONNX_DIMS_MAX])
{
    int64_t all = 1, known = 1;
    bool all_rows = false, known_rows = false;
    int open = -1;
    if (rank > ONNX_DIMS_MAX)
        return UNSUPPORTED(x, "more than %d dimensions", ONNX_DIMS_MAX);
    for (uint32_t d = 0; d < from_rank; d++) {
        all_rows = all_rows || is_rows(from[d]);
        all *= is_rows(from[d]) ? from[d] - ROWS_BASE : from[d];
    }
    for (size_t d = 0; d < rank; d++) {
        dim[d] = want[d] == 0 && zero_copies && d < from_rank ? from[d] : want[d];
        if (dim[d] == -1 && open < 0) {
            open = (int)d;
            continue;
        }
        int64_t n = is_rows(dim[d]) ? dim[d] - ROWS_BASE : dim[d];
        known_rows = known_rows || is_rows(dim[d]);
        if (n < 0 || (known_rows && !all_rows) || __builtin_mul_overflow(known, n, &known))
            return FAIL(x->e, BAD_DATA, "dimension %zu of the new shape is %ld", d, (long)want[d]);
    }
    if (open >= 0 && (known <= 0 || all % known))
        return FAIL(x->e, BAD_DATA, "what is left does not fill dimension %d of the new shape", open);
    if (open >= 0)
        dim[open] = all / known + (all_rows && !known_rows ? ROWS_BASE : 0);
    return ERR_OK;
}

static enum errc reshape_to(struct import *x, const int64_t *want, size_t rank, bool zero_copies)
{
    struct named *in = import_in(x, 0);
    int64_t from[ONNX_DIMS_MAX], dim[ONNX_DIMS_MAX];
    uint32_t from_rank = import_dims(x, from);
    struct known *k;
    int y;
    TRY(settle_shape(x, from, from_rank, want, rank, zero_copies, dim));
    if (in->known) {
        TRY(known_reshape(x, in->known, (uint32_t)rank, dim, &k));
        return import_set_known(x, 0, k);
    }
    TRY(step_reshape(x, in->value, (uint32_t)rank, dim, &y));
    return import_set(x, 0, y);
}

HANDLER(reshape)
{
    (void)arg_;
    int64_t *want;
    size_t rank;
    const struct onnx_attr *t = onnx_attr_find(x->node, "shape");
    if (import_has(x, 1))
        TRY(import_whole(x, 1, &want, &rank));
    else if (t)
        want = t->ints, rank = t->int_count;
    else
        return FAIL(x->e, BAD_DATA, "it has no shape");
    return reshape_to(x, want, rank, !import_attr(x, "allowzero", 0));
}

HANDLER(flatten)
{
    (void)arg_;
    int64_t from[ONNX_DIMS_MAX], want[2] = { 1, -1 };
    uint32_t rank = import_dims(x, from);
    int64_t axis = import_attr(x, "axis", 1);
    axis = axis < 0 ? axis + rank : axis;
    if (axis < 0 || axis > rank)
        return FAIL(x->e, BAD_DATA, "axis %ld of %u dimensions", (long)axis, rank);
    bool rows = false;
    for (uint32_t d = 0; d < (uint32_t)axis; d++) {
        rows = rows || is_rows(from[d]);
        want[0] *= is_rows(from[d]) ? from[d] - ROWS_BASE : from[d];
    }
    want[0] += rows ? ROWS_BASE : 0;
    return reshape_to(x, want, 2, false);
}

/* The axes of an attribute or of an input, as bits. */
enum errc import_axes(struct import *x, size_t input, uint32_t rank, unsigned *ret, bool *ret_given)
{
    const struct onnx_attr *t = onnx_attr_find(x->node, "axes");
    int64_t *list = t ? t->ints : NULL;
    size_t n = t ? t->int_count : 0;
    *ret = 0;
    if (import_has(x, input))
        TRY(import_whole(x, input, &list, &n));
    *ret_given = n > 0;
    for (size_t i = 0; i < n; i++) {
        unsigned axis;
        TRY(import_axis(x, list[i], rank, &axis));
        *ret |= 1u << axis;
    }
    return ERR_OK;
}

HANDLER(squeeze)
{
    (void)arg_;
    int64_t from[ONNX_DIMS_MAX], want[ONNX_DIMS_MAX];
    uint32_t rank = import_dims(x, from);
    unsigned axes;
    size_t n = 0;
    bool given;
    TRY(import_axes(x, 1, rank, &axes, &given));
    for (uint32_t d = 0; d < rank; d++) {
        if (given ? axes >> d & 1 : from[d] == 1) {
            if (from[d] != 1)
                return FAIL(x->e, BAD_DATA, "dimension %u is not 1", d);
            continue;
        }
        want[n++] = from[d];
    }
    return reshape_to(x, want, n, false);
}

HANDLER(unsqueeze)
{
    (void)arg_;
    const struct onnx_attr *t = onnx_attr_find(x->node, "axes");
    int64_t from[ONNX_DIMS_MAX], want[ONNX_DIMS_MAX], *list = t ? t->ints : NULL;
    uint32_t rank = import_dims(x, from), at = 0;
    size_t n = t ? t->int_count : 0;
    unsigned axes = 0;
    if (import_has(x, 1))
        TRY(import_whole(x, 1, &list, &n));
    if (rank + n > ONNX_DIMS_MAX)
        return UNSUPPORTED(x, "more than %d dimensions", ONNX_DIMS_MAX);
    for (size_t i = 0; i < n; i++) {
        unsigned axis;
        TRY(import_axis(x, list[i], rank + (unsigned)n, &axis));
        axes |= 1u << axis;
    }
    for (uint32_t d = 0; d < rank + n; d++) {
        if (!(axes >> d & 1) && at == rank)
            return FAIL(x->e, BAD_DATA, "an axis is given twice");
        want[d] = axes >> d & 1 ? 1 : from[at++];
    }
    return reshape_to(x, want, rank + n, false);
}
