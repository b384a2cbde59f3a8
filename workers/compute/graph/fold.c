/* SPDX-License-Identifier: Apache-2.0 */
/* fold.c - what is known before the first run: weights packed in the backend's order, results of constants alone, dead nodes.
 *
 * A constant goes to the backend when the first node needs it and leaves again when only its packed form is read, so the raw
 * weights of a served model are never kept beside the packed ones. Where they lie in host memory they are taken in slab by slab,
 * and each slab is done with before the next: a model that is loaded takes little more than the larger of its two forms. */
#include "workers/compute/graph/plan_int.h"
#include "core/base/pages.h"

#include <string.h>

enum { SLAB_ROWS = 64 };                /* panels of every backend divide it */

static bool is_const(const struct graph *g, int value)
{
    return g->values[value].region == REGION_CONST;
}

/* The node's weights through `pack`, and the node itself as one that takes them so. */
static bool replace_packed(struct graph *g, struct node *node, enum op pack, enum op op, const struct op_attr *attr)
{
    int at = (int)(node - g->nodes), packed = graph_op(g, pack, attr, GRAPH_INS(node->in[1]));
    if (packed == VALUE_NONE)
        return false;
    node = &g->nodes[at];               /* they may have moved */
    node->op = op;
    node->attr = *attr;
    node->in[1] = packed;
    return true;
}

/* A convolution by constant weights takes them as a packed matrix [out, window·in]. */
static bool pack_conv(struct plan *p, struct node *node)
{
    struct graph *g = p->graph;
    const struct shape *w = in_shape(g, node, 1);
    struct op_attr attr = node->attr;
    enum elem type = in_shape(g, node, 0)->type;
    if (!is_const(g, node->in[1]) || is_const(g, node->in[0]) || !backend_can(p->be, OP_PACK, type)
        || !backend_can(p->be, OP_CONV2D_PACKED, type))
        return true;
    attr.window[0] = w->dim[1].n, attr.window[1] = w->dim[2].n;
    attr.n = w->dim[0].n;
    attr.k = attr.window[0] * attr.window[1] * w->dim[3].n;
    const struct shape *x = in_shape(g, node, 0);
    bool may_turn = p->be->windows_bytes && type == ELEM_F32 && !(attr.flags & OP_BF16);
    size_t turned = may_turn ? p->be->windows_bytes(&attr, x->dim[1].n, x->dim[2].n) : 0;
    attr.bytes = turned ? turned : p->be->pack_bytes(attr.n, attr.k);
    return replace_packed(g, node, turned ? OP_WINO_PACK : OP_PACK, turned ? OP_CONV2D_WINO : OP_CONV2D_PACKED, &attr);
}

/* Weights of bytes, which are constants whenever they come from a file. */
static bool pack_q8(struct plan *p, struct node *node)
{
    struct graph *g = p->graph;
    bool is_conv = node->op == OP_QCONV2D;
    const struct shape *w = in_shape(g, node, 1);
    enum op packed_op = is_conv ? OP_QCONV2D_PACKED : OP_QMATMUL_PACKED;
    struct op_attr attr = node->attr;
    if (!is_const(g, node->in[1]) || is_const(g, node->in[0]) || !backend_can(p->be, OP_QPACK, ELEM_I8)
        || !backend_can(p->be, packed_op, in_shape(g, node, 0)->type))
        return true;
    attr.window[0] = is_conv ? w->dim[1].n : 0, attr.window[1] = is_conv ? w->dim[2].n : 0;
    attr.n = w->dim[0].n;
    attr.k = is_conv ? w->dim[1].n * w->dim[2].n * w->dim[3].n : w->dim[1].n;
    size_t slices = is_conv ? attr.window[0] : 1;
    const struct shape *x = in_shape(g, node, 0);
    size_t turned = is_conv && p->be->q8_windows_bytes ? p->be->q8_windows_bytes(&attr, x->dim[1].n, x->dim[2].n) : 0;
    attr.bytes = turned ? turned : p->be->pack_q8_bytes(attr.n, slices, attr.k / slices);
    return replace_packed(g, node, turned ? OP_QWINO_PACK : OP_QPACK, turned ? OP_QCONV2D_WINO : packed_op, &attr);
}

