/* SPDX-License-Identifier: Apache-2.0 */
/* graph_read.c - the graph of a model file, built node by node through the rules of op.def. */
#include "workers/compute/infer/graph_file.h"
#include "workers/compute/infer/graph_attr_int.h"
#include "core/data/json_read.h"

#include <string.h>

struct reader {
    struct json_scan s;
    struct arena *a;
    const struct st_file *file;
    struct graph *g;
    int *value;                 /* of the graph, by number of the file */
    int count, most;
    bool *is_named;             /* by tensor of the file: a constant has its data, which may be read only once */
    struct err *e;
};

static enum errc unreadable(struct reader *r)
{
    return FAIL(r->e, BAD_DATA, "the graph is not readable %zu bytes before its end: %s", (size_t)(r->s.end - r->s.at),
                r->s.why ? r->s.why : "it is not what is due here");
}

static enum errc read_shape(struct reader *r, struct shape *ret)
{
    int64_t dim[TENSOR_DIMS_MAX];
    size_t rank;
    if (!json_read_key(&r->s, "shape") || !json_read_i64s(&r->s, dim, TENSOR_DIMS_MAX, &rank) || rank == 0)
        return unreadable(r);
    ret->rank = (unsigned)rank;
    for (size_t d = 0; d < rank; d++) {
        if (dim[d] == INT64_MIN)
            return unreadable(r);
        ret->dim[d] = (struct dim){ (size_t)(dim[d] < 0 ? -dim[d] : dim[d]), dim[d] < 0 };
    }
    return ERR_OK;
}

static enum errc keep(struct reader *r, int value)
{
    TRY(graph_check(r->g, r->e));
    if (r->count == r->most)
        return FAIL(r->e, LIMIT, "the graph has more values than its text can name");
    r->value[r->count++] = value;
    return ERR_OK;
}

static bool elem_of(struct str name, enum elem *ret)
{
    for (int t = 0; t < ELEM_COUNT; t++)
        if (str_eq_c(name, elem_name((enum elem)t))) {
            *ret = (enum elem)t;
            return true;
        }
    return false;
}

static enum errc read_input(struct reader *r)
{
    struct str name, type;
    struct shape shape = { 0 };
    if (!json_scan_take(&r->s, '{') || !json_read_key(&r->s, "name") || !json_read_text(&r->s, r->a, SIG_NAME_MAX, &name)
        || !json_scan_take(&r->s, ',') || !json_read_key(&r->s, "type") || !json_read_text(&r->s, r->a, 8, &type)
        || !json_scan_take(&r->s, ','))
        return unreadable(r);
    TRY(read_shape(r, &shape));
    if (!json_scan_take(&r->s, '}') || !elem_of(type, &shape.type))
        return unreadable(r);
    return keep(r, graph_input(r->g, name.ptr, shape));
}

static enum errc read_constant(struct reader *r)
{
    static const int elems[ST_DTYPES] = { [ST_F32] = ELEM_F32 + 1, [ST_BF16] = ELEM_BF16 + 1, [ST_I32] = ELEM_I32 + 1,
                                          [ST_U16] = ELEM_U16 + 1, [ST_I8] = ELEM_I8 + 1, [ST_U8] = ELEM_U8 + 1 };
    struct str name;
    if (!json_read_text(&r->s, r->a, ST_NAME_MAX, &name))
        return unreadable(r);
    const struct st_tensor *t = st_find(r->file, name);
    if (!t)
        return FAIL(r->e, BAD_DATA, "the graph names the constant \"%.*s\", which is not in the file", STR_ARG(name));
    if (r->is_named[t - r->file->tensors])
        return FAIL(r->e, BAD_DATA, "the graph names the constant \"%.*s\" twice", STR_ARG(name));
    r->is_named[t - r->file->tensors] = true;
    if (!elems[t->dtype] || t->rank < 1 || t->rank > TENSOR_DIMS_MAX || (uintptr_t)t->data % st_width(t->dtype))
        return FAIL(r->e, BAD_DATA, "tensor \"%.*s\" has a type, a number of dimensions or a place that no constant may have",
                    STR_ARG(name));
    struct shape shape = { (enum elem)(elems[t->dtype] - 1), t->rank, { { 0 } } };
    for (uint32_t d = 0; d < t->rank; d++)
        shape.dim[d] = DIM(t->shape[d]);
    return keep(r, graph_const(r->g, name.ptr, shape, t->data));
}

