/* SPDX-License-Identifier: Apache-2.0 */
/* test_recompute.c - blocks whose results are dropped and made again: the same bits in less memory, on any graph; what leaves a
 * block is kept, what nobody needs is made once, and the map shows what is made again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph_kit.h"

enum { ROWS = KIT_ROWS, COLS = KIT_COLS, LAYERS = 6, WIDE = 4 };

struct deep {
    struct graph *g;
    int loss, out[LAYERS + 1], inner[LAYERS];
};

/* Layers of two products with a softmax and dropout between, around which the input goes. */
static struct deep deep(bool recomputes, int blocks)
{
    struct deep d = { .g = graph_new(ELEM_F32, 512) };
    struct graph *g = d.g;
    int x = d.out[0] = graph_input(g, "x", F32(DIM_ROWS(1), DIM(COLS)));
    for (int i = 0; i < LAYERS; i++) {
        int w = graph_param(g, "w", 2, (struct dim[]){ DIM(WIDE * COLS), DIM(COLS) });
        int b = graph_param(g, "b", 1, (struct dim[]){ DIM(WIDE * COLS) });
        int u = graph_param(g, "u", 2, (struct dim[]){ DIM(COLS), DIM(WIDE * COLS) });
        g->block = blocks ? i / (LAYERS / blocks) + 1 : 0;
        int y = graph_op1(g, OP_RELU, graph_linear(g, x, w, b));
        y = d.inner[i] = graph_op1(g, OP_SOFTMAX, y);
        y = graph_op(g, OP_DROPOUT, &(struct op_attr){ .rate = 0.3, .stream = (uint64_t)i + 1 }, GRAPH_INS(y, graph_step(g)));
        y = graph_op(g, OP_MATMUL, &(struct op_attr){ .flags = MM_TRANS_B }, GRAPH_INS(y, u));
        x = d.out[i + 1] = graph_op2(g, OP_ADD, x, y);
    }
    g->block = 0;
    d.loss = graph_op2(g, OP_MSE, x, graph_input(g, "target", F32(DIM_ROWS(1), DIM(COLS))));
    graph_output(g, d.loss, "loss");
    graph_backward(g, d.loss);
    if (recomputes)
        graph_recompute(g);
    return d;
}

static double loss_and_grads(struct plan *p, struct backend_ctx *c, int loss, float *grads)
{
    struct run *r = kit_run(p, c);
    struct err e;
    double ret;
    float x[ROWS * COLS];
    kit_state = 5;
    for (size_t i = 0; i < p->graph->param_count; i++)
        ((float *)run_region(r, REGION_PARAMS)->ptr)[i] = (float)kit_random();
    kit_fill(x, ELEM_F32, ROWS * COLS);
    run_put(r, plan_find(p, "x"), 0, ROWS, x);
    kit_fill(x, ELEM_F32, ROWS * COLS);
    run_put(r, plan_find(p, "target"), 0, ROWS, x);
    if (run_region(r, REGION_STEP))
        run_put_step(r, &kit_step);
    run_exec(r, ROWS, PHASE_FORWARD, false);                /* alone: nothing is made again */
    run_exec(r, ROWS, PHASE_FORWARD | PHASE_BACKWARD, false);
    run_get(r, loss, 0, 1, &ret);
    p->be->get(c, QUEUE_COMPUTE, run_region(r, REGION_GRADS), 0, grads, p->graph->param_count * sizeof(float));
    assert_int_equal(run_sync(r, &e), ERR_OK);
    run_free(r);
    return ret;
}

static int again(const struct graph *g, enum op op)
{
    int n = 0;
    for (int i = 0; i < g->node_count; i++)
        n += !g->nodes[i].is_gone && g->nodes[i].is_again && g->nodes[i].op == op;
    return n;
}

static void test_the_same_bits_in_less_memory(void **st)
{
    (void)st;
    struct hw hw;
    static float grads[2][LAYERS * (2 * WIDE * COLS * COLS + WIDE * COLS)];
    hw_read(&hw);
    for (const struct backend *const *be = backend_list(); *be; be++) {
        size_t bytes[2];
        double loss[2];
        if (!(*be)->probe(&hw))
            continue;
        struct backend_ctx *c = kit_open(*be);
        for (int i = 0; i < 2; i++) {
            struct deep d = deep(i == 1, LAYERS);
            struct plan *p = kit_plan(d.g, *be, c, ROWS);
            bytes[i] = p->region_bytes[REGION_ARENA];
            memset(grads[i], 0xff, sizeof grads[i]);
            loss[i] = loss_and_grads(p, c, d.loss, grads[i]);
            plan_free(p);
        }
        print_message("%s: %zu bytes of arena kept, %zu made again\n", (*be)->name, bytes[0], bytes[1]);
        assert_memory_equal(&loss[0], &loss[1], sizeof loss[0]);
        assert_memory_equal(grads[0], grads[1], sizeof grads[0]);
        assert_true(bytes[1] * 2 < bytes[0]);
        (*be)->close(c);
    }
}

