/* SPDX-License-Identifier: Apache-2.0 */
/* graph_write.c - a graph as metadata: what the outputs need, numbered anew. */
#include "workers/compute/infer/graph_file.h"
#include "workers/compute/infer/graph_attr_int.h"
#include "core/base/cleanup.h"

#include <string.h>

struct writer {
    const struct graph *g;
    bool *is_needed;            /* by value */
    int *number;                /* by value, in the file */
    struct buf *b;
    bool has_names;             /* constants have their own, else c0, c1, ... */
};

static void find_needed(struct writer *w)
{
    const struct graph *g = w->g;
    for (int v = 0; v < g->value_count; v++)
        w->is_needed[v] = g->values[v].is_output || g->values[v].is_input;
    for (int i = g->node_count - 1; i >= 0; i--) {
        bool any = false;
        for (int k = 0; k < OP_OUTPUTS_MAX; k++)
            any = any || (g->nodes[i].out[k] != VALUE_NONE && w->is_needed[g->nodes[i].out[k]]);
        for (int k = 0; k < OP_INPUTS_MAX && any; k++)
            if (g->nodes[i].in[k] != VALUE_NONE)
                w->is_needed[g->nodes[i].in[k]] = true;
    }
}

static bool is_node_needed(const struct writer *w, const struct node *n)
{
    for (int k = 0; k < OP_OUTPUTS_MAX; k++)
        if (n->out[k] != VALUE_NONE && w->is_needed[n->out[k]])
            return true;
    return false;
}

static void write_shape(struct buf *b, const struct shape *s)
{
    buf_add_c(b, "\"shape\":[");
    for (unsigned d = 0; d < s->rank; d++)
        buf_printf(b, "%s%s%zu", d ? "," : "", s->dim[d].is_batched ? "-" : "", s->dim[d].n);
    buf_add_char(b, ']');
}

static void write_attr(struct buf *b, const struct op_attr *attr, const struct graph_attr *row)
{
    const void *p = (const char *)attr + row->offset;
    const size_t *sizes = p;
    unsigned n = 0;
    double real = 0;
    switch (row->kind) {
    case ATTR_UNSIGNED:
        if (*(const unsigned *)p)
            buf_printf(b, ",\"%s\":%u", row->name, *(const unsigned *)p);
        return;
    case ATTR_SIZE:
        if (*sizes)
            buf_printf(b, ",\"%s\":%zu", row->name, *sizes);
        return;
    case ATTR_REAL:
        memcpy(&real, p, sizeof real);
        if (real != 0)
            buf_printf(b, ",\"%s\":%.17g", row->name, real);
        return;
    default:
        for (unsigned i = 0; i < (row->kind == ATTR_PAIR ? 2 : TENSOR_DIMS_MAX); i++)
            n = sizes[i] ? i + 1 : n;
        if (n)
            buf_printf(b, ",\"%s\":[", row->name);
        for (unsigned i = 0; i < n; i++)
            buf_printf(b, i ? ",%zu" : "%zu", sizes[i]);
        if (n)
            buf_add_char(b, ']');
    }
}

static void write_node(struct writer *w, const struct node *n)
{
    unsigned ins = op_row(n->op)->in_max;
    while (ins > op_row(n->op)->in_min && n->in[ins - 1] == VALUE_NONE)
        ins--;
    buf_printf(w->b, "{\"op\":\"%s\",\"in\":[", op_name(n->op));
    for (unsigned i = 0; i < ins; i++)
        buf_printf(w->b, i ? ",%d" : "%d", n->in[i] == VALUE_NONE ? -1 : w->number[n->in[i]]);
    buf_add_char(w->b, ']');
    for (int i = 0; i < GRAPH_ATTRS; i++)
        write_attr(w->b, &n->attr, &graph_attrs[i]);
    if (n->op == OP_RESHAPE) {
        buf_add_char(w->b, ',');
        write_shape(w->b, &w->g->values[n->out[0]].shape);
    }
    buf_add_char(w->b, '}');
}

