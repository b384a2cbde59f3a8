/* SPDX-License-Identifier: Apache-2.0 */
/* sites.c - nodes are changed where they stand; new ones, which read constants alone, go in front of all others. */
#include "workers/compute/optimise/sites.h"

#include <math.h>
#include <string.h>

static size_t depth_of(const struct shape *w)
{
    return shape_count(w, 1) / w->dim[0].n;
}

size_t sites_find(const struct graph *g, struct site *ret)
{
    size_t n = 0;
    for (int i = 0; i < g->node_count; i++) {
        const struct node *node = &g->nodes[i];
        bool is_product = node->op == OP_MATMUL && node->attr.flags == MM_TRANS_B;
        if (node->is_gone || (!is_product && (node->op != OP_CONV2D || node->attr.flags)))
            continue;
        const struct value *w = &g->values[node->in[1]], *x = &g->values[node->in[0]];
        if (w->region != REGION_CONST || !w->data || w->shape.type != ELEM_F32 || w->shape.rank != (is_product ? 2 : 4)
            || x->region != REGION_ARENA || x->shape.type != ELEM_F32 || depth_of(&w->shape) > Q8_DEPTH_MAX)
            continue;
        ret[n++] = (struct site){ i, node->in[0] };
    }
    return n;
}

enum errc site_to_bytes(struct graph *g, struct arena *a, const struct site *s, float min, float max, struct err *e)
{
    struct shape shape = g->values[g->nodes[s->node].in[1]].shape;
    size_t rows = shape.dim[0].n, depth = depth_of(&shape);
    const float *w = g->values[g->nodes[s->node].in[1]].data;
    int8_t *bytes = arena_try(a, rows * depth + 1);
    float *scale = arena_try(a, (rows + 1) * sizeof *scale);
    if (!bytes || !scale)
        return FAIL(e, LIMIT, "%zu weights do not fit in the memory of this job", rows * depth);
    for (size_t i = 0; i < rows; i++) {
        float top = 0;
        for (size_t k = 0; k < depth; k++)
            top = fmaxf(top, fabsf(w[i * depth + k]));
        if (!isfinite(top))
            return FAIL(e, UNPROCESSABLE, "node %d has weights that are no finite numbers", s->node);
        scale[i] = top >= 1e-30f ? top / 127 : 1;
        for (size_t k = 0; k < depth; k++)
            bytes[i * depth + k] = (int8_t)rintf(w[i * depth + k] / scale[i]);
    }
    shape.type = ELEM_I8;
    int weights = graph_const(g, "", shape, bytes);
    int scales = graph_const(g, "", (struct shape){ ELEM_F32, 1, { DIM(rows) } }, scale);
    TRY(graph_check(g, e));
    struct node *node = &g->nodes[s->node];
    node->op = node->op == OP_CONV2D ? OP_QCONV2D : OP_QMATMUL;
    node->attr.flags = 0;
    range_steps(min, max, &node->attr.alpha, &node->attr.gamma);
    node->in[1] = weights;
    node->in[2] = scales;
    return ERR_OK;
}

/* The last n nodes become the first. */
static enum errc turn_nodes(struct graph *g, struct arena *a, int n, struct err *e)
{
    int rest = g->node_count - n;
    struct node *all = arena_try(a, (size_t)(g->node_count + 1) * sizeof *all);
    if (!all)
        return FAIL(e, LIMIT, "the graph does not fit in the memory of this job");
    memcpy(all, g->nodes + rest, (size_t)n * sizeof *all);
    memcpy(all + n, g->nodes, (size_t)rest * sizeof *all);
    memcpy(g->nodes, all, (size_t)g->node_count * sizeof *all);
    for (int v = 0; v < g->value_count; v++)
        if (g->values[v].node != VALUE_NONE)
            g->values[v].node = g->values[v].node < rest ? g->values[v].node + n : g->values[v].node - rest;
    return ERR_OK;
}

enum errc sites_to_bf16(struct graph *g, struct arena *a, const struct site *sites, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        struct shape shape = g->values[g->nodes[sites[i].node].in[1]].shape;
        size_t count = shape_count(&shape, 1);
        const float *w = g->values[g->nodes[sites[i].node].in[1]].data;
        uint16_t *half = arena_try(a, count * sizeof *half + 1);
        if (!half)
            return FAIL(e, LIMIT, "%zu weights do not fit in the memory of this job", count);
        for (size_t k = 0; k < count; k++)
            half[k] = bf16_of(w[k]);
        shape.type = ELEM_BF16;
        int from = graph_const(g, "", shape, half);
        int wide = graph_op(g, OP_CAST, &(struct op_attr){ .n = ELEM_F32 }, &from, 1);
        TRY(graph_check(g, e));
        g->nodes[sites[i].node].in[1] = wide;
    }
    return turn_nodes(g, a, (int)n, e);
}