static void test_what_is_made_again(void **st)
{
    (void)st;
    CLEANUP(buf_releasep) struct buf map = BUF(1 << 20);
    struct backend_ctx *c = kit_open(&backend_ref);
    struct deep d = deep(true, LAYERS);
    assert_int_equal(again(d.g, OP_SOFTMAX), LAYERS);
    assert_int_equal(again(d.g, OP_DROPOUT), LAYERS);       /* the second product reads it */
    assert_int_equal(again(d.g, OP_MATMUL), LAYERS);        /* the first; nothing reads what the second makes */
    assert_int_equal(again(d.g, OP_ADD), 0);
    struct plan *p = kit_plan(d.g, &backend_ref, c, ROWS);
    for (int i = 0; i < LAYERS; i++) {
        const struct plan_place *kept = &p->places[p->places[d.out[i]].root], *dropped = &p->places[p->places[d.inner[i]].root];
        const struct node *n = &d.g->nodes[dropped->last];
        assert_true(n->phase == PHASE_FORWARD && !n->is_again);
        assert_true(d.g->nodes[kept->last < d.g->node_count ? kept->last : 0].phase == PHASE_BACKWARD || i == 0);
    }
    assert_true(plan_print(p, &map));
    assert_non_null(memmem(map.ptr, map.len, "softmax (made again)", 20));
    plan_free(p);
    backend_ref.close(c);
}

/* Without blocks, and without graph_recompute, nothing changes. */
static void test_without_blocks_nothing_is_dropped(void **st)
{
    (void)st;
    struct deep none = deep(true, 0), kept = deep(false, LAYERS);
    assert_int_equal(none.g->node_count, kept.g->node_count);
    for (int i = 0; i < none.g->node_count; i++)
        assert_true(!none.g->nodes[i].is_again && none.g->nodes[i].op == kept.g->nodes[i].op);
    graph_free(none.g);
    graph_free(kept.g);
}

/* Nodes of random graphs in random blocks, one after the other: the loss and the gradients are those of before. */
static void test_random_graphs(void **st)
{
    (void)st;
    enum { GRAPHS = 80 };
    struct backend_ctx *c = kit_open(&backend_ref);
    int copies = 0;
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        static float grads[2][COLS * COLS + COLS];
        double loss[2];
        for (int i = 0; i < 2; i++) {
            int at;
            struct graph *g = kit_random_graph(seed, false, &at);
            for (int n = 0, block = 1; n < g->node_count && g->nodes[n].phase == PHASE_FORWARD && g->nodes[n].op != OP_MSE; n++) {
                g->nodes[n].block = block;
                block += kit_below(7) == 0;
            }
            if (i)
                graph_recompute(g);
            for (int n = 0; n < g->node_count; n++)
                copies += g->nodes[n].is_again;
            struct plan *p = kit_plan(g, &backend_ref, c, ROWS);
            loss[i] = loss_and_grads(p, c, at, grads[i]);
            plan_free(p);
        }
        assert_memory_equal(&loss[0], &loss[1], sizeof loss[0]);
        assert_memory_equal(grads[0], grads[1], sizeof grads[0]);
    }
    print_message("%d nodes of %d graphs made again\n", copies, GRAPHS);
    assert_true(copies > GRAPHS);
    backend_ref.close(c);
}

static void test_too_many_nodes_are_an_error(void **st)
{
    (void)st;
    struct deep d = deep(false, LAYERS);
    struct err e;
    d.g->nodes_max = d.g->node_count + 3;
    graph_recompute(d.g);
    assert_int_equal(graph_check(d.g, &e), ERR_LIMIT);
    graph_free(d.g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_bits_in_less_memory), cmocka_unit_test(test_what_is_made_again),
        cmocka_unit_test(test_without_blocks_nothing_is_dropped), cmocka_unit_test(test_random_graphs),
        cmocka_unit_test(test_too_many_nodes_are_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
