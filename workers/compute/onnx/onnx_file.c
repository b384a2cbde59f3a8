/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_file.c - the messages of onnx.proto, each read twice where it holds lists: counted, then filled. */
#include "workers/compute/onnx/onnx_file_int.h"

/* How often a field of bytes comes. */
static size_t count_of(struct str message, uint32_t number)
{
    struct pb p = pb_of(message);
    struct pb_field f;
    size_t n = 0;
    while (pb_next(&p, &f))
        n += f.number == number && f.wire == PB_BYTES;
    return n;
}

static enum errc list(struct arena *a, struct str message, uint32_t number, size_t most, size_t size, const char *what,
                      void **ret,
                      struct err *e)
{
    size_t n = count_of(message, number);
    if (n > most)
        return FAIL(e, LIMIT, "there are %zu %s; at most %zu are read", n, what, most);
    *ret = arena_try(a, (n + 1) * size);
    return *ret ? ERR_OK : FAIL(e, LIMIT, "%zu %s do not fit in memory", n, what);
}

static enum errc read_attr(struct arena *a, struct str message, struct onnx_attr *ret, struct err *e)
{
    struct pb p = pb_of(message);
    struct pb_field f;
    size_t most = message.len;
    while (pb_next(&p, &f)) {
        union { uint32_t u; float f; } bits = { (uint32_t)f.value };
        switch (f.number) {
        case 1: (void)onnx_text(&p, &f, &ret->name); break;
        case 2: ret->f = (double)bits.f; ret->has_f = pb_want(&p, &f, PB_FIXED32); break;
        case 3: ret->i = (int64_t)f.value; ret->has_i = pb_want(&p, &f, PB_VARINT); break;
        case 4: ret->s = f.bytes; ret->has_s = pb_want(&p, &f, PB_BYTES); break;
        case 5: {
            struct onnx_tensor *t = arena_try(a, sizeof *t);
            if (!t)
                return FAIL(e, LIMIT, "the model does not fit in memory");
            if (pb_want(&p, &f, PB_BYTES))
                TRY(onnx_read_tensor(f.bytes, t, e));
            ret->t = t;
            break;
        }
        case 6: case 11: ret->has_graph = true; break;
        case 7: case 8:
            if (!ret->ints && !(ret->ints = arena_try(a, (most + 1) * sizeof *ret->ints)))
                return FAIL(e, LIMIT, "the model does not fit in memory");
            if (f.number == 8) {
                (void)onnx_add_ints(&p, &f, ret->ints, most, &ret->int_count);
                break;
            }
            if (!ret->floats && !(ret->floats = arena_try(a, (most / 4 + 1) * sizeof *ret->floats)))
                return FAIL(e, LIMIT, "the model does not fit in memory");
            for (struct pb in = pb_of(f.bytes); f.wire == PB_BYTES && in.at < in.end;) {
                uint64_t v;
                if (!pb_fixed(&in, 4, &v)) {
                    pb_fail(&p, in.why);
                    break;
                }
                bits.u = (uint32_t)v;
                ret->floats[ret->float_count++] = (double)bits.f;
            }
            if (f.wire == PB_FIXED32)
                ret->floats[ret->float_count++] = (double)bits.f;
            break;
        case 9:
            if (!ret->strings)
                TRY(list(a, message, 9, ONNX_STRINGS_MAX, sizeof *ret->strings, "words of an attribute", (void **)&ret->strings,
                         e));
            if (pb_want(&p, &f, PB_BYTES))
                ret->strings[ret->string_count++] = f.bytes;
            break;
        default: break;
        }
    }
    return p.why ? onnx_bad(&p, "an attribute", e) : ERR_OK;
}