static enum errc read_attr(struct reader *r, struct op_attr *attr)
{
    for (int i = 0; i < GRAPH_ATTRS; i++) {
        int64_t v, list[TENSOR_DIMS_MAX];
        double real;
        size_t n;
        void *p = (char *)attr + graph_attrs[i].offset;
        struct json_scan before = r->s;
        if (!json_read_key(&r->s, graph_attrs[i].name)) {
            r->s = before;
            continue;
        }
        switch (graph_attrs[i].kind) {
        case ATTR_UNSIGNED: case ATTR_SIZE:
            if (!json_read_i64(&r->s, &v) || v < 0 || (graph_attrs[i].kind == ATTR_UNSIGNED && v > INT32_MAX))
                return unreadable(r);
            if (graph_attrs[i].kind == ATTR_UNSIGNED)
                *(unsigned *)p = (unsigned)v;
            else
                *(size_t *)p = (size_t)v;
            return ERR_OK;
        case ATTR_REAL:
            if (!json_read_f64(&r->s, &real))
                return unreadable(r);
            memcpy(p, &real, sizeof real);
            return ERR_OK;
        case ATTR_PAIR: case ATTR_SIZES:
            if (!json_read_i64s(&r->s, list, graph_attrs[i].kind == ATTR_PAIR ? 2 : TENSOR_DIMS_MAX, &n))
                return unreadable(r);
            for (size_t k = 0; k < n; k++) {
                if (list[k] < 0)
                    return unreadable(r);
                ((size_t *)p)[k] = (size_t)list[k];
            }
            return ERR_OK;
        }
    }
    r->s.why = "there is no attribute of this name";
    return unreadable(r);
}

/* What a served graph may be made of: no gradient, no update, no loss, nothing that only a plan makes. */
static const bool is_served[OP_COUNT] = {
    [OP_MATMUL] = true, [OP_ADD_BIAS] = true, [OP_ADD] = true, [OP_RESHAPE] = true, [OP_RELU] = true, [OP_GELU] = true,
    [OP_LAYERNORM] = true, [OP_EMBED] = true, [OP_STANDARDISE] = true, [OP_SOFTMAX] = true, [OP_ARGMAX] = true,
    [OP_UNARY] = true, [OP_BINARY] = true, [OP_SELECT] = true, [OP_TRANSPOSE] = true, [OP_SLICE] = true, [OP_CONCAT] = true,
    [OP_REDUCE] = true, [OP_BMM] = true, [OP_CONV2D] = true, [OP_GROUPNORM] = true, [OP_MAXPOOL] = true, [OP_AVGPOOL] = true,
    [OP_ATTENTION] = true, [OP_RMSNORM] = true, [OP_SWIGLU] = true, [OP_TREES_PACK] = true, [OP_TREES] = true,
    [OP_ROTARY] = true, [OP_DEPTHWISE] = true, [OP_QMATMUL] = true, [OP_QCONV2D] = true,
    [OP_CAST] = true,
};

static enum errc find_op(struct reader *r, struct str name, enum op *ret)
{
    for (int op = 0; op < OP_COUNT; op++) {
        if (!is_served[op] || !str_eq_c(name, op_name((enum op)op)))
            continue;
        *ret = (enum op)op;
        return ERR_OK;
    }
    return FAIL(r->e, UNPROCESSABLE, "the operation \"%.*s\" is not known", STR_ARG(name));
}

