/* SPDX-License-Identifier: Apache-2.0 */
/* import_known.c - numbers that are known when the model is read: tensors of the file, and shapes computed from shapes. */
#include "workers/compute/onnx/import_int.h"

#include <string.h>

static enum errc no_memory(struct import *x, size_t count)
{
    return FAIL(x->e, LIMIT, "%zu numbers do not fit in memory", count);
}

enum errc known_new(struct import *x, bool is_whole, uint32_t rank, const int64_t *dim, struct known **ret)
{
    struct known *k = arena_try(x->a, sizeof *k);
    if (!k)
        return no_memory(x, 1);
    *k = (struct known){ .is_whole = is_whole, .rank = rank, .count = 1 };
    for (uint32_t d = 0; d < rank; d++) {
        if (dim[d] < 0 || __builtin_mul_overflow(k->count, (size_t)dim[d], &k->count) || k->count > KNOWN_COUNT_MAX)
            return FAIL(x->e, LIMIT, "a constant with %ld in dimension %u is too large", (long)dim[d], d);
        k->dim[d] = dim[d];
    }
    if (is_whole)
        k->whole = arena_try(x->a, (k->count + 1) * sizeof *k->whole);
    else
        k->real = arena_try(x->a, (k->count + 1) * sizeof *k->real);
    if (!k->whole && !k->real)
        return no_memory(x, k->count);
    *ret = k;
    return ERR_OK;
}

enum errc known_whole(struct import *x, struct known *k, int64_t **ret)
{
    if (!k->is_whole)
        return FAIL(x->e, BAD_DATA, "there are floating-point numbers where whole ones are due");
    if (!k->whole)
        TRY(onnx_integers(x->a, k->tensor, &k->whole, x->e));
    *ret = k->whole;
    return ERR_OK;
}

enum errc known_real(struct import *x, struct known *k, float **ret)
{
    if (!k->real && k->is_whole) {
        int64_t *whole;
        TRY(known_whole(x, k, &whole));
        float *real = arena_try(x->a, (k->count + 1) * sizeof *real);
        if (!real)
            return no_memory(x, k->count);
        for (size_t i = 0; i < k->count; i++) {
            if (is_rows(whole[i]))
                return UNSUPPORTED(x, "the number of rows is used as a number; it is known only when the model is called");
            real[i] = (float)whole[i];
        }
        k->real = real;
    }
    if (!k->real)
        TRY(onnx_numbers(x->a, k->tensor, &k->real, x->e));
    *ret = k->real;
    return ERR_OK;
}

enum errc known_value(struct import *x, struct known *k, int *ret)
{
    struct shape s = { .type = ELEM_F32, .rank = k->rank ? k->rank : 1, .dim = { DIM(1) } };
    float *real;
    for (uint32_t d = 0; d < k->rank; d++)
        s.dim[d] = DIM((size_t)k->dim[d]);
    if (!k->count)
        return UNSUPPORTED(x, "a tensor without numbers is used as one");
    TRY(known_real(x, k, &real));
    *ret = graph_const(x->g, "", s, real);
    return graph_check(x->g, x->e);
}

enum errc import_whole(struct import *x, size_t i, int64_t **ret, size_t *ret_n)
{
    struct named *n = import_in(x, i);
    if (!n->known)
        return UNSUPPORTED(x, "\"%.*s\" must be known when the model is read, not computed from its inputs", STR_ARG(n->name));
    *ret_n = n->known->count;
    return known_whole(x, n->known, ret);
}

static bool whole_op(unsigned fn, int64_t p, int64_t q, int64_t *ret)
{
    bool rows = is_rows(p) || is_rows(q);
    if (rows && fn == BINARY_EQUAL)
        *ret = p == q;
    else if (rows && fn == BINARY_MUL && !(is_rows(p) && is_rows(q)))
        return !__builtin_mul_overflow(is_rows(p) ? p - ROWS_BASE : p, is_rows(q) ? q - ROWS_BASE : q, ret) && *ret > 0
               && !__builtin_add_overflow(*ret, ROWS_BASE, ret) && is_rows(*ret);
    else if (rows && fn == BINARY_DIV && !is_rows(q) && q > 0 && (p - ROWS_BASE) % q == 0)
        *ret = ROWS_BASE + (p - ROWS_BASE) / q;
    else if (rows)
        return false;
    else if (fn == BINARY_ADD)
        return !__builtin_add_overflow(p, q, ret);
    else if (fn == BINARY_SUB)
        return !__builtin_sub_overflow(p, q, ret);
    else if (fn == BINARY_MUL)
        return !__builtin_mul_overflow(p, q, ret);
    else if (fn == BINARY_DIV)
        return q != 0 && !(p == INT64_MIN && q == -1) && ((*ret = p / q), true);
    else if (fn == BINARY_MAX)
        *ret = p > q ? p : q;
    else if (fn == BINARY_MIN)
        *ret = p < q ? p : q;
    else if (fn == BINARY_EQUAL)
        *ret = p == q;
    else
        return false;
    return true;
}

