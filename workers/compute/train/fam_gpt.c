/* SPDX-License-Identifier: Apache-2.0 */
/* fam_gpt.c - a decoder: embedding, blocks of attention and a perceptron around which the input goes, a norm, the head tied to
 * the embedding.
 *
 * Names and layouts of the file are those of transformers: GPT-2's (weights [in, out]) or, with rms_norm, rotary and gated
 * together, Llama's
 * (weights [out, in], queries, keys and values apart). rms_norm leaves out biases, too. First values: N(0, 0.02), those that
 * write
 * into the residual stream over √(2·layers) (Radford et al. 2019). Rotary: base 10000, pairs of halves.
 * With tensor_ranks a rank has its share of heads and of the perceptron's width (Shoeybi et al. 2019): what comes out of both
 * is a part of a sum over the ranks, to which the bias is added once. Embedding, norms and head all ranks have whole, with the
 * same bits. */
#include "workers/compute/train/family.h"

#include <math.h>
#include <string.h>

enum { NODES_PER_LAYER = 28, NODES_ELSE = 24, WEIGHTS = 4, LAYERS_MAX = 128, ROUND = 32 };
static const double DEVIATION = 0.02, EPS = 1e-5, BASE = 10000;

struct layer {
    int attn, attn_out, up, down;                                   /* weights */
    int attn_bias, attn_out_bias, up_bias, down_bias;               /* VALUE_NONE: none */
    int norm1, shift1, norm2, shift2;
};

struct gpt {
    struct net *n;
    const struct train_job *s;
    size_t t, c, heads, kv, d, inner;   /* heads, kv and inner of the whole model */
    size_t ranks;               /* that share a layer */
    bool is_llama, has_bias;
    int table;                  /* cosines and sines */
    struct layer layer[LAYERS_MAX];
};

static int nodes(const struct net_spec *s)
{
    return (int)s->job->layers * NODES_PER_LAYER + NODES_ELSE;
}

/* The width of the perceptron: four times, or, gated, the same number of weights in three matrices. */
static size_t inner_of(const struct train_job *s)
{
    size_t c = (size_t)s->width;
    return s->gated ? (8 * c / 3 + ROUND - 1) / ROUND * ROUND : 4 * c;
}

static const char *layer_name(const struct gpt *m, size_t i)
{
    return net_name(m->n, m->is_llama ? "model.layers.%zu" : "transformer.h.%zu", i);
}

static struct net_split up_split(const struct gpt *m)
{
    return (struct net_split){ .parts = m->s->gated ? 2 : 1, .rows = { m->inner, m->inner } };
}

static void declare_weights(struct gpt *m, size_t i)
{
    struct net *n = m->n;
    struct layer *l = &m->layer[i];
    size_t c = m->c, rows = (m->heads + 2 * m->kv) * m->d, up = m->inner * (m->s->gated ? 2 : 1);
    double out = DEVIATION / sqrt(2 * (double)m->s->layers);
    const char *h = layer_name(m, i);
    enum net_layout layout = m->is_llama ? NET_AS_IS : NET_TURNED;
    n->split = (struct net_split){ .parts = 3, .rows = { m->heads * m->d, m->kv * m->d, m->kv * m->d } };
    l->attn = net_weight(n, m->is_llama ? NULL : net_name(n, "%s.attn.c_attn.weight", h), layout, 2, (size_t[]){ rows, c },
                         DEVIATION);
    if (m->is_llama) {
        net_part(n, l->attn, 0, m->heads * m->d, net_name(n, "%s.self_attn.q_proj.weight", h));
        net_part(n, l->attn, m->heads * m->d, m->kv * m->d, net_name(n, "%s.self_attn.k_proj.weight", h));
        net_part(n, l->attn, (m->heads + m->kv) * m->d, m->kv * m->d, net_name(n, "%s.self_attn.v_proj.weight", h));
    }
    n->split = (struct net_split){ .by_columns = true };
    l->attn_out = net_weight(n, net_name(n, m->is_llama ? "%s.self_attn.o_proj.weight" : "%s.attn.c_proj.weight", h), layout, 2,
                             (size_t[]){ c, m->heads * m->d }, out);
    n->split = up_split(m);
    l->up = net_weight(n, m->is_llama ? NULL : net_name(n, "%s.mlp.c_fc.weight", h), layout, 2, (size_t[]){ up, c }, DEVIATION);
    if (m->is_llama) {
        net_part(n, l->up, 0, m->inner, net_name(n, "%s.mlp.gate_proj.weight", h));
        net_part(n, l->up, m->inner, m->inner, net_name(n, "%s.mlp.up_proj.weight", h));
    }
    n->split = (struct net_split){ .by_columns = true };
    l->down = net_weight(n, net_name(n, m->is_llama ? "%s.mlp.down_proj.weight" : "%s.mlp.c_proj.weight", h), layout, 2,
                         (size_t[]){ c, m->inner }, out);
}

