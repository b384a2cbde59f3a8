/* SPDX-License-Identifier: Apache-2.0 */
/* import_part.c - operators that reorder, join, cut and repeat. */
#include "workers/compute/onnx/import_int.h"

#include <string.h>

HANDLER(transpose)
{
    (void)arg_;
    const struct onnx_attr *t = onnx_attr_find(x->node, "perm");
    struct named *in = import_in(x, 0);
    int64_t from[ONNX_DIMS_MAX];
    uint32_t rank = import_dims(x, from);
    size_t order[ONNX_DIMS_MAX];
    unsigned seen = 0;
    struct known *k;
    int y;
    if (t && t->int_count != rank)
        return FAIL(x->e, BAD_DATA, "perm has %zu places for %u dimensions", t->int_count, rank);
    for (uint32_t d = 0; d < rank; d++) {
        int64_t v = t ? t->ints[d] : (int64_t)(rank - 1 - d);
        if (v < 0 || v >= rank || (seen >> v & 1))
            return FAIL(x->e, BAD_DATA, "perm is no order of %u dimensions", rank);
        seen |= 1u << v;
        order[d] = (size_t)v;
    }
    if (in->known) {
        TRY(known_transpose(x, in->known, order, &k));
        return import_set_known(x, 0, k);
    }
    TRY(step_transpose(x, in->value, order, &y));
    return import_set(x, 0, y);
}

static enum errc concat_known(struct import *x)
{
    struct known *k;
    int64_t n = 0, at = 0, *whole;
    for (size_t i = 0; i < x->node->in_count; i++) {
        if (import_in(x, i)->known->rank > 1 || !import_in(x, i)->known->is_whole)
            return UNSUPPORTED(x, "constants of more than one dimension or of floating-point numbers are joined");
        n += (int64_t)import_in(x, i)->known->count;
    }
    TRY(known_new(x, true, 1, &n, &k));
    for (size_t i = 0; i < x->node->in_count; i++) {
        size_t count;
        TRY(import_whole(x, i, &whole, &count));
        memcpy(k->whole + at, whole, count * sizeof *whole);
        at += (int64_t)count;
    }
    return import_set_known(x, 0, k);
}

HANDLER(concat)
{
    (void)arg_;
    bool all = true;
    int in[OP_INPUTS_MAX], y = VALUE_NONE;
    unsigned axis;
    for (size_t i = 0; i < x->node->in_count; i++)
        all = all && import_in(x, i)->known && import_in(x, i)->known->is_whole;
    if (all)
        return concat_known(x);
    for (size_t i = 0; i < x->node->in_count;) {
        size_t n = 0;
        if (y != VALUE_NONE)
            in[n++] = y;
        for (; n < OP_INPUTS_MAX && i < x->node->in_count; i++)
            TRY(import_value(x, i, &in[n++]));
        TRY(import_axis(x, import_attr(x, "axis", 0), import_shape_of(x, in[0])->rank, &axis));
        TRY(step_op(x, OP_CONCAT, &(struct op_attr){ .axes = axis }, in, n, &y));
    }
    return import_set(x, 0, y);
}

static void whole_slice(const struct shape *s, struct op_attr *ret)
{
    for (unsigned d = 0; d < s->rank; d++)
        ret->step[d] = 1;
}

HANDLER(split)
{
    (void)arg_;
    const struct onnx_attr *t = onnx_attr_find(x->node, "split");
    int64_t *list = t ? t->ints : NULL, at = 0, parts = (int64_t)x->node->out_count;
    size_t n = t ? t->int_count : 0;
    unsigned axis;
    int from, y;
    TRY(import_value(x, 0, &from));
    struct shape s = *import_shape_of(x, from);
    TRY(import_axis(x, import_attr(x, "axis", 0), s.rank, &axis));
    if (import_has(x, 1))
        TRY(import_whole(x, 1, &list, &n));
    if (s.dim[axis].is_batched || (n && n != (size_t)parts))
        return UNSUPPORTED(x, "the batch is split, or there are other parts than outputs");
    for (int64_t i = 0; i < parts; i++) {
        int64_t all = (int64_t)s.dim[axis].n, each = (all + parts - 1) / parts;
        int64_t len = n ? list[i] : each < all - at ? each : all - at;
        struct op_attr attr = { 0 };
        if (len < 1 || len > all - at)
            return FAIL(x->e, BAD_DATA, "part %ld has %ld numbers", (long)i, (long)len);
        whole_slice(&s, &attr);
        attr.at[axis] = (size_t)at;
        attr.len[axis] = (size_t)len;
        TRY(step_op(x, OP_SLICE, &attr, &from, 1, &y));
        TRY(import_set(x, (size_t)i, y));
        at += len;
    }
    return ERR_OK;
}

