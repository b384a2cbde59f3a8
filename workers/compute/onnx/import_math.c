/* SPDX-License-Identifier: Apache-2.0 */
/* import_math.c - operators that compute: single numbers, products, sums, norms. A product with constant weights becomes
 * x · wᵀ, which is how a plan packs them; a bias and a ReLU after it join it there. */
#include "workers/compute/onnx/import_int.h"

#include <float.h>

#define HANDLER(name) enum errc import_##name(struct import *x, unsigned arg_)

/* --- small steps --- */

enum errc step_op(struct import *x, enum op op, const struct op_attr *attr, const int *in, size_t ins, int *ret)
{
    *ret = graph_op(x->g, op, attr, in, ins);
    return graph_check(x->g, x->e);
}

enum errc step_reshape(struct import *x, int value, uint32_t rank, const int64_t *dim, int *ret)
{
    struct shape s = { .rank = rank ? rank : 1, .dim = { DIM(1) } };
    for (uint32_t d = 0; d < rank; d++)
        s.dim[d] = is_rows(dim[d]) ? DIM_ROWS((size_t)(dim[d] - ROWS_BASE)) : DIM((size_t)dim[d]);
    const struct value *v = &x->g->values[value];
    s.type = v->shape.type;
    if (v->region == REGION_CONST && v->data && shape_count(&s, 1) == shape_count(&v->shape, 1))
        *ret = graph_const(x->g, "", s, v->data);
    else
        *ret = graph_reshape(x->g, value, s);
    return graph_check(x->g, x->e);
}

enum errc step_binary(struct import *x, unsigned fn, int p, int q, int *ret)
{
    return step_op(x, OP_BINARY, &(struct op_attr){ .fn = fn }, (int[]){ p, q }, 2, ret);
}

enum errc step_transpose(struct import *x, int value, const size_t *order, int *ret)
{
    struct op_attr attr = { 0 };
    for (unsigned d = 0; d < import_shape_of(x, value)->rank; d++)
        attr.at[d] = order[d];
    return step_op(x, OP_TRANSPOSE, &attr, &value, 1, ret);
}

enum errc step_fill(struct import *x, size_t n, float number, int *ret)
{
    float *p = arena_try(x->a, (n + 1) * sizeof *p);
    if (!p)
        return FAIL(x->e, LIMIT, "the model does not fit in memory");
    for (size_t i = 0; i < n; i++)
        p[i] = number;
    *ret = graph_const(x->g, "", (struct shape){ ELEM_F32, 1, { DIM(n) } }, p);
    return graph_check(x->g, x->e);
}

/* --- single numbers --- */

HANDLER(relu)
{
    (void)arg_;
    int v;
    TRY(import_value(x, 0, &v));
    TRY(step_op(x, OP_RELU, &(struct op_attr){ 0 }, &v, 1, &v));
    return import_set(x, 0, v);
}

HANDLER(unary)
{
    static const struct { unsigned fn; double alpha, gamma; } dflt[] = {
        { UNARY_LEAKY_RELU, 0.01, 0 }, { UNARY_ELU, 1, 0 }, { UNARY_SELU, 1.67326319217681884765625, 1.05070102214813232421875 },
        { UNARY_HARD_SIGMOID, 0.2, 0.5 },
    };
    struct op_attr attr = { .fn = arg_ };
    int v;
    for (size_t i = 0; i < sizeof dflt / sizeof *dflt; i++)
        if (dflt[i].fn == arg_) {
            attr.alpha = import_attr_real(x, "alpha", dflt[i].alpha);
            attr.gamma = import_attr_real(x, arg_ == UNARY_SELU ? "gamma" : "beta", dflt[i].gamma);
        }
    TRY(import_value(x, 0, &v));
    TRY(step_op(x, OP_UNARY, &attr, &v, 1, &v));
    TRY(import_set(x, 0, v));
    if (arg_ == UNARY_NOT && x->node->out[0].len)
        import_name(x, x->node->out[0])->is_truth = true;
    return ERR_OK;
}

HANDLER(gelu)
{
    (void)arg_;
    const struct onnx_attr *how = onnx_attr_find(x->node, "approximate");
    int v;
    TRY(import_value(x, 0, &v));
    if (how && how->has_s && str_eq_c(how->s, "tanh"))
        TRY(step_op(x, OP_GELU, &(struct op_attr){ 0 }, &v, 1, &v));
    else
        TRY(step_op(x, OP_UNARY, &(struct op_attr){ .fn = UNARY_GELU_ERF }, &v, 1, &v));
    return import_set(x, 0, v);
}

