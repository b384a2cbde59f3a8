/* SPDX-License-Identifier: Apache-2.0 */
/* test_inside.c - data outside the file is found wherever a tensor may lie, and graphs that never end are not followed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "onnx_kit.h"
#include "workers/compute/onnx/inside.h"

/* A tensor within messages of these fields, the innermost last. field 0: the message ends. */
static enum errc look(const unsigned *path, unsigned tensor_field, uint64_t value, struct err *e)
{
    struct buf b = BUF(KIT_BYTES);
    int n = 0;
    pb_add_number(&b, tensor_field, value);
    while (path[n])
        n++;
    while (n-- > 0) {
        struct buf outer = BUF(KIT_BYTES);
        pb_add_message(&outer, path[n], &b);
        b = outer;
    }
    enum errc rc = onnx_is_inside(buf_str(&b), e);
    buf_release(&b);
    return rc;
}

static void test_every_place(void **st)
{
    (void)st;
    static const unsigned paths[][8] = {
        { 7, 5 }, { 7, 15, 1 }, { 7, 15, 2 }, { 7, 1, 5, 5 }, { 7, 1, 5, 10 }, { 7, 1, 5, 6, 5 }, { 7, 1, 5, 11, 1, 5, 5 },
        { 7, 1, 5, 22, 1 }, { 7, 1, 5, 23, 2 }, { 20, 1, 5 }, { 20, 2, 1, 5, 5 }, { 25, 7, 5, 5 }, { 25, 11, 5 },
    };
    struct err e;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        assert_int_equal(look(paths[i], 14, 0, &e), ERR_OK);
        assert_int_equal(look(paths[i], 14, 1, &e), ERR_UNPROCESSABLE);
        assert_non_null(strstr(e.msg, "outside the file"));
        assert_int_equal(look(paths[i], 13, 1, &e), ERR_UNPROCESSABLE);
        assert_int_equal(look(paths[i], 9, 1, &e), ERR_OK);
    }
    assert_int_equal(look((const unsigned[]){ 3, 5, 0 }, 14, 1, &e), ERR_OK);      /* no message of ours */
}

static void test_depth_and_damage(void **st)
{
    (void)st;
    unsigned path[200] = { 7 };
    struct err e;
    for (int i = 1; i < 190; i++)
        path[i] = (const unsigned[]){ 1, 5, 6 }[(i - 1) % 3];
    assert_int_equal(look(path, 1, 1, &e), ERR_UNPROCESSABLE);
    assert_non_null(strstr(e.msg, "nested too deep"));
    assert_int_equal(onnx_is_inside(str_n("\x3a\x05\x08", 3), &e), ERR_BAD_DATA);
    assert_int_equal(onnx_is_inside(STR(""), &e), ERR_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_place), cmocka_unit_test(test_depth_and_damage) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
