/* SPDX-License-Identifier: Apache-2.0 */
/* import_norm.c - operators that compute along axes: softmax, sums, norms. */
#include "workers/compute/onnx/import_int.h"

/* The order that brings an axis to the end, which is its own inverse for one exchange. */
static void axis_last(unsigned rank, unsigned axis, size_t order[ONNX_DIMS_MAX])
{
    for (unsigned d = 0; d < rank; d++)
        order[d] = d;
    order[axis] = rank - 1;
    order[rank - 1] = axis;
}

static enum errc softmax_last(struct import *x, unsigned is_log, int v, int *ret)
{
    int sum;
    if (!is_log)
        return step_op(x, OP_SOFTMAX, &(struct op_attr){ 0 }, &v, 1, ret);
    const struct op_attr attr = { .fn = REDUCE_LOG_SUM_EXP, .axes = (size_t)1 << (import_shape_of(x, v)->rank - 1) };
    TRY(step_op(x, OP_REDUCE, &attr, &v, 1, &sum));
    return step_binary(x, BINARY_SUB, v, sum, ret);
}

HANDLER(softmax)
{
    int v;
    unsigned axis;
    size_t order[ONNX_DIMS_MAX];
    bool is_old = x->file->opset < 13;
    TRY(import_value(x, 0, &v));
    struct shape s = *import_shape_of(x, v);
    TRY(import_axis(x, import_attr(x, "axis", is_old ? 1 : -1), s.rank, &axis));
    if (is_old && axis + 1 < s.rank) {      /* before 13 all dimensions from the axis on were one */
        int64_t flat[2] = { ROWS_BASE, 1 }, back[ONNX_DIMS_MAX], n = 1;
        bool rows = false;
        for (unsigned d = 0; d < s.rank; d++) {
            back[d] = rows_of_dim(s.dim[d]);
            rows = rows || (d < axis && s.dim[d].is_batched);
            *(d < axis ? &n : &flat[1]) *= (int64_t)s.dim[d].n;
            if (d >= axis && s.dim[d].is_batched)
                return UNSUPPORTED(x, "it runs over the batch");
        }
        flat[0] = rows ? ROWS_BASE + n : n;
        TRY(step_reshape(x, v, 2, flat, &v));
        TRY(softmax_last(x, arg_, v, &v));
        TRY(step_reshape(x, v, s.rank, back, &v));
        return import_set(x, 0, v);
    }
    if (s.dim[axis].is_batched)
        return UNSUPPORTED(x, "it runs over the batch");
    axis_last(s.rank, axis, order);
    if (axis + 1 < s.rank)
        TRY(step_transpose(x, v, order, &v));
    TRY(softmax_last(x, arg_, v, &v));
    if (axis + 1 < s.rank)
        TRY(step_transpose(x, v, order, &v));
    return import_set(x, 0, v);
}

HANDLER(argmax)
{
    (void)arg_;
    int v, y;
    unsigned axis;
    int64_t dim[ONNX_DIMS_MAX];
    TRY(import_value(x, 0, &v));
    struct shape s = *import_shape_of(x, v);
    TRY(import_axis(x, import_attr(x, "axis", 0), s.rank, &axis));
    if (axis + 1 != s.rank || s.dim[axis].is_batched || import_attr(x, "select_last_index", 0))
        return UNSUPPORTED(x, "axis %u, or the last of equals", axis);
    TRY(step_op(x, OP_ARGMAX, &(struct op_attr){ 0 }, &v, 1, &y));
    unsigned rank = s.rank - !import_attr(x, "keepdims", 1);
    for (unsigned d = 0; d < rank; d++)
        dim[d] = d + 1 == s.rank ? 1 : rows_of_dim(s.dim[d]);
    TRY(step_reshape(x, y, rank, dim, &y));
    return import_set(x, 0, y);
}

HANDLER(reduce)
{
    int v;
    unsigned axes;
    int64_t dim[ONNX_DIMS_MAX];
    uint32_t n = 0;
    bool given;
    TRY(import_value(x, 0, &v));
    struct shape s = *import_shape_of(x, v);
    TRY(import_axes(x, 1, s.rank, &axes, &given));
    if (!given && import_attr(x, "noop_with_empty_axes", 0))
        return import_set(x, 0, v);
    axes = given ? axes : (1u << s.rank) - 1;
    TRY(step_op(x, OP_REDUCE, &(struct op_attr){ .fn = arg_, .axes = axes }, &v, 1, &v));
    if (!import_attr(x, "keepdims", 1)) {
        for (unsigned d = 0; d < s.rank; d++)
            if (!(axes >> d & 1))
                dim[n++] = rows_of_dim(s.dim[d]);
        TRY(step_reshape(x, v, n, dim, &v));
    }
    return import_set(x, 0, v);
}

