/* SPDX-License-Identifier: Apache-2.0 */
/* test_lay.c - sharing memory changes no bit; places that live together do not meet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph_kit.h"

enum { ROWS = KIT_ROWS, COLS = KIT_COLS };

enum { GRAPHS = 60 };

/* Loss and gradients for the same numbers. */
static void results(struct plan *p, struct backend_ctx *c, int loss, double *ret_loss, float *ret_grads)
{
    struct run *r = kit_run(p, c);
    struct err e;
    float x[ROWS * COLS];
    kit_state = 99;
    kit_fill(run_region(r, REGION_PARAMS)->ptr, ELEM_F32, p->graph->param_count);
    kit_fill(x, ELEM_F32, ROWS * COLS);
    run_put(r, plan_find(p, "x"), 0, ROWS, x);
    kit_fill(x, ELEM_F32, ROWS * COLS);
    run_put(r, plan_find(p, "target"), 0, ROWS, x);
    run_exec(r, ROWS, PHASE_FORWARD | PHASE_BACKWARD, false);
    run_get(r, loss, 0, 1, ret_loss);
    p->be->get(c, QUEUE_COMPUTE, run_region(r, REGION_GRADS), 0, ret_grads, p->graph->param_count * sizeof(float));
    assert_int_equal(run_sync(r, &e), ERR_OK);
    run_free(r);
}

static void no_two_meet(const struct plan *p)
{
    const struct graph *g = p->graph;
    for (int a = 0; a < g->value_count; a++)
        for (int b = 0; b < a; b++) {
            const struct plan_place *x = &p->places[a], *y = &p->places[b];
            if (x->root != a || y->root != b || !x->size_bytes || !y->size_bytes)
                continue;
            bool together = x->first <= y->last && y->first <= x->last;
            bool meet = x->offset_bytes < y->offset_bytes + y->size_bytes && y->offset_bytes < x->offset_bytes + x->size_bytes;
            assert_true(x->offset_bytes % PLACE_ALIGN == 0 && x->offset_bytes + x->size_bytes <= p->region_bytes[REGION_ARENA]);
            assert_false(together && meet);
        }
}

static void test_sharing_changes_no_bit(void **st)
{
    (void)st;
    struct hw hw;
    struct err e;
    const struct backend *be;
    size_t shared = 0, naive = 0;
    hw_read(&hw);
    assert_int_equal(backend_choose("auto", &hw, NULL, NULL, &be, &e), ERR_OK);
    struct backend_ctx *c = kit_open(be);
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        double loss[2];
        float grads[2][COLS * COLS + COLS];
        for (int i = 0; i < 2; i++) {
            int loss_value;
            struct plan *p = kit_plan(kit_random_graph(seed, i == 1, &loss_value), be, c, ROWS);
            no_two_meet(p);
            results(p, c, loss_value, &loss[i], grads[i]);
            *(i ? &naive : &shared) += p->region_bytes[REGION_ARENA];
            plan_free(p);
        }
        assert_memory_equal(&loss[0], &loss[1], sizeof loss[0]);
        assert_memory_equal(grads[0], grads[1], sizeof grads[0]);
    }
    print_message("%d graphs: %zu bytes of arena on average, %zu without sharing\n", GRAPHS, shared / GRAPHS, naive / GRAPHS);
    assert_true(shared * 2 < naive);
    be->close(c);
}

/* Widths from 1 to 400, so that a gap is seldom as large as what comes next. */
static void test_places_of_many_sizes(void **st)
{
    (void)st;
    struct backend_ctx *c = kit_open(&backend_ref);
    for (uint64_t seed = 0; seed < 100; seed++) {
        kit_state = seed + 1;
        struct graph *g = graph_new(ELEM_F32, 64);
        int pool[24] = { graph_input(g, "x", F32(DIM_ROWS(1), DIM(COLS))) }, n = 1;
        while (n < 24) {
            int x = pool[kit_below((size_t)n)];
            size_t in = g->values[x].shape.dim[1].n, out = 1 + kit_below(400);
            int w = graph_param(g, "w", 2, (struct dim[]){ DIM(out), DIM(in) });
            pool[n++] = graph_op(g, OP_MATMUL, &(struct op_attr){ .flags = MM_TRANS_B }, GRAPH_INS(x, w));
        }
        for (int i = 1; i < n; i++)
            if (!graph_uses(g, pool[i]))
                graph_output(g, graph_op1(g, OP_COLSUM, pool[i]), "sum");
        struct plan *p = kit_plan(g, &backend_ref, c, ROWS);
        no_two_meet(p);
        plan_free(p);
    }
    backend_ref.close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sharing_changes_no_bit),
        cmocka_unit_test(test_places_of_many_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
