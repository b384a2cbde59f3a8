/* SPDX-License-Identifier: Apache-2.0 */
/* import_constant.c - constants and types: operators whose numbers are known when the model is read. */
#include "workers/compute/onnx/import_int.h"

#include <string.h>

HANDLER(same)
{
    (void)arg_;
    struct named *in = import_in(x, 0), *out;
    int64_t *is_training;
    if (import_has(x, 2) && !import_in(x, 2)->known)
        return UNSUPPORTED(x, "whether it is in training is computed");
    if (import_has(x, 2)) {
        TRY(known_whole(x, import_in(x, 2)->known, &is_training));
        if (*is_training)
            return UNSUPPORTED(x, "it is in training: what it leaves out is drawn at random");
    }
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
        TRY(import_set(x, 0, in->value));
        import_pass_dynamic(x, in);
        return ERR_OK;
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
