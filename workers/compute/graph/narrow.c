/* SPDX-License-Identifier: Apache-2.0 */
/* narrow.c - a net that learns with its activations in bf16: half the memory, and half of what every pass over them moves.
 *
 * What a product or attention makes, and what the cells between them make of it, is bf16 as far as each of its readers takes
 * that. Sums that grow from layer to layer (the residual stream and its gradient: results of ADD and of a norm's backward form),
 * losses, moments of norms, parameters and their gradients stay fp32. A factor that stays fp32 is rounded once, by a cast before
 * its first reader; parameters by one cast of them all at the beginning of a step, into a region of their own. So a product has
 * factors of the same values as with OP_BF16 alone; what is new is the rounding of results, to the nearest.
 *
 * A result and its views (RESHAPE) have one type. Casts are nodes like others: lifetimes, recomputation and the map see them. */
#include "workers/compute/graph/graph_int.h"

#include <string.h>

/* Bits of inputs and outputs of an operation whose key is narrow or may become so. */
struct rule {
    unsigned takes;             /* inputs that may be bf16 */
    unsigned needs;             /* inputs that must be */
    unsigned makes;             /* outputs that may be */
    unsigned must;              /* outputs that are, whoever reads them */
};

static const struct rule rules[OP_COUNT] = {
    [OP_MATMUL] = { 3, 3, 1, 0 },
    [OP_ATTENTION] = { 1, 1, 1, 1 },
    [OP_ATTENTION_BWD] = { 11, 11, 1, 1 },
    [OP_ADD_BIAS] = { 1, 0, 1, 0 },
    [OP_RELU] = { 1, 0, 1, 0 },
    [OP_GELU] = { 1, 0, 1, 0 },
    [OP_SWIGLU] = { 1, 0, 1, 0 },
    [OP_DROPOUT] = { 1, 0, 1, 0 },
    [OP_RELU_BWD] = { 3, 0, 1, 0 },
    [OP_GELU_BWD] = { 3, 0, 1, 0 },
    [OP_SWIGLU_BWD] = { 3, 0, 1, 0 },
    [OP_ROTARY] = { 1, 1, 1, 1 },
    [OP_LAYERNORM] = { 0, 0, 1, 0 },
    [OP_RMSNORM] = { 0, 0, 1, 0 },
    [OP_LAYERNORM_BWD] = { 4, 0, 0, 0 },
    [OP_RMSNORM_BWD] = { 4, 0, 0, 0 },
    [OP_NORM_SCALE_BWD] = { 2, 0, 0, 0 },
    [OP_ADD] = { 3, 0, 0, 0 },
    [OP_COLSUM] = { 1, 0, 0, 0 },
    [OP_ARGMAX] = { 1, 0, 0, 0 },
    [OP_SOFTMAX_XENT] = { 1, 0, 2, 0 },         /* its gradient has the type of the logits */
};

struct narrowing {
    struct graph *g;
    struct node *old;           /* the nodes as they were */
    int count, values;
    int *root;                  /* by value: whose memory it is */
    bool *is_narrow;            /* by root */
    int *cast;                  /* by value: in the other type; VALUE_NONE: nobody asked yet */
    size_t first, end;          /* numbers of the parameters that are cast */
};

/* Products that take their factors in bf16, and what rules know beside them. */
static bool is_known(const struct node *n)
{
    return n->op != OP_MATMUL || (n->attr.flags & OP_BF16);
}

static void find_roots(struct narrowing *w)
{
    const struct graph *g = w->g;
    for (int v = 0; v < w->values; v++) {
        w->root[v] = v;
        w->cast[v] = VALUE_NONE;
    }
    for (int i = 0; i < w->count; i++)
        if (op_row(w->old[i].op)->flags & OP_VIEW)
            w->root[w->old[i].out[0]] = w->root[w->old[i].in[0]];
    for (int i = 0; i < w->count; i++)
        for (int k = 0; k < OP_OUTPUTS_MAX; k++) {
            int v = w->old[i].out[k];
            if (v != VALUE_NONE && w->root[v] == v && is_known(&w->old[i]))
                w->is_narrow[v] = (rules[w->old[i].op].makes >> k & 1) && g->values[v].shape.type == ELEM_F32
                                  && g->values[v].region == REGION_ARENA;
        }
    for (int v = 0; v < w->values; v++)         /* who reads an output from outside expects fp32 */
        if (g->values[v].is_output)
            w->is_narrow[w->root[v]] = false;
}

static bool must_be(const struct narrowing *w, int root)
{
    const struct value *v = &w->g->values[root];
    return v->node != VALUE_NONE && (rules[w->old[v->node].op].must >> v->out & 1);
}

static bool drop(struct narrowing *w, int value)
{
    bool was = w->is_narrow[w->root[value]];
    w->is_narrow[w->root[value]] = false;
    return was;
}

/* Until nothing changes: a value with a reader that takes only fp32 stays fp32. */
static void settle(struct narrowing *w)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < w->count; i++) {
            const struct node *n = &w->old[i];
            for (int k = 0; k < OP_INPUTS_MAX; k++)
                if (n->in[k] != VALUE_NONE && !(op_row(n->op)->flags & OP_VIEW)
                    && !(is_known(n) && (rules[n->op].takes >> k & 1)) && !must_be(w, w->root[n->in[k]]))
                    changed = drop(w, n->in[k]) || changed;
            if (n->op == OP_SOFTMAX_XENT && n->out[1] != VALUE_NONE && !w->is_narrow[w->root[n->in[0]]])
                changed = drop(w, n->out[1]) || changed;
        }
    }
}

