/* SPDX-License-Identifier: Apache-2.0 */
/* fam_cnn.c - a convolutional network: a stem, stages of blocks, the mean over the image, a linear layer.
 *
 * Images of 64 pixels or more get the stem of ResNet (7 × 7 by two, then a maximum by two), smaller ones 3 × 3. The first block
 * of each stage
 * but the first halves the image. A plain block is a 3 × 3 convolution, group norm, ReLU; a residual one two of them around which
 * the input goes, through 1 × 1 and norm where its shape changes. Group norm and not batch norm: a row's result does not depend
 * on its
 * batch, so training, serving, accumulation and any number of machines compute the same. */
#include "workers/compute/train/family.h"

#include <math.h>

enum { NODES_PER_BLOCK = 10, NODES_ELSE = 16, GROUPS_MOST = 32, CHANNELS_PER_GROUP = 4, STEM_FROM = 64 };

struct unit {                   /* convolution, then norm */
    int weight, scale, shift;
    size_t in, out, window, stride;
};

struct units {                  /* in the order in which they are declared and used */
    struct unit *of;
    size_t count, used;
};

static size_t blocks_of(const struct train_job *s, size_t stage)
{
    return stage < s->blocks.n ? job_list(&s->blocks, stage) : s->blocks.n ? job_list(&s->blocks, s->blocks.n - 1) : 1;
}

static size_t all_blocks(const struct train_job *s)
{
    size_t sum = 0;
    for (size_t i = 0; i < s->channels.n; i++)
        sum += blocks_of(s, i);
    return sum;
}

static int nodes(const struct net_spec *s)
{
    return (int)all_blocks(s->job) * NODES_PER_BLOCK + NODES_ELSE;
}

static size_t groups_of(size_t channels)
{
    size_t g = channels / CHANNELS_PER_GROUP < GROUPS_MOST ? channels / CHANNELS_PER_GROUP : GROUPS_MOST;
    for (g = g ? g : 1; channels % g; g--)
        ;
    return g;
}

static void declare(struct net *n, struct units *u, const char *name, size_t in, size_t out, size_t window, size_t stride)
{
    struct unit *c = &u->of[u->count++];
    *c = (struct unit){ .in = in, .out = out, .window = window, .stride = stride };
    c->weight = net_weight(n, net_name(n, "%s.weight", name), NET_WINDOW, 4, (size_t[]){ out, window, window, in },
                           sqrt(2 / (double)(window * window * in)));
    c->scale = c->shift = VALUE_NONE;
}

static int use(struct net *n, struct units *u, int x)
{
    const struct unit *c = &u->of[u->used++];
    const struct op_attr conv = { .stride = c->stride, .pad = c->window / 2 }, norm = { .n = groups_of(c->out), .eps = 1e-5 };
    int y = graph_op(n->g, OP_CONV2D, &conv, GRAPH_INS(x, c->weight));
    return graph_op(n->g, OP_GROUPNORM, &norm, GRAPH_INS(y, c->scale, c->shift));
}

/* The convolutions of all stages; their norms are vectors and come after all weights. */
static void declare_stages(struct net *n, struct units *u, size_t *channels)
{
    const struct train_job *s = n->spec.job;
    for (size_t stage = 0; stage < s->channels.n; stage++)
        for (size_t i = 0, out = job_list(&s->channels, stage); i < blocks_of(s, stage); i++, *channels = out) {
            size_t stride = stage && !i ? 2 : 1;
            const char *name = net_name(n, "stages.%zu.%zu", stage, i);
            declare(n, u, net_name(n, "%s.conv1", name), *channels, out, 3, stride);
            if (!s->residual)
                continue;
            declare(n, u, net_name(n, "%s.conv2", name), out, out, 3, 1);
            if (stride == 2 || *channels != out)
                declare(n, u, net_name(n, "%s.shortcut", name), *channels, out, 1, stride);
        }
}

static int use_stages(struct net *n, struct units *u, int y)
{
    struct graph *g = n->g;
    const struct train_job *s = n->spec.job;
    for (size_t i = all_blocks(s); i-- > 0;) {
        const struct unit *first = &u->of[u->used];
        int in = y;
        g->block++;
        y = graph_op1(g, OP_RELU, use(n, u, y));
        if (!s->residual)
            continue;
        y = use(n, u, y);
        if (first->stride == 2 || first->in != first->out)
            in = use(n, u, in);
        y = graph_op1(g, OP_RELU, graph_op2(g, OP_ADD, y, in));
    }
    g->block = 0;
    return y;
}

static void build(struct net *n, struct graph *g)
{
    const struct train_job *s = n->spec.job;
    ASSERT(s->image.n == 3 && s->channels.n >= 1);
    size_t h = job_list(&s->image, 0), w = job_list(&s->image, 1), c = job_list(&s->image, 2), channels = job_list(&s->channels,
                                                                                                                   0);
    bool is_large = h >= STEM_FROM && w >= STEM_FROM;
    struct units u = { ARENA_ARRAY(n->arena, struct unit, 3 * all_blocks(s) + 1), 0, 0 };
    (void)net_input(n, (struct shape){ n->spec.type, 4, { DIM_ROWS(1), DIM(h), DIM(w), DIM(c) } });
    declare(n, &u, "stem", c, channels, is_large ? 7 : 3, is_large ? 2 : 1);
    declare_stages(n, &u, &channels);
    int head = net_weight(n, "head.weight", NET_AS_IS, 2, (size_t[]){ n->spec.shape.outputs, channels },
                          0.1 * sqrt(1 / (double)channels));
    for (size_t i = 0; i < u.count; i++) {
        char *name = n->tensors[i].name, *end = name + strlen(name) - strlen(".weight");
        int len = (int)(end - name);
        u.of[i].scale = net_vector(n, net_name(n, "%.*s.norm.weight", len, name), 1, &u.of[i].out, 1);
        u.of[i].shift = net_vector(n, net_name(n, "%.*s.norm.bias", len, name), 1, &u.of[i].out, 0);
    }
    int bias = net_vector(n, "head.bias", 1, &n->spec.shape.outputs, 0);
    int y = graph_op1(g, OP_RELU, use(n, &u, n->x));
    if (is_large)
        y = graph_op(g, OP_MAXPOOL, &(struct op_attr){ .window = { 3, 3 }, .stride = 2, .pad = 1 }, &y, 1);
    y = use_stages(n, &u, y);
    if (y == VALUE_NONE)
        return;
    const struct shape *last = &g->values[y].shape;
    y = graph_op(g, OP_AVGPOOL, &(struct op_attr){ .window = { last->dim[1].n, last->dim[2].n }, .stride = 1 }, &y, 1);
    y = graph_reshape(g, y, (struct shape){ n->spec.type, 2, { DIM_ROWS(1), DIM(channels) } });
    n->logits = graph_linear(g, net_dropout(n, y), head, bias);
}

const struct family family_cnn = { build, nodes, "relu" };