/* x · wᵀ with constant w becomes a pack node and a product over its result. */
static void pack_weights(struct plan *p)
{
    struct graph *g = p->graph;
    for (int i = 0, n = g->node_count; i < n; i++) {
        struct node *node = &g->nodes[i];
        unsigned known = MM_TRANS_B | MM_BIAS | MM_RELU;
        if (!node->is_gone && node->op == OP_CONV2D && !pack_conv(p, node))
            return;
        if (!node->is_gone && (node->op == OP_QMATMUL || node->op == OP_QCONV2D) && !pack_q8(p, node))
            return;
        if (node->is_gone || node->op != OP_MATMUL || !is_const(g, node->in[1]) || is_const(g, node->in[0]))
            continue;
        const struct shape *w = in_shape(g, node, 1);
        enum elem type = in_shape(g, node, 0)->type;
        if (!(node->attr.flags & MM_TRANS_B) || (node->attr.flags & ~known) || w->rank != 2
            || !backend_can(p->be, OP_PACK, type) || !backend_can(p->be, OP_MATMUL_PACKED, type))
            continue;
        struct op_attr attr = node->attr;
        attr.n = w->dim[0].n;
        attr.k = w->dim[1].n;
        attr.bytes = p->be->pack_bytes(attr.n, attr.k);
        if (!replace_packed(g, node, OP_PACK, OP_MATMUL_PACKED, &attr))
            return;
    }
}

/* Data from outside is told about; what lies in a buffer of ours goes back at once. */
static void data_done(const struct plan *p, const void *data, size_t n)
{
    if (p->data)
        p->data->done(p->data->ctx, data, n);
}

/* Whole pages for what is to be written from *at to `to`, of what ends at `end`; *at moves on. The page in which `to` lies comes
 * too: the next piece goes on there. */
static void bring_next(const struct plan *p, const char **at, const char *to, const char *end)
{
    size_t n = (size_t)(end - *at), whole;
    const char *from = pages_within(*at, n, &whole), *until = pages_end(to);
    until = until < from + whole ? until : from + whole;
    if (until <= from)
        return;
    if (p->data && p->data->bring)
        p->data->bring(p->data->ctx, from, (size_t)(until - from));
    else
        pages_bring(from, (size_t)(until - from), true);
    *at = until;
}

static enum errc put_const(struct plan *p, int value, struct err *e)
{
    const struct value *v = &p->graph->values[value];
    if (p->consts[value] || !v->data)
        return ERR_OK;
    size_t bytes = shape_bytes(&v->shape, 1);
    p->consts[value] = p->be->alloc(p->ctx, bytes);
    if (!p->consts[value])
        return FAIL(e, LIMIT, "no memory for the constant %s of %zu bytes", v->name, bytes);
    const char *first = p->consts[value]->ptr, *brought = first;
    for (size_t at = 0, n; at < bytes; at += n) {
        n = bytes - at < PAGES_SLAB ? bytes - at : PAGES_SLAB;
        if (p->be->properties & BE_HOST_MEMORY && bytes > PAGES_SLAB)
            bring_next(p, &brought, first + at + n, first + bytes);
        p->be->put(p->ctx, QUEUE_COMPUTE, p->consts[value], at, (const char *)v->data + at, n);
        if (p->be->properties & BE_HOST_MEMORY)
            data_done(p, (const char *)v->data + at, n);
    }
    return ERR_OK;
}

void plan_drop_const(struct plan *p, int value)
{
    if (!p->is_lent[value])
        p->be->free(p->ctx, p->consts[value]);
    p->consts[value] = NULL;
}

static void drop_unread(struct plan *p, int value)
{
    if (!graph_uses(p->graph, value) && !p->graph->values[value].is_output)
        plan_drop_const(p, value);
}

static enum errc run_node(struct plan *p, struct node *n, struct err *e)
{
    struct tensor t[OP_INPUTS_MAX + OP_OUTPUTS_MAX];
    struct op_call call = { .attr = n->attr };
    struct graph *g = p->graph;
    for (int i = 0; i < OP_INPUTS_MAX; i++) {
        if (n->in[i] == VALUE_NONE)
            continue;
        TRY(put_const(p, n->in[i], e));
        t[i] = plan_tensor(&g->values[n->in[i]], 1, p->consts[n->in[i]], 0);
        call.in[i] = &t[i];
    }
    for (int i = 0; i < OP_OUTPUTS_MAX; i++) {
        if (n->out[i] == VALUE_NONE)
            continue;
        struct value *v = &g->values[n->out[i]];
        size_t bytes = shape_bytes(&v->shape, 1);
        p->consts[n->out[i]] = p->be->alloc(p->ctx, bytes);
        if (!p->consts[n->out[i]])
            return FAIL(e, LIMIT, "no memory for a constant of %zu bytes", bytes);
        v->region = REGION_CONST;
        t[OP_INPUTS_MAX + i] = plan_tensor(v, 1, p->consts[n->out[i]], 0);
        call.out[i] = &t[OP_INPUTS_MAX + i];
    }
    (*p->be->kernels)[n->op][call.in[op_row(n->op)->key]->type](p->ctx, &call);
    TRY(p->be->sync(p->ctx, e));
    n->is_gone = true;
    for (int i = 0; i < OP_INPUTS_MAX; i++)
        if (n->in[i] != VALUE_NONE)
            drop_unread(p, n->in[i]);
    return ERR_OK;
}

