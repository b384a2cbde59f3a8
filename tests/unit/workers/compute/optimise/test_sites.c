/* SPDX-License-Identifier: Apache-2.0 */
/* test_sites.c - which nodes of a graph are made smaller, and the bytes and scales that one gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../graph/graph_kit.h"
#include "workers/compute/optimise/sites.h"

static void test_bytes(void **st)
{
    (void)st;
    static const float w[] = { 1, -2, 0.5f, 0, 0, 0 };
    struct arena *a = arena_new(1 << 20);
    struct graph *g = graph_new(ELEM_F32, 16);
    struct site sites[16];
    struct err e;
    int x = graph_input(g, "x", F32(DIM_ROWS(1), DIM(3))), c = graph_const(g, "w", F32(DIM(2), DIM(3)), w);
    int other = graph_input(g, "u", F32(DIM(3), DIM(2)));
    graph_op2(g, OP_MATMUL, x, other);                  /* by no constant */
    int y = graph_op(g, OP_MATMUL, &(struct op_attr){ .flags = MM_TRANS_B }, GRAPH_INS(x, c));
    graph_output(g, y, "y");
    assert_int_equal(sites_find(g, sites), 1);
    assert_true(sites[0].node == 1 && sites[0].value == x);
    assert_int_equal(site_to_bytes(g, a, &sites[0], -1, 3, &e), ERR_OK);
    const struct node *n = &g->nodes[1];
    const int8_t *bytes = g->values[n->in[1]].data;
    const float *scale = g->values[n->in[2]].data;
    static const int8_t want[] = { 64, -127, 32, 0, 0, 0 };
    assert_int_equal(n->op, OP_QMATMUL);
    assert_memory_equal(bytes, want, sizeof want);
    assert_true(fabsf(scale[0] - 2 / 127.0f) < 1e-7f && scale[1] == 1 && n->attr.gamma == 64);
    assert_int_equal(sites_find(g, sites), 0);
    graph_free(g);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_bytes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
