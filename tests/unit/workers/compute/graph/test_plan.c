/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan.c - what a backend lacks and what does not fit is refused before anything runs; the map. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph_kit.h"

enum { ROWS = KIT_ROWS, COLS = KIT_COLS };

static void test_refusals(void **st)
{
    (void)st;
    struct err e = { 0 };
    struct plan *p;
    struct backend_ctx *c = kit_open(&backend_ref);
    struct graph *g = graph_new(ELEM_F32, 16);
    int x = graph_input(g, "x", (struct shape){ ELEM_I8, 2, { DIM_ROWS(1), DIM(4) } });
    graph_output(g, graph_op1(g, OP_RELU, x), "y");
    assert_int_equal(plan_new(g, &backend_ref, c, &(struct plan_options){ .max_rows = 4 }, &p, &e), ERR_UNPROCESSABLE);
    assert_string_equal(e.msg, "backend ref has no relu for i8");
    g = graph_new(ELEM_F32, 16);
    x = graph_input(g, "x", F32(DIM_ROWS(1), DIM(1 << 20)));
    graph_output(g, graph_op1(g, OP_RELU, x), "y");
    const struct plan_options small = { .max_rows = 4096, .max_bytes = (size_t)64 << 20 };
    assert_int_equal(plan_new(g, &backend_ref, c, &small, &p, &e), ERR_LIMIT);
    assert_non_null(strstr(e.msg, "does not fit in 64 MiB: it needs 32768"));
    g = graph_new(ELEM_F32, 16);
    graph_op1(g, OP_ADD, graph_input(g, "x", F32(DIM(1))));
    assert_int_equal(plan_new(g, &backend_ref, c, &small, &p, &e), ERR_UNPROCESSABLE);
    backend_ref.close(c);
}

static void test_map(void **st)
{
    (void)st;
    CLEANUP(buf_releasep) struct buf out = BUF(1 << 16);
    struct backend_ctx *c = kit_open(&backend_ref);
    int loss;
    struct plan *p = kit_plan(kit_random_graph(3, false, &loss), &backend_ref, c, ROWS);
    assert_true(plan_print(p, &out));
    char *text = strndup((const char *)out.ptr, out.len);
    assert_non_null(strstr(text, "f32[rows,24]"));
    assert_non_null(strstr(text, "input x"));
    assert_non_null(strstr(text, "arena"));
    free(text);
    plan_free(p);
    backend_ref.close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
