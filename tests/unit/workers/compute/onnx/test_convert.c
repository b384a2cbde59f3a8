/* SPDX-License-Identifier: Apache-2.0 */
/* test_convert.c - a converted model is a file that loads, with room or without; the table of operators is printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "onnx_kit.h"

static struct buf relu(void)
{
    struct buf g = BUF(KIT_BYTES);
    kit_input(&g, "x", KIT_DIMS(-1, 2));
    kit_node(&g, "Relu", "x", "y", NULL);
    kit_output(&g, "y");
    return g;
}

static void test_it_fits_or_it_does_not(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
    struct buf g = relu();
    CLEANUP(buf_releasep) struct buf model = kit_model(&g, 17);
    CLEANUP(buf_releasep) struct buf file = BUF(KIT_BYTES);
    CLEANUP(buf_releasep) struct buf small = BUF(64);
    struct onnx_about about;
    struct err e;
    assert_int_equal(onnx_convert(a, buf_str(&model), NULL, &file, &about, &e), ERR_OK);
    assert_true(about.ir == 8 && about.opset == 17 && about.nodes == 1 && str_eq_c(about.producer, "kit"));
    assert_int_equal(onnx_convert(a, buf_str(&model), NULL, &small, &about, &e), ERR_LIMIT);
    struct arena *tight = arena_new(1024);
    assert_int_equal(onnx_convert(tight, buf_str(&model), NULL, &file, &about, &e), ERR_LIMIT);
    arena_free(tight);
}

static void test_the_table_names_what_is_taken(void **st)
{
    (void)st;
    CLEANUP(buf_releasep) struct buf b = BUF(KIT_BYTES);
    assert_true(onnx_print_ops(&b));
    assert_non_null(strstr(b.ptr, "| `Gemm` | transA 0 |"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_it_fits_or_it_does_not),
                                        cmocka_unit_test(test_the_table_names_what_is_taken) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