static enum errc read_node(struct reader *r, bool *ret_is_reshape, struct shape *shape, enum op *op, struct op_attr *attr,
                           int64_t *ins, size_t *n)
{
    struct str name;
    if (!json_scan_take(&r->s, '{') || !json_read_key(&r->s, "op") || !json_read_text(&r->s, r->a, GRAPH_FILE_OP_MAX, &name)
        || !json_scan_take(&r->s, ',') || !json_read_key(&r->s, "in") || !json_read_i64s(&r->s, ins, OP_INPUTS_MAX, n))
        return unreadable(r);
    TRY(find_op(r, name, op));
    *ret_is_reshape = false;
    for (bool first = false; json_read_more(&r->s, '}', &first);) {
        json_scan_space(&r->s);
        *ret_is_reshape = *op == OP_RESHAPE && !*ret_is_reshape;
        TRY(*ret_is_reshape ? read_shape(r, shape) : read_attr(r, attr));
    }
    return r->s.at[-1] == '}' ? ERR_OK : unreadable(r);
}

static enum errc add_node(struct reader *r)
{
    struct op_attr attr = { 0 };
    struct shape shape = { 0 };
    int64_t ins[OP_INPUTS_MAX];
    int in[OP_INPUTS_MAX], first = r->g->value_count;
    size_t n = 0;
    bool is_reshape;
    enum op op;
    TRY(read_node(r, &is_reshape, &shape, &op, &attr, ins, &n));
    for (size_t i = 0; i < n; i++) {
        if (ins[i] < -1 || ins[i] >= r->count)
            return FAIL(r->e, BAD_DATA, "it reads value %ld, which nothing before it makes", (long)ins[i]);
        in[i] = ins[i] < 0 ? VALUE_NONE : r->value[ins[i]];
    }
    unsigned known = op == OP_ATTENTION ? ATTN_CAUSAL : op == OP_QMATMUL ? Q8_ITEM : MM_TRANS_A | MM_TRANS_B;
    if ((attr.flags & ~known) || (op == OP_MATMUL && n > 2))
        return FAIL(r->e, BAD_DATA, "flags %u: either bias and activation are within a product, where a file has nodes, or "
                    "the file is of a newer release than this machine", attr.flags);
    if (op == OP_RESHAPE && (!is_reshape || n != 1 || in[0] == VALUE_NONE))
        return FAIL(r->e, BAD_DATA, "reshape takes one input and a shape");
    (void)(is_reshape ? graph_reshape(r->g, in[0], shape) : graph_op(r->g, op, &attr, in, n));
    TRY(graph_check(r->g, r->e));
    for (int v = first; v < r->g->value_count; v++)
        TRY(keep(r, v));
    return ERR_OK;
}

static enum errc read_output(struct reader *r)
{
    struct str name;
    int64_t v;
    if (!json_scan_take(&r->s, '{') || !json_read_key(&r->s, "name") || !json_read_text(&r->s, r->a, SIG_NAME_MAX, &name)
        || !json_scan_take(&r->s, ',') || !json_read_key(&r->s, "value") || !json_read_i64(&r->s, &v) || !json_scan_take(&r->s,
                                                                                                                         '}'))
        return unreadable(r);
    if (v < 0 || v >= r->count || r->g->values[r->value[v]].is_output)
        return FAIL(r->e, BAD_DATA, "output \"%.*s\" is value %ld, which is none, or another output already", STR_ARG(name),
                    (long)v);
    if (r->g->values[r->value[v]].is_input || r->g->values[r->value[v]].region == REGION_CONST)
        return FAIL(r->e, BAD_DATA, "output \"%.*s\" is an input or a constant", STR_ARG(name));
    graph_output(r->g, r->value[v], name.ptr);
    return ERR_OK;
}

static enum errc at_node(struct err *e, size_t i)
{
    struct err inner = *e;
    return err_set(e, inner.code, inner.file, inner.line, "node %zu: %.200s", i, inner.msg);
}

static enum errc read_list(struct reader *r, const char *key, enum errc (*one)(struct reader *r), size_t most)
{
    bool first = true;
    size_t n = 0;
    if (!json_read_key(&r->s, key) || !json_scan_take(&r->s, '['))
        return unreadable(r);
    r->s.why = NULL;
    while (json_read_more(&r->s, ']', &first)) {
        if (n++ == most)
            return FAIL(r->e, LIMIT, "the graph has more than %zu %s", most, key);
        if (one(r) != ERR_OK)
            return strcmp(key, "nodes") ? r->e->code : at_node(r->e, n - 1);
        r->s.why = NULL;
    }
    return r->s.why ? unreadable(r) : ERR_OK;
}

