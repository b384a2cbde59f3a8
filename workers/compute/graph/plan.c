/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c - the passes in their order, the sizes of the regions, the map. */
#include "workers/compute/graph/plan_int.h"

#include <stdlib.h>
#include <string.h>

static const size_t LARGE_FROM = (size_t)4 << 20;

struct tensor plan_tensor(const struct value *v, size_t rows, struct buffer *b, size_t offset_bytes)
{
    size_t dim[TENSOR_DIMS_MAX];
    for (unsigned i = 0; i < v->shape.rank; i++)
        dim[i] = v->shape.dim[i].n * (v->shape.dim[i].is_batched ? rows : 1);
    return tensor_at(b, offset_bytes, v->shape.type, v->shape.rank, dim);
}

static enum errc check_ops(const struct graph *g, const struct backend *be, struct err *e)
{
    for (int i = 0; i < g->node_count; i++) {
        const struct node *n = &g->nodes[i];
        const struct op_row *row = op_row(n->op);
        if (!n->is_gone && !(row->flags & OP_VIEW))
            TRY(backend_require(be, n->op, in_shape(g, n, (int)row->key)->type, e));
        if (!n->is_gone && (n->attr.flags & OP_BF16) && !(be->properties & BE_BF16))
            return FAIL(e, UNPROCESSABLE, "backend %s has no %s in bf16", be->name, row->name);
    }
    return ERR_OK;
}

/* A region is there as far as a value reaches into it. */
static void size_regions(struct plan *p)
{
    const struct graph *g = p->graph;
    for (int v = 0; v < g->value_count; v++) {
        const struct value *at = &g->values[v];
        size_t end = at->offset_bytes + shape_bytes(&at->shape, 1);
        if (at->region == REGION_ARENA || at->region == REGION_CONST)
            continue;
        if (end > p->region_bytes[at->region])
            p->region_bytes[at->region] = end;
    }
    for (int v = 0; v < g->value_count; v++)
        p->region_bytes[REGION_CONST] += p->consts[v] ? p->consts[v]->size_bytes : 0;
}

/* Before any memory but that of constants is asked for; those are as large as the file that they came from. */
static enum errc check_bytes(const struct plan *p, const struct plan_options *o, struct err *e)
{
    if (!o->max_bytes || plan_bytes(p) <= o->max_bytes)
        return ERR_OK;
    return FAIL(e, LIMIT,
                "a model of %zu parameters with batches of %zu rows does not fit in %zu MiB: it needs %zu, %zu for activations",
                p->graph->param_count, p->max_rows, o->max_bytes >> 20, plan_bytes(p) >> 20, p->region_bytes[REGION_ARENA] >> 20);
}

static enum errc make(struct plan *p, const struct plan_options *o, struct err *e)
{
    struct graph *g = p->graph;
    TRY(graph_check(g, e));
    TRY(check_ops(g, p->be, e));
    p->consts = ARENA_ARRAY(g->arena, struct buffer *, g->nodes_max * 4 + 64);
    p->packed = ARENA_ARRAY(g->arena, int, g->nodes_max * 4 + 64);
    p->is_lent = ARENA_ARRAY(g->arena, bool, g->nodes_max * 4 + 64);
    plan_fuse(g);
    plan_join(g, p->be);
    plan_fuse_rows(g, p->be);
    TRY(plan_fold(p, e));
    plan_sweep(g);
    p->places = ARENA_ARRAY(g->arena, struct plan_place, g->value_count + 1);
    plan_lay(p);
    size_regions(p);
    return check_bytes(p, o, e);
}

enum errc plan_new(struct graph *g, const struct backend *be, struct backend_ctx *ctx, const struct plan_options *o,
                   struct plan **ret, struct err *e)
{
    ASSERT(o->max_rows >= 1);
    struct plan *p = calloc(1, sizeof *p);
    ASSERT(p);
    *p = (struct plan){ .graph = g, .be = be, .ctx = ctx, .max_rows = o->max_rows, .data = o->data, .kept = o->kept };
    enum errc rc = make(p, o, e);
    p->data = NULL;
    p->kept = NULL;
    if (rc != ERR_OK) {
        plan_free(p);
        return rc;
    }
    *ret = p;
    return ERR_OK;
}

void plan_free(struct plan *p)
{
    if (!p)
        return;
    for (int v = 0; p->consts && v < p->graph->value_count; v++)
        plan_drop_const(p, v);
    graph_free(p->graph);
    free(p);
}

size_t plan_packed(const struct plan *p, size_t i, const void **ret)
{
    if (i >= p->packed_count || !(p->be->properties & BE_HOST_MEMORY) || !p->consts[p->packed[i]])
        return 0;
    *ret = p->consts[p->packed[i]]->ptr;
    return p->consts[p->packed[i]]->size_bytes;
}

size_t plan_bytes(const struct plan *p)
{
    size_t n = 0;
    for (int r = 0; r < REGION_COUNT; r++)
        n += p->region_bytes[r];
    return n;
}

void plan_settle(const struct plan *p, const _Atomic bool *stop)
{
    for (int v = 0; v < p->graph->value_count && p->be->properties & BE_HOST_MEMORY; v++)
        if (p->consts[v] && !p->is_lent[v] && p->consts[v]->size_bytes >= LARGE_FROM)
            pages_large(p->consts[v]->ptr, p->consts[v]->size_bytes, stop);
}

int plan_find(const struct plan *p, const char *name)
{
    const struct graph *g = p->graph;
    for (int v = 0; v < g->value_count; v++)
        if ((g->values[v].is_input || g->values[v].is_output) && !strcmp(g->values[v].name, name))
            return v;
    return VALUE_NONE;
}

bool plan_print(const struct plan *p, struct buf *out)
{
    static const char *const region[REGION_COUNT] = { "arena", "constants", "parameters", "gradients", "m", "v", "step",
                                                     "narrow" };
    const struct graph *g = p->graph;
    char text[96];
    bool ok = buf_printf(out, "%12s %12s  %-13s %-28s %s\n", "offset", "bytes", "nodes", "shape", "value");
    for (int v = 0; v < g->value_count; v++) {
        const struct value *at = &g->values[v];
        const struct plan_place *place = &p->places[p->places[v].root];
        if (at->region != REGION_ARENA || !place->size_bytes || (at->node != VALUE_NONE && g->nodes[at->node].is_gone))
            continue;
        const char *maker = at->node == VALUE_NONE ? "input" : op_name(g->nodes[at->node].op);
        const char *space = *at->name ? " " : "", *shared = p->places[v].root == v ? "" : " (in an input's place)";
        const char *again = at->node != VALUE_NONE && g->nodes[at->node].is_again ? " (made again)" : "";
        shape_text(&at->shape, text, sizeof text);
        ok = buf_printf(out, "%12zu %12zu  %5d … %-5d %-28s %s%s%s%s%s\n", place->offset_bytes,
                        shape_bytes(&at->shape, p->max_rows), place->first, place->last, text, maker, space, at->name, shared,
                        again)
             && ok;
    }
    for (int r = 0; r < REGION_COUNT; r++)
        if (p->region_bytes[r])
            ok = buf_printf(out, "%-12s %12zu bytes\n", region[r], p->region_bytes[r]) && ok;
    return ok;
}