/* Biases of what is cut by rows: with tensor_ranks before all other vectors, so that cut parameters lie side by side. */
static void declare_attn_bias(struct gpt *m, size_t i)
{
    struct net *n = m->n;
    size_t rows = (m->heads + 2 * m->kv) * m->d;
    n->split = (struct net_split){ .parts = 3, .rows = { m->heads * m->d, m->kv * m->d, m->kv * m->d } };
    m->layer[i].attn_bias = net_vector(n, net_name(n, "%s.attn.c_attn.bias", layer_name(m, i)), 1, &rows, 0);
}

static void declare_up_bias(struct gpt *m, size_t i)
{
    struct net *n = m->n;
    size_t up = m->inner * (m->s->gated ? 2 : 1);
    n->split = up_split(m);
    m->layer[i].up_bias = net_vector(n, net_name(n, "%s.mlp.c_fc.bias", layer_name(m, i)), 1, &up, 0);
}

static void declare_vectors(struct gpt *m, size_t i)
{
    struct net *n = m->n;
    struct layer *l = &m->layer[i];
    size_t c = m->c;
    const char *h = layer_name(m, i);
    l->norm1 = net_vector(n, net_name(n, m->is_llama ? "%s.input_layernorm.weight" : "%s.ln_1.weight", h), 1, &c, 1);
    l->norm2 = net_vector(n, net_name(n, m->is_llama ? "%s.post_attention_layernorm.weight" : "%s.ln_2.weight", h), 1, &c, 1);
    l->shift1 = l->shift2 = l->attn_out_bias = l->down_bias = VALUE_NONE;
    if (!m->has_bias)
        return;
    l->shift1 = net_vector(n, net_name(n, "%s.ln_1.bias", h), 1, &c, 0);
    l->shift2 = net_vector(n, net_name(n, "%s.ln_2.bias", h), 1, &c, 0);
    if (m->ranks == 1)
        declare_attn_bias(m, i);
    l->attn_out_bias = net_vector(n, net_name(n, "%s.attn.c_proj.bias", h), 1, &c, 0);
    if (m->ranks == 1)
        declare_up_bias(m, i);
    l->down_bias = net_vector(n, net_name(n, "%s.mlp.c_proj.bias", h), 1, &c, 0);
}

static void declare_cut_vectors(struct gpt *m)
{
    for (size_t i = 0; i < (size_t)m->s->layers; i++) {
        m->layer[i].attn_bias = m->layer[i].up_bias = VALUE_NONE;
        if (m->ranks == 1 || !m->has_bias)
            continue;
        declare_attn_bias(m, i);
        declare_up_bias(m, i);
    }
}