bool graph_file_elem(struct str datatype, enum elem *ret)
{
    static const struct { const char *name; enum elem type; } rows[] = {
        { "FP32", ELEM_F32 }, { "INT64", ELEM_I32 }, { "INT32", ELEM_I32 }, { "BOOL", ELEM_F32 }, { "BYTES", ELEM_F32 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_eq_c(datatype, rows[i].name)) {
            *ret = rows[i].type;
            return true;
        }
    return false;
}

/* The signature must say what the graph has. */
static enum errc check_sig(const struct graph *g, const struct sig_tensor *t, size_t n, bool inputs, struct err *e)
{
    size_t found = 0;
    for (int v = 0; v < g->value_count; v++) {
        const struct value *at = &g->values[v];
        enum elem type;
        if (inputs ? !at->is_input : !at->is_output)
            continue;
        int i = sig_find(t, n, str_c(at->name));
        bool same = i >= 0 && t[i].rank == at->shape.rank && graph_file_elem(t[i].datatype, &type) && type == at->shape.type;
        for (unsigned d = 0; same && d < at->shape.rank; d++)
            same = at->shape.dim[d].is_batched ? t[i].dim[d] == -1 && at->shape.dim[d].n == 1
                                               : t[i].dim[d] == (int64_t)at->shape.dim[d].n;
        if (!same)
            return FAIL(e, BAD_DATA, "the signature does not have \"%s\" as the graph has it", at->name);
        found++;
    }
    return found == n ? ERR_OK : FAIL(e, BAD_DATA, "the signature has tensors that the graph does not have");
}

static size_t count_text(struct str s, char c)
{
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++)
        n += s.ptr[i] == c;
    return n;
}

static enum errc read_graph(struct reader *r, struct model_sig *sig)
{
    if (!json_scan_take(&r->s, '{'))
        return unreadable(r);
    TRY(read_list(r, "inputs", read_input, SIG_TENSORS_MAX));
    if (!json_scan_take(&r->s, ','))
        return unreadable(r);
    TRY(read_list(r, "constants", read_constant, GRAPH_FILE_CONSTANTS_MAX));
    if (!json_scan_take(&r->s, ','))
        return unreadable(r);
    TRY(read_list(r, "nodes", add_node, GRAPH_FILE_NODES_MAX));
    if (!json_scan_take(&r->s, ','))
        return unreadable(r);
    TRY(read_list(r, "outputs", read_output, SIG_TENSORS_MAX));
    if (!json_scan_take(&r->s, '}') || r->s.at != r->s.end)
        return unreadable(r);
    TRY(check_sig(r->g, sig->inputs, sig->input_count, true, r->e));
    return check_sig(r->g, sig->outputs, sig->output_count, false, r->e);
}

enum errc graph_file_read(struct arena *a, const struct st_file *f, struct model_sig *ret_sig, struct graph **ret, struct err *e)
{
    struct str text = st_meta(f, "graph");
    TRY(model_graph_check(a, f, ret_sig, e));
    size_t nodes = count_text(text, '{');       /* no fewer than there are */
    nodes = nodes < GRAPH_FILE_NODES_MAX ? nodes : GRAPH_FILE_NODES_MAX;
    struct reader r = { .s = { text.ptr, text.ptr + text.len, NULL }, .a = a, .file = f, .e = e };
    r.most = (int)(nodes * OP_OUTPUTS_MAX + f->tensor_count + SIG_TENSORS_MAX);
    r.value = arena_try(a, (size_t)r.most * sizeof *r.value);
    r.is_named = arena_try(a, f->tensor_count + 1);
    if (!r.value || !r.is_named)
        return FAIL(e, LIMIT, "the graph does not fit in memory");
    r.g = graph_new(ELEM_F32, (int)(nodes + f->tensor_count / 4 + SIG_TENSORS_MAX));
    enum errc rc = read_graph(&r, ret_sig);
    if (rc != ERR_OK) {
        graph_free(r.g);
        return rc;
    }
    *ret = r.g;
    return ERR_OK;
}
