/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_tensor.c - the same numbers from every type and from raw bytes or typed lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "onnx_kit.h"
#include "workers/compute/onnx/onnx_file_int.h"

static void is_two(int type, const void *raw, size_t bytes, struct str typed, unsigned field)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    CLEANUP(buf_releasep) struct buf b = BUF(256);
    struct onnx_tensor t;
    struct err e = { 0 };
    float *f;
    pb_add_number(&b, 1, 2);
    pb_add_number(&b, 2, (uint64_t)type);
    if (raw)
        pb_add_bytes(&b, 9, raw, bytes);
    else
        pb_add_bytes(&b, field, typed.ptr, typed.len);
    assert_int_equal(onnx_read_tensor(buf_str(&b), &t, &e), ERR_OK);
    assert_int_equal(onnx_numbers(a, &t, &f, &e), ERR_OK);
    if (f[0] != 2 || f[1] != 1)
        fail_msg("type %d: %g %g", type, (double)f[0], (double)f[1]);
}

static void test_types(void **st)
{
    (void)st;
    is_two(ONNX_FLOAT, (float[]){ 2, 1 }, 8, STR(""), 0);
    is_two(ONNX_DOUBLE, (double[]){ 2, 1 }, 16, STR(""), 0);
    is_two(ONNX_FLOAT16, (uint16_t[]){ 0x4000, 0x3c00 }, 4, STR(""), 0);
    is_two(ONNX_BFLOAT16, (uint16_t[]){ 0x4000, 0x3f80 }, 4, STR(""), 0);
    is_two(ONNX_INT8, (int8_t[]){ 2, 1 }, 2, STR(""), 0);
    is_two(ONNX_UINT16, (uint16_t[]){ 2, 1 }, 4, STR(""), 0);
    is_two(ONNX_INT64, (int64_t[]){ 2, 1 }, 16, STR(""), 0);
    is_two(ONNX_INT64, NULL, 0, STR("\x02\x01"), 7);
    is_two(ONNX_INT32, NULL, 0, STR("\x02\x01"), 5);
    is_two(ONNX_FLOAT, NULL, 0, str_n((const char *)(const float[]){ 2, 1 }, 8), 4);
}

static void test_too_few_numbers(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    CLEANUP(buf_releasep) struct buf b = BUF(256);
    struct onnx_tensor t;
    struct err e = { 0 };
    float *f;
    int64_t *whole;
    pb_add_number(&b, 1, 1000000000);
    pb_add_number(&b, 2, ONNX_FLOAT);
    assert_int_equal(onnx_read_tensor(buf_str(&b), &t, &e), ERR_OK);
    assert_int_equal(onnx_numbers(a, &t, &f, &e), ERR_BAD_DATA);        /* before memory is asked for */
    assert_non_null(strstr(e.msg, "which are not in the file"));
    assert_int_equal(onnx_integers(a, &t, &whole, &e), ERR_UNPROCESSABLE);
    assert_int_equal(arena_used(a), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_types), cmocka_unit_test(test_too_few_numbers) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