/* The tensors from number `first` on as one rank names them, which is their order in the file and for who serves the model. */
static void order_tensors(struct gpt *m, size_t first)
{
    enum { CUT = 2, ELSE = 6, UP_TO_ATTN = 4 };
    struct net *n = m->n;
    size_t layers = (size_t)m->s->layers, count = n->tensor_count - first, at = first;
    struct net_tensor *old = ARENA_ARRAY(n->arena, struct net_tensor, count);
    memcpy(old, n->tensors + first, count * sizeof *old);
    const struct net_tensor *cut = old, *next = old + CUT * layers;
    if (!m->s->rotary)
        n->tensors[at++] = *next++;                 /* of places */
    for (size_t i = 0; i < layers; i++, cut += CUT, next += ELSE) {
        for (size_t k = 0; k < ELSE; k++) {
            if (k >= UP_TO_ATTN)
                n->tensors[at++] = cut[k - UP_TO_ATTN];
            n->tensors[at++] = next[k];
        }
    }
    ASSERT(at < n->tensor_count);       /* the last norm stays where it is */
}

static int linear(struct gpt *m, int x, int w, int b)
{
    if (b != VALUE_NONE)
        return graph_linear(m->n->g, x, w, b);
    return graph_op(m->n->g, OP_MATMUL, &(struct op_attr){ .flags = MM_TRANS_B }, GRAPH_INS(x, w));
}

static int norm(struct gpt *m, int x, int scale, int shift)
{
    const struct op_attr attr = { .eps = EPS };
    if (shift == VALUE_NONE)
        return graph_op(m->n->g, OP_RMSNORM, &attr, GRAPH_INS(x, scale));
    return graph_op(m->n->g, OP_LAYERNORM, &attr, GRAPH_INS(x, scale, shift));
}

/* A product whose columns are cut among the ranks, of what is the same on all of them. */
static int spread(struct gpt *m, int x, int w, int b)
{
    return linear(m, m->ranks > 1 ? graph_over_ranks(m->n->g, OVER_SAME, x) : x, w, b);
}

/* A product whose depth is cut among them. */
static int join(struct gpt *m, int x, int w, int b)
{
    if (m->ranks == 1)
        return linear(m, x, w, b);
    x = graph_over_ranks(m->n->g, OVER_SUM, linear(m, x, w, VALUE_NONE));
    return b == VALUE_NONE ? x : graph_op2(m->n->g, OP_ADD_BIAS, x, b);
}

static int block(struct gpt *m, const struct layer *l, int x)
{
    struct graph *g = m->n->g;
    const struct op_attr turn = { .heads = (m->heads + m->kv) / m->ranks };
    const struct op_attr attn = { .heads = m->heads / m->ranks, .kv_heads = m->kv / m->ranks, .flags = ATTN_CAUSAL };
    int y = spread(m, norm(m, x, l->norm1, l->shift1), l->attn, l->attn_bias);
    if (m->s->rotary)
        y = graph_op(g, OP_ROTARY, &turn, GRAPH_INS(y, m->table));
    y = join(m, graph_op(g, OP_ATTENTION, &attn, &y, 1), l->attn_out, l->attn_out_bias);
    x = graph_op2(g, OP_ADD, x, net_dropout(m->n, y));
    y = spread(m, norm(m, x, l->norm2, l->shift2), l->up, l->up_bias);
    y = join(m, graph_op1(g, m->s->gated ? OP_SWIGLU : OP_GELU, y), l->down, l->down_bias);
    return graph_op2(g, OP_ADD, x, net_dropout(m->n, y));
}

/* cos and sin of token·base^(-2i/d), [t, d]. */
static int angles(struct gpt *m)
{
    size_t half = m->d / 2, count = m->t * m->d;
    void *at = arena_alloc(m->n->arena, count * elem_bytes(m->n->spec.type));
    for (size_t i = 0; i < count; i++) {
        double angle = (double)(i / m->d) * pow(BASE, -2.0 * (double)(i % half) / (double)m->d);
        double v = i % m->d < half ? cos(angle) : sin(angle);
        if (m->n->spec.type == ELEM_F64)
            ((double *)at)[i] = v;
        else
            ((float *)at)[i] = (float)v;
    }
    m->n->derived = (struct st_tensor){ .name = STR("angles"), .dtype = ST_F32, .rank = 2, .shape = { m->t, m->d }, .data = at,
                                        .size_bytes = count * sizeof(float) };
    return graph_const(m->n->g, "angles", (struct shape){ m->n->spec.type, 2, { DIM(m->t), DIM(m->d) } }, at);
}