static void put(struct graph *g, const struct node *n)
{
    struct err e;
    if (g->node_count == g->nodes_max) {
        FAIL(&e, LIMIT, "the graph has more than %d nodes", g->nodes_max);
        graph_fail(g, &e);
        return;
    }
    for (int k = 0; k < OP_OUTPUTS_MAX; k++)
        if (n->out[k] != VALUE_NONE)
            g->values[n->out[k]].node = g->node_count;
    g->nodes[g->node_count++] = *n;
}

static void put_cast(struct graph *g, enum phase phase, int from, int to)
{
    struct node n = { .op = OP_CAST, .phase = phase, .attr.n = g->values[to].shape.type };
    for (int k = 0; k < OP_INPUTS_MAX; k++)
        n.in[k] = k ? VALUE_NONE : from;
    for (int k = 0; k < OP_OUTPUTS_MAX; k++)
        n.out[k] = k ? VALUE_NONE : to;
    if (from != VALUE_NONE && to != VALUE_NONE)
        put(g, &n);
}

/* A parameter's place in the region of rounded ones; the cast that fills them all is put later. */
static int cast_of_param(struct narrowing *w, int value)
{
    const struct value *v = &w->g->values[value];
    size_t at = v->offset_bytes / sizeof(float), end = at + shape_count(&v->shape, 1);
    struct value narrow = { .shape = v->shape, .region = REGION_NARROW, .node = VALUE_NONE,
                            .offset_bytes = at * sizeof(uint16_t) };
    narrow.shape.type = ELEM_BF16;
    w->first = at < w->first ? at : w->first;
    w->end = end > w->end ? end : w->end;
    return graph_value(w->g, &narrow);
}

/* The value in the other type, made before the first node that asks. What is evaluated alone is not trained on: a cast that both
 * ask for belongs to the forward pass. */
static int cast_of(struct narrowing *w, const struct node *reader, int value)
{
    struct graph *g = w->g;
    if (w->cast[value] != VALUE_NONE)
        return w->cast[value];
    if (g->values[value].region == REGION_PARAMS)
        return w->cast[value] = cast_of_param(w, value);
    struct value other = { .shape = g->values[value].shape, .node = VALUE_NONE };
    other.shape.type = other.shape.type == ELEM_BF16 ? ELEM_F32 : ELEM_BF16;
    w->cast[value] = graph_value(g, &other);
    if (w->cast[value] != VALUE_NONE)
        put_cast(g, reader->phase == PHASE_EVAL ? PHASE_FORWARD : reader->phase, value, w->cast[value]);
    return w->cast[value];
}

static void put_narrowed(struct narrowing *w, struct node n)
{
    const struct rule *r = &rules[n.op];
    for (int k = 0; k < OP_INPUTS_MAX && !(op_row(n.op)->flags & OP_VIEW); k++) {
        int v = n.in[k];
        if (v == VALUE_NONE)
            continue;
        enum elem type = w->g->values[v].shape.type;
        bool needs = is_known(&n) && (r->needs >> k & 1), takes = is_known(&n) && (r->takes >> k & 1);
        if ((type == ELEM_F32 && needs) || (type == ELEM_BF16 && !takes))
            n.in[k] = cast_of(w, &n, v);
    }
    if (n.op == OP_MATMUL)
        n.attr.flags &= ~(unsigned)OP_BF16;
    put(w->g, &n);
}

/* All parameters that a product reads, from the first to the last, in one pass before everything else. */
static void put_param_cast(struct narrowing *w)
{
    struct graph *g = w->g;
    if (w->end <= w->first || g->err.code != ERR_OK)
        return;
    size_t count = w->end - w->first;
    const struct value flat = { .shape = { ELEM_BF16, 1, { DIM(count) } }, .region = REGION_NARROW, .node = VALUE_NONE,
                                .offset_bytes = w->first * sizeof(uint16_t) };
    int from = graph_view(g, REGION_PARAMS, w->first, count), to = graph_value(g, &flat);
    put_cast(g, PHASE_FORWARD, from, to);
    if (g->err.code != ERR_OK)
        return;
    struct node cast = g->nodes[g->node_count - 1];
    memmove(g->nodes + 1, g->nodes, (size_t)(g->node_count - 1) * sizeof *g->nodes);
    g->nodes[0] = cast;
    for (int i = 0; i < g->node_count; i++)
        for (int k = 0; k < OP_OUTPUTS_MAX; k++)
            if (g->nodes[i].out[k] != VALUE_NONE)
                g->values[g->nodes[i].out[k]].node = i;
}

void graph_narrow(struct graph *g)
{
    if (g->err.code != ERR_OK || g->type != ELEM_F32)
        return;
    struct arena *a = g->arena;
    const int room = g->value_count + 1;
    struct narrowing w = { .g = g, .old = ARENA_ARRAY(a, struct node, g->node_count + 1), .count = g->node_count,
                           .values = g->value_count, .root = ARENA_ARRAY(a, int, room), .cast = ARENA_ARRAY(a, int, room),
                           .is_narrow = ARENA_ARRAY(a, bool, room), .first = SIZE_MAX };
    memcpy(w.old, g->nodes, (size_t)w.count * sizeof *w.old);
    find_roots(&w);
    settle(&w);
    for (int v = 0; v < w.values; v++)
        if (w.is_narrow[w.root[v]])
            g->values[v].shape.type = ELEM_BF16;
    g->node_count = 0;
    for (int i = 0; i < w.count && g->err.code == ERR_OK; i++)
        put_narrowed(&w, w.old[i]);
    put_param_cast(&w);
}
