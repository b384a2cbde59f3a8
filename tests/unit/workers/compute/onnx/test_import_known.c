/* SPDX-License-Identifier: Apache-2.0 */
/* test_import_known.c - shapes computed from shapes: the rows of a batch go through to a Reshape. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "onnx_kit.h"

/* Reshape(x, Concat(Shape(x)[0], [k])), as exporters write a flattening that keeps the batch. */
static struct buf flatten(const int64_t *rest, size_t n)
{
    static const int64_t zero[1] = { 0 };
    struct buf g = BUF(KIT_BYTES), axis = BUF(256);
    kit_input(&g, "x", KIT_DIMS(-1, 2, 2));
    kit_tensor(&g, 5, "zero", ONNX_INT64, KIT_DIMS(1), zero, sizeof zero);
    kit_tensor(&g, 5, "rest", ONNX_INT64, (const int64_t[]){ (int64_t)n }, 1, rest, n * sizeof *rest);
    kit_node(&g, "Shape", "x", "s", NULL);
    kit_node(&g, "Gather", "s,zero", "rows", NULL);
    kit_int(&axis, "axis", 0);
    kit_node(&g, "Concat", "rows,rest", "to", &axis);
    kit_node(&g, "Reshape", "x,to", "f", NULL);
    kit_node(&g, "Neg", "f", "y", NULL);
    kit_output(&g, "y");
    return g;
}

static void test_rows_go_through_shapes(void **st)
{
    (void)st;
    const float x[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    struct buf g = flatten((const int64_t[]){ 4 }, 1);
    KIT_EXPECT(&g, 17, x, 2, -1, -2, -3, -4, -5, -6, -7, -8);
    g = flatten((const int64_t[]){ -1 }, 1);
    KIT_EXPECT(&g, 17, x, 2, -1, -2, -3, -4, -5, -6, -7, -8);
    g = flatten((const int64_t[]){ 3 }, 1);
    kit_refused(&g, 17, ERR_UNPROCESSABLE, "cannot be seen as");
}

static void test_products_of_shapes(void **st)
{
    (void)st;
    const float x[4] = { 1, 2, 3, 4 };
    const int64_t one[1] = { 1 }, two[1] = { 2 };
    struct buf g = BUF(KIT_BYTES), axis = BUF(256);
    kit_input(&g, "x", KIT_DIMS(-1, 2, 2));
    KIT_I64(&g, "one", one, 1);
    KIT_I64(&g, "two", two, 1);
    kit_node(&g, "Shape", "x", "s", NULL);
    kit_int(&axis, "axis", 0);
    kit_node(&g, "Gather", "s,one", "n", NULL);
    kit_node(&g, "Mul", "n,two", "four", NULL);         /* 2 · 2 */
    kit_node(&g, "Sub", "one,two", "open", NULL);       /* -1 */
    kit_node(&g, "Concat", "open,four", "to", &axis);
    kit_node(&g, "Reshape", "x,to", "f", NULL);
    kit_node(&g, "Abs", "f", "y", NULL);
    kit_output(&g, "y");
    KIT_EXPECT(&g, 17, x, 1, 1, 2, 3, 4);
}

static void test_the_number_of_rows_is_no_number(void **st)
{
    (void)st;
    struct buf g = BUF(KIT_BYTES), to = BUF(256);
    kit_input(&g, "x", KIT_DIMS(-1, 2));
    kit_node(&g, "Shape", "x", "s", NULL);
    kit_int(&to, "to", ONNX_FLOAT);
    kit_node(&g, "Cast", "s", "f", &to);
    kit_node(&g, "Add", "x,f", "y", NULL);
    kit_output(&g, "y");
    kit_refused(&g, 17, ERR_UNPROCESSABLE, "the number of rows is used as a number");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_go_through_shapes), cmocka_unit_test(test_products_of_shapes),
        cmocka_unit_test(test_the_number_of_rows_is_no_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