HANDLER(global_pool)
{
    const struct named *from = import_in(x, 0);
    int v;
    TRY(import_value(x, 0, &v));
    const struct shape s = *import_shape_of(x, v);
    unsigned rank = s.rank;
    if (rank < 3)
        return FAIL(x->e, BAD_DATA, "its input has %u dimensions", rank);
    if (from->last) {                   /* one number for each channel lies the same either way */
        v = from->last - 1;
        TRY(step_op(x, OP_REDUCE, &(struct op_attr){ .fn = arg_, .axes = 1u << 1 | 1u << 2 }, &v, 1, &v));
        TRY(step_reshape(x, v, 4, (int64_t[]){ rows_of_dim(s.dim[0]), rows_of_dim(s.dim[1]), 1, 1 }, &v));
        return import_set(x, 0, v);
    }
    TRY(step_op(x, OP_REDUCE, &(struct op_attr){ .fn = arg_, .axes = ((1u << rank) - 1) & ~3u }, &v, 1, &v));
    return import_set(x, 0, v);
}

HANDLER(layernorm)
{
    (void)arg_;
    int v, scale, shift, y;
    unsigned axis;
    TRY(import_value(x, 0, &v));
    struct shape s = *import_shape_of(x, v);
    TRY(import_axis(x, import_attr(x, "axis", -1), s.rank, &axis));
    if (axis + 1 != s.rank || s.dim[axis].is_batched)
        return UNSUPPORTED(x, "axis %u of %u dimensions", axis, s.rank);
    for (size_t out = 1; out < x->node->out_count; out++)
        if (x->node->out[out].len)
            return UNSUPPORTED(x, "mean and deviation as outputs");
    TRY(import_value(x, 1, &scale));
    if (import_has(x, 2))
        TRY(import_value(x, 2, &shift));
    else
        TRY(step_fill(x, s.dim[axis].n, 0, &shift));
    const struct op_attr attr = { .eps = import_attr_real(x, "epsilon", 1e-5) };
    TRY(step_op(x, OP_LAYERNORM, &attr, (int[]){ v, scale, shift }, 3, &y));
    return import_set(x, 0, y);
}

/* y = x·a + b by channel, a = scale/√(var + eps), b = shift - mean·a. */
enum errc import_norm_factors(struct import *x, size_t channels, float **ret_a, float **ret_b)
{
    double eps = import_attr_real(x, "epsilon", 1e-5);
    float *in[4], *a = arena_try(x->a, (channels + 1) * sizeof *a), *b = arena_try(x->a, (channels + 1) * sizeof *b);
    if (!a || !b)
        return FAIL(x->e, LIMIT, "the model does not fit in memory");
    if (import_attr(x, "training_mode", 0))
        return UNSUPPORTED(x, "of training, or without channels");
    for (size_t i = 0; i < 4; i++) {
        struct known *k = import_has(x, i + 1) ? import_in(x, i + 1)->known : NULL;
        if (!k || k->count != channels)
            return UNSUPPORTED(x, "input %zu is no constant with a number for each channel", i + 1);
        TRY(known_real(x, k, &in[i]));
    }
    for (size_t i = 0; i < channels; i++) {
        double factor = (double)in[0][i] / __builtin_sqrt((double)in[3][i] + eps);
        a[i] = (float)factor;
        b[i] = (float)((double)in[1][i] - (double)in[2][i] * factor);
    }
    *ret_a = a;
    *ret_b = b;
    return ERR_OK;
}

HANDLER(batchnorm)
{
    (void)arg_;
    struct named *from = import_in(x, 0);
    float *a, *b;
    int v;
    if (from->is_normed)
        return from->last ? import_set_last(x, from->last - 1) : import_set(x, 0, from->value);
    TRY(import_value(x, 0, &v));
    struct shape s = *import_shape_of(x, v);
    if (s.rank < 2 || s.dim[1].is_batched || s.rank - 1 > ONNX_DIMS_MAX)
        return UNSUPPORTED(x, "of training, or without channels");
    TRY(import_norm_factors(x, s.dim[1].n, &a, &b));
    bool is_last = from->last != 0;
    struct shape by = { ELEM_F32, is_last ? 1 : s.rank - 1, { DIM(s.dim[1].n), DIM(1), DIM(1), DIM(1), DIM(1), DIM(1) } };
    v = is_last ? from->last - 1 : v;
    TRY(step_binary(x, BINARY_MUL, v, graph_const(x->g, "", by, a), &v));
    TRY(step_binary(x, BINARY_ADD, v, graph_const(x->g, "", by, b), &v));
    return is_last ? import_set_last(x, v) : import_set(x, 0, v);
}
