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

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_constants) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
