/* SPDX-License-Identifier: Apache-2.0 */
/* test_ort_learn.c - signatures found by trial, and models that are refused because no signature holds for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ort_kit.h"

static void expect_sig(const char *op, int type, const int64_t *dim, size_t rank, const char *want)
{
    struct kit_engine k = { 0 };
    CLEANUP(buf_releasep) struct buf text = BUF(500);
    struct infer_model *m = kit_odd(&k, op, type, dim, rank);
    const struct model_sig *sig = &infer_model_info(m)->sig;
    assert_true(sig_print(&text, sig->inputs, sig->input_count) && buf_add_c(&text, " -> ")
                && sig_print(&text, sig->outputs, sig->output_count));
    assert_string_equal(text.ptr, want);
    infer_model_free(m);
    ort_free(k.ort);
}

static void test_found(void **st)
{
    (void)st;
    expect_sig("Twice", ONNX_FLOAT, KIT_DIMS(-1, 3), "x FP32[-1,3] -> y FP32[-1,3]");
    expect_sig("Twice", ONNX_FLOAT, KIT_DIMS(4, 3), "x FP32[4,3] -> y FP32[4,3]");
    expect_sig("Counted", ONNX_INT32, KIT_DIMS(-1), "x INT32[-1] -> y INT64[-1]");
    expect_sig("Beside", ONNX_DOUBLE, KIT_DIMS(4, 1, 2), "x FP32[4,1,2] -> y FP32[4,1,2]");
}

static void expect_refused(struct buf onnx, enum errc code, const char *why)
{
    struct kit_engine k = { 0 };
    CLEANUP(buf_releasep) struct buf file = BUF(KIT_BYTES);
    struct err e = { 0 };
    assert_int_equal(kit_odd_file(&k, onnx, &file, &e), code);
    if (!strstr(e.msg, why))
        fail_msg("\"%s\" does not say \"%s\"", e.msg, why);
    assert_int_equal(file.len, 0);
    ort_free(k.ort);
    assert_int_equal(kit_told()->alive, 0);
}

static void test_a_trial_has_an_end(void **st)
{
    (void)st;
    ort_learn_set_limit(50);
    expect_refused(kit_odd_model("Stuck", ONNX_FLOAT, KIT_DIMS(-1, 3)), ERR_UNPROCESSABLE,
                   "its trial, up to 3 rows of small numbers, was not over after 0.05 s");
    ort_learn_set_limit(0);
}

static void test_refused(void **st)
{
    (void)st;
    expect_refused(kit_odd_model("Beside", ONNX_FLOAT, KIT_DIMS(-1, 3)), ERR_UNPROCESSABLE, "a row has other numbers alone");
    expect_refused(kit_odd_model("Halved", ONNX_FLOAT, KIT_DIMS(-1, 3)), ERR_UNPROCESSABLE, "\"y\" has no row for each row");
    expect_refused(kit_odd_model("Listed", ONNX_FLOAT, KIT_DIMS(-1, 3)), ERR_UNPROCESSABLE, "\"y\" is no tensor");
    expect_refused(kit_odd_model("Broken", ONNX_FLOAT, KIT_DIMS(-1, 3)), ERR_UNPROCESSABLE,
                   "the model is refused: the graph is broken");
    expect_refused(kit_odd_model("Twice", ONNX_FLOAT16, KIT_DIMS(-1, 3)), ERR_UNPROCESSABLE, "\"x\" is of FLOAT16");
    expect_refused(kit_odd_model("Twice", ONNX_FLOAT, KIT_DIMS(-1, -1)), ERR_UNPROCESSABLE, "dimension 1 of input \"x\" is open");
    expect_refused(kit_odd_model("Twice", ONNX_STRING, KIT_DIMS(-1)), ERR_UNPROCESSABLE, "input \"x\" is STRING");
    expect_refused(kit_odd_model("Twice", ONNX_FLOAT, KIT_DIMS(-1, 1 << 15, 1 << 15)), ERR_LIMIT,
                   "a row of input \"x\" has more than");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_found), cmocka_unit_test(test_refused),
                                        cmocka_unit_test(test_a_trial_has_an_end) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
