/* SPDX-License-Identifier: Apache-2.0 */
/* served.c - constants where training has parameters, and the answers behind the logits. */
#include "workers/compute/train/served.h"
#include "workers/compute/kernels/nd.h"
#include "workers/compute/train/family.h"

bool served_can(const struct net *n, const struct columns *c)
{
    const struct train_job *s = n->spec.job;
    bool is_built = s->family == TRAIN_CNN || s->family == TRAIN_GPT
                    || (s->family == TRAIN_MLP && (n->spec.shape.goal != NET_CLASSES || c->categories || c->takes_missing));
    return is_built && n->spec.type == ELEM_F32;
}

int served_parts(struct net *n, size_t rows)
{
    int in[OP_INPUTS_MAX];
    size_t count = 0;
    for (size_t at = 0; at < rows; at += n->served->tensors[n->tensor_count + count - 1].shape[0]) {
        const struct st_tensor *t = &n->served->tensors[n->tensor_count + count];
        struct shape shape = { ELEM_F32, 2, { DIM(t->shape[0]), DIM(t->shape[1]) } };
        ASSERT(count < OP_INPUTS_MAX && t->rank == 2);
        in[count++] = graph_const(n->g, arena_strndup(n->arena, t->name.ptr, t->name.len), shape, t->data);
    }
    return graph_op(n->g, OP_CONCAT, &(struct op_attr){ .axes = 0 }, in, count);
}

int served_param(struct net *n, enum net_layout layout, bool is_flat)
{
    static const struct op_attr turned = { .at = { 1, 0 } }, window = { .at = { 0, 2, 3, 1 } };
    const struct st_tensor *t = &n->served->tensors[n->tensor_count];
    struct shape shape = { .type = ELEM_F32, .rank = t->rank };
    for (unsigned d = 0; d < t->rank; d++)
        shape.dim[d] = DIM(t->shape[d]);
    int value = graph_const(n->g, arena_strndup(n->arena, t->name.ptr, t->name.len), shape, t->data);
    if (is_flat && t->rank > 1)
        return graph_reshape(n->g, value, (struct shape){ ELEM_F32, 1, { DIM(shape_count(&shape, 1)) } });
    return layout == NET_AS_IS ? value : graph_op(n->g, OP_TRANSPOSE, layout == NET_WINDOW ? &window : &turned, &value, 1);
}

int served_input(struct net *n, struct shape shape)
{
    if (shape.type == ELEM_I32)         /* tokens */
        return graph_input(n->g, "input", shape);
    return graph_reshape(n->g, columns_served(n->g, n->served->columns), shape);
}

static void answer_classes(struct net *m, int64_t classes, struct model_sig *sig)
{
    graph_output(m->g, graph_op1(m->g, OP_SOFTMAX, m->logits), "probabilities");
    graph_output(m->g, graph_op1(m->g, OP_ARGMAX, m->logits), "label");
    *sig = (struct model_sig){ .outputs = { { STR("probabilities"), STR("FP32"), 2, { -1, classes } },
                                            { STR("label"), STR("INT64"), 1, { -1 } } },
                               .output_count = 2 };
    columns_sig(m->served->columns, sig);
}

/* Numbers as they are, flags as how likely each is. */
static void answer_numbers(struct net *m, int64_t answers, struct model_sig *sig)
{
    bool is_flags = m->spec.shape.goal == NET_LABELS;
    const struct op_attr sigmoid = { .fn = UNARY_SIGMOID };
    int y = is_flags ? graph_op(m->g, OP_UNARY, &sigmoid, &m->logits, 1) : m->logits;
    graph_output(m->g, y, is_flags ? "probabilities" : "value");
    *sig = (struct model_sig){ .outputs = { { is_flags ? STR("probabilities") : STR("value"), STR("FP32"), 2, { -1, answers } } },
                               .output_count = 1 };
    columns_sig(m->served->columns, sig);
}

/* What follows each token: attention looks back only, so a shorter text is filled up with any tokens behind it. */
static void answer_tokens(struct net *m, int64_t context, int64_t vocab, struct model_sig *sig)
{
    const struct shape all = { ELEM_F32, 3, { DIM_ROWS(1), DIM((size_t)context), DIM((size_t)vocab) } };
    const struct shape best = { ELEM_I32, 2, { DIM_ROWS(1), DIM((size_t)context) } };
    graph_output(m->g, graph_reshape(m->g, m->logits, all), "logits");
    graph_output(m->g, graph_reshape(m->g, graph_op1(m->g, OP_ARGMAX, m->logits), best), "next");
    *sig = (struct model_sig){ .inputs = { { STR("input"), STR("INT64"), 2, { -1, context } } },
                               .outputs = { { STR("logits"), STR("FP32"), 3, { -1, context, vocab } },
                                            { STR("next"), STR("INT64"), 2, { -1, context } } },
                               .input_count = 1, .output_count = 2 };
}

enum errc served_pairs(struct arena *a, const struct net *n, const struct net_served *from, struct st_pair ret[GRAPH_FILE_PAIRS],
                       struct err *e)
{
    const struct family *f = family_of(n->spec.job->family);
    struct net *m = ARENA_NEW(a, struct net);
    struct model_sig *sig = ARENA_NEW(a, struct model_sig);
    int64_t classes = (int64_t)n->spec.shape.outputs;
    *m = (struct net){ .be = n->be, .spec = n->spec, .arena = a, .items = 1, .x = VALUE_NONE, .logits = VALUE_NONE,
                       .served = from };
    m->spec.is_serving = true;
    m->spec.tensor_ranks = 0;
    m->tensors = ARENA_ARRAY(a, struct net_tensor, n->tensor_count + 1);
    m->firsts = ARENA_ARRAY(a, struct net_first, n->first_count + 1);
    m->g = graph_new(ELEM_F32, f->nodes(&m->spec) + (int)n->tensor_count + NET_NODES_MORE + COLUMNS_NODES);
    f->build(m, m->g);
    if (n->spec.shape.goal != NET_CLASSES)
        answer_numbers(m, classes, sig);
    else if (n->spec.job->family == TRAIN_GPT)
        answer_tokens(m, (int64_t)n->spec.shape.inputs, classes, sig);
    else
        answer_classes(m, classes, sig);
    enum errc rc = graph_file_pairs(a, m->g, sig, ret, e);
    graph_free(m->g);
    return rc;
}
