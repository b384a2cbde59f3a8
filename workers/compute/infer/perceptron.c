/* SPDX-License-Identifier: Apache-2.0 */
/* perceptron.c - the graph of a model file that a training of the family mlp wrote. */
#include "core/data/model_mlp.h"
#include "workers/compute/infer/model_int.h"

enum { NODES_PER_LAYER = 6, NODES_MORE = 8 };

enum errc perceptron_read(struct arena *a, const struct st_file *f, struct model_sig *ret_sig, struct graph **ret, struct err *e)
{
    struct model_mlp mlp;
    (void)a;
    TRY(model_mlp_check(f, &mlp, e));
    struct graph *g = graph_new(ELEM_F32, (int)mlp.layers * NODES_PER_LAYER + NODES_MORE);
    const struct shape columns = { ELEM_F32, 1, { DIM(mlp.width[0]) } };
    int y = graph_input(g, "input", (struct shape){ ELEM_F32, 2, { DIM_ROWS(1), DIM(mlp.width[0]) } });
    if (mlp.mean) {
        int mean = graph_const(g, "input.mean", columns, mlp.mean), scale = graph_const(g, "input.scale", columns, mlp.scale);
        y = graph_op(g, OP_STANDARDISE, &(struct op_attr){ 0 }, GRAPH_INS(y, mean, scale));
    }
    for (size_t i = 0; i < mlp.layers; i++) {
        size_t in = mlp.width[i], out = mlp.width[i + 1];
        int w = graph_const(g, "weight", (struct shape){ ELEM_F32, 2, { DIM(out), DIM(in) } }, mlp.weight[i]);
        int b = graph_const(g, "bias", (struct shape){ ELEM_F32, 1, { DIM(out) } }, mlp.bias[i]);
        y = graph_linear(g, y, w, b);
        if (i + 1 < mlp.layers)
            y = graph_op1(g, OP_RELU, y);
    }
    graph_output(g, graph_op1(g, OP_SOFTMAX, y), "probabilities");
    graph_output(g, graph_op1(g, OP_ARGMAX, y), "label");
    model_sig_perceptron(ret_sig, mlp.width[0], mlp.width[mlp.layers]);
    *ret = g;
    return ERR_OK;
}
