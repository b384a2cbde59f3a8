/* SPDX-License-Identifier: Apache-2.0 */
/* import_shape.c - shapes: operators that move no number (constants and types: import_constant.c). */
#include "workers/compute/onnx/import_int.h"

#include <string.h>

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
