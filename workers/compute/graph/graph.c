/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c - values and nodes in two arrays, appended in the order in which they will run. */
#include "workers/compute/graph/graph_int.h"

#include <stdio.h>
#include <string.h>

enum { VALUES_PER_NODE = 4, VALUES_MORE = 64, REGION_BYTES_MAX_LOG2 = 40 };

struct graph *graph_new(enum elem type, int nodes_max)
{
    ASSERT(nodes_max > 0 && nodes_max <= GRAPH_NODES_MAX);
    struct arena *a = arena_new((size_t)1 << 30);
    struct graph *g = ARENA_NEW(a, struct graph);
    g->arena = a;
    g->type = type;
    g->phase = PHASE_FORWARD;
    g->nodes_max = nodes_max;
    g->nodes = ARENA_ARRAY(a, struct node, nodes_max);
    g->values = ARENA_ARRAY(a, struct value, nodes_max * VALUES_PER_NODE + VALUES_MORE);
    return g;
}

void graph_free(struct graph *g)
{
    if (g)
        arena_free(g->arena);
}

void graph_freep(struct graph **g)
{
    graph_free(*g);
    *g = NULL;
}

enum errc graph_check(const struct graph *g, struct err *e)
{
    if (g->err.code == ERR_OK)
        return ERR_OK;
    *e = g->err;
    return e->code;
}

void graph_fail(struct graph *g, const struct err *e)
{
    if (g->err.code == ERR_OK)
        g->err = *e;
}

size_t shape_count(const struct shape *s, size_t rows)
{
    size_t n = 1;
    for (unsigned i = 0; i < s->rank; i++)
        n *= s->dim[i].n * (s->dim[i].is_batched ? rows : 1);
    return n;
}

const char *shape_text(const struct shape *s, char *buf, size_t size)
{
    size_t n = (size_t)snprintf(buf, size, "%s[", elem_name(s->type));
    for (unsigned i = 0; i < s->rank && n < size; i++) {
        const char *comma = i ? "," : "";
        if (s->dim[i].is_batched && s->dim[i].n == 1)
            n += (size_t)snprintf(buf + n, size - n, "%srows", comma);
        else
            n += (size_t)snprintf(buf + n, size - n, "%s%zu%s", comma, s->dim[i].n, s->dim[i].is_batched ? "rows" : "");
    }
    if (n < size)
        snprintf(buf + n, size - n, "]");
    return buf;
}

bool is_same_shape(const struct shape *a, const struct shape *b)
{
    if (a->type != b->type || a->rank != b->rank)
        return false;
    for (unsigned i = 0; i < a->rank; i++)
        if (!is_same_dim(a->dim[i], b->dim[i]))
            return false;
    return true;
}

/* Sizes come from specs and model files: their product must stay far from what a size_t holds. */
static enum errc check_size(const char *name, const struct shape *s, struct err *e)
{
    size_t n = elem_bytes(s->type), batched = 0;
    if (s->rank < 1 || s->rank > TENSOR_DIMS_MAX)
        return FAIL(e, UNPROCESSABLE, "%s has %u dimensions; 1 to %d are known", name, s->rank, TENSOR_DIMS_MAX);
    for (unsigned i = 0; i < s->rank; i++) {
        batched += s->dim[i].is_batched;
        if (s->dim[i].n == 0 || __builtin_mul_overflow(n, s->dim[i].n, &n) || n >> REGION_BYTES_MAX_LOG2)
            return FAIL(e, LIMIT, "dimension %u of %s is %zu, which no tensor here may have", i, name, s->dim[i].n);
    }
    return batched <= 1 ? ERR_OK : FAIL(e, UNPROCESSABLE, "%s depends on the batch in more than one dimension", name);
}

int graph_value(struct graph *g, const struct value *v)
{
    struct err e;
    const char *name = v->name && *v->name ? v->name : "a result";
    if (g->err.code != ERR_OK)
        return VALUE_NONE;
    enum errc rc = check_size(name, &v->shape, &e);
    for (unsigned i = 0; rc == ERR_OK && v->region != REGION_ARENA && i < v->shape.rank; i++)
        if (v->shape.dim[i].is_batched)
            rc = FAIL(&e, UNPROCESSABLE, "%s depends on the batch; what is kept from step to step cannot", name);
    if (rc == ERR_OK && g->value_count == g->nodes_max * VALUES_PER_NODE + VALUES_MORE)
        rc = FAIL(&e, LIMIT, "the graph has more than %d values", g->value_count);
    if (rc != ERR_OK) {
        graph_fail(g, &e);
        return VALUE_NONE;
    }
    struct value *new = &g->values[g->value_count];
    *new = *v;
    new->name = arena_strndup(g->arena, v->name ? v->name : "", v->name ? strlen(v->name) : 0);
    return g->value_count++;
}

int graph_input(struct graph *g, const char *name, struct shape shape)
{
    return graph_value(g, &(struct value){ .name = name, .shape = shape, .node = VALUE_NONE, .is_input = true });
}

int graph_const(struct graph *g, const char *name, struct shape shape, const void *data)
{
    const struct value v = { .name = name, .shape = shape, .region = REGION_CONST, .node = VALUE_NONE, .data = data };
    return graph_value(g, &v);
}