static enum errc read_node(struct arena *a, struct str message, struct onnx_node *n, struct err *e)
{
    struct pb p = pb_of(message);
    struct pb_field f;
    TRY(list(a, message, 1, ONNX_LIST_MAX, sizeof *n->in, "inputs of a node", (void **)&n->in, e));
    TRY(list(a, message, 2, ONNX_LIST_MAX, sizeof *n->out, "outputs of a node", (void **)&n->out, e));
    TRY(list(a, message, 5, ONNX_LIST_MAX, sizeof *n->attr, "attributes of a node", (void **)&n->attr, e));
    while (pb_next(&p, &f)) {
        switch (f.number) {
        case 1: (void)(pb_want(&p, &f, PB_BYTES) && onnx_text(&p, &f, &n->in[n->in_count++])); break;
        case 2: (void)(pb_want(&p, &f, PB_BYTES) && onnx_text(&p, &f, &n->out[n->out_count++])); break;
        case 3: (void)onnx_text(&p, &f, &n->name); break;
        case 4: (void)onnx_text(&p, &f, &n->op); break;
        case 5:
            if (pb_want(&p, &f, PB_BYTES))
                TRY(read_attr(a, f.bytes, &n->attr[n->attr_count++], e));
            break;
        case 7: (void)onnx_text(&p, &f, &n->domain); break;
        default: break;
        }
    }
    return p.why ? onnx_bad(&p, "a node", e) : ERR_OK;
}

static bool read_dim(struct pb *outer, struct str message, struct onnx_value *v)
{
    struct pb p = pb_of(message);
    struct pb_field f;
    if (v->rank == ONNX_DIMS_MAX)
        return pb_fail(outer, "a shape has more than six dimensions");
    v->dim[v->rank] = -1;
    while (pb_next(&p, &f)) {
        if (f.number == 1 && pb_want(&p, &f, PB_VARINT))
            v->dim[v->rank] = (int64_t)f.value > 0 ? (int64_t)f.value : -1;
        if (f.number == 2)
            (void)onnx_text(&p, &f, &v->param[v->rank]);
    }
    v->rank++;
    return !p.why || pb_fail(outer, p.why);
}

/* TypeProto, its tensor_type and the shape in it: three messages, one inside the other. */
static bool read_type(struct pb *outer, struct str message, int level, struct onnx_value *v)
{
    struct pb p = pb_of(message);
    struct pb_field f;
    while (pb_next(&p, &f)) {
        bool is_bytes = f.wire == PB_BYTES;
        if (level == 0 && f.number == 1 && is_bytes && !read_type(&p, f.bytes, 1, v))
            break;
        if (level == 1 && f.number == 1 && pb_want(&p, &f, PB_VARINT))
            v->type = f.value < ONNX_TYPES ? (enum onnx_type)f.value : ONNX_NONE;
        if (level == 1 && f.number == 2 && is_bytes) {
            v->has_shape = true;
            if (!read_type(&p, f.bytes, 2, v))
                break;
        }
        if (level == 2 && f.number == 1 && is_bytes && !read_dim(&p, f.bytes, v))
            break;
    }
    return !p.why || pb_fail(outer, p.why);
}

static enum errc read_value(struct str message, struct onnx_value *v, struct err *e)
{
    struct pb p = pb_of(message);
    struct pb_field f;
    *v = (struct onnx_value){ 0 };
    while (pb_next(&p, &f)) {
        if (f.number == 1)
            (void)onnx_text(&p, &f, &v->name);
        if (f.number == 2 && pb_want(&p, &f, PB_BYTES))
            (void)read_type(&p, f.bytes, 0, v);
    }
    return p.why ? onnx_bad(&p, "an input or output", e) : ERR_OK;
}

static bool is_tensor(const struct onnx_file *m, struct str name)
{
    for (size_t i = 0; i < m->tensor_count; i++)
        if (str_eq(m->tensors[i].name, name))
            return true;
    return false;
}

/* Inputs come last: before IR 4 each initialiser is listed as one, too. */
static enum errc read_inputs(struct str message, struct onnx_file *m, struct err *e)
{
    struct pb p = pb_of(message);
    struct pb_field f;
    while (pb_next(&p, &f)) {
        if (f.number != 11 || f.wire != PB_BYTES)
            continue;
        TRY(read_value(f.bytes, &m->inputs[m->input_count], e));
        m->input_count += !is_tensor(m, m->inputs[m->input_count].name);
    }
    return ERR_OK;
}