static enum errc bound(struct import *x, size_t i, const char *name, double dflt, double *ret)
{
    float *real;
    *ret = import_attr_real(x, name, dflt);
    if (!import_has(x, i))
        return ERR_OK;
    struct known *k = import_in(x, i)->known;
    if (!k || k->count != 1)
        return UNSUPPORTED(x, "a bound that is computed");
    TRY(known_real(x, k, &real));
    *ret = (double)real[0];
    return ERR_OK;
}

HANDLER(clip)
{
    (void)arg_;
    struct op_attr attr = { .fn = UNARY_CLIP };
    int v;
    TRY(bound(x, 1, "min", -(double)FLT_MAX, &attr.alpha));
    TRY(bound(x, 2, "max", (double)FLT_MAX, &attr.gamma));
    TRY(import_value(x, 0, &v));
    TRY(step_op(x, OP_UNARY, &attr, &v, 1, &v));
    return import_set(x, 0, v);
}

/* v + u: a vector for the columns is a bias, which a product takes in; the same shape is an ADD. */
static enum errc add_values(struct import *x, int v, int u, int *ret)
{
    for (int turn = 0; turn < 2; turn++) {
        int a = turn ? u : v, b = turn ? v : u;
        const struct shape *s = import_shape_of(x, a), *t = import_shape_of(x, b);
        bool is_vector = x->g->values[b].region == REGION_CONST && s->rank > 1 && t->rank >= 1 && !s->dim[s->rank - 1].is_batched
                         && shape_count(t, 1) == s->dim[s->rank - 1].n && t->dim[t->rank - 1].n == s->dim[s->rank - 1].n;
        if (!is_vector || t->rank > s->rank)
            continue;
        if (t->rank > 1)
            TRY(step_reshape(x, b, 1, (int64_t[]){ (int64_t)t->dim[t->rank - 1].n }, &b));
        return step_op(x, OP_ADD_BIAS, &(struct op_attr){ 0 }, (int[]){ a, b }, 2, ret);
    }
    const struct shape *s = import_shape_of(x, v), *t = import_shape_of(x, u);
    bool same = s->rank == t->rank && s->type == t->type;
    for (unsigned d = 0; same && d < s->rank; d++)
        same = s->dim[d].n == t->dim[d].n && s->dim[d].is_batched == t->dim[d].is_batched;
    return same ? step_op(x, OP_ADD, &(struct op_attr){ 0 }, (int[]){ v, u }, 2, ret) : step_binary(x, BINARY_ADD, v, u, ret);
}

static enum errc binary_values(struct import *x, unsigned fn, struct known *exponent, int v, int u, int *ret)
{
    float *power = NULL;
    if (fn == BINARY_ADD)
        return add_values(x, v, u, ret);
    if (fn == BINARY_POW && exponent && exponent->count == 1)
        TRY(known_real(x, exponent, &power));
    if (power && *power == 2)
        return step_binary(x, BINARY_MUL, v, v, ret);
    if (power && *power == 0.5f)
        return step_op(x, OP_UNARY, &(struct op_attr){ .fn = UNARY_SQRT }, &v, 1, ret);
    return step_binary(x, fn, v, u, ret);
}

HANDLER(binary)
{
    struct named *p = import_in(x, 0), *q = import_has(x, 1) ? import_in(x, 1) : NULL;
    struct known *k = NULL;
    int v, u;
    bool done = false;
    if (p->known && q && q->known && x->node->in_count == 2)
        TRY(known_binary(x, arg_, p->known, q->known, &k, &done));
    if (done)
        return import_set_known(x, 0, k);
    TRY(import_value(x, 0, &v));
    for (size_t i = 1; i < x->node->in_count; i++) {
        TRY(import_value(x, i, &u));
        if (import_shape_of(x, v)->type != ELEM_F32 || import_shape_of(x, u)->type != ELEM_F32)
            return UNSUPPORTED(x, "whole numbers that are inputs are computed with; cast them to FLOAT before");
        TRY(binary_values(x, arg_, import_in(x, i)->known, v, u, &v));
    }
    TRY(import_set(x, 0, v));
    if (arg_ >= BINARY_LESS && x->node->out[0].len)
        import_name(x, x->node->out[0])->is_truth = true;
    return ERR_OK;
}

HANDLER(where)
{
    (void)arg_;
    int in[3], y;
    for (size_t i = 0; i < 3; i++)
        TRY(import_value(x, i, &in[i]));
    TRY(step_op(x, OP_SELECT, &(struct op_attr){ 0 }, in, 3, &y));
    return import_set(x, 0, y);
}

/* --- products --- */

/* The weights of x · wᵀ as a constant [out, in]. */
static enum errc weights(struct import *x, struct known *w, bool is_out_in, float scale, int *ret)
{
    float *real;
    if (!is_out_in)
        TRY(known_transpose(x, w, (size_t[]){ 1, 0 }, &w));
    TRY(known_real(x, w, &real));
    if (scale != 1) {
        struct known *scaled;
        TRY(known_new(x, false, w->rank, w->dim, &scaled));
        for (size_t i = 0; i < w->count; i++)
            scaled->real[i] = real[i] * scale;
        w = scaled;
    }
    return known_value(x, w, ret);
}