/* Whole numbers of the same count, or one of them alone: all that shapes need. */
enum errc known_binary(struct import *x, unsigned fn, struct known *p, struct known *q, struct known **ret, bool *done)
{
    const struct known *larger = p->count >= q->count ? p : q;
    int64_t *pw, *qw;
    *done = p->is_whole && q->is_whole && (p->count == q->count || p->count == 1 || q->count == 1);
    if (!*done)
        return ERR_OK;
    TRY(known_whole(x, p, &pw));
    TRY(known_whole(x, q, &qw));
    if (p->count == q->count && p->rank > q->rank)
        larger = p;
    TRY(known_new(x, true, larger->rank, larger->dim, ret));
    for (size_t i = 0; i < (*ret)->count; i++)
        if (!whole_op(fn, pw[p->count == 1 ? 0 : i], qw[q->count == 1 ? 0 : i], &(*ret)->whole[i]))
            return UNSUPPORTED(x, "whole numbers are computed in a way that is not supported, or too large");
    return ERR_OK;
}

/* Numbers as bytes of one width, so that moving them does not ask for their type. */
static enum errc bytes_of(struct import *x, struct known *k, char **ret, size_t *width)
{
    int64_t *whole;
    float *real;
    if (k->is_whole) {
        TRY(known_whole(x, k, &whole));
        *ret = (char *)whole;
        *width = sizeof *whole;
        return ERR_OK;
    }
    TRY(known_real(x, k, &real));
    *ret = (char *)real;
    *width = sizeof *real;
    return ERR_OK;
}

/* shape: of the result, with shape->dim[axis] places from `index`, which are inside. */
enum errc known_take(struct import *x, struct known *k, unsigned axis, const int64_t *index, struct known *shape,
                     struct known **ret)
{
    size_t outer = 1, inner = 1, width, n = (size_t)shape->count;
    char *from, *to;
    TRY(bytes_of(x, k, &from, &width));
    for (unsigned d = 0; d < k->rank; d++)
        *(d < axis ? &outer : &inner) *= d == axis ? 1 : (size_t)k->dim[d];
    struct known *r;
    TRY(known_new(x, k->is_whole, shape->rank, shape->dim, &r));
    to = k->is_whole ? (char *)r->whole : (char *)r->real;
    for (size_t o = 0; o < outer; o++)
        for (size_t i = 0; i < n; i++)
            memcpy(to + (o * n + i) * inner * width, from + (o * (size_t)k->dim[axis] + (size_t)index[i]) * inner * width,
                   inner * width);
    *ret = r;
    return ERR_OK;
}

enum errc known_transpose(struct import *x, struct known *k, const size_t *order, struct known **ret)
{
    int64_t dim[ONNX_DIMS_MAX];
    size_t stride[ONNX_DIMS_MAX], width, at[ONNX_DIMS_MAX] = { 0 }, step = 1;
    char *from, *to;
    for (uint32_t d = k->rank; d-- > 0; step *= (size_t)k->dim[d])
        stride[d] = step;
    for (uint32_t d = 0; d < k->rank; d++)
        dim[d] = k->dim[order[d]];
    TRY(bytes_of(x, k, &from, &width));
    TRY(known_new(x, k->is_whole, k->rank, dim, ret));
    to = k->is_whole ? (char *)(*ret)->whole : (char *)(*ret)->real;
    for (size_t i = 0; i < k->count; i++) {
        size_t offset = 0;
        for (uint32_t d = 0; d < k->rank; d++)
            offset += at[d] * stride[order[d]];
        memcpy(to + i * width, from + offset * width, width);
        for (uint32_t d = k->rank; d-- > 0;) {
            if (++at[d] < (size_t)dim[d])
                break;
            at[d] = 0;
        }
    }
    return ERR_OK;
}

enum errc known_reshape(struct import *x, struct known *k, uint32_t rank, const int64_t *dim, struct known **ret)
{
    size_t count = 1;
    struct known *r = arena_try(x->a, sizeof *r);
    if (!r)
        return no_memory(x, 1);
    *r = *k;
    r->rank = rank;
    for (uint32_t d = 0; d < rank; d++) {
        if (dim[d] < 0 || __builtin_mul_overflow(count, (size_t)dim[d], &count))
            count = SIZE_MAX;
        r->dim[d] = dim[d];
    }
    if (count != k->count)
        return FAIL(x->e, BAD_DATA, "%zu numbers do not fill the shape that they are to have", k->count);
    *ret = r;
    return ERR_OK;
}
