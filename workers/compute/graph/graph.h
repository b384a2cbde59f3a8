/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h - one typed graph for training and serving: values, and operations (rows of kernels/op.def) that make values of values.
 *
 * Calling order: graph_new -> inputs, parameters, constants, graph_op (shapes and types are inferred and checked at once) ->
 * graph_output -> graph_backward for training -> plan_new (plan.h), which takes the graph over. Nothing runs and no backend
 * is known before that. Errors are kept: after the first one every call returns VALUE_NONE, and plan_new or graph_check
 * gives it, so a builder is straight lines. Not offered: control flow; a graph is a list of nodes in the order in which they
 * run.
 *
 * A dimension is a number, or a number for each row of the batch; the batch itself is known only when the graph runs, up to
 * a largest one (plan.h). Memory: everything lives in the graph's own arena. Data of constants is borrowed until plan_new
 * has returned.
 *
 * Regions: what outlives a step has a place that the builder decides by the order of graph_param: parameters lie densely in
 * REGION_PARAMS, their gradients at the same offsets in REGION_GRADS, the optimiser's state likewise; REGION_NARROW has those
 * that products read, rounded to bf16, number by number at the same places. All else is in the planned arena. */
#pragma once
#include "core/base/arena.h"
#include "workers/compute/kernels/backend.h"

enum { VALUE_NONE = -1, GRAPH_NODES_MAX = 65536 };

enum region { REGION_ARENA, REGION_CONST, REGION_PARAMS, REGION_GRADS, REGION_M, REGION_V, REGION_STEP, REGION_NARROW,
              REGION_COUNT };

/* Which part of a step a node belongs to; a run executes the parts it is asked for. */
enum phase { PHASE_FORWARD = 1, PHASE_EVAL = 2, PHASE_BACKWARD = 4, PHASE_UPDATE = 8, PHASE_NORM = 16 };

/* What a node does over the ranks that share a layer (run_ranks_begin): SUM a COPY whose result is the sum of all ranks' inputs;
 * SAME a view of what is the same on all of them, whose gradient is that sum (Shoeybi et al. 2019: g and f). */
enum over_ranks { OVER_NONE, OVER_SUM, OVER_SAME };

struct dim {
    size_t n;
    bool is_batched;            /* n for each row of the batch */
};
#define DIM(n) ((struct dim){ (n), false })
#define DIM_ROWS(n) ((struct dim){ (n), true })

struct shape {
    enum elem type;
    unsigned rank;
    struct dim dim[TENSOR_DIMS_MAX];
};

struct value {
    const char *name;           /* "" for most results */
    struct shape shape;
    enum region region;
    size_t offset_bytes;        /* in a region other than ARENA and CONST */
    int node, out;              /* who makes it, as which output; node VALUE_NONE: nobody, it is put or kept */
    bool is_input, is_output;
    const void *data;           /* of a constant */
};

struct node {
    enum op op;
    enum phase phase;
    struct op_attr attr;
    int in[OP_INPUTS_MAX], out[OP_OUTPUTS_MAX];     /* values, or VALUE_NONE */
    int block;                                      /* graph_block; 0: none */
    enum over_ranks over;
    bool is_gone;                                   /* fused or folded away */
    bool is_again;                                  /* a copy that makes what was dropped (graph_recompute) */
};

struct graph {
    struct arena *arena;
    enum elem type;             /* of parameters */
    enum phase phase;           /* of the nodes that are added next */
    int block;                  /* the same */
    struct value *values;
    struct node *nodes;
    int value_count, node_count, nodes_max;
    size_t param_count;         /* numbers */
    struct err err;             /* the first one; ERR_OK: none */
};

/* type: of the parameters and of the results, f32, or f64 for checks. */
struct graph *graph_new(enum elem type, int nodes_max);
void graph_free(struct graph *g);
void graph_freep(struct graph **g);
enum errc graph_check(const struct graph *g, struct err *e);

int graph_input(struct graph *g, const char *name, struct shape shape);
int graph_const(struct graph *g, const char *name, struct shape shape, const void *data);
int graph_param(struct graph *g, const char *name, unsigned rank, const struct dim *dim);
/* `count` numbers from number `first` of a region, flat: how an optimiser sees parameters. */
int graph_view(struct graph *g, enum region region, size_t first, size_t count);
int graph_step(struct graph *g);                                    /* struct step_scalars in device memory */
/* ins: values; VALUE_NONE for one that is left out. Returns the first output, or VALUE_NONE without one or after an error. */
int graph_op(struct graph *g, enum op op, const struct op_attr *attr, const int *in, size_t ins);
int graph_out(const struct graph *g, int value, int out);           /* another output of the node that made value */
int graph_reshape(struct graph *g, int x, struct shape to);
int graph_over_ranks(struct graph *g, enum over_ranks over, int x); /* f32 or f64 */
void graph_output(struct graph *g, int value, const char *name);    /* readable after a run */

/* The gradients of a loss (output 0 of SOFTMAX_XENT or MSE) by every parameter it depends on, as nodes of PHASE_BACKWARD
 * that write REGION_GRADS. A node that the loss reaches a parameter through and that has no gradient is refused by name. */
void graph_backward(struct graph *g, int loss);

/* After graph_backward: of each block (nodes that were added while g->block was its number, from 1) what only the block and its
 * backward pass read is dropped after the forward pass and made again by copies of its nodes. The bits stay the same. */
void graph_recompute(struct graph *g);

/* Products of f32 in the nodes so far take their factors in bf16 (OP_BF16), in every phase. */
void graph_bf16(struct graph *g);

/* After graph_bf16 and graph_recompute, for a backend that has BE_NARROW: results that products, attention and the cells between
 * them read become bf16 (narrow.c), with casts where a factor stays fp32. */
void graph_narrow(struct graph *g);

/* Shorter forms for builders. */
#define GRAPH_INS(...) (const int[]){ __VA_ARGS__ }, sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int)
static inline int graph_op1(struct graph *g, enum op op, int x)
{
    return graph_op(g, op, &(struct op_attr){ 0 }, &x, 1);
}
static inline int graph_op2(struct graph *g, enum op op, int x, int y)
{
    return graph_op(g, op, &(struct op_attr){ 0 }, GRAPH_INS(x, y));
}
/* x[rows, in] · wᵀ + b, w [out, in]. */
static inline int graph_linear(struct graph *g, int x, int w, int b)
{
    int y = graph_op(g, OP_MATMUL, &(struct op_attr){ .flags = MM_TRANS_B }, GRAPH_INS(x, w));
    return graph_op2(g, OP_ADD_BIAS, y, b);
}

/* The numbers of a shape for a batch of `rows`, and its bytes. */
size_t shape_count(const struct shape *s, size_t rows);
static inline size_t shape_bytes(const struct shape *s, size_t rows)
{
    return shape_count(s, rows) * elem_bytes(s->type);
}
/* Text for errors and maps: "f32[rows,784]". Returns buf. */
const char *shape_text(const struct shape *s, char *buf, size_t size);
