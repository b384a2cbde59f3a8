/* SPDX-License-Identifier: Apache-2.0 */
/* test_graph_write.c - what no output needs is left out, and the same graph writes the same bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../graph/graph_kit.h"
#include "workers/compute/infer/graph_file.h"

static void write_one(struct arena *a, struct buf *out)
{
    static const float w[6] = { 1, 2, 3, 4, 5, 6 }, unread[2] = { 7, 8 };
    struct graph *g = graph_new(ELEM_F32, 16);
    struct err e = { 0 };
    struct model_sig sig = { .inputs = { { STR("x"), STR("FP32"), 2, { -1, 3 } } }, .outputs = { { STR("y"), STR("FP32"), 2,
                                                                                                   { -1, 2 } } },
                             .input_count = 1, .output_count = 1 };
    int x = graph_input(g, "x", F32(DIM_ROWS(1), DIM(3))), k = graph_const(g, "", F32(DIM(2), DIM(3)), w);
    int y = graph_op(g, OP_MATMUL, &(struct op_attr){ .flags = MM_TRANS_B }, GRAPH_INS(x, k));
    (void)graph_op2(g, OP_ADD_BIAS, y, graph_const(g, "", F32(DIM(2)), unread));
    graph_output(g, graph_op(g, OP_UNARY, &(struct op_attr){ .fn = 3, .alpha = 0.5 }, GRAPH_INS(y)), "y");
    const struct st_pair more[] = { { STR("k"), STR("v") } };
    if (graph_file_write(a, g, &sig, more, 1, out, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    graph_free(g);
}

static void test_the_text(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)4 << 20);
    CLEANUP(buf_releasep) struct buf b = BUF(65536);
    CLEANUP(buf_releasep) struct buf again = BUF(65536);
    struct st_file f;
    struct err e;
    write_one(a, &b);
    write_one(a, &again);
    assert_true(str_eq(buf_str(&b), buf_str(&again)));
    assert_int_equal(st_parse(a, b.ptr, b.len, &f, &e), ERR_OK);
    assert_int_equal(f.tensor_count, 1);
    assert_true(model_graph_is(&f) && str_eq_c(st_meta(&f, "k"), "v"));
    assert_string_equal(str_z(a, st_meta(&f, "graph")),
                        "{\"inputs\":[{\"name\":\"x\",\"type\":\"f32\",\"shape\":[-1,3]}],\"constants\":[\"c0\"],\"nodes\":["
                        "{\"op\":\"matmul\",\"in\":[0,1],\"flags\":2},{\"op\":\"unary\",\"in\":[2],\"fn\":3,\"alpha\":0.5}],"
                        "\"outputs\":[{\"name\":\"y\",\"value\":3}]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_the_text) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