/* The text of the graph; constants: the values that became tensors, in their order. */
static size_t write_graph(struct writer *w, int *constants)
{
    const struct graph *g = w->g;
    int next = 0;
    size_t n = 0;
    const char *before = "";
    buf_add_c(w->b, "{\"inputs\":[");
    for (int v = 0; v < g->value_count; v++) {
        if (!g->values[v].is_input)
            continue;
        w->number[v] = next++;
        buf_printf(w->b, "%s{\"name\":", before);
        buf_add_json(w->b, str_c(g->values[v].name));
        buf_printf(w->b, ",\"type\":\"%s\",", elem_name(g->values[v].shape.type));
        write_shape(w->b, &g->values[v].shape);
        buf_add_char(w->b, '}');
        before = ",";
    }
    buf_add_c(w->b, "],\"constants\":[");
    for (int v = 0; v < g->value_count; v++)
        if (g->values[v].region == REGION_CONST && w->is_needed[v]) {
            w->number[v] = next++;
            buf_add_c(w->b, n ? "," : "");
            if (w->has_names)
                buf_add_json(w->b, str_c(g->values[v].name));
            else
                buf_printf(w->b, "\"c%zu\"", n);
            constants[n++] = v;
        }
    buf_add_c(w->b, "],\"nodes\":[");
    before = "";
    for (int i = 0; i < g->node_count; i++) {
        if (!is_node_needed(w, &g->nodes[i]))
            continue;
        buf_add_c(w->b, before);
        write_node(w, &g->nodes[i]);
        for (int k = 0; k < OP_OUTPUTS_MAX; k++)
            if (g->nodes[i].out[k] != VALUE_NONE)
                w->number[g->nodes[i].out[k]] = next++;
        before = ",";
    }
    buf_add_c(w->b, "],\"outputs\":[");
    before = "";
    for (int v = 0; v < g->value_count; v++) {
        if (!g->values[v].is_output)
            continue;
        buf_printf(w->b, "%s{\"name\":", before);
        buf_add_json(w->b, str_c(g->values[v].name));
        buf_printf(w->b, ",\"value\":%d}", w->number[v]);
        before = ",";
    }
    buf_add_c(w->b, "]}");
    return n;
}

static enum errc tensor_of_const(struct arena *a, const struct value *v, size_t i, struct st_tensor *ret, struct err *e)
{
    static const enum st_dtype dtypes[ELEM_COUNT] = { [ELEM_F64] = ST_F64, [ELEM_F32] = ST_F32, [ELEM_BF16] = ST_BF16,
                                                      [ELEM_I32] = ST_I32,
                                                      [ELEM_U16] = ST_U16, [ELEM_I8] = ST_I8, [ELEM_U8] = ST_U8 };
    if (!v->data)
        return FAIL(e, INTERNAL, "a constant of the graph has no data");
    *ret = (struct st_tensor){ .name = str_fmt(a, "c%zu", i), .dtype = dtypes[v->shape.type], .rank = v->shape.rank,
                               .data = v->data, .size_bytes = shape_bytes(&v->shape, 1) };
    for (unsigned d = 0; d < v->shape.rank; d++)
        ret->shape[d] = v->shape.dim[d].n;
    return ERR_OK;
}

/* The metadata of a graph; constants: its values that are tensors of the file, room for all. */
static enum errc write_pairs(struct arena *a, struct writer *w, const struct model_sig *sig, struct st_pair ret[GRAPH_FILE_PAIRS],
                             int *constants, size_t *ret_n, struct err *e)
{
    CLEANUP(buf_releasep) struct buf text = BUF(ST_HEADER_MAX / 2), signature = BUF(SIG_JSON_MAX);
    size_t values = (size_t)w->g->value_count + 1;
    TRY(graph_check(w->g, e));
    w->is_needed = ARENA_ARRAY(a, bool, values);
    w->number = ARENA_ARRAY(a, int, values);
    w->b = &text;
    find_needed(w);
    *ret_n = write_graph(w, constants);
    if (!model_sig_write(&signature, sig) || text.overflow || *ret_n > GRAPH_FILE_CONSTANTS_MAX)
        return FAIL(e, LIMIT, "the model has more nodes or constants than a model file takes");
    ret[0] = (struct st_pair){ STR("graph_format"), STR(MODEL_GRAPH_FORMAT) };
    ret[1] = (struct st_pair){ STR("signature"), str_dup(a, buf_str(&signature)) };
    ret[2] = (struct st_pair){ STR("graph"), str_dup(a, buf_str(&text)) };
    return ERR_OK;
}

enum errc graph_file_pairs(struct arena *a, const struct graph *g, const struct model_sig *sig,
                           struct st_pair ret[GRAPH_FILE_PAIRS],
                           struct err *e)
{
    size_t n;
    struct writer w = { .g = g, .has_names = true };
    return write_pairs(a, &w, sig, ret, ARENA_ARRAY(a, int, g->value_count + 1), &n, e);
}

enum errc graph_file_write(struct arena *a, const struct graph *g, const struct model_sig *sig, const struct st_pair *meta,
                           size_t meta_count, struct buf *out, struct err *e)
{
    size_t n;
    int *constants = ARENA_ARRAY(a, int, g->value_count + 1);
    struct writer w = { .g = g };
    struct st_pair *pairs = ARENA_ARRAY(a, struct st_pair, meta_count + GRAPH_FILE_PAIRS + 1);
    if (meta_count)
        memcpy(pairs, meta, meta_count * sizeof *meta);
    pairs[meta_count++] = (struct st_pair){ STR("family"), STR("graph") };
    TRY(write_pairs(a, &w, sig, pairs + meta_count, constants, &n, e));
    struct st_tensor *tensors = ARENA_ARRAY(a, struct st_tensor, n + 1);
    for (size_t i = 0; i < n; i++)
        TRY(tensor_of_const(a, &g->values[constants[i]], i, &tensors[i], e));
    return st_write(out, tensors, n, pairs, meta_count + GRAPH_FILE_PAIRS, e);
}
