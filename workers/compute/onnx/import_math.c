/* SPDX-License-Identifier: Apache-2.0 */
/* import_math.c - operators that compute: single numbers and products. A product with constant weights becomes x · wᵀ, which is
 * how a plan packs them; a bias and a ReLU after it join it there. Sums and norms: import_norm.c. */
#include "workers/compute/onnx/import_int.h"

#include <float.h>

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

/* What looks at one number at a time does not mind where channels lie. */
enum errc import_each(struct import *x, enum op op, const struct op_attr *attr, int v)
{
    const struct named *from = import_in(x, 0);
    bool is_last = from->last != 0;
    v = is_last ? from->last - 1 : v;
    TRY(step_op(x, op, attr, &v, 1, &v));
    return is_last ? import_set_last(x, v) : import_set(x, 0, v);
}

HANDLER(relu)
{
    (void)arg_;
    int v;
    TRY(import_value(x, 0, &v));
    return import_each(x, OP_RELU, &(struct op_attr){ 0 }, v);
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
    TRY(import_each(x, OP_UNARY, &attr, v));
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
    return import_each(x, OP_UNARY, &attr, v);
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
    if (arg_ == BINARY_MUL && x->node->in_count == 2)
        TRY(import_dynamic_mul(x, &done));
    if (done)
        return ERR_OK;
    if (p->known && q && q->known && x->node->in_count == 2)
        TRY(known_binary(x, arg_, p->known, q->known, &k, &done));
    if (done)
        return import_set_known(x, 0, k);
    if (p->is_byte || (q && q->is_byte))
        return UNSUPPORTED(x, "whole numbers that are inputs are computed with; cast them to FLOAT before");
    TRY(import_value(x, 0, &v));
    if (x->node->in_count == 2 && p->last && q->last && arg_ == BINARY_ADD) {      /* two images with their channels last */
        TRY(add_values(x, p->last - 1, q->last - 1, &v));
        return import_set_last(x, v);
    }
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
    bool tb = import_attr(x, "transB", 0), done = false;
    struct known *w = import_in(x, 1)->known;
    int a, b, y;
    if (import_attr(x, "transA", 0))
        return UNSUPPORTED(x, "transA 1");
    TRY(import_value(x, 0, &a));
    if (import_shape_of(x, a)->rank != 2 || (w && w->rank != 2))
        return FAIL(x->e, BAD_DATA, "its inputs are no matrices");
    if (alpha == 1)
        TRY(import_q8_product(x, tb, &y, &done));
    if (w && !done)
        TRY(weights(x, w, tb, (float)alpha, &b));
    else if (!done)
        TRY(import_value(x, 1, &b));
    if (!done)
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
    bool done;
    TRY(import_q8_product(x, false, &y, &done));
    if (done)
        return import_set(x, 0, y);
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
