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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes_change_no_number), cmocka_unit_test(test_wrong_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
