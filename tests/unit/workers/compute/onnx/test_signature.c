/* SPDX-License-Identifier: Apache-2.0 */
/* test_signature.c - inputs of a file in the protocol's words: rows, numbers for open dimensions, and what is no input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "onnx_kit.h"

static void test_inputs(void **st)
{
    (void)st;
    const struct onnx_dims dims = { { { STR("n"), 7 } }, 1 };
    struct onnx_value v = { .name = STR("x"), .type = ONNX_INT64, .has_shape = true, .rank = 2, .dim = { -1, 4 },
                            .param = { STR("batch") } };
    struct sig_tensor t;
    struct err e;
    assert_int_equal(onnx_sig_input(&v, NULL, &t, &e), ERR_OK);
    assert_true(str_eq_c(t.datatype, "INT64") && t.rank == 2 && t.dim[0] == -1 && t.dim[1] == 4);
    v.dim[1] = -1;
    v.param[1] = STR("n");
    assert_int_equal(onnx_sig_input(&v, NULL, &t, &e), ERR_UNPROCESSABLE);
    assert_string_equal(e.msg, "dimension 1 of input \"x\" is open (\"n\"): give a number for it (dims)");
    assert_int_equal(onnx_sig_input(&v, &dims, &t, &e), ERR_OK);
    assert_true(t.dim[0] == -1 && t.dim[1] == 7);
    v.param[0] = STR("n");
    assert_int_equal(onnx_sig_input(&v, &dims, &t, &e), ERR_OK);
    assert_true(t.dim[0] == 7);
}

static void test_no_inputs(void **st)
{
    (void)st;
    const struct onnx_value rows[] = {
        { .name = STR("x"), .type = ONNX_STRING, .has_shape = true, .rank = 1, .dim = { 1 } },
        { .name = STR("x"), .type = ONNX_FLOAT, .has_shape = false },
        { .name = STR("x"), .type = ONNX_FLOAT, .has_shape = true, .rank = 0 },
        { .name = STR(""), .type = ONNX_FLOAT, .has_shape = true, .rank = 1, .dim = { 1 } },
    };
    struct sig_tensor t;
    struct err e;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(onnx_sig_input(&rows[i], NULL, &t, &e), ERR_UNPROCESSABLE);
    assert_null(onnx_datatype(ONNX_UINT64));
    assert_string_equal(onnx_datatype(ONNX_UINT8), "FP32");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_inputs), cmocka_unit_test(test_no_inputs) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
