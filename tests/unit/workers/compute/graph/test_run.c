/* SPDX-License-Identifier: Apache-2.0 */
/* test_run.c - gradients of several batches add up; the step scalars are read where they lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph_kit.h"

enum { ROWS = KIT_ROWS, COLS = KIT_COLS };

/* Two micro-batches of half the weight give the gradient of one batch; the second adds. */
static void test_accumulate(void **st)
{
    (void)st;
    struct err e;
    struct backend_ctx *c = kit_open(&backend_ref);
    struct graph *g = graph_new(ELEM_F64, 16);
    const struct shape s = { ELEM_F64, 2, { DIM_ROWS(1), DIM(3) } };
    int x = graph_input(g, "x", s), t = graph_input(g, "t", s);
    int w = graph_param(g, "w", 2, (struct dim[]){ DIM(3), DIM(3) }), b = graph_param(g, "b", 1, (struct dim[]){ DIM(3) });
    int loss = graph_op(g, OP_MSE, &(struct op_attr){ 0 }, GRAPH_INS(graph_linear(g, x, w, b), t, graph_step(g)));
    graph_output(g, loss, "loss");
    graph_backward(g, loss);
    struct plan *p = kit_plan(g, &backend_ref, c, 8);
    struct run *r = kit_run(p, c);
    double xs[24], ts[24], want[12];
    kit_fill(xs, ELEM_F64, 24);
    kit_fill(ts, ELEM_F64, 24);
    kit_fill(run_region(r, REGION_PARAMS)->ptr, ELEM_F64, 12);
    for (int parts = 1; parts <= 2; parts++) {
        struct step_scalars step = kit_step;
        step.loss_scale = 1.0 / parts;
        run_put_step(r, &step);
        for (size_t i = 0, n = 8 / (size_t)parts; i < (size_t)parts; i++) {
            run_put(r, x, 0, n, xs + i * n * 3);
            run_put(r, t, 0, n, ts + i * n * 3);
            run_exec(r, n, PHASE_FORWARD | PHASE_BACKWARD, i > 0);
        }
        assert_int_equal(run_sync(r, &e), ERR_OK);
        const double *grads = run_region(r, REGION_GRADS)->ptr;
        if (parts == 1)
            memcpy(want, grads, sizeof want);
        for (int i = 0; i < 12; i++)
            assert_true(fabs(grads[i] - want[i]) < 1e-14);
    }
    run_free(r);
    plan_free(p);
    backend_ref.close(c);
}

static void test_clip(void **st)
{
    (void)st;
    struct err e;
    struct backend_ctx *c = kit_open(&backend_ref);
    struct graph *g = graph_new(ELEM_F32, 16);
    graph_param(g, "w", 1, (struct dim[]){ DIM(2) });
    int grads = graph_view(g, REGION_GRADS, 0, 2), step = graph_step(g), sum = graph_op1(g, OP_SUMSQ, grads);
    graph_op2(g, OP_CLIP, sum, step);
    int params = graph_view(g, REGION_PARAMS, 0, 2), moment = graph_view(g, REGION_M, 0, 2);
    graph_op(g, OP_SGD, &(struct op_attr){ 0 }, GRAPH_INS(params, grads, moment, step));
    graph_output(g, sum, "norm");
    struct plan *p = kit_plan(g, &backend_ref, c, 1);
    struct run *r = kit_run(p, c);
    for (int i = 0; i < 3; i++) {
        static const double clip[] = { 0, 10, 1 }, want[] = { 3, 3, 0.6 };
        struct step_scalars at = { .lr = 1, .clip_norm = clip[i] };
        float w[2] = { 0, 0 }, grad[2] = { 3, 4 };
        memcpy(run_region(r, REGION_PARAMS)->ptr, w, sizeof w);
        memcpy(run_region(r, REGION_GRADS)->ptr, grad, sizeof grad);
        run_put_step(r, &at);
        run_exec(r, 1, PHASE_FORWARD, false);
        assert_int_equal(run_sync(r, &e), ERR_OK);
        memcpy(w, run_region(r, REGION_PARAMS)->ptr, sizeof w);
        assert_true(fabs((double)w[0] + want[i]) < 1e-6 && fabs((double)w[1] + want[i] * 4 / 3) < 1e-6);
    }
    run_free(r);
    plan_free(p);
    backend_ref.close(c);
}

static int syncs_left = -1;             /* until one fails; below 0: none does */
static enum errc sync_that_fails_once(struct backend_ctx *c, struct err *e)
{
    (void)c;
    return syncs_left-- == 0 ? FAIL(e, LIMIT, "the card has no more memory") : ERR_OK;
}

/* A card tells a failure once; it is not lost when operations are watched, each by a sync of its own. */
static void test_a_watched_failure_is_told(void **st)
{
    (void)st;
    struct err e = { 0 };
    struct backend be = backend_ref;
    struct backend_ctx *c = kit_open(&backend_ref);
    struct graph *g = graph_new(ELEM_F32, 16);
    int x = graph_input(g, "x", F32(DIM_ROWS(1), DIM(2))), y = graph_op1(g, OP_RELU, graph_op2(g, OP_ADD, x, x));
    graph_output(g, y, "y");
    be.sync = sync_that_fails_once;
    struct plan *p = kit_plan(g, &be, c, 1);
    struct run *r = kit_run(p, c);
    const float one[2] = { 1, 1 };
    assert_non_null(run_watch_begin(r));
    for (int at = 0; at < 2; at++) {
        syncs_left = at;
        run_put(r, x, 0, 1, one);
        run_exec(r, 1, PHASE_FORWARD, false);
        assert_int_equal(run_sync(r, &e), ERR_LIMIT);
        assert_string_equal(e.msg, "the card has no more memory");
        assert_int_equal(run_sync(r, &e), ERR_OK);      /* it was told once */
    }
    run_free(r);
    plan_free(p);
    backend_ref.close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accumulate),
        cmocka_unit_test(test_clip),
        cmocka_unit_test(test_a_watched_failure_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
