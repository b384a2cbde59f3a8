/* SPDX-License-Identifier: Apache-2.0 */
/* test_op_shape_net.c - shapes of attention and images, and what their rules refuse, by name: a table of graphs of one node. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph_kit.h"

#define IMG(h, w, c) F32(DIM_ROWS(1), DIM(h), DIM(w), DIM(c))
#define WIN(k, s, p) .window = { k, k }, .stride = s, .pad = p

struct row {
    enum op op;
    struct op_attr attr;
    struct shape in[4];
    int ins;
    const char *want;           /* the shape, or what the refusal says */
};

static void test_rules(void **st)
{
    (void)st;
    const struct row all[] = {
        { OP_ATTENTION, { .heads = 4, .kv_heads = 2 }, { F32(DIM_ROWS(1), DIM(7), DIM(64)) }, 1, "f32[rows,7,32]" },
        { OP_ATTENTION, { .heads = 3, .kv_heads = 2 }, { F32(DIM_ROWS(1), DIM(7), DIM(64)) }, 1, "3 heads cannot share 2 heads" },
        { OP_ATTENTION, { .heads = 4, .kv_heads = 0 }, { F32(DIM_ROWS(1), DIM(7), DIM(64)) }, 1, "4 heads cannot share 0 heads" },
        { OP_ATTENTION, { .heads = 4, .kv_heads = 2 }, { F32(DIM_ROWS(1), DIM(7), DIM(63)) }, 1,
          "input 0 of attention is f32[rows,7,63]" },
        { OP_ROTARY, { .heads = 2 }, { F32(DIM_ROWS(1), DIM(7), DIM(64)), F32(DIM(7), DIM(16)) }, 2, "f32[rows,7,64]" },
        { OP_ROTARY, { .heads = 2 }, { F32(DIM_ROWS(1), DIM(7), DIM(64)), F32(DIM(6), DIM(16)) }, 2, "a row for each token" },
        { OP_ROTARY, { .heads = 5 }, { F32(DIM_ROWS(1), DIM(7), DIM(64)), F32(DIM(7), DIM(16)) }, 2,
          "fewer columns than the heads" },
        { OP_SWIGLU, { 0 }, { F32(DIM_ROWS(1), DIM(6)) }, 1, "f32[rows,3]" },
        { OP_SWIGLU, { 0 }, { F32(DIM_ROWS(1), DIM(7)) }, 1, "even number of columns" },
        { OP_CONV2D, { .stride = 2, .pad = 1 }, { IMG(8, 9, 3), F32(DIM(5), DIM(3), DIM(3), DIM(3)) }, 2, "f32[rows,4,5,5]" },
        { OP_CONV2D, { .stride = 2, .pad = 1 }, { IMG(8, 9, 3), F32(DIM(5), DIM(3), DIM(3), DIM(4)) }, 2,
          "with the channels of input 0" },
        { OP_CONV2D, { .stride = 0 }, { IMG(8, 9, 3), F32(DIM(5), DIM(3), DIM(3), DIM(3)) }, 2, "does not fit into it" },
        { OP_CONV2D, { .stride = 1 }, { IMG(2, 9, 3), F32(DIM(5), DIM(3), DIM(3), DIM(3)) }, 2, "does not fit into it" },
        { OP_CONV2D, { .stride = 1, .pad = 3 }, { IMG(8, 9, 3), F32(DIM(5), DIM(3), DIM(3), DIM(3)) }, 2,
          "does not fit into it" },
        { OP_MAXPOOL, { WIN(2, 2, 0) }, { IMG(7, 8, 3) }, 1, "f32[rows,3,4,3]" },
        { OP_MAXPOOL, { WIN(2, 2, 0) }, { F32(DIM_ROWS(1), DIM(8)) }, 1, "expected images" },
        { OP_AVGPOOL_BWD, { WIN(2, 2, 0), .image = { 7, 8 } }, { IMG(3, 4, 3) }, 1, "f32[rows,7,8,3]" },
        { OP_AVGPOOL_BWD, { WIN(2, 2, 0), .image = { 5, 8 } }, { IMG(3, 4, 3) }, 1, "an image of 5 x 8 does not give" },
        { OP_GROUPNORM, { .n = 2 }, { IMG(3, 4, 6), F32(DIM(6)), F32(DIM(6)) }, 3, "f32[rows,3,4,6]" },
        { OP_GROUPNORM, { .n = 4 }, { IMG(3, 4, 6), F32(DIM(6)), F32(DIM(6)) }, 3, "the groups share evenly" },
        { OP_GROUPNORM, { .n = 2 }, { IMG(3, 4, 6), F32(DIM(6)), F32(DIM(5)) }, 3, "input 2 of groupnorm" },
        { OP_CAST, { .n = ELEM_BF16 }, { F32(DIM_ROWS(1), DIM(6)) }, 1, "bf16[rows,6]" },
        { OP_CAST, { .n = ELEM_I8 }, { F32(DIM_ROWS(1), DIM(6)) }, 1, "a cast makes f32, f64 or bf16" },
        { OP_DROPOUT, { .rate = 0.1 }, { F32(DIM_ROWS(1), DIM(6)), { ELEM_U8, 1, { DIM(8) } } }, 2, "f32[rows,6]" },
        { OP_RMSNORM, { .eps = 1 }, { F32(DIM_ROWS(1), DIM(6)), F32(DIM(5)) }, 2, "a number for each column" },
        { OP_SIGMOID_XENT, { 0 }, { F32(DIM_ROWS(1), DIM(6)), F32(DIM_ROWS(1), DIM(5)) }, 2, "input 1 of sigmoid_xent" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct graph *g = graph_new(ELEM_F32, 8);
        struct err e = { 0 };
        int in[4];
        char text[96];
        for (int k = 0; k < all[i].ins; k++)
            in[k] = graph_input(g, "in", all[i].in[k]);
        int y = graph_op(g, all[i].op, &all[i].attr, in, (size_t)all[i].ins);
        const char *got = y == VALUE_NONE ? (graph_check(g, &e), e.msg) : shape_text(&g->values[y].shape, text, sizeof text);
        if (y == VALUE_NONE ? !strstr(got, all[i].want) : strcmp(got, all[i].want))
            fail_msg("row %zu, %s: \"%s\", expected \"%s\"", i, op_name(all[i].op), got, all[i].want);
        graph_free(g);
    }
    print_message("shapes: %zu rows\n", sizeof all / sizeof *all);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_rules) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
