/* SPDX-License-Identifier: Apache-2.0 */
/* grad_kit.h - the derived backward pass of a small graph against central differences in fp64. Included after cmocka.h.
 *
 * Every case is a graph of parameters that ends in a mean square (or another loss); each parameter is moved by h both ways. */
#pragma once
#include "graph_kit.h"
#include "workers/compute/graph/graph_int.h"

#define F64(...) ((struct shape){ ELEM_F64, sizeof((struct dim[]){ __VA_ARGS__ }) / sizeof(struct dim), { __VA_ARGS__ } })
enum { ROWS = 5, COLS = 6, TARGETS = 4096 };

struct built {
    struct graph *g;
    int x, target, loss;        /* x: an input [ROWS, COLS]; target: an input, or VALUE_NONE */
};

static inline double loss_of(struct run *r, int loss, unsigned phases)
{
    double v;
    struct err e;
    run_exec(r, ROWS, phases, false);
    run_get(r, loss, 0, 1, &v);
    assert_int_equal(run_sync(r, &e), ERR_OK);
    return v;
}

/* rows: by how many the loss's gradient is divided. */
static inline void check(const char *name, struct built b, size_t rows)
{
    struct backend_ctx *c = kit_open(&backend_ref);
    graph_output(b.g, b.loss, "loss");
    graph_backward(b.g, b.loss);
    struct plan *p = kit_plan(b.g, &backend_ref, c, ROWS);
    struct run *r = kit_run(p, c);
    size_t n = b.g->param_count;
    double *w = run_region(r, REGION_PARAMS)->ptr, x[ROWS * COLS], target[TARGETS], worst = 0;
    kit_fill(w, ELEM_F64, n);
    kit_fill(x, ELEM_F64, ROWS * COLS);
    run_put(r, b.x, 0, ROWS, x);
    if (run_region(r, REGION_STEP))
        run_put_step(r, &kit_step);
    if (b.target != VALUE_NONE) {
        const struct shape *s = &b.g->values[b.target].shape;
        assert_true(shape_count(s, ROWS) <= TARGETS);
        kit_fill(target, ELEM_F64, TARGETS);
        run_put(r, b.target, 0, s->dim[0].is_batched ? ROWS : 1, target);
    }
    assert_non_null(run_region(r, REGION_GRADS));
    double *grad = run_region(r, REGION_GRADS)->ptr;
    for (size_t i = 0; i < n; i++)
        grad[i] = (double)NAN;                  /* every one must be written */
    loss_of(r, b.loss, PHASE_FORWARD | PHASE_BACKWARD);
    for (size_t i = 0; i < n; i++) {
        double keep = w[i], h = 1e-5 * (fabs(keep) + 0.1);
        w[i] = keep + h;
        double up = loss_of(r, b.loss, PHASE_FORWARD);
        w[i] = keep - h;
        double down = loss_of(r, b.loss, PHASE_FORWARD), want = (up - down) / (2 * h) / (double)rows;
        w[i] = keep;
        double off = fabs(want - grad[i]) / (fabs(want) + fabs(grad[i]) + 1e-3);
        worst = off > worst || isnan(off) ? off : worst;
    }
    if (!(worst <= 1e-6))
        fail_msg("%s: the gradient is off by %g", name, worst);
    print_message("%-14s %zu numbers, worst %.1e\n", name, n, worst);
    run_free(r);
    plan_free(p);
    backend_ref.close(c);
}

static inline struct built new_graph(void)
{
    struct built b = { .g = graph_new(ELEM_F64, 1024), .target = VALUE_NONE };
    b.x = graph_input(b.g, "x", F64(DIM_ROWS(1), DIM(COLS)));
    return b;
}

static inline int param(struct graph *g, size_t rows, size_t cols)
{
    return graph_param(g, "p", 2, (struct dim[]){ DIM(rows), DIM(cols) });
}

static inline int vector(struct graph *g, size_t n)
{
    return graph_param(g, "v", 1, (struct dim[]){ DIM(n) });
}

/* The loss against a target of random numbers (check puts them), so that no gradient is zero by chance. */
static inline void mean_square(struct built *b, int y)
{
    b->target = graph_input(b->g, "target", b->g->values[y].shape);
    b->loss = graph_op2(b->g, OP_MSE, y, b->target);
}