static int embed(struct gpt *m, int table, int places)
{
    struct graph *g = m->n->g;
    int x = graph_op2(g, OP_EMBED, table, m->n->x);
    if (places != VALUE_NONE) {
        x = graph_reshape(g, x, (struct shape){ m->n->spec.type, 2, { DIM_ROWS(1), DIM(m->t * m->c) } });
        x = graph_op2(g, OP_ADD_BIAS, x, places);
        x = graph_reshape(g, x, (struct shape){ m->n->spec.type, 3, { DIM_ROWS(1), DIM(m->t), DIM(m->c) } });
    }
    return net_dropout(m->n, x);
}

static void build(struct net *n, struct graph *g)
{
    const struct train_job *s = n->spec.job;
    struct gpt *m = ARENA_NEW(n->arena, struct gpt);
    *m = (struct gpt){ .n = n, .s = s, .t = n->spec.shape.inputs, .c = (size_t)s->width, .heads = (size_t)s->heads, .inner =
                       inner_of(s) };
    m->kv = s->kv_heads ? (size_t)s->kv_heads : m->heads;
    m->d = m->c / m->heads;
    m->ranks = (size_t)net_tensor_ranks(n);
    m->has_bias = !s->rms_norm;
    m->is_llama = s->rms_norm && s->rotary && s->gated;
    ASSERT(s->layers >= 1 && s->layers <= LAYERS_MAX && m->c % m->heads == 0);
    n->items = m->t;
    (void)net_input(n, (struct shape){ ELEM_I32, 2, { DIM_ROWS(1), DIM(m->t) } });
    int table = net_weight(n, m->is_llama ? "model.embed_tokens.weight" : "transformer.wte.weight", NET_AS_IS, 2,
                           (size_t[]){ n->spec.shape.outputs, m->c }, DEVIATION), places = VALUE_NONE;
    for (size_t i = 0; i < (size_t)s->layers; i++)
        declare_weights(m, i);
    size_t weights = n->tensor_count;
    declare_cut_vectors(m);
    if (!s->rotary) {
        places = net_vector(n, "transformer.wpe.weight", 2, (size_t[]){ m->t, m->c }, 0);
        n->first_count--;
        net_first(n, places, DEVIATION);
        n->firsts[n->first_count - 1].stream = 1 + WEIGHTS * (size_t)s->layers;     /* whatever was declared before it */
    } else {
        m->table = angles(m);
    }
    for (size_t i = 0; i < (size_t)s->layers; i++)
        declare_vectors(m, i);
    int last = net_vector(n, m->is_llama ? "model.norm.weight" : "transformer.ln_f.weight", 1, &m->c, 1);
    int last_shift = m->has_bias ? net_vector(n, "transformer.ln_f.bias", 1, &m->c, 0) : VALUE_NONE;
    if (m->ranks > 1 && m->has_bias)
        order_tensors(m, weights);
    int x = embed(m, table, places);
    for (size_t i = 0; i < (size_t)s->layers; i++) {
        g->block = (int)i + 1;
        x = block(m, &m->layer[i], x);
    }
    g->block = 0;
    x = graph_reshape(g, norm(m, x, last, last_shift), (struct shape){ n->spec.type, 2, { DIM_ROWS(m->t), DIM(m->c) } });
    n->logits = linear(m, x, table, VALUE_NONE);
}

const struct family family_gpt = { build, nodes, "gelu" };
