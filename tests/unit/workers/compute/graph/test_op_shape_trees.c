/* SPDX-License-Identifier: Apache-2.0 */
/* test_op_shape_trees.c - an ensemble of trees must be constants, and is walked only as trees_pack made it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "core/base/cleanup.h"
#include "workers/compute/graph/graph.h"

static const float nodes[3][7] = { { 1, 0.5f, 1, 2, 0, -1, 0 }, { -1, 1, 0, 0, 0, -1, 0 }, { -1, 2, 0, 0, 0, -1, 0 } };
static const float roots[2] = { 0, 1 }, base[2] = { 0, 0 };

static int matrix(struct graph *g, const float *p, size_t rows, size_t cols)
{
    return graph_const(g, "c", (struct shape){ ELEM_F32, cols ? 2 : 1, { DIM(rows), DIM(cols) } }, p);
}

static int rows_of_columns(struct graph *g, size_t cols)
{
    return graph_input(g, "x", (struct shape){ ELEM_F32, 2, { DIM_ROWS(1), DIM(cols) } });
}

static void expect(struct graph *g, const char *why)
{
    struct err e;
    assert_int_not_equal(graph_check(g, &e), ERR_OK);
    if (!strstr(e.msg, why))
        fail_msg("%s instead of %s", e.msg, why);
    graph_free(g);
}

static int pack(struct graph *g)
{
    const struct op_attr none = { 0 };
    return graph_op(g, OP_TREES_PACK, &none, GRAPH_INS(matrix(g, nodes[0], 3, 7), matrix(g, roots, 1, 2), matrix(g, base, 2, 0)));
}

static void test_rules(void **st)
{
    (void)st;
    const struct op_attr none = { 0 };
    struct err e;
    struct graph *g = graph_new(ELEM_F32, 64);
    int y = graph_op2(g, OP_TREES, rows_of_columns(g, 2), pack(g));
    assert_int_equal(graph_check(g, &e), ERR_OK);
    assert_true(g->values[y].shape.dim[0].is_batched && g->values[y].shape.dim[1].n == 2);
    graph_op2(g, OP_TREES, rows_of_columns(g, 1), pack(g));
    expect(g, "node 0: its column is 1 of 1");
    g = graph_new(ELEM_F32, 64);
    graph_op2(g, OP_TREES, rows_of_columns(g, 2), matrix(g, base, 2, 0));
    expect(g, "expected what trees_pack makes");
    g = graph_new(ELEM_F32, 64);
    graph_op(g, OP_TREES_PACK, &none, GRAPH_INS(rows_of_columns(g, 7), matrix(g, roots, 1, 2), matrix(g, base, 2, 0)));
    expect(g, "expected a constant of trees");
    g = graph_new(ELEM_F32, 64);
    graph_op(g, OP_TREES_PACK, &none, GRAPH_INS(matrix(g, nodes[0], 3, 7), matrix(g, roots, 2, 0), matrix(g, base, 2, 0)));
    expect(g, "expected a constant of trees");
    g = graph_new(ELEM_F32, 64);
    for (int i = 0; i < 40; i++)
        (void)pack(g);
    expect(g, "more than 16 ensembles");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_rules) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
