/* SPDX-License-Identifier: Apache-2.0 */
/* recompute.c - results that are dropped and made again: less memory for more products.
 *
 * A block's results that the backward pass reads, and nobody outside of the block in the forward pass, are made by copies of the
 * block's nodes, which stand before the first node of the backward pass that reads one. So the originals live no longer than the
 * forward pass of their block, and the copies no longer than its backward pass; what leaves a block is kept (Chen et al.,
 * "Training Deep Nets with Sublinear Memory Cost", 2016). A copy has the same kernel and the same inputs, and dropout is a
 * function of seed, step and place: the bits are the same. */
#include "workers/compute/graph/graph_int.h"

#include <string.h>

struct again {
    struct graph *g;
    struct node *old;           /* the nodes as they were */
    int count;
    int *by;                    /* by value: the node that makes it */
    int *made;                  /* by value: its copy; VALUE_NONE: none */
    int *block_of;              /* by value: the block that makes it in the forward pass; 0: none */
    bool *leaves;               /* by value: read outside of its block in the forward pass, or an output */
    bool *is_needed;            /* by node: of the block that is being copied */
    bool *is_copied;            /* by block */
};

static bool is_forward(const struct node *n)
{
    return n->phase != PHASE_BACKWARD && n->phase != PHASE_UPDATE;
}

/* Where each value is made and who reads it. */
static void look(struct again *w)
{
    const struct graph *g = w->g;
    for (int i = 0; i < w->count; i++)
        for (int k = 0; k < OP_OUTPUTS_MAX; k++)
            if (w->old[i].out[k] != VALUE_NONE && is_forward(&w->old[i])) {
                w->block_of[w->old[i].out[k]] = w->old[i].block;
                w->by[w->old[i].out[k]] = i;
            }
    for (int v = 0; v < g->value_count; v++)
        w->leaves[v] = g->values[v].is_output || g->values[v].region != REGION_ARENA;
    for (int i = 0; i < w->count; i++)
        for (int k = 0; k < OP_INPUTS_MAX; k++) {
            int v = w->old[i].in[k];
            if (v != VALUE_NONE && is_forward(&w->old[i]) && w->old[i].block != w->block_of[v])
                w->leaves[v] = true;
        }
}

static bool is_dropped(const struct again *w, int v)
{
    return v != VALUE_NONE && w->block_of[v] && !w->leaves[v];
}

/* The nodes of a block that make what the backward pass reads, and what those read in turn. */
static void mark_needed(struct again *w, int block)
{
    memset(w->is_needed, 0, (size_t)w->count * sizeof *w->is_needed);
    for (int i = w->count - 1; i >= 0; i--) {
        const struct node *n = &w->old[i];
        if (is_forward(n) && !w->is_needed[i])
            continue;
        for (int k = 0; k < OP_INPUTS_MAX; k++)
            if (is_dropped(w, n->in[k]) && w->block_of[n->in[k]] == block)
                w->is_needed[w->by[n->in[k]]] = true;
    }
}

/* Puts a node behind those that are there. */
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

static void take_copies(const struct again *w, struct node *n)
{
    for (int k = 0; k < OP_INPUTS_MAX; k++)
        if (is_dropped(w, n->in[k]) && w->made[n->in[k]] != VALUE_NONE)
            n->in[k] = w->made[n->in[k]];
}

static void copy_node(struct again *w, int i)
{
    struct graph *g = w->g;
    struct node n = w->old[i];
    n.phase = PHASE_BACKWARD;
    n.is_again = true;
    take_copies(w, &n);
    for (int k = 0; k < OP_OUTPUTS_MAX; k++) {
        int v = w->old[i].out[k];
        if (v == VALUE_NONE)
            continue;
        struct value copy = g->values[v];
        n.out[k] = graph_value(g, &copy);
        if (n.out[k] != VALUE_NONE)
            w->made[v] = n.out[k];
    }
    if (g->err.code == ERR_OK)
        put(g, &n);
}

static void copy_block(struct again *w, int block)
{
    if (w->is_copied[block])
        return;
    w->is_copied[block] = true;
    mark_needed(w, block);
    for (int i = 0; i < w->count && w->g->err.code == ERR_OK; i++)
        if (w->is_needed[i])
            copy_node(w, i);
}

/* Second results that only the backward pass reads (OP_LATER) are left out where nobody reads them any more. */
static void leave_out(struct graph *g)
{
    for (int i = 0; i < g->node_count; i++) {
        struct node *n = &g->nodes[i];
        int last = (int)op_row(n->op)->outs - 1;
        if (n->block && is_forward(n) && last > 0 && (op_row(n->op)->flags & OP_LATER) && !g->values[n->out[last]].is_output
            && !graph_uses(g, n->out[last]))
            n->out[last] = VALUE_NONE;
    }
}

/* Before a node of the backward pass: the blocks whose dropped results it reads, once each. */
static void before(struct again *w, const struct node *n)
{
    for (int k = 0; k < OP_INPUTS_MAX; k++)
        if (is_dropped(w, n->in[k]))
            copy_block(w, w->block_of[n->in[k]]);
}

void graph_recompute(struct graph *g)
{
    if (g->err.code != ERR_OK)
        return;
    struct arena *a = g->arena;
    int values = g->nodes_max * 4 + 64, blocks = 0;
    struct again w = { .g = g, .old = ARENA_ARRAY(a, struct node, g->node_count + 1), .count = g->node_count,
                       .by = ARENA_ARRAY(a, int, values), .made = ARENA_ARRAY(a, int, values),
                       .block_of = ARENA_ARRAY(a, int, values), .leaves = ARENA_ARRAY(a, bool, values),
                       .is_needed = ARENA_ARRAY(a, bool, g->node_count + 1) };
    memcpy(w.old, g->nodes, (size_t)w.count * sizeof *w.old);
    for (int v = 0; v < values; v++)
        w.made[v] = VALUE_NONE;
    for (int i = 0; i < w.count; i++)
        blocks = w.old[i].block > blocks ? w.old[i].block : blocks;
    w.is_copied = ARENA_ARRAY(a, bool, blocks + 1);
    look(&w);
    g->node_count = 0;
    for (int i = 0; i < w.count && g->err.code == ERR_OK; i++) {
        struct node n = w.old[i];
        if (!is_forward(&n)) {
            before(&w, &n);
            take_copies(&w, &n);
        }
        put(g, &n);
    }
    leave_out(g);
}
