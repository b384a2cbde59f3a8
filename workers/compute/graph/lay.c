/* SPDX-License-Identifier: Apache-2.0 */
/* lay.c - lifetimes and places. The largest result is placed first, each at the lowest offset where it meets nothing that
 * lives at the same time (Pisarchyk & Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020: greedy by
 * size). */
#include "workers/compute/graph/plan_int.h"

#include <stdlib.h>

static bool is_in_arena(const struct graph *g, int value)
{
    return value != VALUE_NONE && g->values[value].region == REGION_ARENA;
}

static void extend(struct plan *p, int value, int node)
{
    struct plan_place *root = &p->places[p->places[value].root];
    if (node > root->last)
        root->last = node;
}

/* The last node that reads the value or another one in its place. */
static int last_read(const struct plan *p, int root)
{
    const struct graph *g = p->graph;
    int last = -1;
    for (int i = 0; i < g->node_count; i++)
        for (int k = 0; k < OP_INPUTS_MAX && !g->nodes[i].is_gone; k++)
            if (is_in_arena(g, g->nodes[i].in[k]) && p->places[g->nodes[i].in[k]].root == root)
                last = i;
    return last;
}

static int root_kept(const struct plan *p, int root)
{
    const struct graph *g = p->graph;
    for (int v = 0; v < g->value_count; v++)
        if (p->places[v].root == root && (g->values[v].is_input || g->values[v].is_output))
            return true;
    return false;
}

/* Whether output `out` of node i may have the place of the input that its row names. Views made later do not count yet: a view of
 * that input would be read after, and then the input's last read is not this node. */
static bool may_take_over(const struct plan *p, int i, int from, int out)
{
    const struct graph *g = p->graph;
    const struct node *n = &g->nodes[i];
    if (!is_in_arena(g, from) || !is_in_arena(g, out) || g->values[out].is_output)
        return false;
    int root = p->places[from].root;
    for (int k = 0; k < OP_INPUTS_MAX; k++)     /* another input in the same place is read while the output is written */
        if (n->in[k] != VALUE_NONE && n->in[k] != from && is_in_arena(g, n->in[k]) && p->places[n->in[k]].root == root)
            return false;
    return !root_kept(p, root) && last_read(p, root) == i
           && shape_bytes(&g->values[from].shape, p->max_rows) == shape_bytes(&g->values[out].shape, p->max_rows);
}

static void find_roots(struct plan *p)
{
    const struct graph *g = p->graph;
    for (int v = 0; v < g->value_count; v++)
        p->places[v] = (struct plan_place){ .first = -1, .last = -1, .root = v };
    for (int i = 0; i < g->node_count; i++)     /* views first, so that last_read sees through them */
        if (!g->nodes[i].is_gone && (op_row(g->nodes[i].op)->flags & OP_VIEW) && is_in_arena(g, g->nodes[i].in[0]))
            p->places[g->nodes[i].out[0]].root = p->places[g->nodes[i].in[0]].root;
    for (int i = 0; i < g->node_count; i++) {
        const struct node *n = &g->nodes[i];
        const struct op_row *row = op_row(n->op);
        if (n->is_gone || row->takes_over < 0 || !row->outs || (row->flags & OP_VIEW))
            continue;
        int from = n->in[row->takes_over], out = n->out[row->outs - 1];
        if (!may_take_over(p, i, from, out))
            continue;
        int root = p->places[from].root;
        for (int v = 0; v < g->value_count; v++)
            if (p->places[v].root == out)
                p->places[v].root = root;
    }
}

static void find_lifetimes(struct plan *p)
{
    const struct graph *g = p->graph;
    for (int v = 0; v < g->value_count; v++)
        p->places[v].first = g->node_count;
    for (int v = 0; v < g->value_count; v++)
        if (is_in_arena(g, v) && g->values[v].is_input) {
            p->places[v].first = -1;
            extend(p, v, g->node_count);
        }
    for (int i = 0; i < g->node_count; i++) {
        const struct node *n = &g->nodes[i];
        for (int k = 0; k < OP_OUTPUTS_MAX && !n->is_gone; k++) {
            if (!is_in_arena(g, n->out[k]))
                continue;
            struct plan_place *root = &p->places[p->places[n->out[k]].root];
            root->first = i < root->first ? i : root->first;
            extend(p, n->out[k], g->values[n->out[k]].is_output ? g->node_count : i);
            size_t bytes = shape_bytes(&g->values[n->out[k]].shape, p->max_rows);
            root->size_bytes = bytes > root->size_bytes ? bytes : root->size_bytes;
        }
        for (int k = 0; k < OP_INPUTS_MAX && !n->is_gone; k++)
            if (is_in_arena(g, n->in[k]))
                extend(p, n->in[k], i);
    }
    for (int v = 0; v < g->value_count; v++)
        if (is_in_arena(g, v) && g->values[v].is_input)
            p->places[v].size_bytes = shape_bytes(&g->values[v].shape, p->max_rows);
}

struct by_size {
    size_t size_bytes;
    int value;
};

static int compare_size(const void *a, const void *b)
{
    const struct by_size *x = a, *y = b;
    if (x->size_bytes != y->size_bytes)
        return x->size_bytes > y->size_bytes ? -1 : 1;
    return x->value < y->value ? -1 : x->value > y->value;
}

static size_t aligned(size_t n)
{
    return (n + PLACE_ALIGN - 1) / PLACE_ALIGN * PLACE_ALIGN;
}

/* The lowest offset where the place fits beside all that lives at the same time; placed: values by offset, ascending. */
static size_t lowest(const struct plan *p, const struct plan_place *at, const int *placed, int count)
{
    size_t offset = 0;
    for (int i = 0; i < count; i++) {
        const struct plan_place *o = &p->places[placed[i]];
        if (o->first > at->last || at->first > o->last)
            continue;
        if (offset + aligned(at->size_bytes) <= o->offset_bytes)
            break;
        size_t end = o->offset_bytes + aligned(o->size_bytes);
        offset = end > offset ? end : offset;
    }
    return offset;
}

void plan_lay(struct plan *p)
{
    struct graph *g = p->graph;
    struct by_size *order = ARENA_ARRAY(g->arena, struct by_size, g->value_count + 1);
    int *placed = ARENA_ARRAY(g->arena, int, g->value_count + 1), count = 0, n = 0;
    find_roots(p);
    find_lifetimes(p);
    for (int v = 0; v < g->value_count; v++)
        if (is_in_arena(g, v) && p->places[v].root == v && p->places[v].size_bytes)
            order[n++] = (struct by_size){ p->places[v].size_bytes, v };
    qsort(order, (size_t)n, sizeof *order, compare_size);
    for (int i = 0; i < n; i++) {
        struct plan_place *at = &p->places[order[i].value];
        at->offset_bytes = lowest(p, at, placed, count);
        int k = count++;
        for (; k > 0 && p->places[placed[k - 1]].offset_bytes > at->offset_bytes; k--)
            placed[k] = placed[k - 1];
        placed[k] = order[i].value;
        size_t end = at->offset_bytes + aligned(at->size_bytes);
        if (end > p->region_bytes[REGION_ARENA])
            p->region_bytes[REGION_ARENA] = end;
    }
    for (int v = 0; v < g->value_count; v++)
        p->places[v].offset_bytes = p->places[p->places[v].root].offset_bytes;
}