static enum errc read_graph(struct arena *a, struct str message, struct onnx_file *m, struct err *e)
{
    struct pb p = pb_of(message);
    struct pb_field f;
    TRY(list(a, message, 1, ONNX_NODES_MAX, sizeof *m->nodes, "nodes", (void **)&m->nodes, e));
    TRY(list(a, message, 5, ONNX_TENSORS_MAX, sizeof *m->tensors, "tensors", (void **)&m->tensors, e));
    TRY(list(a, message, 11, ONNX_LIST_MAX, sizeof *m->inputs, "inputs", (void **)&m->inputs, e));
    TRY(list(a, message, 12, ONNX_LIST_MAX, sizeof *m->outputs, "outputs", (void **)&m->outputs, e));
    while (pb_next(&p, &f)) {
        bool is_list = f.number == 1 || f.number == 5 || f.number == 11 || f.number == 12;
        if (is_list && !pb_want(&p, &f, PB_BYTES))
            break;
        if (f.number == 1)
            TRY(read_node(a, f.bytes, &m->nodes[m->node_count++], e));
        if (f.number == 5)
            TRY(onnx_read_tensor(f.bytes, &m->tensors[m->tensor_count++], e));
        if (f.number == 12)
            TRY(read_value(f.bytes, &m->outputs[m->output_count++], e));
        if (f.number == 15)
            return FAIL(e, UNPROCESSABLE, "the model has sparse tensors, which are not supported");
    }
    return p.why ? onnx_bad(&p, "the graph", e) : read_inputs(message, m, e);
}

static enum errc read_opset(struct str message, struct onnx_file *m, struct err *e)
{
    struct pb p = pb_of(message);
    struct pb_field f;
    struct str domain = STR("");
    int64_t version = 0;
    while (pb_next(&p, &f)) {
        if (f.number == 1)
            (void)onnx_text(&p, &f, &domain);
        if (f.number == 2 && pb_want(&p, &f, PB_VARINT))
            version = (int64_t)f.value;
    }
    if (p.why)
        return onnx_bad(&p, "an operator set", e);
    if (domain.len == 0 || str_eq_c(domain, "ai.onnx"))
        m->opset = version;
    else if (str_eq_c(domain, "ai.onnx.ml"))
        m->opset_ml = version;
    return ERR_OK;
}

enum errc onnx_parse(struct arena *a, struct str bytes, struct onnx_file *ret, struct err *e)
{
    struct pb p = pb_of(bytes);
    struct pb_field f;
    struct str graph = STR_NULL;
    struct onnx_file m = { 0 };
    while (pb_next(&p, &f)) {
        if (f.number == 1 && pb_want(&p, &f, PB_VARINT))
            m.ir = (int64_t)f.value;
        if (f.number == 2)
            (void)onnx_text(&p, &f, &m.producer);
        if (f.number == 7 && pb_want(&p, &f, PB_BYTES))
            graph = f.bytes;
        if (f.number == 8 && pb_want(&p, &f, PB_BYTES))
            TRY(read_opset(f.bytes, &m, e));
        if (f.number == 25)
            return FAIL(e, UNPROCESSABLE,
                        "the model has functions of its own, which are not supported; export it with them inlined");
    }
    if (p.why)
        return FAIL(e, BAD_DATA, "no ONNX model, or a damaged one, at byte %zu: %s",
                    (size_t)(p.at - (const unsigned char *)bytes.ptr),
                    p.why);
    if (m.ir < 1 || !graph.ptr)
        return FAIL(e, BAD_DATA, "no ONNX model: there is no %s in it", m.ir < 1 ? "IR version" : "graph");
    TRY(read_graph(a, graph, &m, e));
    *ret = m;
    return ERR_OK;
}