/* Weights alone in their use, which a backend in host memory packs row by row of panels: those of rows 0 … n are the first
 * pack_bytes(n, k) bytes, for every n that fills its panels. */
static bool is_slabs(const struct plan *p, const struct node *n)
{
    size_t all = n->attr.n * n->attr.k * sizeof(float);
    return n->op == OP_PACK && p->be->properties & BE_HOST_MEMORY && all > PAGES_SLAB && graph_uses(p->graph, n->in[0]) == 1
           && !p->graph->values[n->in[0]].is_output && in_shape(p->graph, n, 0)->type == ELEM_F32
           && p->be->pack_bytes(SLAB_ROWS, n->attr.k) == SLAB_ROWS * n->attr.k * sizeof(float);
}

/* `take` rows from row `at` on, to where they belong in the packed ones. */
static enum errc pack_rows(struct plan *p, const struct node *n, char *data, struct buffer *packed, size_t at, size_t take,
                           struct err *e)
{
    const size_t k = n->attr.k, row = k * sizeof(float);
    struct mat w = mat_host(data, ELEM_F32, take, k);
    struct mat out = mat_at(packed, p->be->pack_bytes(at, k), ELEM_U8, 1, p->be->pack_bytes(take, k));
    struct tensor in_t = tensor_of(&w), out_t = tensor_of(&out);
    const struct op_call call = { .in = { &in_t }, .out = { &out_t } };
    pages_bring(data, take * row, false);
    (*p->be->kernels)[OP_PACK][ELEM_F32](p->ctx, &call);
    return p->be->sync(p->ctx, e);
}

/* What is kept of an earlier start, if it begins with the bytes that these weights have when they are packed. */
static enum errc find_kept(struct plan *p, const struct node *n, char *data, size_t bytes, struct buffer **ret, struct err *e)
{
    const void *at = p->kept ? p->kept->find(p->kept->ctx, p->packed_count, bytes) : NULL;
    size_t take = n->attr.n < SLAB_ROWS ? n->attr.n : SLAB_ROWS, some = p->be->pack_bytes(take, n->attr.k);
    *ret = NULL;
    if (!at || some > bytes)
        return ERR_OK;
    struct buffer *b = p->be->alloc(p->ctx, some);
    if (!b)
        return FAIL(e, LIMIT, "no memory for %zu bytes of weights", some);
    enum errc rc = pack_rows(p, n, data, b, 0, take, e);
    if (rc == ERR_OK && !memcmp(b->ptr, at, some)) {
        *ret = ARENA_NEW(p->graph->arena, struct buffer);
        **ret = (struct buffer){ .ptr = (void *)(uintptr_t)at, .size_bytes = bytes };
    }
    p->be->free(p->ctx, b);
    return rc;
}