int graph_param(struct graph *g, const char *name, unsigned rank, const struct dim *dim)
{
    struct value v = { .name = name, .region = REGION_PARAMS, .node = VALUE_NONE };
    v.offset_bytes = g->param_count * elem_bytes(g->type);
    v.shape = (struct shape){ .type = g->type, .rank = rank };
    memcpy(v.shape.dim, dim, (rank < TENSOR_DIMS_MAX ? rank : TENSOR_DIMS_MAX) * sizeof *dim);
    int id = graph_value(g, &v);
    if (id != VALUE_NONE)
        g->param_count += shape_count(&v.shape, 1);
    return id;
}

int graph_view(struct graph *g, enum region region, size_t first, size_t count)
{
    struct shape s = { g->type, 1, { DIM(count) } };
    ASSERT(first + count <= g->param_count || g->err.code != ERR_OK);
    const struct value v = { .shape = s, .region = region, .node = VALUE_NONE, .offset_bytes = first * elem_bytes(g->type) };
    return graph_value(g, &v);
}

int graph_step(struct graph *g)
{
    struct shape s = { ELEM_U8, 1, { DIM(sizeof(struct step_scalars)) } };
    return graph_value(g, &(struct value){ .name = "step", .shape = s, .region = REGION_STEP, .node = VALUE_NONE });
}

static enum errc check_inputs(const struct graph *g, const struct node *n, size_t ins, struct err *e)
{
    const struct op_row *row = op_row(n->op);
    if (ins < row->in_min || ins > row->in_max)
        return FAIL(e, UNPROCESSABLE, "%s has %zu inputs; it takes %u to %u", row->name, ins, row->in_min, row->in_max);
    for (size_t i = 0; i < ins; i++)
        if (n->in[i] < VALUE_NONE || n->in[i] >= g->value_count || (n->in[i] == VALUE_NONE && i < row->in_min))
            return FAIL(e, UNPROCESSABLE, "input %zu of %s is missing", i, row->name);
    if (g->node_count == g->nodes_max)
        return FAIL(e, LIMIT, "the graph has more than %d nodes", g->nodes_max);
    return ERR_OK;
}

int graph_op(struct graph *g, enum op op, const struct op_attr *attr, const int *in, size_t ins)
{
    struct node n = { .op = op, .phase = g->phase, .block = g->block, .attr = *attr };
    struct shape shapes[OP_OUTPUTS_MAX];
    struct err e;
    if (g->err.code != ERR_OK)
        return VALUE_NONE;
    for (size_t i = 0; i < OP_INPUTS_MAX; i++)
        n.in[i] = i < ins ? in[i] : VALUE_NONE;
    enum errc rc = check_inputs(g, &n, ins, &e);
    if (rc == ERR_OK)
        rc = node_shapes(g, &n, shapes, &e);
    if (rc != ERR_OK) {
        graph_fail(g, &e);
        return VALUE_NONE;
    }
    for (int i = 0; i < OP_OUTPUTS_MAX; i++)
        n.out[i] = i < (int)op_row(op)->outs
                       ? graph_value(g, &(struct value){ .shape = shapes[i], .node = g->node_count, .out = i })
                       : VALUE_NONE;
    if (g->err.code != ERR_OK)
        return VALUE_NONE;
    g->nodes[g->node_count++] = n;
    return n.out[0];
}

int graph_out(const struct graph *g, int value, int out)
{
    return value == VALUE_NONE ? VALUE_NONE : g->nodes[g->values[value].node].out[out];
}

int graph_reshape(struct graph *g, int x, struct shape to)
{
    struct err e;
    char from_text[96], to_text[96];
    if (x == VALUE_NONE)
        return VALUE_NONE;
    to.type = g->values[x].shape.type;
    int y = graph_op1(g, OP_RESHAPE, x);
    if (y == VALUE_NONE)
        return VALUE_NONE;
    const struct shape *from = &g->values[x].shape;
    if (shape_count(from, 1) != shape_count(&to, 1) || shape_count(from, 2) != shape_count(&to, 2)) {
        FAIL(&e, UNPROCESSABLE, "%s cannot be seen as %s", shape_text(from, from_text, sizeof from_text),
             shape_text(&to, to_text, sizeof to_text));
        graph_fail(g, &e);
        return VALUE_NONE;
    }
    g->values[y].shape = to;
    return y;
}

int graph_over_ranks(struct graph *g, enum over_ranks over, int x)
{
    int y = graph_op1(g, over == OVER_SUM ? OP_COPY : OP_RESHAPE, x);
    if (y != VALUE_NONE)
        g->nodes[g->values[y].node].over = over;
    return y;
}

void graph_output(struct graph *g, int value, const char *name)
{
    if (value == VALUE_NONE)
        return;
    g->values[value].is_output = true;
    g->values[value].name = arena_strndup(g->arena, name, strlen(name));
}

void graph_bf16(struct graph *g)
{
    for (int i = 0; i < g->node_count; i++) {
        struct node *n = &g->nodes[i];
        const struct op_row *row = op_row(n->op);
        if ((row->flags & OP_ROUNDS) && in_shape(g, n, (int)row->key)->type == ELEM_F32)
            n->attr.flags |= OP_BF16;
    }
}

int graph_uses(const struct graph *g, int value)
{
    int n = 0;
    for (int i = 0; i < g->node_count; i++)
        for (int k = 0; k < OP_INPUTS_MAX && !g->nodes[i].is_gone; k++)
            n += g->nodes[i].in[k] == value;
    return n;
}