struct bounds {                 /* of one axis */
    int64_t from, count, step;
};

/* As numpy has it: beyond the ends means to the end. */
static enum errc read_bounds(struct import *x, int64_t from, int64_t to, int64_t step, int64_t n, struct bounds *ret)
{
    if (step <= 0)
        return UNSUPPORTED(x, "a step of %ld", (long)step);
    from = from < 0 ? from + n : from;
    to = to < 0 ? to + n : to;
    from = from < 0 ? 0 : from > n ? n : from;
    to = to < 0 ? 0 : to > n ? n : to;
    *ret = (struct bounds){ from, to > from ? (to - from + step - 1) / step : 0, step };
    return ERR_OK;
}

static enum errc slice_known(struct import *x, struct known *in, unsigned axis, const struct bounds *b, struct known **ret)
{
    int64_t *index = arena_try(x->a, ((size_t)b->count + 1) * sizeof *index);
    struct known shape = *in;
    if (!index)
        return FAIL(x->e, LIMIT, "the model does not fit in memory");
    for (int64_t i = 0; i < b->count; i++)
        index[i] = b->from + i * b->step;
    shape.dim[axis] = b->count;
    shape.count = (size_t)b->count;
    return known_take(x, in, axis, index, &shape, ret);
}

HANDLER(slice)
{
    (void)arg_;
    const struct onnx_attr *s_attr = onnx_attr_find(x->node, "starts"), *e_attr = onnx_attr_find(x->node, "ends"),
                           *a_attr = onnx_attr_find(x->node, "axes");
    int64_t *from = s_attr ? s_attr->ints : NULL, *to = e_attr ? e_attr->ints : NULL;
    int64_t *axes = a_attr ? a_attr->ints : NULL, *steps = NULL;
    size_t n = s_attr ? s_attr->int_count : 0, to_n = e_attr ? e_attr->int_count : 0;
    size_t axes_n = a_attr ? a_attr->int_count : 0, steps_n = 0;
    struct named *in = import_in(x, 0);
    struct known *k = in->known;
    struct op_attr attr = { 0 };
    int64_t dim[ONNX_DIMS_MAX];
    uint32_t rank = import_dims(x, dim);
    for (size_t i = 1; i <= 4; i++)
        if (import_has(x, i))
            TRY(import_whole(x, i, i == 1 ? &from : i == 2 ? &to : i == 3 ? &axes : &steps,
                             i == 1 ? &n : i == 2 ? &to_n : i == 3 ? &axes_n : &steps_n));
    if (n != to_n || (axes && axes_n != n) || (steps && steps_n != n) || n > rank)
        return FAIL(x->e, BAD_DATA, "its lists of bounds have different lengths");
    for (uint32_t d = 0; d < rank; d++)
        attr.step[d] = 1;
    for (size_t i = 0; i < n; i++) {
        unsigned axis;
        struct bounds b;
        TRY(import_axis(x, axes ? axes[i] : (int64_t)i, rank, &axis));
        if (is_rows(dim[axis])) {
            if (from[i] == 0 && to[i] > INT32_MAX - 1 && (!steps || steps[i] == 1))
                continue;       /* all of the batch */
            return UNSUPPORTED(x, "a part of the batch is taken");
        }
        TRY(read_bounds(x, from[i], to[i], steps ? steps[i] : 1, dim[axis], &b));
        if (k)
            TRY(slice_known(x, k, axis, &b, &k));
        if (!k && b.count == 0)
            return UNSUPPORTED(x, "a part without numbers");
        attr.at[axis] = (size_t)b.from;
        attr.step[axis] = (size_t)b.step;
        attr.len[axis] = (size_t)b.count;
    }
    if (k)
        return import_set_known(x, 0, k);
    int y;
    TRY(step_op(x, OP_SLICE, &attr, &in->value, 1, &y));
    return import_set(x, 0, y);
}