static enum errc pack_slabs(struct plan *p, struct node *n, struct err *e)
{
    struct value *from = &p->graph->values[n->in[0]], *to = &p->graph->values[n->out[0]];
    const size_t row = n->attr.k * sizeof(float), bytes = shape_bytes(&to->shape, 1);
    size_t rows = (PAGES_SLAB / row + SLAB_ROWS - 1) / SLAB_ROWS * SLAB_ROWS;
    struct buffer *b = p->consts[n->in[0]], *packed;
    char *all = (char *)(uintptr_t)(b ? b->ptr : from->data);
    TRY(find_kept(p, n, all, bytes, &packed, e));
    bool is_lent = packed != NULL;
    packed = packed ? packed : p->be->alloc(p->ctx, bytes);
    if (!packed)
        return FAIL(e, LIMIT, "no memory for a constant of %zu bytes", bytes);
    p->consts[n->out[0]] = packed;
    p->is_lent[n->out[0]] = is_lent;
    p->packed[p->packed_count++] = n->out[0];
    to->region = REGION_CONST;
    rows = rows ? rows : SLAB_ROWS;
    const char *first = packed->ptr, *brought = first;
    for (size_t at = 0, take; at < n->attr.n; at += take) {
        take = n->attr.n - at < rows ? n->attr.n - at : rows;
        char *data = all + at * row;
        if (!is_lent)
            bring_next(p, &brought, first + p->be->pack_bytes(at + take, n->attr.k), first + bytes);
        if (!is_lent)
            TRY(pack_rows(p, n, data, packed, at, take, e));
        if (b)
            pages_drop(data, take * row);
        else
            data_done(p, data, take * row);
    }
    n->is_gone = true;
    drop_unread(p, n->in[0]);
    return ERR_OK;
}

static bool is_foldable(const struct graph *g, const struct node *n)
{
    bool all = !n->is_gone && !op_row(n->op)->writes && !(op_row(n->op)->flags & OP_VIEW) && n->in[0] != VALUE_NONE;
    for (int i = 0; i < OP_INPUTS_MAX && all; i++)
        all = n->in[i] == VALUE_NONE || is_const(g, n->in[i]);
    for (int i = 0; i < OP_OUTPUTS_MAX && all; i++)
        all = n->out[i] == VALUE_NONE || g->values[n->out[i]].region == REGION_ARENA;
    return all;
}

/* A view of a constant becomes a constant of its own: what a plan places are results, and this one has none to lie in. */
static enum errc copy_view(struct plan *p, struct node *n, struct err *e)
{
    struct graph *g = p->graph;
    int from = n->in[0], to = n->out[0];
    size_t bytes = shape_bytes(&g->values[from].shape, 1);
    TRY(put_const(p, from, e));
    void *room = arena_try(g->arena, bytes + 1);
    p->consts[to] = room ? p->be->alloc(p->ctx, bytes) : NULL;
    if (!p->consts[to])
        return FAIL(e, LIMIT, "no memory for a constant of %zu bytes", bytes);
    p->be->get(p->ctx, QUEUE_COMPUTE, p->consts[from], 0, room, bytes);
    TRY(p->be->sync(p->ctx, e));
    p->be->put(p->ctx, QUEUE_COMPUTE, p->consts[to], 0, room, bytes);
    TRY(p->be->sync(p->ctx, e));
    g->values[to].region = REGION_CONST;
    n->is_gone = true;
    drop_unread(p, from);
    return ERR_OK;
}

enum errc plan_fold(struct plan *p, struct err *e)
{
    struct graph *g = p->graph;
    for (int i = 0; i < g->node_count; i++)     /* weights that are widened first, and then packed */
        if (g->nodes[i].op == OP_CAST && is_foldable(g, &g->nodes[i]))
            TRY(run_node(p, &g->nodes[i], e));
    pack_weights(p);
    TRY(graph_check(g, e));
    for (int i = 0; i < g->node_count; i++) {
        struct node *n = &g->nodes[i];
        if (is_foldable(g, n))
            TRY(is_slabs(p, n) ? pack_slabs(p, n, e) : run_node(p, n, e));
        else if (!n->is_gone && (op_row(n->op)->flags & OP_VIEW) && is_const(g, n->in[0]))
            TRY(copy_view(p, n, e));
    }
    for (int v = 0; v < g->value_count; v++)
        if (is_const(g, v) && (graph_uses(g, v) || g->values[v].is_output))
            TRY(put_const(p, v, e));
    for (int v = 0; v < g->value_count; v++)
        g->values[v].data = NULL;
    return p->be->sync(p->ctx, e);
}

static bool is_value_read(const struct graph *g, int value)
{
    const struct value *v = &g->values[value];
    return v->is_output || v->region == REGION_GRADS || v->region == REGION_NARROW || graph_uses(g, value);
}

void plan_sweep(struct graph *g)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (int i = g->node_count - 1; i >= 0; i--) {
            struct node *n = &g->nodes[i];
            bool is_read = n->is_gone || op_row(n->op)->writes;
            for (int k = 0; k < OP_OUTPUTS_MAX && !is_read; k++)
                is_read = n->out[k] != VALUE_NONE && is_value_read(g, n->out[k]);
            if (!is_read)
                n->is_gone = changed = true;
        }
    }
}
