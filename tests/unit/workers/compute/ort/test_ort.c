/* SPDX-License-Identifier: Apache-2.0 */
/* test_ort.c - the library is opened by its table's version, is told to be quiet, and takes no more memory than it may; what is
 * no such library is refused by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ort_kit.h"

static void test_opened(void **st)
{
    (void)st;
    struct fake_ort_told *told = kit_told();
    struct ort *o;
    struct err e;
    assert_int_equal(ort_open(kit_fake_path(), 123456, &o, &e), ERR_OK);
    assert_int_equal(told->version, 16);
    assert_int_equal(told->severity, 4);
    assert_string_equal(told->name, "falaj");
    assert_int_equal(told->telemetry_off, 2);
    assert_int_equal(told->arena_bytes, 123456);
    assert_true(told->arena_extend);
    assert_int_equal(told->arenas, 1);
    assert_string_equal(o->version, "1.0-fake");
    ort_free(o);
    assert_int_equal(told->alive, 0);
    ort_free(NULL);
}

static void test_refused(void **st)
{
    (void)st;
    struct ort *o;
    struct err e;
    assert_int_equal(ort_open("/nowhere/libonnxruntime.so.1", 0, &o, &e), ERR_UNAVAILABLE);
    assert_non_null(strstr(e.msg, "this machine has no ONNX Runtime (/nowhere/libonnxruntime.so.1: cannot open"));
    assert_int_equal(ort_open("libm.so.6", 0, &o, &e), ERR_UNAVAILABLE);
    assert_string_equal(e.msg, "libm.so.6 is no ONNX Runtime with the table of 1.16 or later");
    kit_told()->is_old = true;
    assert_int_equal(ort_open(kit_fake_path(), 0, &o, &e), ERR_UNAVAILABLE);
    kit_told()->is_old = false;
    assert_non_null(strstr(e.msg, "is no ONNX Runtime"));
    assert_int_equal(kit_told()->alive, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_opened), cmocka_unit_test(test_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