HANDLER(gemm)
{
    (void)arg_;
    double alpha = import_attr_real(x, "alpha", 1), beta = import_attr_real(x, "beta", 1);
    bool tb = import_attr(x, "transB", 0);
    struct known *w = import_in(x, 1)->known;
    int a, b, y;
    if (import_attr(x, "transA", 0))
        return UNSUPPORTED(x, "transA 1");
    TRY(import_value(x, 0, &a));
    if (import_shape_of(x, a)->rank != 2 || (w && w->rank != 2))
        return FAIL(x->e, BAD_DATA, "its inputs are no matrices");
    if (w)
        TRY(weights(x, w, tb, (float)alpha, &b));
    else
        TRY(import_value(x, 1, &b));
    TRY(step_op(x, OP_MATMUL, &(struct op_attr){ .flags = w || tb ? MM_TRANS_B : 0 }, (int[]){ a, b }, 2, &y));
    if (!w && alpha != 1) {
        TRY(step_fill(x, 1, (float)alpha, &b));
        TRY(step_binary(x, BINARY_MUL, y, b, &y));
    }
    if (import_has(x, 2)) {
        int c;
        TRY(import_value(x, 2, &c));
        if (beta != 1) {
            int factor;
            TRY(step_fill(x, 1, (float)beta, &factor));
            TRY(step_binary(x, BINARY_MUL, c, factor, &c));
        }
        TRY(add_values(x, y, c, &y));
    }
    return import_set(x, 0, y);
}

HANDLER(matmul)
{
    (void)arg_;
    struct known *w = import_in(x, 1)->known;
    int a, b, y;
    TRY(import_value(x, 0, &a));
    if (w && w->rank == 2) {
        TRY(weights(x, w, false, 1, &b));
        TRY(step_op(x, OP_MATMUL, &(struct op_attr){ .flags = MM_TRANS_B }, (int[]){ a, b }, 2, &y));
        return import_set(x, 0, y);
    }
    TRY(import_value(x, 1, &b));
    const struct shape *s = import_shape_of(x, a), *t = import_shape_of(x, b);
    if (s->rank == 2 && t->rank == 2)
        TRY(step_op(x, OP_MATMUL, &(struct op_attr){ 0 }, (int[]){ a, b }, 2, &y));
    else if (s->rank == t->rank)
        TRY(step_op(x, OP_BMM, &(struct op_attr){ 0 }, (int[]){ a, b }, 2, &y));
    else
        return UNSUPPORTED(x, "a product of %u by %u dimensions", s->rank, t->rank);
    return import_set(x, 0, y);
}

/* --- sums and norms --- */

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
    int v;
    TRY(import_value(x, 0, &v));
    unsigned rank = import_shape_of(x, v)->rank;
    if (rank < 3)
        return FAIL(x->e, BAD_DATA, "its input has %u dimensions", rank);
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
HANDLER(batchnorm)
{
    (void)arg_;
    double eps = import_attr_real(x, "epsilon", 1e-5);
    float *in[4];
    struct known *a, *b;
    int v, at, bt;
    TRY(import_value(x, 0, &v));
    struct shape s = *import_shape_of(x, v);
    if (s.rank < 2 || s.dim[1].is_batched || import_attr(x, "training_mode", 0) || s.rank - 1 > ONNX_DIMS_MAX)
        return UNSUPPORTED(x, "of training, or without channels");
    int64_t dim[ONNX_DIMS_MAX] = { (int64_t)s.dim[1].n, 1, 1, 1, 1, 1 };
    for (size_t i = 0; i < 4; i++) {
        struct known *k = import_in(x, i + 1)->known;
        if (!k || k->count != s.dim[1].n)
            return UNSUPPORTED(x, "input %zu is no constant with a number for each channel", i + 1);
        TRY(known_real(x, k, &in[i]));
    }
    TRY(known_new(x, false, s.rank - 1, dim, &a));
    TRY(known_new(x, false, s.rank - 1, dim, &b));
    for (size_t i = 0; i < a->count; i++) {
        double factor = (double)in[0][i] / __builtin_sqrt((double)in[3][i] + eps);
        a->real[i] = (float)factor;
        b->real[i] = (float)((double)in[1][i] - (double)in[2][i] * factor);
    }
    TRY(known_value(x, a, &at));
    TRY(known_value(x, b, &bt));
    TRY(step_binary(x, BINARY_MUL, v, at, &v));
    TRY(step_binary(x, BINARY_ADD, v, bt, &v));
    return import_set(x, 0, v);
}
