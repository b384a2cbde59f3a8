/* SPDX-License-Identifier: Apache-2.0 */
/* test_import_norm.c - sums and norms along axes; a sum over the batch is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "onnx_kit.h"

static const float x[4] = { 0.5f, -1, 2, 4 };

static void test_sums_and_norms(void **st)
{
    (void)st;
    const float scale[2] = { 2, 1 }, shift[2] = { 0, 5 };
    struct buf g = BUF(KIT_BYTES), attrs = BUF(256);
    kit_input(&g, "x", KIT_DIMS(-1, 2));
    KIT_F32(&g, "s", scale, 2);
    KIT_F32(&g, "h", shift, 2);
    kit_node(&g, "LayerNormalization", "x,s,h", "y", NULL);
    kit_output(&g, "y");
    KIT_EXPECT(&g, 17, x, 2, 1.9999822f, 4.000009f, -1.99999f, 5.999995f);
    kit_ints(&attrs, "axes", (const int64_t[]){ 1 }, 1);
    kit_int(&attrs, "keepdims", 0);
    g = kit_one_node("ReduceMean", "x", &attrs, KIT_DIMS(-1, 2));
    KIT_EXPECT(&g, 13, x, 2, -0.25f, 3);
    attrs = BUF(256);
    kit_ints(&attrs, "axes", (const int64_t[]){ 0 }, 1);
    g = kit_one_node("ReduceMax", "x", &attrs, KIT_DIMS(-1, 2));
    kit_refused(&g, 13, ERR_UNPROCESSABLE, "rows of a batch do not depend on each other");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_sums_and_norms) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
