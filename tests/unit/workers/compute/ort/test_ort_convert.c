/* SPDX-License-Identifier: Apache-2.0 */
/* test_ort_convert.c - what our operations can do stays ours; what they cannot is kept to the byte where there is an engine, and
 * refused with its first node and the setting where there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/data/model_onnx.h"
#include "ort_kit.h"

static void test_ours_first(void **st)
{
    (void)st;
    struct kit_engine k = { 0 };
    CLEANUP(buf_releasep) struct buf file = BUF(KIT_BYTES);
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
    struct st_file f;
    struct err e;
    struct buf g = kit_one_node("Relu", "x", NULL, KIT_DIMS(-1, 3));
    assert_int_equal(kit_odd_file(&k, kit_model(&g, 17), &file, &e), ERR_OK);
    assert_null(k.ort);
    assert_int_equal(st_parse(a, file.ptr, file.len, &f, &e), ERR_OK);
    assert_false(model_onnx_is(&f));
}

static void test_kept(void **st)
{
    (void)st;
    struct kit_engine k = { 0 };
    CLEANUP(buf_releasep) struct buf file = BUF(KIT_BYTES), onnx = kit_odd_model("Twice", ONNX_FLOAT, KIT_DIMS(-1, 3));
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
    struct st_file f;
    struct err e;
    assert_int_equal(kit_odd_file(&k, kit_odd_model("Twice", ONNX_FLOAT, KIT_DIMS(-1, 3)), &file, &e), ERR_OK);
    assert_int_equal(st_parse(a, file.ptr, file.len, &f, &e), ERR_OK);
    assert_true(model_onnx_is(&f) && str_eq(model_onnx_bytes(&f), buf_str(&onnx)));
    assert_true(str_starts(st_meta(&f, MODEL_ONNX_UNSUPPORTED), "node 0 \"the node\" (Twice): this operator is not supported"));
    ort_free(k.ort);
}

static void test_without_an_engine(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
    CLEANUP(buf_releasep) struct buf file = BUF(KIT_BYTES), onnx = kit_odd_model("Twice", ONNX_FLOAT, KIT_DIMS(-1, 3));
    struct onnx_about about;
    struct err e;
    assert_int_equal(ort_convert(a, buf_str(&onnx), NULL, NULL, &file, &about, &e), ERR_UNPROCESSABLE);
    assert_non_null(strstr(e.msg, "node 0 \"the node\" (Twice)"));
    assert_non_null(strstr(e.msg, "worker.onnxruntime takes it: submit with engine onnxruntime"));
    assert_int_equal(ort_convert(a, str_n(onnx.ptr, onnx.len - 3), NULL, NULL, &file, &about, &e), ERR_BAD_DATA);
    assert_int_equal(file.len, 0);
}

/* Where the data of a tensor is outside, the engine is not asked, however deep the tensor lies. */
static void test_nothing_outside(void **st)
{
    (void)st;
    struct kit_engine k = { 0 };
    CLEANUP(buf_releasep) struct buf file = BUF(KIT_BYTES);
    struct err e;
    struct buf g = BUF(KIT_BYTES), attrs = BUF(KIT_BYTES), attr = BUF(KIT_BYTES), inner = BUF(KIT_BYTES), t = BUF(KIT_BYTES);
    pb_add_number(&t, 2, ONNX_FLOAT);
    pb_add_number(&t, 14, 1);
    pb_add_message(&inner, 5, &t);
    pb_add_text(&attr, 1, "then_branch");
    pb_add_message(&attr, 6, &inner);
    pb_add_message(&attrs, 5, &attr);
    kit_input(&g, "x", KIT_DIMS(-1, 3));
    kit_node(&g, "Twice", "x", "y", &attrs);
    kit_output(&g, "y");
    assert_int_equal(kit_odd_file(&k, kit_model(&g, 17), &file, &e), ERR_UNPROCESSABLE);
    assert_non_null(strstr(e.msg, "the data of a tensor is outside the file"));
    assert_int_equal(kit_told()->runs, 0);
    ort_free(k.ort);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_nothing_outside), cmocka_unit_test(test_ours_first),
                                        cmocka_unit_test(test_kept), cmocka_unit_test(test_without_an_engine) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
