/* SPDX-License-Identifier: Apache-2.0 */
/* test_graph.c - the first error is kept, and a builder that goes on adds nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "shape_kit.h"

static void test_the_first_error_is_kept(void **st)
{
    (void)st;
    int x = graph_input(g, "x", F32(DIM_ROWS(1), DIM(4)));
    int y = graph_op1(g, OP_ADD, x);
    for (int i = 0; i < 100; i++)       /* a builder that goes on adds nothing */
        y = graph_op1(g, OP_RELU, y);
    assert_int_equal(g->node_count, 0);
    graph_backward(g, y);
    refused(y, ERR_UNPROCESSABLE, "add has 1 inputs");
    x = graph_input(g, "x", F32(DIM_ROWS(1), DIM(4)));
    for (int i = 0; i < 100; i++)
        x = graph_op1(g, OP_RELU, x);
    refused(x, ERR_LIMIT, "more than 32 nodes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_first_error_is_kept, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
