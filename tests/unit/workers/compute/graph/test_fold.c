/* SPDX-License-Identifier: Apache-2.0 */
/* test_fold.c - what depends on constants alone is computed once, and what nobody reads is not kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph_kit.h"

enum { ROWS = KIT_ROWS, COLS = KIT_COLS };

static void test_constants_are_computed_once(void **st)
{
    (void)st;
    float a[4] = { 1, -2, 3, -4 }, got[4];
    struct err e;
    struct backend_ctx *c = kit_open(&backend_ref);
    struct graph *g = graph_new(ELEM_F32, 16);
    int x = graph_input(g, "x", F32(DIM_ROWS(1), DIM(2))), k = graph_const(g, "k", F32(DIM(2), DIM(2)), a);
    int folded = graph_op1(g, OP_RELU, graph_op2(g, OP_ADD, k, k));         /* 2 0 6 0 */
    int y = graph_op(g, OP_MATMUL, &(struct op_attr){ 0 }, GRAPH_INS(x, folded));
    int unread = graph_op1(g, OP_SOFTMAX, y);
    graph_output(g, y, "y");
    (void)unread;
    struct plan *p = kit_plan(g, &backend_ref, c, 2);
    assert_int_equal(kit_count(g, OP_ADD) + kit_count(g, OP_RELU) + kit_count(g, OP_SOFTMAX), 0);
    assert_null(p->consts[k]);
    struct run *r = kit_run(p, c);
    run_put(r, x, 0, 2, (float[]){ 1, 0, 1, 1 });
    run_exec(r, 2, PHASE_FORWARD, false);
    run_get(r, y, 0, 2, got);
    assert_int_equal(run_sync(r, &e), ERR_OK);
    assert_true(got[0] == 2 && got[1] == 0 && got[2] == 8 && got[3] == 0);
    run_free(r);
    plan_free(p);
    backend_ref.close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants_are_computed_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