/* One or more places of an axis that are known; the dimensions of the index come in the place of the axis. */
static enum errc gather_known(struct import *x, struct named *in, unsigned axis, struct known *index)
{
    int64_t dim[ONNX_DIMS_MAX], out[ONNX_DIMS_MAX], *at;
    uint32_t rank = import_dims(x, dim), n = 0;
    TRY(known_whole(x, index, &at));
    if (rank + index->rank > ONNX_DIMS_MAX + 1)
        return UNSUPPORTED(x, "more than %d dimensions", ONNX_DIMS_MAX);
    for (size_t i = 0; i < index->count; i++) {
        if (is_rows(dim[axis]) || at[i] < -dim[axis] || at[i] >= dim[axis])
            return UNSUPPORTED(x, "index %ld of dimension %u", (long)at[i], axis);
        at[i] += at[i] < 0 ? dim[axis] : 0;
    }
    for (uint32_t d = 0; d < rank; d++) {
        if (d == axis)
            for (uint32_t i = 0; i < index->rank; i++)
                out[n++] = index->dim[i];
        else
            out[n++] = dim[d];
    }
    if (in->known) {
        struct known shape = { .rank = n, .count = index->count }, *k;
        memcpy(shape.dim, out, n * sizeof *out);
        TRY(known_take(x, in->known, axis, at, &shape, &k));
        return import_set_known(x, 0, k);
    }
    struct op_attr attr = { 0 };
    int y = in->value;
    if (index->count != 1)
        return UNSUPPORTED(x, "more than one place of what is computed is taken");
    whole_slice(import_shape_of(x, y), &attr);
    attr.at[axis] = (size_t)at[0];
    attr.len[axis] = 1;
    TRY(step_op(x, OP_SLICE, &attr, &y, 1, &y));
    TRY(step_reshape(x, y, n, out, &y));
    return import_set(x, 0, y);
}

HANDLER(gather)
{
    (void)arg_;
    struct named *in = import_in(x, 0), *index = import_in(x, 1);
    int64_t dim[ONNX_DIMS_MAX], want[ONNX_DIMS_MAX];
    uint32_t rank = import_dims(x, dim);
    unsigned axis;
    int table, y;
    TRY(import_axis(x, import_attr(x, "axis", 0), rank, &axis));
    if (index->known)
        return gather_known(x, in, axis, index->known);
    const struct shape *s = import_shape_of(x, index->value);
    if (!in->known || axis != 0 || rank < 1 || s->type != ELEM_I32 || s->rank + rank - 1 > ONNX_DIMS_MAX)
        return UNSUPPORTED(x, "indices that are computed take rows of a constant table only");
    for (unsigned d = 0; d < s->rank; d++)
        want[d] = rows_of_dim(s->dim[d]);
    for (uint32_t d = 1; d < rank; d++)
        want[s->rank + d - 1] = dim[d];
    unsigned index_rank = s->rank;
    TRY(import_value(x, 0, &table));
    TRY(step_reshape(x, table, 2, (int64_t[]){ dim[0], (int64_t)in->known->count / dim[0] }, &table));
    TRY(step_op(x, OP_EMBED, &(struct op_attr){ 0 }, (int[]){ table, index->value }, 2, &y));
    TRY(step_reshape(x, y, index_rank + rank - 1, want, &y));
    return import_set(x, 0, y);
}

HANDLER(expand)
{
    (void)arg_;
    int64_t *want;
    size_t n;
    int v, ones, y;
    struct shape s = { .type = ELEM_F32 };
    TRY(import_whole(x, 1, &want, &n));
    TRY(import_value(x, 0, &v));
    const struct shape *from = import_shape_of(x, v);
    if (n > ONNX_DIMS_MAX || from->type != ELEM_F32)
        return UNSUPPORTED(x, "more than %d dimensions, or whole numbers", ONNX_DIMS_MAX);
    bool is_larger = n > from->rank;
    s.rank = n ? (unsigned)n : 1;
    s.dim[0] = DIM(1);
    for (size_t d = 0; d < n; d++) {
        bool has = d + from->rank >= n;
        struct dim old = has ? from->dim[d + from->rank - n] : DIM(1);
        if (is_rows(want[d]) && !old.is_batched)
            return UNSUPPORTED(x, "something is repeated for each row of the batch");
        s.dim[d] = is_rows(want[d]) ? DIM(1) : DIM((size_t)want[d]);
        if (!is_rows(want[d]) && want[d] < 1)
            return FAIL(x->e, BAD_DATA, "dimension %zu of the shape is %ld", d, (long)want[d]);
        if (s.dim[d].n == old.n || old.is_batched)
            s.dim[d] = DIM(1);
        is_larger = is_larger || s.dim[d].n > 1;
    }
    if (!is_larger)
        return import_set(x, 0, v);
    float *zeros = arena_try(x->a, shape_count(&s, 1) * sizeof *zeros);
    if (!zeros || shape_count(&s, 1) > KNOWN_COUNT_MAX)
        return FAIL(x->e, LIMIT, "the expanded tensor does not fit in memory");
    ones = graph_const(x->g, "", s, zeros);
    TRY(step_binary(x, BINARY_ADD, v, ones, &y));
    return import_set(x, 0, y);
}
