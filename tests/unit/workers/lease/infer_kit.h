/* SPDX-License-Identifier: Apache-2.0 */
/* infer_kit.h - a model of two inputs and three outputs of different datatypes for the tests of requests; after cmocka.h.
 *
 * x FP32[-1,2], ids INT64[-1] (below 3) -> sum FP32[-1,2] (x + table[ids]), best INT64[-1], is_big BOOL[-1,2] (sum > 5) */
#pragma once
#include <string.h>
#include "core/base/cleanup.h"
#include "workers/compute/infer/graph_file.h"
#include "workers/compute/kernels/nd.h"
#include "workers/lease/infer_read_int.h"

#define KIT_MODEL_TAKES "x FP32[-1,2], ids INT64[-1]"

static inline struct infer_model *kit_model_of_two(void)
{
    static const float table[6] = { 0, 0, 10, 20, 1, -1 }, five[1] = { 5 };
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)4 << 20);
    CLEANUP(buf_releasep) struct buf b = BUF(65536);
    struct graph *g = graph_new(ELEM_F32, 16);
    struct infer_model *m = NULL;
    struct err e = { 0 };
    const struct model_sig sig = {
        .inputs = { { STR("x"), STR("FP32"), 2, { -1, 2 } }, { STR("ids"), STR("INT64"), 1, { -1 } } },
        .outputs = { { STR("sum"), STR("FP32"), 2, { -1, 2 } }, { STR("best"), STR("INT64"), 1, { -1 } }, { STR("is_big"),
                                                                                                            STR("BOOL"), 2, { -1,
                                                                                              2 } } },
        .input_count = 2, .output_count = 3,
    };
    int x = graph_input(g, "x", (struct shape){ ELEM_F32, 2, { DIM_ROWS(1), DIM(2) } });
    int ids = graph_input(g, "ids", (struct shape){ ELEM_I32, 1, { DIM_ROWS(1) } });
    int rows = graph_op2(g, OP_EMBED, graph_const(g, "", (struct shape){ ELEM_F32, 2, { DIM(3), DIM(2) } }, table), ids);
    int sum = graph_op2(g, OP_ADD, x, rows), most = graph_const(g, "", (struct shape){ ELEM_F32, 1, { DIM(1) } }, five);
    graph_output(g, graph_op(g, OP_BINARY, &(struct op_attr){ .fn = BINARY_GREATER }, GRAPH_INS(sum, most)), "is_big");
    graph_output(g, graph_op1(g, OP_ARGMAX, sum), "best");
    graph_output(g, sum, "sum");
    if (graph_file_write(a, g, &sig, NULL, 0, &b, &e) != ERR_OK
        || infer_model_load(&backend_ref, NULL, b.ptr, b.len, &m, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    graph_free(g);
    return m;
}
/* x FP32[-1,2], which may be missing, and two columns of words, (red, blue) and (north) -> y FP32[-1,4]: all as they
 * came. NULL: refused. */
static inline struct infer_model *kit_model_of_words(const char *words)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)4 << 20);
    CLEANUP(buf_releasep) struct buf b = BUF(65536);
    const struct st_pair meta[] = { { STR(MODEL_WORDS), str_c(words) }, { STR(MODEL_MISSING), STR("true") } };
    const struct shape two = { ELEM_F32, 2, { DIM_ROWS(1), DIM(2) } };
    struct graph *g = graph_new(ELEM_F32, 4);
    struct infer_model *m = NULL;
    struct err e = { 0 };
    const struct model_sig sig = {
        .inputs = { { STR("x"), STR("FP32"), 2, { -1, 2 } }, { STR("categories"), STR("BYTES"), 2, { -1, 2 } } },
        .outputs = { { STR("y"), STR("FP32"), 2, { -1, 4 } } }, .input_count = 2, .output_count = 1,
    };
    int x = graph_input(g, "x", two), w = graph_input(g, "categories", two);
    graph_output(g, graph_op(g, OP_CONCAT, &(struct op_attr){ .axes = 1 }, GRAPH_INS(x, w)), "y");
    if (graph_file_write(a, g, &sig, meta, 2, &b, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    graph_free(g);
    return infer_model_load(&backend_ref, NULL, b.ptr, b.len, &m, &e) == ERR_OK ? m : NULL;
}
static inline struct infer_call kit_call(struct infer_model *m, struct arena *a)
{
    return (struct infer_call){ .model = m, .sig = &infer_model_info(m)->sig, .arena = a, .name = STR("two"), .version = 3 };
}
