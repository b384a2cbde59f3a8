/* SPDX-License-Identifier: Apache-2.0 */
/* test_import_shape.c - shapes: Reshape with 0 and -1, Squeeze, Flatten. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "onnx_kit.h"

static const float x[4] = { 1, -2, 3, 4 };

static void test_shapes_change_no_number(void **st)
{
    (void)st;
    const int64_t to[4] = { 0, 1, -1, 2 };
    struct buf g = BUF(KIT_BYTES), squeeze = BUF(256), flat = BUF(256);
    kit_input(&g, "x", KIT_DIMS(-1, 4));
    KIT_I64(&g, "to", to, 4);
    kit_node(&g, "Reshape", "x,to", "r", NULL);         /* [rows,1,2,2] */
    kit_ints(&squeeze, "axes", (const int64_t[]){ 1 }, 1);
    kit_node(&g, "Squeeze", "r", "s", &squeeze);        /* [rows,2,2] */
    kit_int(&flat, "axis", 1);
    kit_node(&g, "Flatten", "s", "f", &flat);
    kit_node(&g, "Add", "f,x", "y", NULL);
    kit_output(&g, "y");
    KIT_EXPECT(&g, 11, x, 1, 2, -4, 6, 8);
}

static void test_wrong_shapes(void **st)
{
    (void)st;
    const int64_t to[2] = { -1, 3 };
    struct buf g = BUF(KIT_BYTES);
    kit_input(&g, "x", KIT_DIMS(2, 4));
    KIT_I64(&g, "to", to, 2);
    kit_node(&g, "Reshape", "x,to", "y", NULL);
    kit_output(&g, "y");
    kit_refused(&g, 17, ERR_BAD_DATA, "what is left does not fill dimension 0");
    g = BUF(KIT_BYTES);
    kit_input(&g, "x", KIT_DIMS(2, 4));
    kit_node(&g, "Reshape", "x,x", "y", NULL);
    kit_output(&g, "y");
    kit_refused(&g, 17, ERR_UNPROCESSABLE, "\"x\" must be known when the model is read");
}

static struct buf shape_of(const char *op, struct buf *attrs)
{
    static const float c[24] = { 1 };
    struct buf g = BUF(KIT_BYTES);
    KIT_F32(&g, "c", c, 2, 3, 1, 4);
    kit_node(&g, op, "c", strcmp(op, "Shape") && strcmp(op, "Size") ? "z" : "k", attrs);
    if (strcmp(op, "Shape") && strcmp(op, "Size"))
        kit_node(&g, "Shape", "z", "k", NULL);
    return g;
}

/* What a shape is said to be, from and to any place, is what later nodes are laid out by. */
static void test_shapes_of_constants(void **st)
{
    (void)st;
    struct buf g = shape_of("Shape", NULL), a = BUF(256);
    KIT_EXPECT_KNOWN(&g, 2, 3, 1, 4);
    g = shape_of("Size", NULL);
    KIT_EXPECT_KNOWN(&g, 24);
    kit_int(&a, "start", 1);
    kit_int(&a, "end", 3);
    g = shape_of("Shape", &a);
    KIT_EXPECT_KNOWN(&g, 3, 1);
    a = BUF(256);
    kit_int(&a, "start", -2);
    g = shape_of("Shape", &a);
    KIT_EXPECT_KNOWN(&g, 1, 4);
    a = BUF(256);
    kit_int(&a, "start", -9);
    kit_int(&a, "end", -1);
    g = shape_of("Shape", &a);
    KIT_EXPECT_KNOWN(&g, 2, 3, 1);
    a = BUF(256);
    kit_int(&a, "end", 9);
    g = shape_of("Shape", &a);
    KIT_EXPECT_KNOWN(&g, 2, 3, 1, 4);
    g = shape_of("Squeeze", NULL);
    KIT_EXPECT_KNOWN(&g, 2, 3, 4);
    const float flat[5][2] = { { 1, 24 }, { 2, 12 }, { 6, 4 }, { 6, 4 }, { 24, 1 } };
    for (int axis = 0; axis <= 4; axis++) {
        a = BUF(256);
        kit_int(&a, "axis", axis);
        g = shape_of("Flatten", &a);
        KIT_EXPECT_KNOWN(&g, flat[axis][0], flat[axis][1]);
    }
    a = BUF(256);
    kit_int(&a, "axis", -1);
    g = shape_of("Flatten", &a);
    KIT_EXPECT_KNOWN(&g, 6, 4);
    a = BUF(256);
    kit_ints(&a, "axes", (const int64_t[]){ 0, -1 }, 2);
    g = shape_of("Unsqueeze", &a);
    KIT_EXPECT_KNOWN(&g, 1, 2, 3, 1, 4, 1);
}

static void test_axes_that_are_none(void **st)
{
    (void)st;
    const struct { const char *op, *name; int64_t axis[2]; size_t n; const char *why; } rows[] = {
        { "Squeeze", "axes", { 1 }, 1, "dimension 1 is not 1" }, { "Unsqueeze", "axes", { 1, 1 }, 2, "an axis is given twice" },
        { "Flatten", "axis", { 5 }, 0, "axis 5 of 4 dimensions" }, { "Flatten", "axis", { -5 }, 0, "of 4 dimensions" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf a = BUF(256);
        if (rows[i].n)
            kit_ints(&a, rows[i].name, rows[i].axis, rows[i].n);
        else
            kit_int(&a, rows[i].name, rows[i].axis[0]);
        struct buf g = shape_of(rows[i].op, &a);
        kit_input(&g, "x", KIT_DIMS(1));
        kit_output(&g, "x");
        kit_refused(&g, 11, ERR_BAD_DATA, rows[i].why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes_change_no_number), cmocka_unit_test(test_wrong_shapes),
        cmocka_unit_test(test_shapes_of_constants), cmocka_unit_test(test_axes_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
