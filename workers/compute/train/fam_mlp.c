/* SPDX-License-Identifier: Apache-2.0 */
/* fam_mlp.c - a multi-layer perceptron: y = relu(x·Wᵀ + b) by layer, W [out, in] as in PyTorch; no relu on the last. First
 * values: He et al.
 * 2015; the last layer small, so that the first loss is ln(classes). */
#include "workers/compute/train/family.h"

#include <math.h>

enum { LAYERS_MAX = TRAIN_HIDDEN_MAX + 1, NODES_PER_LAYER = 5 };

static int nodes(const struct net_spec *s)
{
    return (int)(s->job->hidden.n + 1) * NODES_PER_LAYER;
}

static void build(struct net *n, struct graph *g)
{
    const struct train_job *s = n->spec.job;
    int w[LAYERS_MAX], b[LAYERS_MAX];
    size_t layers = s->hidden.n + 1, width[LAYERS_MAX + 1] = { n->spec.shape.inputs };
    ASSERT(layers <= LAYERS_MAX);
    for (size_t i = 0; i < s->hidden.n; i++)
        width[i + 1] = job_list(&s->hidden, i);
    width[layers] = n->spec.shape.outputs;
    (void)net_input(n, (struct shape){ n->spec.type, 2, { DIM_ROWS(1), DIM(width[0]) } });
    for (size_t i = 0; i < layers; i++) {
        double in = (double)width[i];
        w[i] = net_weight(n, net_name(n, "mlp.%zu.weight", i), NET_AS_IS, 2, (size_t[]){ width[i + 1], width[i] },
                          i + 1 == layers ? 0.1 * sqrt(1 / in) : sqrt(2 / in));
    }
    for (size_t i = 0; i < layers; i++)
        b[i] = net_vector(n, net_name(n, "mlp.%zu.bias", i), 1, &width[i + 1], 0);
    int y = n->x;
    for (size_t i = 0; i < layers; i++) {
        y = graph_linear(g, y, w[i], b[i]);
        if (i + 1 < layers)
            y = net_dropout(n, graph_op1(g, OP_RELU, y));
    }
    n->logits = y;
}

const struct family family_mlp = { build, nodes, "relu" };
