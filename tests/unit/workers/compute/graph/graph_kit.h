/* SPDX-License-Identifier: Apache-2.0 */
/* graph_kit.h - random numbers and small helpers for the tests of the graph; included after cmocka.h. */
#pragma once
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/cleanup.h"
#include "workers/compute/graph/plan_int.h"
#include "workers/compute/graph/run.h"

static uint64_t kit_state = 7;

static inline double kit_random(void)
{
    kit_state = kit_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(kit_state >> 11) / (double)(1ll << 52) - 1;
}
static inline size_t kit_below(size_t n)
{
    kit_random();
    return (size_t)(kit_state >> 33) % n;
}
static inline struct backend_ctx *kit_open(const struct backend *be)
{
    struct backend_ctx *c;
    struct err e;
    assert_int_equal(be->open(be, NULL, &c, &e), ERR_OK);
    return c;
}
/* Random numbers into n places of a type, f32 values in both. */
static inline void kit_fill(void *p, enum elem type, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float f = (float)kit_random();
        if (type == ELEM_F64)
            ((double *)p)[i] = (double)f;
        else
            ((float *)p)[i] = f;
    }
}
static inline struct plan *kit_plan(struct graph *g, const struct backend *be, struct backend_ctx *c, size_t rows)
{
    struct plan *p = NULL;
    struct err e = { 0 };
    if (plan_new(g, be, c, &(struct plan_options){ .max_rows = rows }, &p, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    return p;
}
static inline struct run *kit_run(struct plan *p, struct backend_ctx *c)
{
    struct run *r = NULL;
    struct err e = { 0 };
    if (run_new(p, c, &r, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    return r;
}
static const struct step_scalars kit_step = { .lr = 0.1, .correction1 = 0.1, .correction2 = 0.001, .grad_scale = 1,
                                              .loss_scale = 1, .seed = 3, .counter = 5, .is_training = 1 };

#define F32(...) ((struct shape){ ELEM_F32, sizeof((struct dim[]){ __VA_ARGS__ }) / sizeof(struct dim), { __VA_ARGS__ } })
enum { KIT_ROWS = 7, KIT_COLS = 24, KIT_VALUES = 14 };


/* A random training graph. is_naive: every result is an output, so that nothing is fused, shared or taken over. */
static inline struct graph *kit_random_graph(uint64_t seed, bool is_naive, int *ret_loss)
{
    kit_state = seed * 991 + 3;
    struct graph *g = graph_new(ELEM_F32, 256);
    static float target[KIT_ROWS * KIT_COLS];
    int pool[KIT_VALUES] = { graph_input(g, "x", F32(DIM_ROWS(1), DIM(KIT_COLS))) }, n = 1;
    int w = graph_param(g, "w", 2, (struct dim[]){ DIM(KIT_COLS), DIM(KIT_COLS) });
    int v = graph_param(g, "v", 1, (struct dim[]){ DIM(KIT_COLS) });
    pool[n++] = graph_linear(g, pool[0], w, v);
    while (n < KIT_VALUES) {
        int x = pool[kit_below((size_t)n)], y = pool[kit_below((size_t)n)];
        switch (kit_below(6)) {
        case 0: pool[n++] = graph_op1(g, OP_RELU, x); break;
        case 1: pool[n++] = graph_op2(g, OP_ADD, x, y); break;
        case 2: pool[n++] = graph_op1(g, OP_SOFTMAX, x); break;
        case 3: pool[n++] = graph_op1(g, OP_RELU, graph_linear(g, x, w, v)); break;
        case 4: x = graph_reshape(g, x, F32(DIM_ROWS(4), DIM(KIT_COLS / 4)));
                pool[n++] = graph_reshape(g, x, F32(DIM_ROWS(1), DIM(KIT_COLS))); break;
        default: pool[n++] = graph_linear(g, x, w, v); break;
        }
    }
    int y = pool[1];
    for (int i = 2; i < n; i++)
        y = graph_uses(g, pool[i]) ? y : graph_op2(g, OP_ADD, y, pool[i]);
    kit_fill(target, ELEM_F32, KIT_ROWS * KIT_COLS);
    int t = graph_input(g, "target", F32(DIM_ROWS(1), DIM(KIT_COLS)));
    *ret_loss = graph_op2(g, OP_MSE, y, t);
    graph_output(g, *ret_loss, "loss");
    graph_backward(g, *ret_loss);
    for (int i = 0; is_naive && i < g->value_count; i++)
        if (g->values[i].region == REGION_ARENA && !g->values[i].is_input)
            g->values[i].is_output = true;
    return g;
}

static inline int kit_count(const struct graph *g, enum op op)
{
    int n = 0;
    for (int i = 0; i < g->node_count; i++)
        n += !g->nodes[i].is_gone && g->nodes[i].op == op;
    return n;
}
