/* SPDX-License-Identifier: Apache-2.0 */
/* import.c - inputs, then the nodes in their order, then outputs; the names of values are a hash table. */
#include "workers/compute/onnx/import_int.h"

#include <stdio.h>

static const struct onnx_op {
    const char *name, *domain, *limits;
    size_t in_min, in_max;
    import_fn run;
    unsigned arg;
} ops[] = {
#define ONNX_OP(Name, domain, in_min, in_max, handler, arg, limits) \
    { #Name, domain, limits, in_min, in_max, import_##handler, arg },
#include "workers/compute/onnx/op_onnx.def"
#undef ONNX_OP
};
enum { OPS = sizeof ops / sizeof *ops, NODES_PER_NODE = 8, NAMES_PER_NODE = 10, NODES_PER_CONV = 1200 };

struct named *import_name(struct import *x, struct str name)
{
    size_t i = (size_t)str_hash(name) & (x->table_size - 1);
    while (x->table[i].name.ptr && !str_eq(x->table[i].name, name))
        i = (i + 1) & (x->table_size - 1);
    x->table[i].name = name;
    return &x->table[i];
}

bool import_has(const struct import *x, size_t i)
{
    return i < x->node->in_count && x->node->in[i].len > 0;
}

struct named *import_in(struct import *x, size_t i)
{
    return import_name(x, x->node->in[i]);
}

static enum errc set(struct import *x, size_t out, struct named n)
{
    if (out >= x->node->out_count || !x->node->out[out].len)
        return ERR_OK;
    struct named *to = import_name(x, x->node->out[out]);
    if (to->is_set)
        return FAIL(x->e, BAD_DATA, "\"%.*s\" is made twice", STR_ARG(to->name));
    n.name = to->name;
    n.is_set = true;
    *to = n;
    return ERR_OK;
}

enum errc import_set(struct import *x, size_t out, int value)
{
    TRY(graph_check(x->g, x->e));
    return set(x, out, (struct named){ .value = value });
}

enum errc import_set_known(struct import *x, size_t out, struct known *k)
{
    return set(x, out, (struct named){ .known = k });
}

enum errc import_value_of(struct import *x, struct named *n, int *ret)
{
    if (n->known)
        return known_value(x, n->known, ret);
    *ret = n->value;
    return ERR_OK;
}

enum errc import_value(struct import *x, size_t i, int *ret)
{
    return import_value_of(x, import_in(x, i), ret);
}

const struct shape *import_shape_of(const struct import *x, int value)
{
    return &x->g->values[value].shape;
}

int64_t import_attr(const struct import *x, const char *name, int64_t dflt)
{
    const struct onnx_attr *t = onnx_attr_find(x->node, name);
    return t && t->has_i ? t->i : dflt;
}

double import_attr_real(const struct import *x, const char *name, double dflt)
{
    const struct onnx_attr *t = onnx_attr_find(x->node, name);
    return t && t->has_f ? t->f : dflt;
}

enum errc import_axis(struct import *x, int64_t axis, unsigned rank, unsigned *ret)
{
    if (axis < -(int64_t)rank || axis >= (int64_t)rank)
        return FAIL(x->e, BAD_DATA, "axis %ld of %u dimensions", (long)axis, rank);
    *ret = (unsigned)(axis < 0 ? axis + (int64_t)rank : axis);
    return ERR_OK;
}

static const struct onnx_op *find_op(const struct onnx_node *n)
{
    struct str domain = str_eq_c(n->domain, "ai.onnx") ? STR("") : n->domain;
    for (size_t i = 0; i < OPS; i++)
        if (str_eq_c(n->op, ops[i].name) && str_eq_c(domain.ptr ? domain : STR(""), ops[i].domain))
            return &ops[i];
    return NULL;
}

static enum errc run_node(struct import *x)
{
    const struct onnx_node *n = x->node;
    const struct onnx_op *op = find_op(n);
    if (!op)
        return UNSUPPORTED(x, "this operator is not supported (docs/gen/onnx.md has those that are)");
    if (n->in_count < op->in_min || (op->in_max && n->in_count > op->in_max) || n->out_count < 1)
        return FAIL(x->e, BAD_DATA, "it has %zu inputs and %zu outputs", n->in_count, n->out_count);
    for (size_t i = 0; i < n->in_count; i++) {
        if (!n->in[i].len && i >= op->in_min)
            continue;
        if (!n->in[i].len || !import_in(x, i)->is_set)
            return FAIL(x->e, BAD_DATA, "it reads \"%.*s\", which nothing before it makes", STR_ARG(n->in[i]));
    }
    for (size_t i = 0; i < n->attr_count; i++)
        if (n->attr[i].has_graph)
            return UNSUPPORTED(x, "graphs inside of nodes are not supported");
    return op->run(x, op->arg);
}

/* What went wrong, with the node in front of it. */
static enum errc at_node(const struct import *x, size_t i)
{
    struct err inner = *x->e;
    const struct onnx_node *n = &x->file->nodes[i];
    return err_set(x->e, inner.code, inner.file, inner.line, "node %zu \"%.*s\" (%.*s): %.150s", i,
                   (int)(n->name.len < 60 ? n->name.len : 60),
                   n->name.ptr ? n->name.ptr : "", (int)(n->op.len < 40 ? n->op.len : 40), n->op.ptr ? n->op.ptr : "", inner.msg);
}

static bool is_index(enum onnx_type t)
{
    return t == ONNX_INT64 || t == ONNX_INT32;
}

static enum errc add_input(struct import *x, const struct onnx_value *v, const struct onnx_dims *dims, struct sig_tensor *sig)
{
    struct shape s = { .type = is_index(v->type) ? ELEM_I32 : ELEM_F32, .rank = v->rank };
    TRY(onnx_sig_input(v, dims, sig, x->e));
    for (uint32_t d = 0; d < v->rank; d++)
        s.dim[d] = sig->dim[d] < 0 ? DIM_ROWS(1) : DIM((size_t)sig->dim[d]);
    struct named *n = import_name(x, v->name);
    *n = (struct named){ .name = v->name, .is_set = true, .is_truth = v->type == ONNX_BOOL,
                         .is_byte = v->type == ONNX_UINT8 || v->type == ONNX_INT8 };
    n->value = graph_input(x->g, str_z(x->a, v->name), s);
    return graph_check(x->g, x->e);
}

/* An output of its own: what is an input, a constant or another output already goes through a copy. */
static enum errc add_output(struct import *x, const struct onnx_value *v, struct sig_tensor *sig)
{
    struct named *n = import_name(x, v->name);
    int value;
    if (!v->name.len || !n->is_set || v->name.len > SIG_NAME_MAX)
        return FAIL(x->e, BAD_DATA, "nothing makes the output \"%.*s\"", STR_ARG(v->name));
    if (n->known)
        TRY(known_value(x, n->known, &value));
    else
        value = n->value;
    if (import_shape_of(x, value)->type == ELEM_F32) {      /* a node of its own, so that a name is a name */
        const struct value *at = &x->g->values[value];
        if (at->is_input || at->is_output || at->region == REGION_CONST)
            TRY(step_op(x, OP_UNARY, &(struct op_attr){ .fn = UNARY_IDENTITY }, &value, 1, &value));
    }
    const struct value *at = &x->g->values[value];
    if (at->is_input || at->is_output || at->region == REGION_CONST)
        return FAIL(x->e, UNPROCESSABLE, "output \"%.*s\" is an input, a constant or another output", STR_ARG(v->name));
    graph_output(x->g, value, str_z(x->a, v->name));
    const struct shape *s = import_shape_of(x, value);
    const char *datatype = onnx_datatype(v->type);
    if (s->type == ELEM_I32)
        datatype = v->type == ONNX_INT32 ? "INT32" : "INT64";
    if (!datatype || (is_index(v->type) && s->type != ELEM_I32))
        datatype = "FP32";
    *sig = (struct sig_tensor){ .name = v->name, .datatype = str_c(datatype), .rank = s->rank };
    for (unsigned d = 0; d < s->rank; d++) {
        if (s->dim[d].is_batched && (d || s->dim[d].n != 1))
            return FAIL(x->e, UNPROCESSABLE,
                        "output \"%.*s\" has the batch in dimension %u; a row of the output must belong to a row of the input",
                        STR_ARG(v->name), d);
        sig->dim[d] = s->dim[d].is_batched ? -1 : (int64_t)s->dim[d].n;
    }
    return ERR_OK;
}

static enum errc add_tensors(struct import *x)
{
    for (size_t i = 0; i < x->file->tensor_count; i++) {
        const struct onnx_tensor *t = &x->file->tensors[i];
        struct known *k = arena_try(x->a, sizeof *k);
        struct named *n = import_name(x, t->name);
        if (!k)
            return FAIL(x->e, LIMIT, "the model does not fit in memory");
        if (!t->name.len || n->is_set)
            return FAIL(x->e, BAD_DATA, "two tensors are named \"%.*s\", or one has no name", STR_ARG(t->name));
        *k = (struct known){ .rank = t->rank, .count = t->count, .tensor = t };
        memcpy(k->dim, t->dim, sizeof k->dim);
        k->is_whole = t->type != ONNX_FLOAT && t->type != ONNX_DOUBLE && t->type != ONNX_FLOAT16 && t->type != ONNX_BFLOAT16;
        *n = (struct named){ .name = t->name, .is_set = true, .known = k };
    }
    return ERR_OK;
}

static enum errc run(struct import *x, const struct onnx_dims *dims, struct model_sig *sig)
{
    const struct onnx_file *m = x->file;
    TRY(add_tensors(x));
    for (size_t i = 0; i < m->input_count; i++)
        TRY(add_input(x, &m->inputs[i], dims, &sig->inputs[i]));
    for (size_t i = 0; i < m->node_count; i++) {
        x->node = &m->nodes[i];
        if (run_node(x) != ERR_OK)
            return at_node(x, i);
    }
    for (size_t i = 0; i < m->output_count; i++)
        TRY(add_output(x, &m->outputs[i], &sig->outputs[i]));
    sig->input_count = m->input_count;
    sig->output_count = m->output_count;
    TRY(graph_check(x->g, x->e));
    return import_find_gelu(x);
}

enum errc onnx_import(struct arena *a, const struct onnx_file *m, const struct onnx_dims *dims, struct graph **ret,
                      struct model_sig *ret_sig, struct err *e)
{
    if (m->opset < ONNX_OPSET_MIN || m->opset > ONNX_OPSET_MAX)
        return FAIL(e, UNPROCESSABLE, "the model uses operator set %ld; %d to %d are supported", (long)m->opset, ONNX_OPSET_MIN,
                    ONNX_OPSET_MAX);
    if (!m->input_count || !m->output_count || m->input_count > SIG_TENSORS_MAX || m->output_count > SIG_TENSORS_MAX)
        return FAIL(e, UNPROCESSABLE, "the model has %zu inputs and %zu outputs; 1 to %d of each are supported", m->input_count,
                    m->output_count,
                    SIG_TENSORS_MAX);
    size_t names = m->tensor_count + m->input_count + m->output_count + 1, size = 64;
    for (size_t i = 0; i < m->node_count; i++)
        names += m->nodes[i].in_count + m->nodes[i].out_count + NAMES_PER_NODE;
    while (size < 2 * names)
        size *= 2;
    struct import x = { .a = a, .file = m, .e = e, .table_size = size, .table = arena_try(a, size * sizeof *x.table) };
    if (!x.table)
        return FAIL(e, LIMIT, "the model does not fit in memory");
    size_t nodes = m->node_count * NODES_PER_NODE + SIG_TENSORS_MAX;
    for (size_t i = 0; i < m->node_count; i++)
        nodes += str_eq_c(m->nodes[i].op, "Conv") && onnx_attr_find(&m->nodes[i], "group") ? NODES_PER_CONV : 0;
    x.g = graph_new(ELEM_F32, (int)(nodes < GRAPH_NODES_MAX ? nodes : GRAPH_NODES_MAX));
    enum errc rc = run(&x, dims, ret_sig);
    if (rc != ERR_OK) {
        graph_free(x.g);
        return rc;
    }
    *ret = x.g;
    return ERR_OK;
}

bool onnx_print_ops(struct buf *out)
{
    bool ok = buf_printf(out, "# ONNX operators\n\nPrinted from workers/compute/onnx/op_onnx.def. What "
                              "`falaj-worker convert` and "
                              "`falaj-worker infer` take,\noperator sets %d to %d. A model with another operator, or with one "
                              "beyond the limits given, is refused with the node's name.\n\n"
                              "| operator | limits |\n|---|---|\n", ONNX_OPSET_MIN, ONNX_OPSET_MAX);
    for (size_t i = 0; i < OPS; i++)
        ok = buf_printf(out, "| `%s%s%s` | %s |\n", ops[i].domain, *ops[i].domain ? "." : "", ops[i].name, ops[i].limits) && ok;
    return ok;
}
