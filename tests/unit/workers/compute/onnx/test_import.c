/* SPDX-License-Identifier: Apache-2.0 */
/* test_import.c - nodes in their order, names, inputs and outputs; what is refused is named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "onnx_kit.h"

static const float w[6] = { 1, 2, 3, 4, 5, 6 }, bias[2] = { 10, -100 };

static struct buf perceptron(void)
{
    struct buf g = BUF(KIT_BYTES);
    kit_input(&g, "x", KIT_DIMS(-1, 3));
    KIT_F32(&g, "w", w, 2, 3);
    KIT_F32(&g, "b", bias, 2);
    struct buf attrs = BUF(256);
    kit_int(&attrs, "transB", 1);
    kit_node(&g, "Gemm", "x,w,b", "h", &attrs);
    kit_node(&g, "Relu", "h", "r", NULL);
    kit_node(&g, "Identity", "r", "y", NULL);
    kit_output(&g, "y");
    return g;
}

static void test_a_perceptron_for_any_number_of_rows(void **st)
{
    (void)st;
    struct buf g = perceptron();
    KIT_EXPECT(&g, 17, ((const float[]){ 1, 0, 0, 0, 1, 1 }), 2, 11, 0, 15, 0);
    g = perceptron();
    KIT_EXPECT(&g, 17, ((const float[]){ 1, 1, 30 }), 1, 103, 89);
}

static void test_the_signature_has_the_models_names(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
    CLEANUP(buf_releasep) struct buf file = BUF(KIT_BYTES);
    struct buf g = perceptron();
    struct err e;
    struct st_file f;
    assert_int_equal(kit_convert(&g, 17, &file, &e), ERR_OK);
    assert_int_equal(st_parse(a, file.ptr, file.len, &f, &e), ERR_OK);
    struct str sig = st_meta(&f, "signature");
    assert_int_equal(sig.len, strlen("{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[-1,3]}],"
                                     "\"outputs\":[{\"name\":\"y\",\"datatype\":\"FP32\",\"shape\":[-1,2]}]}"));
    assert_true(str_eq_c(st_meta(&f, "source"), "onnx") && str_eq_c(st_meta(&f, "opset"), "17"));
}

static void test_refusals_name_node_and_reason(void **st)
{
    (void)st;
    struct buf g = kit_one_node("Einsum", "x", NULL, KIT_DIMS(-1, 3));
    kit_refused(&g, 17, ERR_UNPROCESSABLE, "node 0 \"the node\" (Einsum): this operator is not supported");
    g = kit_one_node("Relu", "later", NULL, KIT_DIMS(-1, 3));
    kit_refused(&g, 17, ERR_BAD_DATA, "it reads \"later\", which nothing before it makes");
    g = kit_one_node("Relu", "x", NULL, KIT_DIMS(-1, 3, -1));
    kit_refused(&g, 17, ERR_UNPROCESSABLE, "dimension 2 of input \"x\" is open (\"N\")");
    g = BUF(KIT_BYTES);
    kit_input(&g, "x", KIT_DIMS(-1, 3));
    kit_node(&g, "Relu", "x", "y", NULL);
    kit_node(&g, "Abs", "x", "y", NULL);
    kit_output(&g, "y");
    kit_refused(&g, 17, ERR_BAD_DATA, "\"y\" is made twice");
    g = perceptron();
    kit_refused(&g, 22, ERR_UNPROCESSABLE, "operator set 22; 7 to 21");
}

static void test_an_open_dimension_takes_a_number(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
    CLEANUP(buf_releasep) struct buf file = BUF(KIT_BYTES);
    struct buf g = kit_one_node("Relu", "x", NULL, KIT_DIMS(2, -1));
    struct err e;
    struct onnx_about about;
    CLEANUP(buf_releasep) struct buf model = kit_model(&g, 17);
    struct onnx_dims dims = { .dim = { { STR("N"), 5 } }, .count = 1 };
    assert_int_equal(onnx_convert(a, buf_str(&model), NULL, &file, &about, &e), ERR_UNPROCESSABLE);
    assert_int_equal(onnx_convert(a, buf_str(&model), &dims, &file, &about, &e), ERR_OK);
    assert_int_equal(about.nodes, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_perceptron_for_any_number_of_rows), cmocka_unit_test(test_the_signature_has_the_models_names),
        cmocka_unit_test(test_refusals_name_node_and_reason), cmocka_unit_test(test_an_open_dimension_takes_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
