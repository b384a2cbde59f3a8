/* SPDX-License-Identifier: Apache-2.0 */
/* test_import_part.c - what reorders, joins and cuts, with numbers that tell where each came from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "onnx_kit.h"

static const float x[6] = { 1, 2, 3, 4, 5, 6 };

static struct buf begin(void)
{
    struct buf g = BUF(KIT_BYTES);
    kit_input(&g, "x", KIT_DIMS(-1, 2, 3));
    return g;
}

static void test_transpose_and_concat(void **st)
{
    (void)st;
    struct buf g = begin(), attrs = BUF(256), axis = BUF(256);
    kit_ints(&attrs, "perm", (const int64_t[]){ 0, 2, 1 }, 3);
    kit_node(&g, "Transpose", "x", "y", &attrs);
    kit_output(&g, "y");
    KIT_EXPECT(&g, 17, x, 1, 1, 4, 2, 5, 3, 6);
    g = begin();
    kit_node(&g, "Neg", "x", "n", NULL);
    kit_int(&axis, "axis", -1);
    kit_node(&g, "Concat", "x,n,x,n,x,n,x", "y", &axis);        /* more than one operation takes */
    kit_output(&g, "y");
    float got[KIT_OUT];
    assert_int_equal(kit_run_on(&backend_ref, &g, 17, x, 1, got), 42);
    assert_true(got[0] == 1 && got[3] == -1 && got[20] == 3 && got[21] == 4 && got[24] == -4 && got[41] == 6);
}

static void test_slice_and_split(void **st)
{
    (void)st;
    const int64_t from[2] = { 0, -1 }, to[2] = { INT64_MAX, -4 }, axes[2] = { 0, 2 }, one[2] = { 1, 1 }, end[2] = { INT64_MAX,
                                                                                                                    INT64_MAX };
    struct buf g = begin(), attrs = BUF(256);
    KIT_I64(&g, "from", from, 2);
    KIT_I64(&g, "to", end, 2);
    KIT_I64(&g, "axes", axes, 2);
    kit_node(&g, "Slice", "x,from,to,axes", "y", NULL);
    kit_output(&g, "y");
    KIT_EXPECT(&g, 17, x, 1, 3, 6);
    g = begin();
    KIT_I64(&g, "from", one, 2);
    KIT_I64(&g, "to", to, 2);
    kit_node(&g, "Slice", "x,from,to", "y", NULL);
    kit_output(&g, "y");
    kit_refused(&g, 17, ERR_UNPROCESSABLE, "a part of the batch is taken");
    g = begin();
    kit_int(&attrs, "axis", 2);
    kit_node(&g, "Split", "x", "a,b,c", &attrs);
    kit_node(&g, "Sub", "c,a", "y", NULL);
    kit_output(&g, "y");
    KIT_EXPECT(&g, 17, x, 1, 2, 2);
}

/* Rows of a table by index: indices beyond it are refused where requests are read, so the model says how many there are. */
static void test_gather(void **st)
{
    (void)st;
    const float table[6] = { 1, 2, 10, 20, 100, 200 };
    const int64_t last[1] = { -1 };
    CLEANUP(buf_releasep) struct buf file = BUF(KIT_BYTES);
    struct err e;
    struct infer_model *m;
    struct infer_session *s;
    float y[4];
    struct buf g = begin(), axis = BUF(256);
    KIT_I64(&g, "last", last, 1);
    kit_int(&axis, "axis", 1);
    kit_node(&g, "Gather", "x,last", "y", &axis);
    kit_output(&g, "y");
    KIT_EXPECT(&g, 17, x, 1, 4, 5, 6);
    g = BUF(KIT_BYTES);
    kit_value(&g, 11, "ids", ONNX_INT64, KIT_DIMS(-1, 2));
    KIT_F32(&g, "t", table, 3, 2);
    kit_node(&g, "Gather", "t,ids", "y", NULL);
    kit_output(&g, "y");
    assert_int_equal(kit_convert(&g, 17, &file, &e), ERR_OK);
    assert_int_equal(infer_model_load(&backend_ref, NULL, file.ptr, file.len, &m, &e), ERR_OK);
    assert_int_equal(infer_index_limit(m, 0), 3);
    assert_int_equal(infer_session_new(m, &s, &e), ERR_OK);
    assert_int_equal(infer_run(s, &(struct infer_io){ .in = { (const int32_t[]){ 2, 0 } }, .out = { y } }, 1, &e), ERR_OK);
    assert_true(y[0] == 100 && y[1] == 200 && y[2] == 1 && y[3] == 2);
    infer_session_free(s);
    infer_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transpose_and_concat), cmocka_unit_test(test_slice_and_split), cmocka_unit_test(test_gather),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
