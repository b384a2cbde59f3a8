/* SPDX-License-Identifier: Apache-2.0 */
/* test_import_constant.c - constants and types: a constant of one number, Cast. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "onnx_kit.h"

static const float x[4] = { 1, -2, 3, 4 };

static void test_constants(void **st)
{
    (void)st;
    struct buf g = BUF(KIT_BYTES), value = BUF(256), to = BUF(256);
    const float half[1] = { 0.5f };
    struct buf attr = BUF(256);
    kit_input(&g, "x", KIT_DIMS(-1, 4));
    pb_add_text(&attr, 1, "value");
    kit_tensor(&attr, 5, "t", ONNX_FLOAT, NULL, 0, half, sizeof half);
    pb_add_message(&value, 5, &attr);
    kit_node(&g, "Constant", "", "half", &value);
    kit_node(&g, "Mul", "x,half", "m", NULL);
    kit_int(&to, "to", ONNX_DOUBLE);
    kit_node(&g, "Cast", "m", "y", &to);
    kit_output(&g, "y");
    KIT_EXPECT(&g, 17, x, 1, 0.5f, -1, 1.5f, 2);
}

static struct buf range_of(int64_t from, int64_t to, int64_t step)
{
    struct buf g = BUF(KIT_BYTES);
    KIT_I64(&g, "from", ((const int64_t[1]){ from }), 1);
    KIT_I64(&g, "to", ((const int64_t[1]){ to }), 1);
    KIT_I64(&g, "step", ((const int64_t[1]){ step }), 1);
    kit_node(&g, "Range", "from,to,step", "k", NULL);
    return g;
}

/* Positions of a model are ranges: one number too many, and every later shape is another. */
static void test_ranges(void **st)
{
    (void)st;
    struct buf g = range_of(0, 5, 2);
    KIT_EXPECT_KNOWN(&g, 0, 2, 4);
    g = range_of(2, 6, 2);
    KIT_EXPECT_KNOWN(&g, 2, 4);
    g = range_of(5, 0, -2);
    KIT_EXPECT_KNOWN(&g, 5, 3, 1);
    const int64_t none[3][3] = { { 0, 5, -1 }, { 5, 0, 1 }, { 3, 3, 1 } };
    for (int i = 0; i < 3; i++) {
        struct buf to = BUF(64);
        kit_int(&to, "to", ONNX_FLOAT);
        g = range_of(none[i][0], none[i][1], none[i][2]);
        kit_input(&g, "x", KIT_DIMS(1));
        kit_node(&g, "Shape", "k", "size", NULL);
        kit_node(&g, "Cast", "size", "real", &to);
        kit_node(&g, "Mul", "real,x", "y", NULL);
        kit_output(&g, "y");
        KIT_EXPECT(&g, 17, (const float[]){ 1 }, 1, 0);
    }
    g = range_of(0, 5, 0);
    kit_input(&g, "x", KIT_DIMS(1));
    kit_output(&g, "x");
    kit_refused(&g, 17, ERR_UNPROCESSABLE, "a range that is not known");
}

static void test_filled_constants(void **st)
{
    (void)st;
    const int64_t three[1] = { 3 }, seven[1] = { 7 };
    const float half[1] = { 0.5f };
    for (int kind = 0; kind < 3; kind++) {
        struct buf g = BUF(KIT_BYTES), attrs = BUF(256), value = BUF(256);
        KIT_I64(&g, "shape", three, 1);
        pb_add_text(&value, 1, "value");
        if (kind)
            kit_tensor(&value, 5, "t", kind == 1 ? ONNX_FLOAT : ONNX_INT64, KIT_DIMS(1), kind == 1 ? (const void *)half : seven,
                       kind == 1 ? sizeof half : sizeof seven);
        pb_add_message(&attrs, 5, &value);
        if (!kind)
            buf_clear(&attrs);
        kit_node(&g, "ConstantOfShape", "shape", "k", &attrs);
        const float want = kind == 0 ? 0 : kind == 1 ? 0.5f : 7;
        KIT_EXPECT_KNOWN(&g, want, want, want);
    }
}

/* Casts of constants: to whole numbers towards zero, to truth anything but 0, and what no whole number is, is refused. */
static void test_casts_of_constants(void **st)
{
    (void)st;
    const float real[4] = { -1.75f, 0, 0.25f, 3.5f }, far[1] = { 1e19f };
    const int64_t whole[3] = { -2, 0, 5 };
    struct buf g = BUF(KIT_BYTES), to = BUF(64);
    KIT_F32(&g, "c", real, 4);
    kit_int(&to, "to", ONNX_INT64);
    kit_node(&g, "Cast", "c", "k", &to);
    KIT_EXPECT_KNOWN(&g, -1, 0, 0, 3);
    g = BUF(KIT_BYTES), to = BUF(64);
    KIT_F32(&g, "c", real, 4);
    kit_int(&to, "to", ONNX_BOOL);
    kit_node(&g, "Cast", "c", "k", &to);
    KIT_EXPECT_KNOWN(&g, 1, 0, 1, 1);
    g = BUF(KIT_BYTES), to = BUF(64);
    KIT_I64(&g, "c", whole, 3);
    kit_int(&to, "to", ONNX_BOOL);
    kit_node(&g, "Cast", "c", "k", &to);
    KIT_EXPECT_KNOWN(&g, 1, 0, 1);
    g = BUF(KIT_BYTES), to = BUF(64);
    KIT_F32(&g, "c", far, 1);
    kit_int(&to, "to", ONNX_INT64);
    kit_node(&g, "Cast", "c", "k", &to);
    kit_input(&g, "x", KIT_DIMS(1));
    kit_output(&g, "x");
    kit_refused(&g, 17, ERR_BAD_DATA, "no whole one is cast to one");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants), cmocka_unit_test(test_ranges), cmocka_unit_test(test_filled_constants),
        cmocka_unit_test(test_casts_of_constants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
