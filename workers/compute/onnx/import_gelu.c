/* SPDX-License-Identifier: Apache-2.0 */
/* import_gelu.c - what exporters write before operator set 20 for x·½(1 + erf(x/√2)) becomes one node: five passes over memory,
 * two of them over the widest values that a transformer has, become one.
 *
 * A product of x, of 1 + erf(x/√2) and of ½ is found in any order; x/√2 is a division or a multiplication by a constant. Nobody
 * else may read what lies between, which then is written by nobody. The constants may be off by what exporters round. */
#include "workers/compute/onnx/import_int.h"

#include <math.h>

enum { FACTORS = 3 };

struct find {
    const struct graph *g;
    int *uses;
};

static const struct node *maker(const struct find *f, int v, enum op op, unsigned fn)
{
    const struct value *at = &f->g->values[v];
    const struct node *n = at->node == VALUE_NONE ? NULL : &f->g->nodes[at->node];
    return n && n->op == op && n->attr.fn == fn ? n : NULL;
}

static bool is_between(const struct find *f, int v)
{
    return f->uses[v] == 1 && !f->g->values[v].is_output;
}

static bool is_about(const struct find *f, int v, double want)
{
    const struct value *c = &f->g->values[v];
    return c->region == REGION_CONST && c->data && c->shape.type == ELEM_F32 && shape_count(&c->shape, 1) == 1
           && fabs((double)*(const float *)c->data - want) < 1e-4 * want;
}

static bool is_shape_of(const struct find *f, int v, int like)
{
    const struct shape *s = &f->g->values[v].shape, *t = &f->g->values[like].shape;
    bool is_same = s->rank == t->rank && s->type == t->type && s->type == ELEM_F32;
    for (unsigned d = 0; is_same && d < s->rank; d++)
        is_same = s->dim[d].n == t->dim[d].n && s->dim[d].is_batched == t->dim[d].is_batched;
    return is_same;
}

/* Of two inputs the one that is no such constant, or VALUE_NONE. */
static int beside(const struct find *f, const struct node *n, double constant)
{
    return is_about(f, n->in[1], constant) ? n->in[0] : is_about(f, n->in[0], constant) ? n->in[1] : VALUE_NONE;
}

/* x where v is 1 + erf(x/√2). */
static int of_erf(const struct find *f, int v)
{
    const struct node *n = maker(f, v, OP_BINARY, BINARY_ADD), *by;
    int erf = n && is_between(f, v) ? beside(f, n, 1) : VALUE_NONE;
    n = erf == VALUE_NONE || !is_between(f, erf) ? NULL : maker(f, erf, OP_UNARY, UNARY_ERF);
    if (!n || !is_between(f, n->in[0]))
        return VALUE_NONE;
    if ((by = maker(f, n->in[0], OP_BINARY, BINARY_DIV)))
        return is_about(f, by->in[1], M_SQRT2) ? by->in[0] : VALUE_NONE;
    return (by = maker(f, n->in[0], OP_BINARY, BINARY_MUL)) ? beside(f, by, M_SQRT1_2) : VALUE_NONE;
}

/* The three factors of a product of products. */
static bool factors_of(const struct find *f, const struct node *n, int ret[FACTORS])
{
    for (int i = 0; i < 2; i++) {
        const struct node *inner = is_between(f, n->in[i]) ? maker(f, n->in[i], OP_BINARY, BINARY_MUL) : NULL;
        if (!inner)
            continue;
        ret[0] = inner->in[0], ret[1] = inner->in[1], ret[2] = n->in[1 - i];
        for (int k = 0; k < FACTORS; k++)       /* x may be a product itself */
            if (is_about(f, ret[k], 0.5))
                return true;
    }
    return false;
}

/* x where n is x·½(1 + erf(x/√2)). */
static int gelu_of(const struct find *f, const struct node *n)
{
    int factor[FACTORS];
    if (n->op != OP_BINARY || n->attr.fn != BINARY_MUL || !factors_of(f, n, factor))
        return VALUE_NONE;
    for (int k = 0; k < FACTORS; k++) {
        int x = of_erf(f, factor[k]), p = factor[(k + 1) % FACTORS], q = factor[(k + 2) % FACTORS];
        if (x != VALUE_NONE && ((p == x && is_about(f, q, 0.5)) || (q == x && is_about(f, p, 0.5))))
            return x;
    }
    return VALUE_NONE;
}

enum errc import_find_gelu(struct import *x)
{
    struct find f = { x->g, arena_try(x->a, (size_t)(x->g->value_count + 1) * sizeof *f.uses) };
    if (!f.uses)
        return FAIL(x->e, LIMIT, "the model does not fit in memory");
    for (int v = 0; v < x->g->value_count; v++)
        f.uses[v] = 0;
    for (int i = 0; i < x->g->node_count; i++)
        for (int k = 0; k < OP_INPUTS_MAX; k++)
            if (x->g->nodes[i].in[k] != VALUE_NONE)
                f.uses[x->g->nodes[i].in[k]]++;
    for (int i = 0; i < x->g->node_count; i++) {
        struct node *n = &x->g->nodes[i];
        int from = gelu_of(&f, n);
        if (from == VALUE_NONE || !is_shape_of(&f, n->out[0], from))
            continue;
        n->op = OP_UNARY;
        n->attr = (struct op_attr){ .fn = UNARY_GELU_ERF };
        n->in[0] = from;
        n->in[1] = VALUE_NONE;
    }
    return ERR_OK;
}
